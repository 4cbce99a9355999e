"""Edits of Java files."""

from benchmarks.edits.case import Case, Replacements
from benchmarks.edits.checkers import (
    before,
    contains,
    drops,
    either,
    imports,
    keeps_code,
    keeps_lines,
    lacks,
    mentions,
    omits,
    only,
)

ARRAY = "files/java/gson__JsonArray.java"
MAPS = "files/java/gson__MapTypeAdapterFactory.java"
FACTORY = "files/java/gson__TypeAdapterFactory.java"
ATTRIBUTE = "files/java/jsoup__Attribute.java"
CLEANER = "files/java/jsoup__Cleaner.java"
DOCUMENT = "files/java/jsoup__Document.java"
right: Replacements  # of the case at hand, for its spoilt answers

CASES = (
    Case(
        id="java-gson_array-message",
        file=ARRAY,
        kind="message",
        instruction='Change the message in getAsSingleElement to "Expected one element, but found " + size',
        right=(
            right := (
                ('"Array must have size 1, but has size " + size', '"Expected one element, but found " + size'),
            )
        ),
        where=("JsonArray.getAsSingleElement",),
        asked=(
            contains(
                "JsonArray.getAsSingleElement",
                r'throw new IllegalStateException\(\s*"Expected one element, but found " \+ size\);',
            ),
        ),
        keeps=(keeps_lines("JsonArray.getAsSingleElement", r"IllegalState|must have size"),),
        spoilt=(
            (('"Array must have size 1, but has size " + size', '"Expected one element, but found size"'),),
            (*right, ("    if (size == 1) {", "    if (1 == size) {")),
            (
                (
                    'throw new IllegalStateException("Array must have size 1, but has size " + size)',
                    'throw new RuntimeException("Expected one element, but found " + size)',
                ),
            ),
        ),
    ),
    Case(
        id="java-gson_array-get_first",
        file=ARRAY,
        kind="add-method",
        instruction="Add a public method getFirst() behind get(int) that returns the first element, with "
        "Javadoc",
        right=(
            right := (
                (
                    "    return elements.get(i);\n  }\n",
                    "    return elements.get(i);\n  }\n\n  /**\n   * Returns the first element of the array.\n"
                    "   *\n   * @return the first element.\n   */\n  public JsonElement getFirst() {\n"
                    "    return elements.get(0);\n  }\n",
                ),
            )
        ),
        where=("new:JsonArray",),
        asked=(
            contains("JsonArray.getFirst", r"public JsonElement getFirst\(\) \{"),
            contains("JsonArray.getFirst", r"return (?:elements\.|this\.)?get(?:First)?\(0?\);"),
            mentions("JsonArray.getFirst", r"/\*\*[\s\S]*\*/"),
            before(None, r"JsonElement get\(int", r"getFirst\("),
            before(None, r"getFirst\(", r"getAsSingleElement\(\) \{"),
        ),
        spoilt=(
            (("  private JsonElement getAsSingleElement() {", "  public JsonElement getFirst() {"),),
            (
                (
                    "    return elements.get(i);\n  }\n",
                    "    return elements.get(i);\n  }\n\n  public JsonElement getFirst() {\n"
                    "    return elements.get(0);\n  }\n",
                ),
            ),
            (*right, ("  public int size() {\n", "  public final int size() {\n")),
        ),
    ),
    Case(
        id="java-gson_array-require",
        file=ARRAY,
        kind="add-import",
        instruction="addAll should check array with Objects.requireNonNull first; add the import",
        right=(
            right := (
                (
                    "    elements.addAll(array.elements);\n",
                    "    Objects.requireNonNull(array);\n    elements.addAll(array.elements);\n",
                ),
                ("import java.util.List;\n", "import java.util.List;\nimport java.util.Objects;\n"),
            )
        ),
        where=("JsonArray.addAll",),
        asked=(
            contains("JsonArray.addAll", r"\bObjects\.requireNonNull\(\s*array\b"),
            contains("JsonArray.addAll", r"elements\.addAll\("),
            imports("Objects"),
        ),
        keeps=(keeps_lines("JsonArray.addAll", r"elements\.addAll"),),
        spoilt=(
            right[:1],
            (*right, ("import java.util.Iterator;\n", "")),
            (
                (
                    "    elements.addAll(array.elements);\n",
                    "    java.util.Objects.requireNonNull(array);\n    elements.addAll(array.elements);\n",
                ),
            ),
        ),
    ),
    Case(
        id="java-gson_array-param_comment",
        file=ARRAY,
        kind="comments",
        instruction='The Javadoc of remove(int) says "index index the index"; delete the doubled word',
        right=(right := (("@param index index the index of", "@param index the index of"),)),
        where=("comments",),
        asked=(
            mentions(None, r"\* @param index the index of the element to be removed"),
            omits(None, r"index index the"),
        ),
        spoilt=(
            (("@param index index the index of", "@param index of"),),
            (*right, ("    return elements.remove(index);", "    return this.elements.remove(index);")),
        ),
    ),
    Case(
        id="java-gson_maps-duplicate",
        file=MAPS,
        kind="message",
        instruction="Append \"; at path \" and in.getPath() to both 'duplicate key' messages",
        right=(
            right := (
                (
                    'throw new JsonSyntaxException("duplicate key: " + key);\n          }\n'
                    "          map.put(key, value);\n          in.endArray();\n",
                    'throw new JsonSyntaxException("duplicate key: " + key + "; at path " + in.getPath());\n'
                    "          }\n          map.put(key, value);\n          in.endArray();\n",
                ),
                (
                    'throw new JsonSyntaxException("duplicate key: " + key);\n          }\n'
                    "          map.put(key, value);\n        }\n",
                    'throw new JsonSyntaxException("duplicate key: " + key + "; at path " + in.getPath());\n'
                    "          }\n          map.put(key, value);\n        }\n",
                ),
            )
        ),
        where=("Adapter.read",),
        asked=(
            contains(
                "Adapter.read",
                r'throw new JsonSyntaxException\(\s*"duplicate key: "\s*\+ key\s*\+ "; at path "\s*\+ in\.getPath\(\)\s*\);',
                2,
            ),
        ),
        keeps=(keeps_lines("Adapter.read", r"JsonSyntaxException"),),
        spoilt=(
            right[:1],
            right[1:],
            (*right, ("          in.beginArray(); // entry array\n          K key", "          in.beginArray();\n          K key")),
        ),
    ),
    Case(
        id="java-gson_maps-assertions",
        file=MAPS,
        kind="message",
        instruction='Give both AssertionErrors in keyToString the message "Unexpected key: " + keyElement',
        right=(
            right := (
                (
                    "          throw new AssertionError();\n        }\n      } else if",
                    '          throw new AssertionError("Unexpected key: " + keyElement);\n        }\n      } else if',
                ),
                (
                    "      } else {\n        throw new AssertionError();\n      }\n    }\n",
                    '      } else {\n        throw new AssertionError("Unexpected key: " + keyElement);\n'
                    "      }\n    }\n",
                ),
            )
        ),
        where=("Adapter.keyToString",),
        asked=(
            contains("Adapter.keyToString", r'throw new AssertionError\(\s*"Unexpected key: " \+ keyElement\s*\);', 2),
            lacks("Adapter.keyToString", r"AssertionError\(\)"),
        ),
        keeps=(keeps_lines("Adapter.keyToString", r"AssertionError"),),
        spoilt=(
            right[:1],
            (*right, ('        return "null";\n', '        return String.valueOf((Object) null);\n')),
        ),
    ),
    Case(
        id="java-gson_maps-rename_unsafe",
        file=MAPS,
        kind="rename-local",
        instruction="Rename the local variable allowUnsafe to unsafeAllowed in create",
        right=(
            right := (
                ("boolean allowUnsafe = false;", "boolean unsafeAllowed = false;"),
                ("constructorConstructor.get(typeToken, allowUnsafe)", "constructorConstructor.get(typeToken, unsafeAllowed)"),
            )
        ),
        where=("MapTypeAdapterFactory.create",),
        asked=(
            contains("MapTypeAdapterFactory.create", r"boolean unsafeAllowed = false;"),
            contains("MapTypeAdapterFactory.create", r"\.get\(\s*typeToken, unsafeAllowed\s*\)"),
            lacks("MapTypeAdapterFactory.create", r"\ballowUnsafe\b"),
        ),
        keeps=(
            only("MapTypeAdapterFactory.create", (r"\ballowUnsafe\b", "unsafeAllowed")),
            keeps_lines("MapTypeAdapterFactory.create", r"\ballowUnsafe\b"),
        ),
        spoilt=(
            right[1:],
            (*right, ("    // Map methods could lead to confusing exceptions\n", "")),
        ),
    ),
    Case(
        id="java-gson_factory-doc_create",
        file=FACTORY,
        kind="doc-one",
        instruction="Add @param gson, @param type and @return to the Javadoc of create",
        right=(
            right := (
                (
                    "   * Returns a type adapter for {@code type}, or null if this factory doesn't support "
                    "{@code type}.\n   */",
                    "   * Returns a type adapter for {@code type}, or null if this factory doesn't support "
                    "{@code type}.\n   *\n   * @param gson the instance that asks\n   * @param type the type to "
                    "adapt\n   * @return the adapter, or null\n   */",
                ),
            )
        ),
        where=("doc:TypeAdapterFactory.create",),
        asked=tuple(
            mentions("TypeAdapterFactory.create", pattern)
            for pattern in (r"\* @param gson \S", r"\* @param type \S", r"\* @return \S", r"Returns? a type adapter for")
        ),
        spoilt=(
            (
                (
                    "   * Returns a type adapter for {@code type}, or null if this factory doesn't support "
                    "{@code type}.\n   */",
                    "   * @param gson the instance that asks\n   * @param type the type to adapt\n   */",
                ),
            ),
            (*right, ("TypeToken<T> type);", "TypeToken<T> typeToken);")),
            (*right, ("public interface TypeAdapterFactory {", "interface TypeAdapterFactory {")),
            (*right, ("TypeToken<T> type);", "TypeToken<T> type) throws Exception;")),
        ),
    ),
    Case(
        id="java-jsoup_attribute-boolean",
        file=ATTRIBUTE,
        kind="add-item",
        instruction='Add "playsinline" to booleanAttributes and keep the order alphabetical',
        right=(
            right := (('"open", "readonly",', '"open", "playsinline", "readonly",'),)
        ),
        where=("Attribute.booleanAttributes",),
        asked=(
            contains("Attribute.booleanAttributes", r'"nowrap",\s*"open",\s*"playsinline",\s*"readonly",\s*"required"'),
        ),
        keeps=(only("Attribute.booleanAttributes", ('"open", ', '"open", "playsinline", ')),),
        spoilt=(
            (('"sortable", "truespeed", "typemustmatch"', '"sortable", "truespeed", "typemustmatch", "playsinline"'),),
            (*right, ('"hidden", "inert", ', '"hidden", ')),
        ),
    ),
    Case(
        id="java-jsoup_attribute-null_key",
        file=ATTRIBUTE,
        kind="guard",
        instruction="The static isDataAttribute(String) should return false if key is null",
        right=(
            right := (
                (
                    "return key.startsWith(Attributes.dataPrefix) &&",
                    "return key != null && key.startsWith(Attributes.dataPrefix) &&",
                ),
            )
        ),
        where=("Attribute.isDataAttribute",),
        asked=(
            either(
                contains(
                    "Attribute.isDataAttribute",
                    r"return key != null && key\.startsWith\(Attributes\.dataPrefix\)|"
                    r"key == null \? false :|key != null \?",
                ),
                contains(
                    "Attribute.isDataAttribute",
                    r"if \(key == null\)\s*\{?\s*return false;\s*\}?\s*return key\.startsWith",
                ),
            ),
            contains("Attribute.isDataAttribute", r"key\.length\(\) > Attributes\.dataPrefix\.length\(\)"),
            contains("Attribute.isDataAttribute", r"return isDataAttribute\(key\);"),
        ),
        keeps=(keeps_lines("Attribute.isDataAttribute", r"key\.startsWith"),),
        spoilt=(
            (
                (
                    "return key.startsWith(Attributes.dataPrefix) &&",
                    "return key == null || key.startsWith(Attributes.dataPrefix) &&",
                ),
            ),
            (
                *right,
                ("        return Objects.hash(key, val);", "        return Objects.hash(val, key);"),
            ),
        ),
    ),
    Case(
        id="java-jsoup_attribute-clone_error",
        file=ATTRIBUTE,
        kind="wrap-error",
        instruction="clone should throw new AssertionError(e) instead of a RuntimeException",
        right=(right := (("throw new RuntimeException(e);", "throw new AssertionError(e);"),)),
        where=("Attribute.clone",),
        asked=(
            contains("Attribute.clone", r"catch \(CloneNotSupportedException e\) \{\s*throw new AssertionError\(e\);"),
            lacks("Attribute.clone", r"RuntimeException"),
        ),
        keeps=(keeps_lines("Attribute.clone", r"RuntimeException"),),
        spoilt=(
            (("throw new RuntimeException(e);", "throw new AssertionError();"),),
            (*right, ("            return (Attribute) super.clone();", "            return new Attribute(key, val, parent);")),
        ),
    ),
    Case(
        id="java-jsoup_attribute-invert",
        file=ATTRIBUTE,
        kind="invert-condition",
        instruction='In prefix() invert the condition: if pos is not -1 return the substring, else ""',
        right=(
            right := (
                (
                    '        if (pos == -1) return "";\n        else return key.substring(0, pos);\n',
                    '        if (pos != -1) return key.substring(0, pos);\n        else return "";\n',
                ),
            )
        ),
        where=("Attribute.prefix",),
        asked=(
            contains(
                "Attribute.prefix",
                r"if \(pos (?:!= -1|>= 0|> -1)\)\s*\{?\s*return key\.substring\(0, pos\);\s*\}?\s*(?:else)?\s*\{?\s*return \"\";|"
                r"return pos (?:!= -1|>= 0|> -1) \? key\.substring\(0, pos\) : \"\";",
            ),
            lacks("Attribute.prefix", r"pos == -1"),
        ),
        keeps=(keeps_lines("Attribute.prefix", r"return|^[{}]"),),
        spoilt=(
            (("        if (pos == -1) return \"\";\n", "        if (pos != -1) return \"\";\n"),),
            (
                *right,
                (
                    "        if (pos == -1) return key;\n        else return key.substring(pos + 1);\n",
                    "        if (pos != -1) return key.substring(pos + 1);\n        else return key;\n",
                ),
            ),
        ),
    ),
    Case(
        id="java-jsoup_cleaner-rename_tag",
        file=CLEANER,
        kind="rename-local",
        instruction="In createSafeElement rename sourceTag to tagName",
        right=(
            right := (
                ("String sourceTag = sourceEl.tagName();", "String tagName = sourceEl.tagName();"),
                ("safelist.isSafeAttribute(sourceTag,", "safelist.isSafeAttribute(tagName,"),
                ("safelist.shouldAbsUrl(sourceTag, key)", "safelist.shouldAbsUrl(tagName, key)"),
                ("safelist.getEnforcedAttributes(sourceTag)", "safelist.getEnforcedAttributes(tagName)"),
            )
        ),
        where=("Cleaner.createSafeElement",),
        asked=(
            lacks("Cleaner.createSafeElement", r"\bsourceTag\b"),
            contains("Cleaner.createSafeElement", r"String tagName = sourceEl\.tagName\(\);"),
            contains("Cleaner.createSafeElement", r"isSafeAttribute\(tagName,"),
            contains("Cleaner.createSafeElement", r"shouldAbsUrl\(tagName, key\)"),
            contains("Cleaner.createSafeElement", r"getEnforcedAttributes\(tagName\)"),
        ),
        keeps=(
            only("Cleaner.createSafeElement", (r"\bsourceTag\b", "tagName")),
            keeps_lines("Cleaner.createSafeElement", r"\bsourceTag\b"),
        ),
        spoilt=(
            right[:3],
            (*right, ("            destAttrs.removeIgnoreCase(enforcedAttr.getKey());\n", "")),
            (*right, ("// clear all non-internal attributes, ready for safe copy", "// clear the attributes")),
        ),
    ),
    Case(
        id="java-jsoup_document-padding",
        file=DOCUMENT,
        kind="default",
        instruction="Change the default of maxPaddingWidth from 30 to 80; the Javadoc names it, too",
        right=(
            right := (
                ("private int maxPaddingWidth = 30;", "private int maxPaddingWidth = 80;"),
                ("Default is 30 and -1 means unlimited.", "Default is 80 and -1 means unlimited."),
            )
        ),
        where=("OutputSettings.maxPaddingWidth",),
        asked=(
            contains("OutputSettings.maxPaddingWidth", r"private int maxPaddingWidth = 80;"),
            mentions(None, r"Default is 80 and -1 means unlimited"),
            omits(None, r"Default is 30"),
        ),
        keeps=(keeps_lines("OutputSettings.maxPaddingWidth", r"maxPaddingWidth = 30|Default is 30"),),
        spoilt=(
            right[:1],
            (*right, ("private int indentAmount = 1;", "private int indentAmount = 4;")),
            (*right, ("Validate.isTrue(maxPaddingWidth >= -1);", "Validate.isTrue(maxPaddingWidth >= 0);")),
        ),
    ),
    Case(
        id="java-jsoup_document-charset_null",
        file=DOCUMENT,
        kind="guard",
        instruction="OutputSettings.charset(Charset) should check its argument with Validate.notNull",
        right=(
            right := (
                (
                    "        public OutputSettings charset(Charset charset) {\n",
                    "        public OutputSettings charset(Charset charset) {\n"
                    "            Validate.notNull(charset);\n",
                ),
            )
        ),
        where=("OutputSettings.charset",),
        asked=(
            contains(
                "OutputSettings.charset",
                r"OutputSettings charset\(Charset charset\) \{\s*Validate\.notNull\(charset\b.*\);\s*this\.charset = charset;",
            ),
        ),
        keeps=(keeps_lines("OutputSettings.charset"),),
        spoilt=(
            (
                (
                    "        public OutputSettings charset(String charset) {\n",
                    "        public OutputSettings charset(String charset) {\n"
                    "            Validate.notNull(charset);\n",
                ),
            ),
            (
                (
                    "    public void charset(Charset charset) {\n",
                    "    public void charset(Charset charset) {\n        Validate.notNull(charset);\n",
                ),
            ),
            (*right, ("            charset(Charset.forName(charset));\n", "            this.charset = Charset.forName(charset);\n")),
        ),
    ),
    Case(
        id="java-jsoup_document-connection",
        file=DOCUMENT,
        kind="simplify",
        instruction="Write connection() with the conditional operator instead of if and else",
        right=(
            right := (
                (
                    "        if (connection == null)\n            return Jsoup.newSession();\n        else\n"
                    "            return connection;\n",
                    "        return connection == null ? Jsoup.newSession() : connection;\n",
                ),
            )
        ),
        where=("Document.connection",),
        asked=(
            contains(
                "Document.connection",
                r"return \(?connection (?:== null\)?\s*\? Jsoup\.newSession\(\)\s*: connection|!= null\)?\s*\? connection\s*: Jsoup\.newSession\(\));",
            ),
            lacks("Document.connection", r"\bif\b|\belse\b"),
        ),
        keeps=(keeps_lines("Document.connection", r"if \(|else|return"),),
        spoilt=(
            (
                (
                    "        if (connection == null)\n            return Jsoup.newSession();\n        else\n"
                    "            return connection;\n",
                    "        return connection != null ? Jsoup.newSession() : connection;\n",
                ),
            ),
            (
                *right,
                (
                    "    private @Nullable Connection connection; // the connection this doc was fetched from, if any\n",
                    "    private @Nullable Connection connection;\n",
                ),
            ),
        ),
    ),
    Case(
        id="java-jsoup_document-doc_quirks",
        file=DOCUMENT,
        kind="doc-all",
        instruction="The enum QuirksMode and both quirksMode methods have no Javadoc. Add it",
        right=(
            right := (
                ("    public enum QuirksMode {", "    /** The quirks modes. */\n    public enum QuirksMode {"),
                (
                    "    public QuirksMode quirksMode() {",
                    "    /**\n     Get the quirks mode.\n     @return the mode\n     */\n"
                    "    public QuirksMode quirksMode() {",
                ),
                (
                    "    public Document quirksMode(QuirksMode quirksMode) {",
                    "    /**\n     Set the quirks mode.\n     @param quirksMode the mode\n     @return this\n     */\n"
                    "    public Document quirksMode(QuirksMode quirksMode) {",
                ),
            )
        ),
        where=("doc:Document.QuirksMode", "doc:Document.quirksMode"),
        asked=(
            mentions(None, r"\*/\s*public enum QuirksMode \{"),
            mentions(None, r"\*/\s*public QuirksMode quirksMode\(\) \{"),
            mentions(None, r"\*/\s*public Document quirksMode\(QuirksMode quirksMode\) \{"),
        ),
        keeps=(keeps_code(None),),
        spoilt=(
            right[:2],
            right[1:],
            (*right, ("        noQuirks, quirks, limitedQuirks", "        noQuirks, quirks")),
        ),
    ),
    Case(
        id="java-gson_rest-remove_getter",
        file="commits/google_gson/7a115785b7",
        kind="remove-method",
        instruction="getHttpMethod does the same as getMethod. Remove it",
        right=(
            right := (
                (
                    "  public HttpMethod getHttpMethod() {\r\n    return method;\r\n  }\r\n\r\n",
                    "",
                ),
            )
        ),
        where=("RestRequest.getHttpMethod",),
        asked=(
            drops("RestRequest.getHttpMethod"),
            contains("RestRequest.getMethod", r"return method;"),
        ),
        spoilt=(
            (
                (
                    "  public HttpMethod getMethod() {\r\n    return method;\r\n  }\r\n\r\n",
                    "",
                ),
            ),
            (*right, ("  public R getBody() {\r\n    return body;\r\n  }\r\n\r\n", "")),
            (*right, ('"{method:%s,headers:%s,body:%s}"', '"{method:%s, headers:%s, body:%s}"')),
        ),
    ),
    Case(
        id="java-gson_rest-default_header",
        file="commits/google_gson/7a115785b7",
        kind="missing-key",
        instruction="Add a method getHeaderOrDefault(String headerName, T defaultValue), generic like "
        "getHeader, that returns defaultValue when there is no such header",
        right=(
            right := (
                (
                    "    return (T) headers.get(headerName);\r\n  }\r\n",
                    "    return (T) headers.get(headerName);\r\n  }\r\n\r\n"
                    '  @SuppressWarnings("unchecked")\r\n'
                    "  public <T> T getHeaderOrDefault(String headerName, T defaultValue) {\r\n"
                    "    T value = (T) headers.get(headerName);\r\n"
                    "    return value == null ? defaultValue : value;\r\n  }\r\n",
                ),
            )
        ),
        where=("new:RestRequest",),
        asked=(
            contains(
                "RestRequest.getHeaderOrDefault",
                r"public <T> T getHeaderOrDefault\(\s*String headerName,\s*T defaultValue\s*\)",
            ),
            contains("RestRequest.getHeaderOrDefault", r"headers\.get\(headerName\)|getHeader\(headerName\)"),
            either(
                contains("RestRequest.getHeaderOrDefault", r"\b\w+ == null\s*\? defaultValue\s*: |!= null\s*\? [^;:]*: defaultValue;"),
                contains("RestRequest.getHeaderOrDefault", r"== null\)\s*\{?\s*return defaultValue;"),
                contains("RestRequest.getHeaderOrDefault", r"!= null\)\s*\{?\s*return [\s\S]*return defaultValue;"),
                contains("RestRequest.getHeaderOrDefault", r"Optional\.ofNullable\([\s\S]*\.orElse\(defaultValue\)"),
            ),
        ),
        spoilt=(
            (
                ("public <T> T getHeader(String headerName) {", "public <T> T getHeaderOrDefault(String headerName, T defaultValue) {"),
            ),
            (
                (
                    "    return (T) headers.get(headerName);\r\n  }\r\n",
                    "    return (T) headers.get(headerName);\r\n  }\r\n\r\n"
                    "  public <T> T getHeaderOrDefault(String headerName, T defaultValue) {\r\n"
                    "    return (T) headers.get(headerName);\r\n  }\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="java-jsoup_old-html_typo",
        file="commits/jhy_jsoup/050c5b2c4e",
        kind="comments",
        instruction='Fix the typo "HMTL" in the comment of createFromEncoded',
        right=(right := (("a HMTL attribute encoded value", "a HTML attribute encoded value"),)),
        where=("comments",),
        asked=(
            mentions("Attribute.createFromEncoded", r"an? HTML attribute encoded value\."),
            omits(None, r"HMTL"),
        ),
        keeps=(keeps_code(None),),
        spoilt=(
            (("a HMTL attribute encoded value", "a Html attribute encoded value"),),
            (*right, ("String unencodedKey, String encodedValue) {", "String key, String encodedValue) {")),
        ),
    ),
    Case(
        id="java-jsoup_old-hash",
        file="commits/jhy_jsoup/050c5b2c4e",
        kind="convert",
        instruction="hashCode should use Objects.hash(key, value) from java.util.Objects",
        right=(
            right := (
                (
                    "        int result = key != null ? key.hashCode() : 0;\n"
                    "        result = 31 * result + (value != null ? value.hashCode() : 0);\n"
                    "        return result;\n",
                    "        return Objects.hash(key, value);\n",
                ),
                ("import java.util.Map;\n", "import java.util.Map;\nimport java.util.Objects;\n"),
            )
        ),
        where=("Attribute.hashCode",),
        asked=(
            contains("Attribute.hashCode", r"return Objects\.hash\(key, value\);"),
            lacks("Attribute.hashCode", r"31|\bresult\b"),
            imports("Objects"),
        ),
        keeps=(keeps_lines("Attribute.hashCode", r"result"),),
        spoilt=(
            right[:1],
            (
                *right,
                ("        if (!(o instanceof Attribute)) return false;\n", "        if (o == null || getClass() != o.getClass()) return false;\n"),
            ),
        ),
    ),
    Case(
        id="java-rewrite_types-as_variable",
        file="commits/openrewrite_rewrite/0bd85b0018",
        kind="add-method",
        instruction="Add asVariable for JavaType.Variable, in the same way as asMethod",
        right=(
            right := (
                (
                    "    @Nullable\n    public static JavaType.Primitive asPrimitive(",
                    "    @Nullable\n    public static JavaType.Variable asVariable(@Nullable JavaType type) {\n"
                    "        return type instanceof JavaType.Variable ? (JavaType.Variable) type : null;\n    }\n\n"
                    "    @Nullable\n    public static JavaType.Primitive asPrimitive(",
                ),
            )
        ),
        where=("new:TypeUtils",),
        asked=(
            contains("TypeUtils.asVariable", r"@Nullable\s+public static JavaType\.Variable asVariable\(@Nullable JavaType type\)"),
            contains("TypeUtils.asVariable", r"return type instanceof JavaType\.Variable \? \(JavaType\.Variable\) type : null;"),
        ),
        spoilt=(
            (
                ("JavaType.Method asMethod(", "JavaType.Variable asVariable("),
                ("type instanceof JavaType.Method ? (JavaType.Method) type", "type instanceof JavaType.Variable ? (JavaType.Variable) type"),
            ),
            (
                (
                    "    @Nullable\n    public static JavaType.Primitive asPrimitive(",
                    "    public static JavaType.Variable asVariable(@Nullable JavaType type) {\n"
                    "        return (JavaType.Variable) type;\n    }\n\n"
                    "    @Nullable\n    public static JavaType.Primitive asPrimitive(",
                ),
            ),
        ),
    ),
    Case(
        id="java-rewrite_types-string_name",
        file="commits/openrewrite_rewrite/0bd85b0018",
        kind="extract",
        instruction='Put "java.lang.String" in isString into a private static final constant STRING_NAME',
        right=(
            right := (
                (
                    "public class TypeUtils {\n",
                    'public class TypeUtils {\n    private static final String STRING_NAME = "java.lang.String";\n\n',
                ),
                ('"java.lang.String".equals(', "STRING_NAME.equals("),
            )
        ),
        where=("new:TypeUtils", "TypeUtils.isString"),
        asked=(
            contains("TypeUtils.STRING_NAME", r'private static final String STRING_NAME = "java\.lang\.String";'),
            contains("TypeUtils.isString", r"STRING_NAME\.equals\(|\.equals\(STRING_NAME\)"),
            lacks("TypeUtils.isString", r'"java\.lang\.String"'),
        ),
        keeps=(keeps_lines("TypeUtils.isString", r"java\.lang\.String"),),
        spoilt=(
            right[1:],
            right[:1],
            (*right, ("return type == JavaType.Primitive.String ||", "return type != JavaType.Primitive.String ||")),
        ),
    ),
    Case(
        id="java-rewrite_yaml-start",
        file="commits/openrewrite_rewrite/ffc4639ab2",
        kind="extract",
        instruction='Introduce a private static final constant DOCUMENT_START for "---" in YamlPrinter',
        right=(
            right := (
                (
                    "extends YamlVisitor<PrintOutputCapture<P>> {\n",
                    "extends YamlVisitor<PrintOutputCapture<P>> {\n"
                    '    private static final String DOCUMENT_START = "---";\n',
                ),
                ('p.append("---");', "p.append(DOCUMENT_START);"),
            )
        ),
        where=("new:YamlPrinter", "YamlPrinter.visitDocument"),
        asked=(
            contains("YamlPrinter.DOCUMENT_START", r'private static final String DOCUMENT_START = "---";'),
            contains("YamlPrinter.visitDocument", r"p\.append\(DOCUMENT_START\);"),
            lacks("YamlPrinter.visitDocument", r'"---"'),
        ),
        keeps=(keeps_lines("YamlPrinter.visitDocument", r'"---"'),),
        spoilt=(
            right[1:],
            right[:1],
            (*right, ('p.append("...");', 'p.append(DOCUMENT_START);')),
        ),
    ),
    Case(
        id="java-rewrite_assertions-doc",
        file="commits/openrewrite_rewrite/9a4f0dcedc",
        kind="doc-one",
        instruction="Add a Javadoc comment to the class Assertions",
        right=(
            right := (
                (
                    "public class Assertions {",
                    "/**\n * Source specifications of protobuf for tests.\n */\npublic class Assertions {",
                ),
            )
        ),
        where=("doc:Assertions",),
        asked=(mentions(None, r"/\*\*(?:(?!\*/)[\s\S])*\*/\s*public class Assertions \{"),),
        keeps=(keeps_code(None),),
        spoilt=(
            (("    private Assertions() {", "    /** Source specifications. */\n    private Assertions() {"),),
            (*right, ("    private Assertions() {", "    public Assertions() {")),
            (*right, ("            return new ProtoParser();", "            return null;")),
            (*right, ("\"protobuf\", new DslParserBuilder(Proto", "\"proto\", new DslParserBuilder(Proto")),
        ),
    ),
)
