"""Edits of C# files; many of them have CRLF line ends and a byte order mark."""

from benchmarks.edits.case import Case, Replacements
from benchmarks.edits.checkers import (
    before,
    contains,
    either,
    keeps_lines,
    lacks,
    mentions,
    omits,
    only,
    parameters,
)

TYPE_MAP = "files/csharp/Dapper__DefaultTypeMap.cs"
READER = "files/csharp/Dapper__WrappedReader.cs"
PARAMETERS = "files/csharp/Dapper__DynamicParameters.cs"
RULE = "files/csharp/FluentValidation__RuleBase.cs"
EVENT = "files/csharp/serilog__LogEvent.cs"
RENDERER = "files/csharp/serilog__MessageTemplateRenderer.cs"
CONVERTER = "files/csharp/serilog__PropertyValueConverter.cs"
right: Replacements  # of the case at hand, for its spoilt answers

CASES = (
    Case(
        id="csharp-dapper_map-message",
        file=TYPE_MAP,
        kind="message",
        instruction='Change "Property setting not found for: " to "Property setter not found for: "',
        right=(
            right := (
                ('"Property setting not found for: "', '"Property setter not found for: "'),
            )
        ),
        where=("DefaultTypeMap.GetPropertySetterOrThrow",),
        asked=(
            contains("DefaultTypeMap.GetPropertySetterOrThrow", r'"Property setter not found for: '),
            lacks(None, r"Property setting not found"),
        ),
        keeps=(keeps_lines("DefaultTypeMap.GetPropertySetterOrThrow", r"Property setting"),),
        spoilt=(
            (('"Property setting not found for: "', '"No property setter for: "'),),
            (
                *right,
                ('"Constructor parameter not found for "', '"Constructor parameter not found for: "'),
            ),
            (*right, ("            _type = type;\r\n", "")),
        ),
    ),
    Case(
        id="csharp-dapper_map-guard_names",
        file=TYPE_MAP,
        kind="guard",
        instruction="FindConstructor should throw an ArgumentNullException if names is null",
        right=(
            right := (
                (
                    "FindConstructor(string[] names, Type[] types)\r\n        {\r\n",
                    "FindConstructor(string[] names, Type[] types)\r\n        {\r\n"
                    "            if (names is null) throw new ArgumentNullException(nameof(names));\r\n",
                ),
            )
        ),
        where=("DefaultTypeMap.FindConstructor",),
        asked=(
            contains(
                "DefaultTypeMap.FindConstructor",
                r"if \(names (?:is|==) null\)\s*\{?\s*throw new ArgumentNullException\(\s*(?:nameof\(names\)|\"names\")|"
                r"ArgumentNullException\.ThrowIfNull\(names\b",
            ),
            before("DefaultTypeMap.FindConstructor", r"ArgumentNullException", r"ctorParameters"),
        ),
        keeps=(keeps_lines("DefaultTypeMap.FindConstructor"),),
        spoilt=(
            (
                (
                    "FindConstructor(string[] names, Type[] types)\r\n        {\r\n",
                    "FindConstructor(string[] names, Type[] types)\r\n        {\r\n"
                    "            if (types is null) throw new ArgumentNullException(nameof(types));\r\n",
                ),
            ),
            (*right, ("if (ctorParameters.Length != types.Length)", "if (ctorParameters.Length > types.Length)")),
            (*right, ("    { } // exact match\r\n", "    { }\r\n")),
        ),
    ),
    Case(
        id="csharp-dapper_map-expression_body",
        file=TYPE_MAP,
        kind="convert",
        instruction="Turn GetSettableFields into a method with an expression body",
        right=(
            right := (
                (
                    "GetSettableFields(Type t)\r\n        {\r\n            return t.GetFields("
                    "BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);\r\n"
                    "        }\r\n",
                    "GetSettableFields(Type t)\r\n            => t.GetFields("
                    "BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);\r\n",
                ),
            )
        ),
        where=("DefaultTypeMap.GetSettableFields",),
        asked=(
            contains(
                "DefaultTypeMap.GetSettableFields",
                r"private static FieldInfo\[\] GetSettableFields\(Type t\)\s*=>\s*t\s*\.GetFields\(\s*"
                r"BindingFlags\.Public \| BindingFlags\.NonPublic \| BindingFlags\.Instance\s*\);",
            ),
            lacks("DefaultTypeMap.GetSettableFields", r"\breturn\b"),
        ),
        spoilt=(
            (
                (
                    "GetSettableFields(Type t)\r\n        {\r\n            return t.GetFields("
                    "BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);\r\n"
                    "        }\r\n",
                    "GetSettableFields(Type t)\r\n            => t.GetFields("
                    "BindingFlags.Public | BindingFlags.Instance);\r\n",
                ),
            ),
            (
                *right,
                (
                    "            if (withAttr.Count == 1)\r\n            {\r\n"
                    "                return withAttr[0];\r\n            }\r\n",
                    "            if (withAttr.Count == 1) return withAttr[0];\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-dapper_map-rename_with_attr",
        file=TYPE_MAP,
        kind="rename-local",
        instruction="Rename the local withAttr in FindExplicitConstructor to explicitConstructors",
        right=(
            right := (
                ("var withAttr = constructors", "var explicitConstructors = constructors"),
                ("if (withAttr.Count == 1)", "if (explicitConstructors.Count == 1)"),
                ("return withAttr[0];", "return explicitConstructors[0];"),
            )
        ),
        where=("DefaultTypeMap.FindExplicitConstructor",),
        asked=(
            contains("DefaultTypeMap.FindExplicitConstructor", r"\bvar explicitConstructors = constructors"),
            contains("DefaultTypeMap.FindExplicitConstructor", r"explicitConstructors\.Count == 1"),
            contains("DefaultTypeMap.FindExplicitConstructor", r"return explicitConstructors\[0\]"),
            lacks("DefaultTypeMap.FindExplicitConstructor", r"\bwithAttr\b"),
        ),
        keeps=(
            only("DefaultTypeMap.FindExplicitConstructor", (r"\bwithAttr\b", "explicitConstructors")),
            keeps_lines("DefaultTypeMap.FindExplicitConstructor", r"\bwithAttr\b"),
        ),
        spoilt=(
            right[:2],
            (*right, ("typeof(ExplicitConstructorAttribute), true)", "typeof(ExplicitConstructorAttribute), false)")),
        ),
    ),
    Case(
        id="csharp-dapper_reader-records",
        file=READER,
        kind="constant",
        instruction="DisposedReader.RecordsAffected should be 0 instead of -1",
        right=(right := (("RecordsAffected => -1;", "RecordsAffected => 0;"),)),
        where=("DisposedReader.RecordsAffected",),
        asked=(
            contains("DisposedReader.RecordsAffected", r"public override int RecordsAffected => 0;"),
        ),
        spoilt=(
            (("RecordsAffected => -1;", "RecordsAffected => 1;"),),
            (*right, ("public override int VisibleFieldCount => 0;\r\n", "\r\n")),
        ),
    ),
    Case(
        id="csharp-dapper_reader-bool_closed",
        file=READER,
        kind="comments",
        instruction='Write "garbage in, garbage out" instead of the abbreviation GIGO in the comment',
        right=(right := (("return null!; // GIGO", "return null!; // garbage in, garbage out"),)),
        where=("comments",),
        asked=(
            mentions("DbWrappedReader.Create", r"return null!; // garbage in, garbage out"),
            omits("DbWrappedReader.Create", r"\bGIGO\b"),
        ),
        spoilt=(
            (("return null!; // GIGO", "return null!; // GIGO: garbage in, garbage out"),),
            (("return null!; // GIGO", "return null; // garbage in, garbage out"),),
        ),
    ),
    Case(
        id="csharp-dapper_parameters-dollar",
        file=PARAMETERS,
        kind="add-case",
        instruction="Clean should remove a leading '$' as well",
        right=(
            right := (
                (
                    "                    case '?':\r\n",
                    "                    case '?':\r\n                    case '$':\r\n",
                ),
            )
        ),
        where=("DynamicParameters.Clean",),
        asked=(
            contains("DynamicParameters.Clean", r"case '\$'|or '\$'|== '\$'|\"[^\"]*\$[^\"]*\""),
            contains("DynamicParameters.Clean", r"name\.Substring\(1\)|name\[1\.\.\]"),
        ),
        keeps=(keeps_lines("DynamicParameters.Clean"),),
        spoilt=(
            (("                    case '?':\r\n", "                    case '$':\r\n"),),
            (
                (
                    "                        return name.Substring(1);\r\n",
                    "                        return name.Substring(1);\r\n"
                    "                    case '$':\r\n                        return name;\r\n",
                ),
                ("                    case '@':\r\n", ""),
            ),
        ),
    ),
    Case(
        id="csharp-dapper_parameters-capital",
        file=PARAMETERS,
        kind="comments",
        instruction='The doc comments of both constructors should begin with a capital letter: '
        '"Construct a dynamic parameter bag"',
        right=(
            right := (
                (
                    "/// construct a dynamic parameter bag\r\n        /// </summary>\r\n        public",
                    "/// Construct a dynamic parameter bag\r\n        /// </summary>\r\n        public",
                ),
                (
                    "/// construct a dynamic parameter bag\r\n        /// </summary>\r\n        /// <param",
                    "/// Construct a dynamic parameter bag\r\n        /// </summary>\r\n        /// <param",
                ),
            )
        ),
        where=("comments",),
        asked=(
            mentions(
                None,
                r"/// Construct a dynamic parameter bag[\s\S]*/// Construct a dynamic parameter bag",
            ),
            omits(None, r"/// construct a dynamic"),
        ),
        spoilt=(
            right[:1],
            (*right, ("        private List<object>? templates;", "        private List<object> templates;")),
        ),
    ),
    Case(
        id="csharp-fluent_rule-dependent",
        file=RULE,
        kind="add-method",
        instruction="Add a property HasDependentRules behind HasAsyncCondition. It is true when "
        "DependentRules is not null",
        right=(
            right := (
                (
                    "\tpublic bool HasAsyncCondition => AsyncCondition != null;\r\n",
                    "\tpublic bool HasAsyncCondition => AsyncCondition != null;\r\n\r\n"
                    "\t/// <summary>\r\n\t/// Whether there are dependent rules.\r\n\t/// </summary>\r\n"
                    "\tpublic bool HasDependentRules => DependentRules != null;\r\n",
                ),
            )
        ),
        where=("new:RuleBase",),
        asked=(
            contains("RuleBase.HasDependentRules", r"public bool HasDependentRules\b"),
            contains(
                "RuleBase.HasDependentRules",
                r"(?:=>|return)\s*\(?DependentRules (?:!= null|is not null|is \{ \})",
            ),
            before(None, r"bool HasAsyncCondition\b", r"bool HasDependentRules\b"),
            before(None, r"bool HasDependentRules\b", r"CascadeMode CascadeMode\b"),
        ),
        spoilt=(
            (
                (
                    "\tpublic bool HasAsyncCondition => AsyncCondition != null;\r\n",
                    "\tpublic bool HasDependentRules => DependentRules != null;\r\n",
                ),
            ),
            (
                (
                    "\tpublic bool HasAsyncCondition => AsyncCondition != null;\r\n",
                    "\tpublic bool HasAsyncCondition => AsyncCondition != null;\r\n\r\n"
                    "\tpublic bool HasDependentRules => DependentRules == null;\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-fluent_rule-guard_validator",
        file=RULE,
        kind="guard",
        instruction="AddValidator should reject a null validator with ArgumentNullException.ThrowIfNull, "
        "as SetDisplayName does",
        right=(
            right := (
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(validator);\r\n",
                    "\t\tArgumentNullException.ThrowIfNull(validator);\r\n"
                    "\t\tvar component = new RuleComponent<T, TValue>(validator);\r\n",
                ),
            )
        ),
        where=("RuleBase.AddValidator",),
        asked=(
            contains(
                "RuleBase.AddValidator",
                r"ArgumentNullException\.ThrowIfNull\(validator(?:, nameof\(validator\))?\);",
            ),
            before("RuleBase.AddValidator", r"ThrowIfNull", r"new RuleComponent"),
        ),
        keeps=(keeps_lines("RuleBase.AddValidator"),),
        spoilt=(
            (
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n",
                    "\t\tArgumentNullException.ThrowIfNull(asyncValidator);\r\n"
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n",
                ),
            ),
            (
                *right,
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n",
                    "\t\tArgumentNullException.ThrowIfNull(asyncValidator);\r\n"
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-fluent_rule-inline",
        file=RULE,
        kind="inline",
        instruction="Inline the local variable component in AddValidator",
        right=(
            right := (
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(validator);\r\n"
                    "\t\t_components.Add(component);\r\n",
                    "\t\t_components.Add(new RuleComponent<T, TValue>(validator));\r\n",
                ),
            )
        ),
        where=("RuleBase.AddValidator",),
        asked=(
            contains(
                "RuleBase.AddValidator",
                r"_components\.Add\(new(?: RuleComponent<T, TValue>)?\(validator\)\);",
            ),
            lacks("RuleBase.AddValidator", r"\bcomponent\b"),
        ),
        spoilt=(
            (
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n"
                    "\t\t_components.Add(component);\r\n",
                    "\t\t_components.Add(new RuleComponent<T, TValue>(asyncValidator, fallback));\r\n",
                ),
            ),
            (
                *right,
                (
                    "\t\tvar component = new RuleComponent<T, TValue>(asyncValidator, fallback);\r\n"
                    "\t\t_components.Add(component);\r\n",
                    "\t\t_components.Add(new RuleComponent<T, TValue>(asyncValidator, fallback));\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-serilog_event-remove_bool",
        file=EVENT,
        kind="return-value",
        instruction="RemovePropertyIfPresent should return whether a property was removed; add a "
        "<returns> to its comment",
        right=(
            right := (
                (
                    '    /// <param name="propertyName">The name of the property to remove.</param>\n'
                    "    public void RemovePropertyIfPresent(",
                    '    /// <param name="propertyName">The name of the property to remove.</param>\n'
                    "    /// <returns>True if the property was removed.</returns>\n"
                    "    public bool RemovePropertyIfPresent(",
                ),
                (
                    "        _properties.Remove(propertyName);\n",
                    "        return _properties.Remove(propertyName);\n",
                ),
            )
        ),
        where=("LogEvent.RemovePropertyIfPresent",),
        asked=(
            contains("LogEvent.RemovePropertyIfPresent", r"public bool RemovePropertyIfPresent\("),
            contains(
                "LogEvent.RemovePropertyIfPresent", r"(?:return|=>)\s*_properties\.Remove\(propertyName\)"
            ),
            mentions("LogEvent.RemovePropertyIfPresent", r"/// <returns>"),
        ),
        keeps=(keeps_lines("LogEvent.RemovePropertyIfPresent", r"public void|_properties|^[{}]"),),
        spoilt=(
            right[1:],
            (
                ("    public void RemovePropertyIfPresent(", "    public bool RemovePropertyIfPresent("),
                right[1],
            ),
            (*right, ("    public void AddOrUpdateProperty(LogEventProperty", "    public bool AddOrUpdateProperty(LogEventProperty")),
        ),
    ),
    Case(
        id="csharp-serilog_event-contains",
        file=EVENT,
        kind="add-method",
        instruction="Add a public method ContainsProperty(string propertyName) to LogEvent behind "
        "RemovePropertyIfPresent, with a doc comment",
        right=(
            right := (
                (
                    "        _properties.Remove(propertyName);\n    }\n",
                    "        _properties.Remove(propertyName);\n    }\n\n    /// <summary>\n"
                    "    /// Whether the event has a property.\n    /// </summary>\n"
                    "    public bool ContainsProperty(string propertyName)\n    {\n"
                    "        return _properties.ContainsKey(propertyName);\n    }\n",
                ),
            )
        ),
        where=("new:LogEvent",),
        asked=(
            contains("LogEvent.ContainsProperty", r"public bool ContainsProperty\(string propertyName\)"),
            contains(
                "LogEvent.ContainsProperty",
                r"(?:_properties|Properties)\.(?:ContainsKey|TryGetValue)\(\s*propertyName\b",
            ),
            mentions("LogEvent.ContainsProperty", r"/// "),
        ),
        spoilt=(
            (
                (
                    "        _properties.Remove(propertyName);\n    }\n",
                    "        _properties.Remove(propertyName);\n    }\n\n"
                    "    public bool ContainsProperty(string propertyName)\n    {\n"
                    "        return _properties.ContainsKey(propertyName);\n    }\n",
                ),
            ),
            (("    public void RemovePropertyIfPresent(", "    public void ContainsProperty("),),
            (*right, ("internal LogEvent Copy()", "public LogEvent Copy()")),
        ),
    ),
    Case(
        id="csharp-serilog_renderer-rename_ti",
        file=RENDERER,
        kind="rename-local",
        instruction="Rename the loop variable ti of Render to tokenIndex",
        right=(
            right := (
                (
                    "for (var ti = 0; ti < messageTemplate.TokenArray.Length; ++ti)",
                    "for (var tokenIndex = 0; tokenIndex < messageTemplate.TokenArray.Length; ++tokenIndex)",
                ),
                ("messageTemplate.TokenArray[ti]", "messageTemplate.TokenArray[tokenIndex]"),
            )
        ),
        where=("MessageTemplateRenderer.Render",),
        asked=(
            contains("MessageTemplateRenderer.Render", r"var tokenIndex = 0; tokenIndex < messageTemplate"),
            contains("MessageTemplateRenderer.Render", r"TokenArray\[tokenIndex\]"),
            lacks("MessageTemplateRenderer.Render", r"\bti\b"),
        ),
        keeps=(
            only("MessageTemplateRenderer.Render", (r"\bti\b", "tokenIndex")),
            keeps_lines("MessageTemplateRenderer.Render", r"\bti\b"),
        ),
        spoilt=(
            right[:1],
            (*right, ("if (format[i] == 'l')", "if (format[i] == 'L')")),
        ),
    ),
    Case(
        id="csharp-serilog_converter-version",
        file=CONVERTER,
        kind="add-item",
        instruction="Treat System.Version as a scalar: add it to BuiltInScalarTypes",
        right=(
            right := (
                ("typeof(Guid), typeof(Uri),", "typeof(Guid), typeof(Uri), typeof(Version),"),
            )
        ),
        where=("PropertyValueConverter.BuiltInScalarTypes",),
        asked=(contains("PropertyValueConverter.BuiltInScalarTypes", r"typeof\((?:System\.)?Version\)"),),
        keeps=(
            keeps_lines("PropertyValueConverter.BuiltInScalarTypes", r"Guid"),
            contains("PropertyValueConverter.BuiltInScalarTypes", r"typeof\(Guid\),"),
            contains("PropertyValueConverter.BuiltInScalarTypes", r"typeof\(Uri\),"),
        ),
        spoilt=(
            (("typeof(Guid), typeof(Uri),", "typeof(Guid), typeof(Version),"),),
            (*right, ("            new EnumScalarConversionPolicy(),\n", "")),
        ),
    ),
    Case(
        id="csharp-serilog_converter-minimum",
        file=CONVERTER,
        kind="constant",
        instruction="The constructor should accept a maximumStringLength of 1, too",
        right=(
            right := (("if (maximumStringLength < 2) throw", "if (maximumStringLength < 1) throw"),)
        ),
        where=("PropertyValueConverter.PropertyValueConverter",),
        asked=(
            contains(
                "PropertyValueConverter.PropertyValueConverter",
                r"if \(maximumStringLength (?:< 1|<= 0)\)\s*throw new ArgumentOutOfRangeException\(nameof\(maximumStringLength\)",
            ),
        ),
        keeps=(keeps_lines("PropertyValueConverter.PropertyValueConverter", r"maximumStringLength < 2"),),
        spoilt=(
            (("if (maximumCollectionCount < 1) throw", "if (maximumCollectionCount < 0) throw"),),
            (*right, ("        Guard.AgainstNull(additionalScalarTypes);\n", "")),
        ),
    ),
    Case(
        id="csharp-polly_metrics-guard",
        file="commits/App-vNext_Polly/8eef57464c",
        kind="guard",
        instruction="The constructor of RollingHealthMetrics should throw an "
        "ArgumentOutOfRangeException for a numberOfWindows below 1",
        right=(
            right := (
                (
                    "        _samplingDuration = samplingDuration.Ticks;\n",
                    "        if (numberOfWindows < 1)\n            throw new ArgumentOutOfRangeException("
                    "nameof(numberOfWindows));\n\n        _samplingDuration = samplingDuration.Ticks;\n",
                ),
            )
        ),
        where=("RollingHealthMetrics.RollingHealthMetrics",),
        asked=(
            contains(
                "RollingHealthMetrics.RollingHealthMetrics",
                r"if \(numberOfWindows (?:< 1|<= 0)\)\s*\{?\s*throw new ArgumentOutOfRangeException\(|"
                r"ArgumentOutOfRangeException\.ThrowIf(?:LessThan\(numberOfWindows, |NegativeOrZero\(numberOfWindows)",
            ),
            before(
                "RollingHealthMetrics.RollingHealthMetrics",
                r"ArgumentOutOfRangeException",
                r"/ numberOfWindows",
            ),
        ),
        keeps=(keeps_lines("RollingHealthMetrics.RollingHealthMetrics"),),
        spoilt=(
            (
                (
                    "        _samplingDuration = samplingDuration.Ticks;\n",
                    "        if (numberOfWindows < 0)\n            throw new ArgumentOutOfRangeException("
                    "nameof(numberOfWindows));\n\n        _samplingDuration = samplingDuration.Ticks;\n",
                ),
            ),
            (
                (
                    "        _samplingDuration = samplingDuration.Ticks;\n\n",
                    "        if (numberOfWindows < 1)\n            throw new ArgumentOutOfRangeException("
                    "nameof(numberOfWindows));\n\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-polly_metrics-sum",
        file="commits/App-vNext_Polly/8eef57464c",
        kind="convert",
        instruction="Use Sum of LINQ instead of the foreach loop in GetHealthCount_NeedsLock",
        right=(
            right := (
                (
                    "        int successes = 0;\n        int failures = 0;\n"
                    "        foreach (var window in _windows)\n        {\n"
                    "            successes += window.Successes;\n"
                    "            failures += window.Failures;\n        }\n",
                    "        int successes = _windows.Sum(window => window.Successes);\n"
                    "        int failures = _windows.Sum(window => window.Failures);\n",
                ),
            )
        ),
        where=("RollingHealthMetrics.GetHealthCount_NeedsLock",),
        asked=(
            contains(
                "RollingHealthMetrics.GetHealthCount_NeedsLock",
                r"_windows\.Sum\(\(?(\w+)\)? => \1\.Successes\)",
            ),
            contains(
                "RollingHealthMetrics.GetHealthCount_NeedsLock",
                r"_windows\.Sum\(\(?(\w+)\)? => \1\.Failures\)",
            ),
            lacks("RollingHealthMetrics.GetHealthCount_NeedsLock", r"\bforeach\b|\+="),
            contains("RollingHealthMetrics.GetHealthCount_NeedsLock", r"ActualiseCurrentMetric_NeedsLock\(\);"),
            contains("RollingHealthMetrics.GetHealthCount_NeedsLock", r"StartedAt = _windows\.Peek\(\)\.StartedAt"),
        ),
        keeps=(
            keeps_lines(
                "RollingHealthMetrics.GetHealthCount_NeedsLock", r"successes|failures|foreach|^[{}]$"
            ),
        ),
        spoilt=(
            (
                (
                    "        int successes = 0;\n        int failures = 0;\n"
                    "        foreach (var window in _windows)\n        {\n"
                    "            successes += window.Successes;\n"
                    "            failures += window.Failures;\n        }\n",
                    "        int successes = _windows.Sum(window => window.Successes);\n"
                    "        int failures = _windows.Sum(window => window.Successes);\n",
                ),
            ),
            (*right, ("        ActualiseCurrentMetric_NeedsLock();\n\n        _currentWindow.Failures++;", "        _currentWindow.Failures++;")),
        ),
    ),
    Case(
        id="csharp-fluent_exception-spelling",
        file="commits/FluentValidation_FluentValidation/7e332c77b4",
        kind="rename-method",
        instruction="BuildErrorMesage is misspelled; rename it to BuildErrorMessage",
        right=(
            right := (
                ("base(BuildErrorMesage(errors))", "base(BuildErrorMessage(errors))"),
                ("static string BuildErrorMesage(", "static string BuildErrorMessage("),
            )
        ),
        where=(
            "ValidationException.BuildErrorMesage",
            "ValidationException.ValidationException",
            "new:ValidationException",
        ),
        asked=(
            omits(None, r"BuildErrorMesage"),
            contains(None, r": base\(BuildErrorMessage\(errors\)\)"),
            contains(
                "BuildErrorMessage",
                r"private static string BuildErrorMessage\(IEnumerable<ValidationFailure> errors\)",
            ),
            contains("BuildErrorMessage", r'return "Validation failed: " \+ string\.Join\("", arr\);'),
        ),
        keeps=(keeps_lines("ValidationException.ValidationException", r"BuildErrorMesage"),),
        spoilt=(
            right[1:],
            (*right, ('string.Join("", arr)', "string.Concat(arr)")),
        ),
    ),
    Case(
        id="csharp-fluent_exception-new_line",
        file="commits/FluentValidation_FluentValidation/7e332c77b4",
        kind="constant",
        instruction='Use Environment.NewLine instead of "\\r\\n" in BuildErrorMesage',
        right=(
            right := (
                ('"\\r\\n -- " + x.ErrorMessage', 'Environment.NewLine + " -- " + x.ErrorMessage'),
            )
        ),
        where=("ValidationException.BuildErrorMesage",),
        asked=(
            contains(
                "ValidationException.BuildErrorMesage",
                r'Environment\.NewLine \+ " -- " \+ x\.ErrorMessage|\$"\{Environment\.NewLine\} -- \{x\.ErrorMessage\}"',
            ),
            lacks("ValidationException.BuildErrorMesage", r"\\r\\n"),
        ),
        keeps=(keeps_lines("ValidationException.BuildErrorMesage", r"\\r\\n"),),
        spoilt=(
            (('"\\r\\n -- " + x.ErrorMessage', '"\\n -- " + x.ErrorMessage'),),
            (('"\\r\\n -- " + x.ErrorMessage', '"Environment.NewLine -- " + x.ErrorMessage'),),
            (*right, ("\t    public ValidationException(string message) :", "\t\tpublic ValidationException(string message) :")),
        ),
    ),
    Case(
        id="csharp-fluent_failure-code",
        file="commits/FluentValidation_FluentValidation/5b02c1050a",
        kind="add-field",
        instruction="Add a string property ErrorCode with getter, setter and a doc comment after "
        "CustomState",
        right=(
            right := (
                (
                    "\t\tpublic object CustomState { get; set; }\r\n",
                    "\t\tpublic object CustomState { get; set; }\r\n\r\n\t\t/// <summary>\r\n"
                    "\t\t/// The code of the error.\r\n\t\t/// </summary>\r\n"
                    "\t\tpublic string ErrorCode { get; set; }\r\n",
                ),
            )
        ),
        where=("new:ValidationFailure",),
        asked=(
            contains("ValidationFailure.ErrorCode", r"public string ErrorCode \{\s*get;\s*set;\s*\}"),
            mentions("ValidationFailure.ErrorCode", r"/// "),
            before(None, r"object CustomState", r"string ErrorCode"),
            before(None, r"string ErrorCode", r"string ToString\("),
        ),
        spoilt=(
            (
                (
                    "\t\tpublic object CustomState { get; set; }\r\n",
                    "\t\tpublic object CustomState { get; set; }\r\n"
                    "\t\tpublic string ErrorCode { get; set; }\r\n",
                ),
            ),
            (("public object CustomState { get; set; }", "public string ErrorCode { get; set; }"),),
            (*right, ("public string PropertyName { get; private set; }", "public string PropertyName { get; }")),
        ),
    ),
    Case(
        id="csharp-fluent_failure-to_string",
        file="commits/FluentValidation_FluentValidation/5b02c1050a",
        kind="return-value",
        instruction='ToString should return the PropertyName, ": " and the ErrorMessage',
        right=(
            right := (("\t\t\treturn ErrorMessage;\r\n", '\t\t\treturn PropertyName + ": " + ErrorMessage;\r\n'),)
        ),
        where=("ValidationFailure.ToString",),
        asked=(
            contains(
                "ValidationFailure.ToString",
                r'PropertyName \+ ": " \+ ErrorMessage|\$"\{PropertyName\}: \{ErrorMessage\}"|'
                r'Format\("\{0\}: \{1\}", PropertyName, ErrorMessage\)|Concat\(PropertyName, ": ", ErrorMessage\)',
            ),
        ),
        keeps=(keeps_lines("ValidationFailure.ToString", r"return ErrorMessage|public override|^\}"),),
        spoilt=(
            (("\t\t\treturn ErrorMessage;\r\n", "\t\t\treturn PropertyName + ErrorMessage;\r\n"),),
            (*right, ("\t\t\tErrorMessage = error;\r\n", "\t\t\tErrorMessage = error ?? string.Empty;\r\n")),
        ),
    ),
    Case(
        id="csharp-fluent_spanish-spelling",
        file="commits/FluentValidation_FluentValidation/783fde1fc2",
        kind="message",
        instruction='The plural is "caracteres", not "carácteres". Correct it in all texts',
        right=(
            right := tuple(
                (old, old.replace("carácteres", "caracteres"))
                for old in (
                    "{MaxLength} carácteres. Actualmente tiene {TotalLength} carácteres.\",\r\n\t\t\"MinimumLengthValidator\"",
                    "{MinLength} carácteres. Ingresó {TotalLength} carácteres.",
                    "{MaxLength} carácteres. Ingresó {TotalLength} carácteres.",
                    "longitud de {MaxLength} carácteres. Actualmente tiene {TotalLength} carácteres.",
                    'entre {MinLength} y {MaxLength} carácteres.",',
                    'igual que {MinLength} carácteres.",',
                    'igual que {MaxLength} carácteres.",',
                    'longitud de {MaxLength} carácteres.",',
                )
            )
        ),
        where=("SpanishLanguage.GetTranslation",),
        asked=(
            contains("SpanishLanguage.GetTranslation", r"\bcaracteres\b", 12),
            omits(None, r"carácteres"),
        ),
        keeps=(keeps_lines("SpanishLanguage.GetTranslation", r"carácteres"),),
        spoilt=(
            right[:-1],
            (*right, ("no es una dirección de correo", "no es una direccion de correo")),
        ),
    ),
    Case(
        id="csharp-fluent_spanish-missing_key",
        file="commits/FluentValidation_FluentValidation/783fde1fc2",
        kind="missing-key",
        instruction='Add the translation "\'{PropertyName}\' debe estar entre {From} y {To} (exclusivo)." '
        'for "ExclusiveBetween_Simple"',
        right=(
            right := (
                (
                    "\t\t_ => null,\r\n",
                    '\t\t"ExclusiveBetween_Simple" => "\'{PropertyName}\' debe estar entre {From} y {To} '
                    '(exclusivo).",\r\n\t\t_ => null,\r\n',
                ),
            )
        ),
        where=("SpanishLanguage.GetTranslation",),
        asked=(
            contains(
                "SpanishLanguage.GetTranslation",
                r'"ExclusiveBetween_Simple" => "\'\{PropertyName\}\' debe estar entre \{From\} y \{To\} \(exclusivo\)\.",',
            ),
            before("SpanishLanguage.GetTranslation", r"ExclusiveBetween_Simple", r"_ => null"),
        ),
        keeps=(keeps_lines("SpanishLanguage.GetTranslation"),),
        spoilt=(
            (('"InclusiveBetween_Simple"', '"ExclusiveBetween_Simple"'),),
            (
                (
                    "\t\t_ => null,\r\n",
                    '\t\t"ExclusiveBetween_Simple" => "\'{PropertyName}\' debe estar entre {From} y {To}.",'
                    "\r\n\t\t_ => null,\r\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-humanizer_article-field",
        file="commits/Humanizr_Humanizer/eba5bca0df",
        kind="extract",
        instruction="AppendArticlePrefix creates its regex with every call. Move it into a private "
        "static readonly field ArticleRegex",
        right=(
            right := (
                (
                    "    public static class EnglishArticle\n    {\n",
                    "    public static class EnglishArticle\n    {\n"
                    "        private static readonly Regex ArticleRegex = "
                    'new Regex("^((The)|(the)|(a)|(A)|(An)|(an))\\\\s\\\\w+");\n\n',
                ),
                (
                    '            var regex = new Regex("^((The)|(the)|(a)|(A)|(An)|(an))\\\\s\\\\w+");\n',
                    "",
                ),
                ("if (regex.IsMatch(items[i]))", "if (ArticleRegex.IsMatch(items[i]))"),
            )
        )[::-1],
        where=("new:EnglishArticle", "EnglishArticle.AppendArticlePrefix"),
        asked=(
            contains(
                None,
                r'private static readonly Regex ArticleRegex\s*=\s*new(?: Regex)?\(@?"\^\(\(The\)\|\(the\)\|\(a\)\|\(A\)\|\(An\)\|\(an\)\)\\\\?s\\\\?w\+"',
            ),
            lacks("EnglishArticle.AppendArticlePrefix", r"new Regex\("),
            contains("EnglishArticle.AppendArticlePrefix", r"ArticleRegex\.IsMatch\(items\[i\]\)"),
        ),
        keeps=(keeps_lines("EnglishArticle.AppendArticlePrefix", r"\bregex\b"),),
        spoilt=(
            right[1:],
            (*right[::-1], ("            Array.Sort(transformed);\n", "")),
        ),
    ),
    Case(
        id="csharp-humanizer_article-doc",
        file="commits/Humanizr_Humanizer/eba5bca0df",
        kind="doc-one",
        instruction="Document ToOriginalFormat with an XML comment (summary, params and returns)",
        right=(
            right := (
                (
                    "        private static string ToOriginalFormat(",
                    "        /// <summary>\n        /// Puts the article back in front.\n"
                    '        /// </summary>\n        /// <param name="appended">The strings</param>\n'
                    '        /// <param name="suffix">The article</param>\n'
                    '        /// <param name="i">The index of the string</param>\n'
                    "        /// <returns>The string as it was</returns>\n"
                    "        private static string ToOriginalFormat(",
                ),
            )
        ),
        where=("doc:EnglishArticle.ToOriginalFormat",),
        asked=(
            *(
                mentions(
                    "EnglishArticle.ToOriginalFormat",
                    rf'/// {tag}[\s\S]*private static string ToOriginalFormat\(',
                )
                for tag in (
                    "<summary>",
                    '<param name="appended">',
                    '<param name="suffix">',
                    '<param name="i">',
                    "<returns>",
                )
            ),
        ),
        spoilt=(
            (
                (
                    "        private static string ToOriginalFormat(",
                    "        // Puts the article back in front.\n"
                    "        private static string ToOriginalFormat(",
                ),
            ),
            (*right, ('var original = $"{suffix} {insertion}";', 'var original = suffix + " " + insertion;')),
        ),
    ),
    Case(
        id="csharp-dapper_settings-defaults",
        file="commits/DapperLib_Dapper/3cc7db6418",
        kind="add-statement",
        instruction="SetDefaults should reset PadListExpansions to false and InListStringSplitCount to "
        "-1, too",
        right=(
            right := (
                (
                    "                ApplyNullValues = false;\r\n",
                    "                ApplyNullValues = false;\r\n"
                    "                PadListExpansions = false;\r\n"
                    "                InListStringSplitCount = -1;\r\n",
                ),
            )
        ),
        where=("Settings.SetDefaults",),
        asked=(
            contains("Settings.SetDefaults", r"PadListExpansions = false;"),
            contains("Settings.SetDefaults", r"InListStringSplitCount = -1;"),
        ),
        keeps=(keeps_lines("Settings.SetDefaults"),),
        spoilt=(
            (
                (
                    "                ApplyNullValues = false;\r\n",
                    "                ApplyNullValues = false;\r\n"
                    "                PadListExpansions = false;\r\n",
                ),
            ),
            (*right, ("InListStringSplitCount { get; set; } = -1;", "InListStringSplitCount { get; set; }")),
        ),
    ),
    Case(
        id="csharp-dapper_settings-typo",
        file="commits/DapperLib_Dapper/3cc7db6418",
        kind="comments",
        instruction='Fix two mistakes in the comments: "feautre" and the doubled "just just"',
        right=(
            right := (
                ("Note that this feautre requires", "Note that this feature requires"),
                ("some providers just just allow these", "some providers just allow these"),
            )
        ),
        where=("comments",),
        asked=(
            mentions(None, r"Note that this feature requires"),
            mentions(None, r"// some providers just allow these, so: try again"),
            omits(None, r"feautre|just just"),
        ),
        spoilt=(
            right[:1],
            (*right, ("                return false;\r\n            }\r\n", "                return default;\r\n            }\r\n")),
        ),
    ),
    Case(
        id="csharp-humanizer_roman-parameter_name",
        file="commits/Humanizr_Humanizer/ed39e0571a",
        kind="message",
        instruction="The ArgumentOutOfRangeException in ToRoman should name the parameter",
        right=(
            right := (
                (
                    "throw new ArgumentOutOfRangeException();",
                    "throw new ArgumentOutOfRangeException(nameof(input));",
                ),
            )
        ),
        where=("RomanNumeralExtensions.ToRoman",),
        asked=(
            contains(
                "RomanNumeralExtensions.ToRoman",
                r"throw new ArgumentOutOfRangeException\(\s*(?:paramName: )?(?:nameof\(input\)|\"input\")",
            ),
        ),
        keeps=(keeps_lines("RomanNumeralExtensions.ToRoman", r"ArgumentOutOfRangeException\("),),
        spoilt=(
            (
                (
                    "throw new ArgumentOutOfRangeException();",
                    'throw new ArgumentOutOfRangeException("The input is out of range.");',
                ),
            ),
            (*right, ("const int maxValue = 3999;", "const int maxValue = 3_999;")),
        ),
    ),
    Case(
        id="csharp-humanizer_roman-rename_pos",
        file="commits/Humanizr_Humanizer/ed39e0571a",
        kind="rename-local",
        instruction="Rename pos to position in ToRoman",
        right=(
            right := (
                ("var pos = 0;", "var position = 0;"),
                ("builder.Slice(pos)", "builder.Slice(position)"),
                ("pos += pair.Key.Length;", "position += pair.Key.Length;"),
                ("builder.Slice(0, pos)", "builder.Slice(0, position)"),
            )
        ),
        where=("RomanNumeralExtensions.ToRoman",),
        asked=(
            lacks("RomanNumeralExtensions.ToRoman", r"\bpos\b"),
            contains("RomanNumeralExtensions.ToRoman", r"\bposition\b", 4),
            contains("RomanNumeralExtensions.ToRoman", r"position \+= pair\.Key\.Length;"),
        ),
        keeps=(
            only("RomanNumeralExtensions.ToRoman", (r"\bpos\b", "position")),
            keeps_lines("RomanNumeralExtensions.ToRoman", r"\bpos\b"),
        ),
        spoilt=(
            right[:3],
            (*right, ("foreach (var pair in RomanNumeralsSequence)", "foreach (var numeral in RomanNumeralsSequence)")),
            (*right, ("while (input >= pair.Value)", "while (input > pair.Value)")),
        ),
    ),
    Case(
        id="csharp-dapper_builder-right_join",
        file="commits/DapperLib_Dapper/a561cb987e",
        kind="add-method",
        instruction="Add a RightJoin method to SqlBuilder that works like LeftJoin",
        right=(
            right := (
                (
                    "        public SqlBuilder Where(",
                    "        public SqlBuilder RightJoin(string sql, dynamic parameters = null)\n        {\n"
                    '            AddClause("rightjoin", sql, parameters, joiner: "\\nRIGHT JOIN ", prefix: '
                    '"\\nRIGHT JOIN ", postfix: "\\n");\n            return this;\n        }\n\n'
                    "        public SqlBuilder Where(",
                ),
            )
        ),
        where=("new:SqlBuilder",),
        asked=(
            contains(
                "SqlBuilder.RightJoin",
                r"public SqlBuilder RightJoin\(string sql, dynamic parameters = null\)",
            ),
            contains(
                "SqlBuilder.RightJoin",
                r'AddClause\(\s*"rightjoin", sql, parameters, (?:joiner: )?"\\nRIGHT JOIN ", (?:prefix: )?"\\nRIGHT JOIN ", (?:postfix: )?"\\n"\);',
            ),
            contains("SqlBuilder.RightJoin", r"return this;"),
        ),
        spoilt=(
            (
                ("public SqlBuilder LeftJoin(", "public SqlBuilder RightJoin("),
                (
                    '"leftjoin", sql, parameters, joiner: "\\nLEFT JOIN ", prefix: "\\nLEFT JOIN "',
                    '"rightjoin", sql, parameters, joiner: "\\nRIGHT JOIN ", prefix: "\\nRIGHT JOIN "',
                ),
            ),
            (
                (
                    "        public SqlBuilder Where(",
                    "        public SqlBuilder RightJoin(string sql, dynamic parameters = null)\n        {\n"
                    '            AddClause("leftjoin", sql, parameters, joiner: "\\nRIGHT JOIN ", prefix: '
                    '"\\nRIGHT JOIN ", postfix: "\\n");\n            return this;\n        }\n\n'
                    "        public SqlBuilder Where(",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-dapper_builder-out_var",
        file="commits/DapperLib_Dapper/a561cb987e",
        kind="convert",
        instruction="In AddClause declare clauses in the call of TryGetValue (out var)",
        right=(
            right := (
                ("            Clauses clauses;\n", ""),
                (
                    "if (!data.TryGetValue(name, out clauses))",
                    "if (!data.TryGetValue(name, out var clauses))",
                ),
            )
        ),
        where=("SqlBuilder.AddClause",),
        asked=(
            contains("SqlBuilder.AddClause", r"TryGetValue\(name, out (?:var|Clauses) clauses\)"),
            lacks("SqlBuilder.AddClause", r"^\s*Clauses clauses;"),
        ),
        keeps=(keeps_lines("SqlBuilder.AddClause", r"Clauses clauses;|TryGetValue"),),
        spoilt=(
            right[1:],
            (*right, ("                data[name] = clauses;\n", "                data.Add(name, clauses);\n")),
        ),
    ),
    Case(
        id="csharp-serilog_level-width",
        file="commits/serilog_serilog/7fc443e9bc",
        kind="extract",
        instruction="Replace the 5 in IsCustomWidthSupported by a constant FirstUnsupportedWidth of the "
        "class",
        right=(
            right := (
                (
                    "        readonly LogEventLevel _value;\n",
                    "        const int FirstUnsupportedWidth = 5;\n\n        readonly LogEventLevel _value;\n",
                ),
                ("width > 0 && width < 5;", "width > 0 && width < FirstUnsupportedWidth;"),
            )
        ),
        where=("new:LogEventLevelValue", "LogEventLevelValue.IsCustomWidthSupported"),
        asked=(
            contains(None, r"^\s*(?:private |internal |public )?(?:const|static readonly) int FirstUnsupportedWidth = 5;"),
            contains(
                "LogEventLevelValue.IsCustomWidthSupported",
                r"width > 0 && width < FirstUnsupportedWidth;",
            ),
        ),
        keeps=(keeps_lines("LogEventLevelValue.IsCustomWidthSupported", r"width < 5"),),
        spoilt=(
            right[1:],
            (right[0], ("width > 0 && width < 5;", "width < FirstUnsupportedWidth;")),
        ),
    ),
    Case(
        id="csharp-omnisharp_host-delay",
        file="commits/OmniSharp_omnisharp-roslyn/703bfa0910",
        kind="default",
        instruction="The default of DelayBeforeRestart should be 10 seconds, not 1000",
        right=(right := (("TimeSpan.FromSeconds(1000)", "TimeSpan.FromSeconds(10)"),)),
        where=("DesignTimeHostManager.DesignTimeHostManager",),
        asked=(
            contains(
                "DesignTimeHostManager.DesignTimeHostManager",
                r"DelayBeforeRestart = TimeSpan\.FromSeconds\(10\);",
            ),
        ),
        keeps=(keeps_lines("DesignTimeHostManager.DesignTimeHostManager", r"1000"),),
        spoilt=(
            (("TimeSpan.FromSeconds(1000)", "TimeSpan.FromMilliseconds(10)"),),
            (*right, ("TimeSpan.FromSeconds(4)", "TimeSpan.FromSeconds(10)")),
        ),
    ),
    Case(
        id="csharp-omnisharp_host-comment",
        file="commits/OmniSharp_omnisharp-roslyn/703bfa0910",
        kind="comments",
        instruction='Fix the typo "conncet" in the comment',
        right=(right := (("a little bit for it to conncet before", "a little bit for it to connect before"),)),
        where=("comments",),
        asked=(
            mentions(None, r"// Wait a little bit for it to connect before firing the callback"),
            omits(None, r"conncet"),
        ),
        spoilt=(
            (("// Wait a little bit for it to conncet before", "// Wait until it connects before"),),
            (*right, ("Thread.Sleep(500);", "Thread.Sleep(100);")),
        ),
    ),
    Case(
        id="csharp-omnisharp_host-log_stop",
        file="commits/OmniSharp_omnisharp-roslyn/703bfa0910",
        kind="log",
        instruction='Stop should log "Already stopped" with WriteVerbose when it returns early',
        right=(
            right := (
                (
                    "                if (_stopped)\n                {\n                    return;\n"
                    "                }\n\n                _stopped = true;\n",
                    "                if (_stopped)\n                {\n"
                    '                    _logger.WriteVerbose("Already stopped");\n'
                    "                    return;\n                }\n\n                _stopped = true;\n",
                ),
            )
        ),
        where=("DesignTimeHostManager.Stop",),
        asked=(
            contains(
                "DesignTimeHostManager.Stop",
                r'if \(_stopped\)\s*\{\s*_logger\.WriteVerbose\("Already stopped\.?"\);\s*return;',
            ),
        ),
        keeps=(keeps_lines("DesignTimeHostManager.Stop"),),
        spoilt=(
            (
                (
                    "                if (_stopped)\n                {\n                    return;\n"
                    "                }\n\n                int port",
                    "                if (_stopped)\n                {\n"
                    '                    _logger.WriteVerbose("Already stopped");\n'
                    "                    return;\n                }\n\n                int port",
                ),
            ),
            (
                (
                    "                if (_stopped)\n                {\n                    return;\n"
                    "                }\n\n                _stopped = true;\n",
                    "                if (_stopped)\n                {\n"
                    '                    _logger.WriteVerbose("Already stopped");\n'
                    "                }\n\n                _stopped = true;\n",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-serilog_module-doc_private",
        file="commits/serilog_serilog/097628823c",
        kind="doc-all",
        instruction="Error and BeginRequest have no doc comments. Add a <summary> to each of them",
        right=(
            right := (
                (
                    "        static void Error(object sender",
                    "        /// <summary>\n        /// Logs the last error of the application.\n"
                    "        /// </summary>\n        static void Error(object sender",
                ),
                (
                    "        static void BeginRequest(object sender",
                    "        /// <summary>\n        /// Logs the beginning of a request.\n"
                    "        /// </summary>\n        static void BeginRequest(object sender",
                ),
            )
        ),
        where=("doc:ApplicationLifecycleModule.Error", "doc:ApplicationLifecycleModule.BeginRequest"),
        asked=tuple(
            mentions(
                f"ApplicationLifecycleModule.{name}",
                rf"/// <summary>[\s\S]*</summary>[\s\S]*static void {name}\(",
            )
            for name in ("Error", "BeginRequest")
        ),
        spoilt=(
            right[:1],
            (
                *right,
                (
                    "            if (!_isEnabled) return;\n\n            var ex",
                    "            if (!_isEnabled)\n                return;\n\n            var ex",
                ),
            ),
        ),
    ),
    Case(
        id="csharp-fluent_result-semicolon",
        file="commits/FluentValidation_FluentValidation/1f9102d8ab",
        kind="simplify",
        instruction="There is one semicolon too many in the setter of Errors",
        right=(right := ((".ToList();;", ".ToList();"),)),
        where=("ValidationResult.Errors",),
        asked=(
            contains("ValidationResult.Errors", r"_errors = value\.Where\(failure => failure != null\)\.ToList\(\);$|ToList\(\);\s*\r?\n"),
            lacks(None, r";;"),
        ),
        keeps=(keeps_lines("ValidationResult.Errors", r";;"),),
        spoilt=(
            ((".ToList();;", ".ToArray();"),),
            (*right, ("\t\t_errors = errors;\r\n", "\t\t_errors = errors.ToList();\r\n")),
        ),
    ),
    Case(
        id="csharp-fluent_result-guard_separator",
        file="commits/FluentValidation_FluentValidation/1f9102d8ab",
        kind="guard",
        instruction="The constructor that takes IEnumerable<ValidationFailure> should throw an "
        "ArgumentNullException if failures is null",
        right=(
            right := (
                (
                    "\t\t_errors = failures.Where(",
                    "\t\tif (failures == null) {\r\n"
                    "\t\t\tthrow new ArgumentNullException(nameof(failures));\r\n\t\t}\r\n\r\n"
                    "\t\t_errors = failures.Where(",
                ),
            )
        ),
        where=("ValidationResult.ValidationResult",),
        asked=(
            either(
                contains(
                    "ValidationResult.ValidationResult",
                    r"if \(failures (?:==|is) null\)\s*\{?\s*throw new ArgumentNullException\(\s*(?:nameof\(failures\)|\"failures\")"
                    r"[\s\S]*failures\.Where",
                ),
                contains(
                    "ValidationResult.ValidationResult",
                    r"ArgumentNullException\.ThrowIfNull\(failures\b[\s\S]*failures\.Where|"
                    r"\(?failures \?\? throw new ArgumentNullException\(nameof\(failures\)\)",
                ),
            ),
        ),
        keeps=(keeps_lines("ValidationResult.ValidationResult", r"failures\.Where"),),
        spoilt=(
            (
                (
                    "\t\t_errors = failures.Where(",
                    "\t\tif (failures != null)\r\n\t\t_errors = failures.Where(",
                ),
            ),
            (*right, ("\t\t_errors = errors;\r\n", "\t\t_errors = errors ?? new List<ValidationFailure>();\r\n")),
        ),
    ),
    Case(
        id="csharp-dapper_map-ignore_case",
        file=TYPE_MAP,
        kind="add-parameter",
        instruction="Add a parameter bool ignoreCase = true to EqualsCI; with false it compares with "
        "StringComparison.Ordinal",
        right=(
            right := (
                (
                    "EqualsCI(string? x, string? y)\r\n            => string.Equals(x, y, StringComparison.OrdinalIgnoreCase);",
                    "EqualsCI(string? x, string? y, bool ignoreCase = true)\r\n            => string.Equals(x, y, "
                    "ignoreCase ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal);",
                ),
            )
        ),
        where=("DefaultTypeMap.EqualsCI",),
        asked=(
            contains("DefaultTypeMap.EqualsCI", r"EqualsCI\(string\? x, string\? y, bool ignoreCase = true\)"),
            contains(
                "DefaultTypeMap.EqualsCI",
                r"!ignoreCase\)?\s*\? StringComparison\.Ordinal\s*: StringComparison\.OrdinalIgnoreCase|"
                r"(?<!!)\bignoreCase\s*\? (?:StringComparison\.OrdinalIgnoreCase\s*: StringComparison\.Ordinal\b|"
                r"string\.Equals\(x, y, StringComparison\.OrdinalIgnoreCase\)\s*: string\.Equals\(x, y, StringComparison\.Ordinal\))|"
                r"if \(ignoreCase\)[\s\S]*OrdinalIgnoreCase[\s\S]*StringComparison\.Ordinal\)",
            ),
        ),
        spoilt=(
            (
                (
                    "EqualsCI(string? x, string? y)\r\n            => string.Equals(x, y, StringComparison.OrdinalIgnoreCase);",
                    "EqualsCI(string? x, string? y, bool ignoreCase = true)\r\n            => string.Equals(x, y, "
                    "ignoreCase ? StringComparison.Ordinal : StringComparison.OrdinalIgnoreCase);",
                ),
            ),
            (
                (
                    "EqualsCI(string? x, string? y)\r\n            => string.Equals(x, y, StringComparison.OrdinalIgnoreCase);",
                    "EqualsCI(string? x, string? y, bool ignoreCase)\r\n            => string.Equals(x, y, "
                    "ignoreCase ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal);",
                ),
            ),
            (*right, ("EqualsCIU(string? x, string? y)", "EqualsCIU(string? x, string? y, bool ignoreCase = true)")),
        ),
    ),
    Case(
        id="csharp-humanizer_article-take_text",
        file="commits/Humanizr_Humanizer/eba5bca0df",
        kind="remove-parameter",
        instruction="ToOriginalFormat needs one string only: change its parameters to (string text, string "
        "suffix) and pass appended[i] in all its calls",
        right=(
            right := (
                *(
                    (
                        f'IndexOf("{article}", StringComparison.CurrentCulture));\n'
                        "                    original = ToOriginalFormat(appended, suffix, i);",
                        f'IndexOf("{article}", StringComparison.CurrentCulture));\n'
                        "                    original = ToOriginalFormat(appended[i], suffix);",
                    )
                    for article in (" The", " A", " An", " a", " an", " the")
                ),
                ("ToOriginalFormat(string[] appended, string suffix, int i)", "ToOriginalFormat(string text, string suffix)"),
                (
                    "appended[i].Remove(appended[i].IndexOf(suffix,",
                    "text.Remove(text.IndexOf(suffix,",
                ),
            )
        ),
        where=("EnglishArticle.PrependArticleSuffix", "EnglishArticle.ToOriginalFormat"),
        asked=(
            parameters("EnglishArticle.ToOriginalFormat", ["text", "suffix"]),
            contains("EnglishArticle.ToOriginalFormat", r"text\.Remove\(\s*text\.IndexOf\(suffix,|text\.Replace\(suffix|text\.Substring\(0,"),
            lacks("EnglishArticle.ToOriginalFormat", r"\bappended\b|\[i\]"),
            contains("EnglishArticle.PrependArticleSuffix", r"ToOriginalFormat\(appended\[i\], suffix\)", 6),
            lacks("EnglishArticle.PrependArticleSuffix", r"ToOriginalFormat\(appended,"),
        ),
        keeps=(
            keeps_lines("EnglishArticle.PrependArticleSuffix", r"ToOriginalFormat"),
            keeps_lines("EnglishArticle.ToOriginalFormat", r"appended"),
        ),
        spoilt=(
            right[6:],
            right[:6],
            (*right, ("                    inserted[i] = appended[i];\n", "                    inserted[i] = appended[i].Trim();\n")),
        ),
    ),
    Case(
        id="csharp-serilog_level-missing_key",
        file="commits/serilog_serilog/7fc443e9bc",
        kind="missing-key",
        instruction="ShortLevelFor should return value.ToString() when _shortenedLevelMap does not contain "
        "the value (TryGetValue)",
        right=(
            right := (
                (
                    "            return _shortenedLevelMap[value][width - 1];\n",
                    "            string[] names;\n"
                    "            return _shortenedLevelMap.TryGetValue(value, out names) ? names[width - 1] : value.ToString();\n",
                ),
            )
        ),
        where=("LogEventLevelValue.ShortLevelFor",),
        asked=(
            contains("LogEventLevelValue.ShortLevelFor", r"_shortenedLevelMap\.TryGetValue\(value, out (?:var |string\[\] )?(\w+)\)"),
            contains("LogEventLevelValue.ShortLevelFor", r"\w+\[width - 1\]"),
            contains("LogEventLevelValue.ShortLevelFor", r"(?:return|:) value\.ToString\(\);"),
            lacks("LogEventLevelValue.ShortLevelFor", r"!_shortenedLevelMap\.TryGetValue\([^)]*\)\s*\? \w+\["),
        ),
        keeps=(keeps_lines("LogEventLevelValue.ShortLevelFor", r"_shortenedLevelMap"),),
        spoilt=(
            (
                (
                    "            return _shortenedLevelMap[value][width - 1];\n",
                    "            if (!_shortenedLevelMap.ContainsKey(value)) return null;\n"
                    "            return _shortenedLevelMap[value][width - 1];\n",
                ),
            ),
            (*right, ("            return width > 0 && width < 5;\n", "            return width > 0 && width <= 4;\n")),
        ),
    ),
)
