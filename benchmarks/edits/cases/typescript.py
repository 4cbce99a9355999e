"""Edits of TypeScript files."""

from benchmarks.edits.case import Case
from benchmarks.edits.checkers import (
    before,
    contains,
    defines,
    keeps_lines,
    lacks,
    mentions,
    omits,
    only,
    parameters,
)

COMMITS = "commits/"

CASES = (
    Case(
        id="typescript-hono_request-status",
        file="files/typescript/hono__request.ts",
        kind="constant",
        instruction="In cloneRawRequest throw the HTTPException with status 400 instead of 500",
        right=(("throw new HTTPException(500, {", "throw new HTTPException(400, {"),),
        where=("cloneRawRequest",),
        asked=(
            contains("cloneRawRequest", r"HTTPException\(\s*400\b"),
            lacks("cloneRawRequest", r"HTTPException\(\s*500\b"),
        ),
        keeps=(keeps_lines("cloneRawRequest", r"HTTPException\("),),
        spoilt=(
            (("throw new HTTPException(500, {", "throw new HTTPException(401, {"),),
            (
                ("throw new HTTPException(500, {", "throw new HTTPException(400, {"),
                ("    delete headers['content-type']\n", ""),
            ),
            (
                ("throw new HTTPException(500, {", "throw new HTTPException(400, {"),
                ("  get method(): string {\n    return this.raw.method\n  }\n", ""),
            ),
        ),
    ),
    Case(
        id="typescript-hono_request-protocol",
        file="files/typescript/hono__request.ts",
        kind="add-method",
        instruction="Add a getter protocol behind the getter method in HonoRequest; it returns the "
        "protocol of the request's URL (new URL(this.url).protocol)",
        right=(
            (
                "    return this.raw.method\n  }\n",
                "    return this.raw.method\n  }\n\n  /**\n   * The protocol of the URL.\n   */\n"
                "  get protocol(): string {\n    return new URL(this.url).protocol\n  }\n",
            ),
        ),
        where=("new:HonoRequest",),
        asked=(
            defines("HonoRequest.protocol"),
            contains("HonoRequest.protocol", r"\bget\s+protocol\s*\(\s*\)"),
            contains("HonoRequest.protocol", r"new URL\(\s*this\.(?:raw\.)?url\s*\)"),
            contains("HonoRequest.protocol", r"return\b.*\bprotocol\b"),
        ),
        spoilt=(
            (("  get method(): string {", "  get protocol(): string {"),),
            (
                (
                    "    return this.raw.method\n  }\n",
                    "    return this.raw.method\n  }\n\n  protocol(): string {\n"
                    "    return new URL(this.url).protocol\n  }\n",
                ),
            ),
            (
                (
                    "    return this.raw.method\n  }\n",
                    "    return this.raw.method\n  }\n\n  get protocol(): string {\n"
                    "    return new URL(this.url).protocol\n  }\n",
                ),
                ("    return this.raw.url\n", "    return String(this.raw.url)\n"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_request-rename_decoded",
        file="files/typescript/hono__request.ts",
        kind="rename-local",
        instruction="Rename the local variable decoded to params in #getAllDecodedParams",
        right=(
            (
                "const decoded: Record<string, string> = {}",
                "const params: Record<string, string> = {}",
            ),
            ("decoded[key] = tryDecode", "params[key] = tryDecode"),
            ("return decoded\n", "return params\n"),
        ),
        where=("HonoRequest.#getAllDecodedParams",),
        asked=(
            lacks("HonoRequest.#getAllDecodedParams", r"\bdecoded\b"),
            contains("HonoRequest.#getAllDecodedParams", r"\bconst params\b"),
            contains("HonoRequest.#getAllDecodedParams", r"\bparams\[key\] = "),
            contains("HonoRequest.#getAllDecodedParams", r"return params\b"),
        ),
        keeps=(
            only("HonoRequest.#getAllDecodedParams", (r"\bdecoded\b", "params")),
            keeps_lines("HonoRequest.#getAllDecodedParams", r"\bdecoded\b"),
        ),
        spoilt=(
            (
                (
                    "const decoded: Record<string, string> = {}",
                    "const params: Record<string, string> = {}",
                ),
                ("decoded[key] = tryDecode", "params[key] = tryDecode"),
            ),
            (
                (
                    "const decoded: Record<string, string> = {}",
                    "const params: Record<string, string> = {}",
                ),
                ("decoded[key] = tryDecode", "params[key] = tryDecode"),
                ("return decoded\n", "return params\n"),
                ("      if (value !== undefined) {\n        ", "      if (value) {\n        "),
            ),
        ),
    ),
    Case(
        id="typescript-hono_url-doc_split",
        file="files/typescript/hono__url.ts",
        kind="doc-one",
        instruction="Write a JSDoc comment for splitPath with @param and @returns",
        right=(
            (
                "export const splitPath =",
                "/**\n * Splits a path at its slashes.\n * @param path The path to split.\n"
                " * @returns The parts, without an empty first one.\n */\nexport const splitPath =",
            ),
        ),
        where=("doc:splitPath",),
        asked=(
            mentions(
                None,
                r"/\*\*(?:(?!\*/)[\s\S])*@param(?:(?!\*/)[\s\S])*@returns?\b(?:(?!\*/)[\s\S])*\*/\s*"
                r"export const splitPath\b",
            ),
        ),
        spoilt=(
            (
                (
                    "export const splitPath =",
                    "// Splits a path at its slashes.\nexport const splitPath =",
                ),
            ),
            (
                (
                    "export const splitPath =",
                    "/**\n * Splits a path.\n * @param path The path to split.\n"
                    " * @returns The parts.\n */\nexport const splitPath =",
                ),
                ("    paths.shift()\n", "    paths.splice(0, 1)\n"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_url-guard_empty",
        file="files/typescript/hono__url.ts",
        kind="guard",
        instruction="checkOptionalParameter should return null for an empty path before it looks at "
        "its last character",
        right=(
            (
                "  if (path.charCodeAt(path.length - 1) !== 63 ||",
                "  if (path === '') {\n    return null\n  }\n\n"
                "  if (path.charCodeAt(path.length - 1) !== 63 ||",
            ),
        ),
        where=("checkOptionalParameter",),
        asked=(
            contains(
                "checkOptionalParameter",
                r"path\s*===?\s*(?:''|\"\")|!path\b(?!\.(?!length))|path\.length\s*(?:===?\s*0|<\s*1|<=\s*0)",
            ),
            before(
                "checkOptionalParameter",
                r"path\s*===?\s*(?:''|\"\")|!path\b(?!\.(?!length))|path\.length\s*(?:===?\s*0|<\s*1|<=\s*0)",
                r"path\.charCodeAt\(",
            ),
            contains("checkOptionalParameter", r"return null"),
        ),
        keeps=(keeps_lines("checkOptionalParameter", r"path\.charCodeAt\("),),
        spoilt=(
            (
                (
                    "  if (path.charCodeAt(path.length - 1) !== 63 ||",
                    "  if (path === '') {\n    return null\n  }\n\n"
                    "  if (path.charCodeAt(path.length - 1) !== 63 ||",
                ),
                ("  return results.filter((v, i, a) => a.indexOf(v) === i)", "  return results"),
            ),
            (
                (
                    "  const segments = path.split('/')",
                    "  if (path === '') {\n    return null\n  }\n  const segments = path.split('/')",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_url-extract_offset",
        file="files/typescript/hono__url.ts",
        kind="extract",
        instruction="Replace the number 8 in the three calls url.indexOf('?', 8) by a top-level "
        "constant QUERY_SEARCH_START",
        right=(
            (
                "export const getQueryStrings =",
                "const QUERY_SEARCH_START = 8\n\nexport const getQueryStrings =",
            ),
            (
                "const queryIndex = url.indexOf('?', 8)",
                "const queryIndex = url.indexOf('?', QUERY_SEARCH_START)",
            ),
            (
                "\n    let keyIndex = url.indexOf('?', 8)",
                "\n    let keyIndex = url.indexOf('?', QUERY_SEARCH_START)",
            ),
            (
                "\n  let keyIndex = url.indexOf('?', 8)",
                "\n  let keyIndex = url.indexOf('?', QUERY_SEARCH_START)",
            ),
        ),
        where=("new:", "getQueryStrings", "_getQueryParam"),
        asked=(
            contains(None, r"(?m)^(?:export )?const QUERY_SEARCH_START(?:: number)? = 8;?$"),
            lacks(None, r"indexOf\('\?', 8\)"),
            contains("getQueryStrings", r"indexOf\('\?', QUERY_SEARCH_START\)"),
            contains("_getQueryParam", r"QUERY_SEARCH_START\)[\s\S]*QUERY_SEARCH_START\)"),
        ),
        keeps=(
            keeps_lines("_getQueryParam", r"indexOf\('\?', 8\)"),
            keeps_lines("getQueryStrings", r"indexOf\('\?', 8\)"),
        ),
        spoilt=(
            (
                (
                    "export const getQueryStrings =",
                    "const QUERY_SEARCH_START = 8\n\nexport const getQueryStrings =",
                ),
                (
                    "const queryIndex = url.indexOf('?', 8)",
                    "const queryIndex = url.indexOf('?', QUERY_SEARCH_START)",
                ),
            ),
            (
                (
                    "const queryIndex = url.indexOf('?', 8)",
                    "const queryIndex = url.indexOf('?', QUERY_SEARCH_START)",
                ),
                (
                    "\n    let keyIndex = url.indexOf('?', 8)",
                    "\n    let keyIndex = url.indexOf('?', QUERY_SEARCH_START)",
                ),
                (
                    "\n  let keyIndex = url.indexOf('?', 8)",
                    "\n  let keyIndex = url.indexOf('?', QUERY_SEARCH_START)",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_client-upper_once",
        file="files/typescript/hono__client.ts",
        kind="simplify",
        instruction="ClientRequestImpl.fetch assigns methodUpperCase twice. Make it a const that is "
        "assigned once",
        right=(
            (
                "let methodUpperCase = this.method.toUpperCase()",
                "const methodUpperCase = this.method.toUpperCase()",
            ),
            ("    methodUpperCase = this.method.toUpperCase()\n    const", "    const"),
        ),
        where=("ClientRequestImpl.fetch",),
        asked=(
            contains(
                "ClientRequestImpl.fetch", r"const methodUpperCase = this\.method\.toUpperCase\(\)"
            ),
            lacks("ClientRequestImpl.fetch", r"(?m)^\s*methodUpperCase = "),
            lacks("ClientRequestImpl.fetch", r"let methodUpperCase\b"),
            contains("ClientRequestImpl.fetch", r"method: methodUpperCase\b"),
            before(
                "ClientRequestImpl.fetch", r"const methodUpperCase", r"methodUpperCase === 'GET'"
            ),
        ),
        keeps=(keeps_lines("ClientRequestImpl.fetch", r"methodUpperCase = "),),
        spoilt=(
            (
                (
                    "let methodUpperCase = this.method.toUpperCase()",
                    "const methodUpperCase = this.method.toUpperCase()",
                ),
            ),
            (("    methodUpperCase = this.method.toUpperCase()\n    const", "    const"),),
            (
                (
                    "let methodUpperCase = this.method.toUpperCase()",
                    "const methodUpperCase = this.method.toUpperCase()",
                ),
                ("    methodUpperCase = this.method.toUpperCase()\n    const", "    const"),
                ("let url = this.url\n", "let path = this.url\n"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_client-websocket",
        file="files/typescript/hono__client.ts",
        kind="add-case",
        instruction="hc should treat the method 'websocket' in the same way as 'ws'",
        right=(("if (method === 'ws') {", "if (method === 'ws' || method === 'websocket') {"),),
        where=("hc",),
        asked=(
            contains(
                "hc",
                r"method\s*===?\s*['\"]websocket['\"]|\[[^\]]*['\"]websocket['\"][^\]]*\]\.includes\(|"
                r"\|websocket\b|\bwebsocket\|",
            ),
            contains(
                "hc",
                r"method\s*===?\s*['\"]ws['\"]|\[[^\]]*['\"]ws['\"][^\]]*\]\.includes\(|"
                r"\|ws\b|\bws\||method = ['\"]ws['\"]",
            ),
        ),
        keeps=(keeps_lines("hc", r"method === 'ws'"),),
        spoilt=(
            (("if (method === 'ws') {", "if (method === 'websocket') {"),),
            (
                ("if (method === 'ws') {", "if (method === 'ws' || method === 'websocket') {"),
                ("    return req\n", "    return req.fetch()\n"),
            ),
            (
                ("if (method === 'ws') {", "if (method === 'ws' || method === 'websocket') {"),
                ("let methodUpperCase", "var methodUpperCase"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_etag-retained",
        file="files/typescript/hono__index.ts",
        kind="add-item",
        instruction="Add 'last-modified' to RETAINED_304_HEADERS, between 'expires' and 'vary'",
        right=(("  'expires',\n", "  'expires',\n  'last-modified',\n"),),
        where=("RETAINED_304_HEADERS",),
        asked=(
            contains(
                "RETAINED_304_HEADERS",
                r"['\"]expires['\"],\s*['\"]last-modified['\"],\s*['\"]vary['\"]",
            ),
        ),
        keeps=(keeps_lines("RETAINED_304_HEADERS"),),
        spoilt=(
            (("  'expires',\n", "  'last-modified',\n"),),
            (("  'date',\n", "  'date',\n  'last-modified',\n"),),
            (("  'date',\n", ""), ("  'expires',\n", "  'expires',\n  'last-modified',\n")),
        ),
    ),
    Case(
        id="typescript-hono_etag-sha256",
        file="files/typescript/hono__index.ts",
        kind="default",
        instruction="Use SHA-256 instead of SHA-1 as the default digest, in the code and in the doc "
        "comment",
        right=(
            ("name: 'SHA-1',", "name: 'SHA-256',"),
            ("By default, it uses 'SHA-1'", "By default, it uses 'SHA-256'"),
        ),
        where=("initializeGenerator", "comments"),
        asked=(
            contains("initializeGenerator", r"['\"]SHA-256['\"]"),
            omits(None, r"SHA-1\b"),
            mentions(None, r"\* .*uses '?SHA-256"),
        ),
        keeps=(keeps_lines("initializeGenerator", r"SHA-1"),),
        spoilt=(
            (("name: 'SHA-1',", "name: 'SHA-256',"),),
            (("By default, it uses 'SHA-1'", "By default, it uses 'SHA-256'"),),
            (
                ("name: 'SHA-1',", "name: 'SHA-256',"),
                ("By default, it uses 'SHA-1'", "By default, it uses 'SHA-256'"),
                ("if (crypto && crypto.subtle) {", "if (crypto) {"),
            ),
        ),
    ),
    Case(
        id="typescript-immer_patches-message",
        file="files/typescript/immer__patches.ts",
        kind="message",
        instruction='Change the message "Unsupported patch operation: " to '
        '"Unknown patch operation: "',
        right=(('"Unsupported patch operation: "', '"Unknown patch operation: "'),),
        where=("enablePatches",),
        asked=(
            contains(
                "enablePatches",
                r"['\"]Unknown patch operation: ['\"] \+ op\b|`Unknown patch operation: \$\{op\}`",
            ),
            lacks(None, r"Unsupported patch operation"),
        ),
        keeps=(keeps_lines("enablePatches", r"Unsupported patch operation"),),
        spoilt=(
            (
                ('"Unsupported patch operation: "', '"Unknown patch operation: "'),
                ('const ADD = "add"', 'const ADD = "insert"'),
            ),
            (
                ('"Unsupported patch operation: "', '"Unknown patch operation: "'),
                ("\t\t// Step 6: Recurse to parent if exists\n", ""),
            ),
            (('"Unsupported patch operation: "', '"Unknown operation: "'),),
            (
                ('"Unsupported patch operation: "', '"Unknown patch operation: "'),
                ("const errorOffset = 16", "const errorOffset = 17"),
            ),
            (
                (
                    'return "Unsupported patch operation: " + op',
                    'return "Unknown patch operation: "',
                ),
            ),
        ),
    ),
    Case(
        id="typescript-immer_patches-comment",
        file="files/typescript/immer__patches.ts",
        kind="comments",
        instruction='Correct the spelling of "modifyed" in the comment',
        right=(
            ("inside the patch will also be modifyed", "inside the patch will also be modified"),
        ),
        where=("comments",),
        asked=(
            mentions(None, r"// .*the value field inside the patch will also be modified"),
            omits(None, r"modifyed"),
        ),
        spoilt=(
            (("inside the patch will also be modifyed", "inside the patch will also be changed"),),
            (
                (
                    "inside the patch will also be modifyed",
                    "inside the patch will also be modified",
                ),
                (
                    "return (base[key] = value)\n\t\t\t\t\t}\n\t\t\t\tcase ADD:",
                    "base[key] = value\n\t\t\t\t\t}\n\t\t\t\tcase ADD:",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-immer_finalize-comment",
        file="files/typescript/immer__finalize.ts",
        kind="comments",
        instruction='The comment in finalize says "in tho recursive data structures"; it should be '
        '"into recursive data structures"',
        right=(("in tho recursive data structures", "into recursive data structures"),),
        where=("comments",),
        asked=(
            mentions("finalize", r"// Don't recurse into recursive data structures"),
            omits(None, r"in tho\b"),
        ),
        spoilt=(
            (("// Don't recurse in tho recursive data structures\n", "\n"),),
            (
                ("in tho recursive data structures", "into recursive data structures"),
                (
                    "if (isFrozen(value)) return value\n",
                    "if (isFrozen(value)) {\n\t\treturn value\n\t}\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-immer_finalize-guard_same",
        file="files/typescript/immer__finalize.ts",
        kind="guard",
        instruction="updateDraftInParent should return at once when draftValue and finalizedValue are "
        "the same",
        right=(
            (
                "\tconst parentCopy = latest(parent)\n",
                "\tif (draftValue === finalizedValue) return\n\n\tconst parentCopy = latest(parent)\n",
            ),
        ),
        where=("updateDraftInParent",),
        asked=(
            contains(
                "updateDraftInParent",
                r"if \((?:draftValue === finalizedValue|finalizedValue === draftValue|"
                r"Object\.is\((?:draftValue, finalizedValue|finalizedValue, draftValue)\))\)\s*\{?\s*return\b",
            ),
            before(
                "updateDraftInParent",
                r"draftValue === finalizedValue|finalizedValue === draftValue|Object\.is\(",
                r"if \(originalKey",
            ),
        ),
        keeps=(keeps_lines("updateDraftInParent"),),
        spoilt=(
            (
                (
                    "\tconst parentCopy = latest(parent)\n",
                    "\tif (draftValue !== finalizedValue) return\n\n\tconst parentCopy = latest(parent)\n",
                ),
            ),
            (
                (
                    "\tconst parentCopy = latest(parent)\n\tconst parentType = parent.type_\n",
                    "\tif (draftValue === finalizedValue) return\n\n\tconst parentCopy = latest(parent)\n",
                ),
            ),
            (
                (
                    "\t// Update all locations\n",
                    "\tif (draftValue === finalizedValue) return\n\n\t// Update all locations\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-ky_merge-message_type",
        file="files/typescript/ky__merge.ts",
        kind="message",
        instruction="The TypeError in validateAndMerge should end with the type that was passed: "
        "'The `options` argument must be an object, got ' followed by typeof source",
        right=(
            (
                "throw new TypeError('The `options` argument must be an object');",
                "throw new TypeError('The `options` argument must be an object, got ' + typeof source);",
            ),
        ),
        where=("validateAndMerge",),
        asked=(
            contains("validateAndMerge", r"typeof source\b"),
            contains(
                "validateAndMerge",
                r"TypeError\(\s*['\"`]The \\?`options\\?` argument must be an object, got (?:['\"`] ?\+|\$\{)",
            ),
        ),
        keeps=(keeps_lines("validateAndMerge", r"TypeError\("),),
        spoilt=(
            (
                (
                    "throw new TypeError('The `options` argument must be an object');",
                    "throw new TypeError('The `options` argument must be an object, got typeof source');",
                ),
            ),
            (
                (
                    "throw new TypeError('The `options` argument must be an object');",
                    "throw new Error('The `options` argument must be an object, got ' + typeof source);",
                ),
            ),
            (
                (
                    "throw new TypeError('The `options` argument must be an object');",
                    "throw new TypeError('The `options` argument must be an object, got ' + typeof source);",
                ),
                ("\treturn deepMerge({}, ...sources);", "\treturn deepMerge(...sources);"),
            ),
        ),
    ),
    Case(
        id="typescript-ky_merge-clone_map",
        file="files/typescript/ky__merge.ts",
        kind="add-case",
        instruction="Let cloneShallow also copy a Map (new Map(value)), in front of the plain object",
        right=(
            (
                "\tif (isPlainObject(value)) {\n",
                "\tif (value instanceof Map) {\n\t\treturn new Map(value) as T;\n\t}\n\n"
                "\tif (isPlainObject(value)) {\n",
            ),
        ),
        where=("cloneShallow",),
        asked=(
            contains("cloneShallow", r"value instanceof (?:globalThis\.)?Map\b"),
            contains("cloneShallow", r"new (?:globalThis\.)?Map(?:<[^>]*>)?\(value\b"),
            before(
                "cloneShallow",
                r"value instanceof (?:globalThis\.)?Map\b",
                r"if \(isPlainObject\(value\)\)",
            ),
        ),
        keeps=(keeps_lines("cloneShallow"),),
        spoilt=(
            (
                (
                    "\tif (isPlainObject(value)) {\n",
                    "\tif (value instanceof Map) {\n\t\treturn value;\n\t}\n\n"
                    "\tif (isPlainObject(value)) {\n",
                ),
            ),
            (
                (
                    "\tif (Array.isArray(value)) {\n\t\treturn [...value] as T;\n\t}\n",
                    "\tif (value instanceof Map) {\n\t\treturn new Map(value) as T;\n\t}\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-ky_options-add_field",
        file="files/typescript/ky__options.ts",
        kind="add-field",
        instruction="Add an optional boolean option logRequests with a doc comment to KyOptions, "
        "behind throwHttpErrors",
        right=(
            (
                "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n",
                "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n\n\t/**\n"
                "\tLog each request.\n\n\t@default false\n\t*/\n\tlogRequests?: boolean;\n",
            ),
        ),
        where=("new:KyOptions",),
        asked=(
            mentions("KyOptions", r"\*/\s*logRequests\?: boolean\b"),
            before("KyOptions", r"throwHttpErrors\?:", r"logRequests\?:"),
            before("KyOptions", r"logRequests\?:", r"onDownloadProgress\?:"),
        ),
        keeps=(keeps_lines("KyOptions"),),
        spoilt=(
            (
                (
                    "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n",
                    "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n"
                    "\tlogRequests?: boolean;\n",
                ),
            ),
            (
                (
                    "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n",
                    "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n\n\t/**\n"
                    "\tLog each request.\n\t*/\n\tlogRequests: boolean;\n",
                ),
            ),
            (
                (
                    "\tthrowHttpErrors?: boolean | ((status: number) => boolean);\n",
                    "\t/**\n\tLog each request.\n\t*/\n\tlogRequests?: boolean;\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-ky_options-http_method",
        file="files/typescript/ky__options.ts",
        kind="add-item",
        instruction="Allow 'connect' in the type HttpMethod, next to 'trace'",
        right=(("'options' | 'trace', string>", "'options' | 'trace' | 'connect', string>"),),
        where=("HttpMethod",),
        asked=(
            contains(
                "HttpMethod",
                r"=\s*LiteralUnion<\s*\|?\s*RequestHttpMethod\b[^,]*\|\s*['\"]connect['\"][^,]*,\s*string\s*>",
            ),
            contains("HttpMethod", r"['\"]options['\"]"),
            contains("HttpMethod", r"['\"]trace['\"]"),
        ),
        spoilt=(
            (("'options' | 'trace', string>", "'options' | 'connect', string>"),),
            (("'delete' | 'query';", "'delete' | 'query' | 'connect';"),),
            (
                ("'options' | 'trace', string>", "'options' | 'trace' | 'connect', string>"),
                (
                    "export type Input = string | URL | Request;",
                    "export type Input = string | URL;",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-zod_string-cuid",
        file=COMMITS + "colinhacks_zod/ae071101c1",
        kind="add-method",
        instruction=r"Add a method cuid to ZodString that works like uuid, with a constant cuidRegex "
        r"= /^c[^\s-]{8,}$/i",
        right=(
            (
                "\nexport class ZodString extends",
                "const cuidRegex = /^c[^\\s-]{8,}$/i;\n\nexport class ZodString extends",
            ),
            (
                "  nonempty = (message",
                "  cuid = (message?: errorUtil.ErrMessage) =>\n    this._refinement({\n"
                "      check: data => cuidRegex.test(data),\n"
                "      code: ZodErrorCode.invalid_string,\n      validation: 'cuid',\n"
                "      ...errorUtil.errToObj(message),\n    });\n\n  nonempty = (message",
            ),
        ),
        where=("new:", "new:ZodString"),
        asked=(
            contains("ZodString.cuid", r"cuidRegex\.test\(\s*data\s*\)"),
            contains("ZodString.cuid", r"validation: ['\"]cuid['\"]"),
            contains("ZodString.cuid", r"message\?: errorUtil\.ErrMessage"),
            contains("ZodString.cuid", r"errorUtil\.errToObj\(message\)"),
            contains(
                None, r"(?m)^(?:export )?const cuidRegex(?:: RegExp)? = /\^c\[\^\\s-\]\{8,\}\$/i"
            ),
        ),
        keeps=(keeps_lines("ZodString"),),
        spoilt=(
            (
                (
                    "  nonempty = (message",
                    "  cuid = (message?: errorUtil.ErrMessage) =>\n    this._refinement({\n"
                    "      check: data => cuidRegex.test(data),\n"
                    "      code: ZodErrorCode.invalid_string,\n      validation: 'cuid',\n"
                    "      ...errorUtil.errToObj(message),\n    });\n\n  nonempty = (message",
                ),
            ),
            (
                (
                    "\nexport class ZodString extends",
                    "const cuidRegex = /^c[^\\s-]{8,}$/i;\n\nexport class ZodString extends",
                ),
                ("  uuid = (message", "  cuid = (message"),
                ("uuidRegex.test(data)", "cuidRegex.test(data)"),
                ("validation: 'uuid'", "validation: 'cuid'"),
            ),
        ),
    ),
    Case(
        id="typescript-stream-rest_of_buffer",
        file=COMMITS + "continuedev_continue/2d1155d7d4",
        kind="add-statement",
        instruction="At the end of streamJSON, if buffer.trim() is not empty, parse what is left in "
        "buffer and yield it",
        right=(
            (
                "      yield data;\n      buffer = buffer.slice(position + 1);\n    }\n  }\n",
                "      yield data;\n      buffer = buffer.slice(position + 1);\n    }\n  }\n\n"
                "  if (buffer.trim()) {\n    yield JSON.parse(buffer);\n  }\n",
            ),
        ),
        where=("streamJSON",),
        asked=(
            contains("streamJSON", r"buffer\s*\.trim\(\)"),
            contains("streamJSON", r"JSON\.parse\([\s\S]*buffer\s*\.trim\(\)[\s\S]*JSON\.parse\("),
            contains("streamJSON", r"yield\b[\s\S]*buffer\s*\.trim\(\)[\s\S]*yield\b"),
        ),
        keeps=(keeps_lines("streamJSON"),),
        spoilt=(
            (
                (
                    "      yield data;\n      buffer = buffer.slice(position + 1);\n    }\n  }\n",
                    "      yield data;\n      buffer = buffer.slice(position + 1);\n    }\n  }\n\n"
                    "  yield JSON.parse(buffer);\n",
                ),
            ),
            (
                (
                    "  if (buffer.length > 0) {\n    const { done, data }",
                    "  if (buffer.trim()) {\n    const { done, data }",
                ),
            ),
            (
                (
                    "      yield data;\n      buffer = buffer.slice(position + 1);\n    }\n  }\n",
                    "      yield data;\n    }\n  }\n\n"
                    "  if (buffer.trim()) {\n    yield JSON.parse(buffer);\n  }\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-stream-log_malformed",
        file=COMMITS + "continuedev_continue/2d1155d7d4",
        kind="log",
        instruction="Log the line with console.error before parseDataLine throws the "
        '"Malformed JSON" error',
        right=(
            (
                "    throw new Error(`Malformed",
                '    console.error("Malformed line:", line);\n    throw new Error(`Malformed',
            ),
        ),
        where=("parseDataLine",),
        asked=(
            contains("parseDataLine", r"console\.error\([^;]*\b(?:line|json)\b"),
            contains(
                "parseDataLine",
                r"catch[\s\S]*console\.error\([\s\S]*throw new Error\(\s*`Malformed",
            ),
        ),
        keeps=(keeps_lines("parseDataLine"),),
        spoilt=(
            (
                (
                    "    throw new Error(`Malformed",
                    '    console.log("Malformed line:", line);\n    throw new Error(`Malformed',
                ),
            ),
            (
                (
                    "    throw new Error(`Malformed JSON sent from server: ${json}`);",
                    '    console.error("Malformed line:", line);',
                ),
            ),
            (
                (
                    "    throw new Error(`Malformed",
                    '    console.error("Malformed line:", line);\n    throw new Error(`Malformed',
                ),
                (
                    "    if (data.error) {\n      throw new Error(`Error streaming response: "
                    "${data.error}`);\n    }\n",
                    "",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-stream-doc_all",
        file=COMMITS + "continuedev_continue/2d1155d7d4",
        kind="doc-all",
        instruction="Add a JSDoc comment to every exported function",
        right=(
            (
                "export async function* streamResponse(",
                "/** Yields the decoded chunks of the body. */\n"
                "export async function* streamResponse(",
            ),
            (
                "export async function* streamSse(",
                "/** Yields the data of server-sent events. */\nexport async function* streamSse(",
            ),
            (
                "export async function* streamJSON(",
                "/** Yields one parsed value for each line. */\nexport async function* streamJSON(",
            ),
        ),
        where=("doc:streamResponse", "doc:streamSse", "doc:streamJSON"),
        asked=(
            mentions(None, r"\*/\s*export async function\* streamResponse\("),
            mentions(None, r"\*/\s*export async function\* streamSse\("),
            mentions(None, r"\*/\s*export async function\* streamJSON\("),
        ),
        spoilt=(
            (
                (
                    "export async function* streamResponse(",
                    "/** Yields the decoded chunks of the body. */\n"
                    "export async function* streamResponse(",
                ),
                (
                    "export async function* streamSse(",
                    "/** Yields the data of server-sent events. */\n"
                    "export async function* streamSse(",
                ),
            ),
            (
                (
                    "export async function* streamResponse(",
                    "/** Yields the decoded chunks. */\nexport async function* streamResponse(",
                ),
                (
                    "export async function* streamSse(",
                    "/** Yields the data of events. */\nexport async function* streamSse(",
                ),
                (
                    "export async function* streamJSON(",
                    "/** Yields one value a line. */\nexport async function* streamJSON(",
                ),
                ("    let position: number;\n", "    let position;\n"),
            ),
        ),
    ),
    Case(
        id="typescript-ky_instance-options",
        file=COMMITS + "sindresorhus_ky/8d2ca916d7",
        kind="add-method",
        instruction="Add an options shortcut for {method: 'options'} to KyInstance after head, with the "
        "same type and the same kind of comment as head",
        right=(
            (
                "\thead: (url: Input, options?: Options) => ResponsePromise;\n",
                "\thead: (url: Input, options?: Options) => ResponsePromise;\n\n\t/**\n"
                "\tFetch the given `url` using the option `{method: 'options'}`.\n\n"
                "\t@param url - `Request` object, `URL` object, or URL string.\n"
                "\t@returns A promise with `Body` methods added.\n\t*/\n"
                "\toptions: (url: Input, options?: Options) => ResponsePromise;\n",
            ),
        ),
        where=("new:KyInstance",),
        asked=(
            mentions(
                "KyInstance",
                r"\*/\s*options: \(url: Input, options\?: Options\) => ResponsePromise\b",
            ),
            mentions("KyInstance", r"\{method: 'options'\}"),
            before("KyInstance", r"\bhead: \(", r"\boptions: \("),
        ),
        keeps=(keeps_lines("KyInstance"),),
        spoilt=(
            (
                (
                    "\thead: (url: Input, options?: Options) => ResponsePromise;\n",
                    "\thead: (url: Input, options?: Options) => ResponsePromise;\n"
                    "\toptions: (url: Input, options?: Options) => ResponsePromise;\n",
                ),
            ),
            (
                ("{method: 'head'}", "{method: 'options'}"),
                ("\thead: (url: Input,", "\toptions: (url: Input,"),
            ),
        ),
    ),
    Case(
        id="typescript-zod_ja-noun",
        file=COMMITS + "colinhacks_zod/305399f878",
        kind="missing-key",
        instruction='Add hostname: "ホスト名" to Nouns',
        right=(('    jwt: "JWT",\n', '    jwt: "JWT",\n    hostname: "ホスト名",\n'),),
        where=("error",),
        asked=(
            contains(
                "error",
                r"const Nouns[\s\S]*\bhostname['\"]?: ['\"]ホスト名['\"][\s\S]*return \(issue\)",
            ),
        ),
        keeps=(keeps_lines("error"),),
        spoilt=(
            (('    jwt: "JWT",\n', '    hostname: "ホスト名",\n'),),
            (('    jwt: "JWT",\n', '    jwt: "JWT",\n    hostname: "ホスト",\n'),),
            (
                (
                    '    set: { unit: "要素", verb: "である" },\n  };\n',
                    '    set: { unit: "要素", verb: "である" },\n    hostname: "ホスト名",\n  };\n',
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_lambda-query",
        file=COMMITS + "honojs_hono/39dcab0eb2",
        kind="simplify",
        instruction="Both branches at the end of extractQueryString are the same: return "
        "event.rawQueryString directly. Leave isProxyEventV2 as it is",
        right=(
            (
                "return isProxyEventV2(event) ? event.rawQueryString : event.rawQueryString",
                "return event.rawQueryString",
            ),
        ),
        where=("extractQueryString",),
        asked=(
            lacks("extractQueryString", r"isProxyEventV2"),
            contains("extractQueryString", r"return event\.rawQueryString\b"),
            defines("isProxyEventV2"),
        ),
        keeps=(keeps_lines("extractQueryString", r"isProxyEventV2"),),
        spoilt=(
            (
                (
                    "return isProxyEventV2(event) ? event.rawQueryString : event.rawQueryString",
                    "return isProxyEventV2(event) ? event.rawQueryString : ''",
                ),
            ),
            (
                (
                    "return isProxyEventV2(event) ? event.rawQueryString : event.rawQueryString",
                    "return event.rawQueryString",
                ),
                ("      .filter(([, value]) => value)\n", ""),
            ),
            (
                (
                    "return isProxyEventV2(event) ? event.rawQueryString : event.rawQueryString",
                    "return event.rawQueryString",
                ),
                (
                    "const isProxyEventV2 = (\n  event: APIGatewayProxyEvent | APIGatewayProxyEventV2 "
                    "| LambdaFunctionUrlEvent\n): event is APIGatewayProxyEventV2 => {\n"
                    "  return Object.prototype.hasOwnProperty.call(event, 'rawPath')\n}\n\n",
                    "",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_lambda-node_crypto",
        file=COMMITS + "honojs_hono/39dcab0eb2",
        kind="add-import",
        instruction="Import crypto from 'node:crypto' instead of 'crypto'",
        right=(("import crypto from 'crypto'", "import crypto from 'node:crypto'"),),
        where=("imports",),
        asked=(
            contains(None, r"(?m)^import crypto from ['\"]node:crypto['\"]"),
            lacks(None, r"from ['\"]crypto['\"]"),
            contains(None, r"globalThis\.crypto = crypto\b"),
        ),
        spoilt=(
            (("import crypto from 'crypto'", "import { webcrypto as crypto } from 'node:crypto'"),),
            (
                ("import crypto from 'crypto'", "import crypto from 'node:crypto'"),
                ("globalThis.crypto = crypto\n", "globalThis.crypto = crypto.webcrypto\n"),
            ),
            (
                (
                    "import crypto from 'crypto'",
                    "import crypto from 'crypto'\nimport nodeCrypto from 'node:crypto'",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_lambda-cookies",
        file=COMMITS + "honojs_hono/39dcab0eb2",
        kind="add-field",
        instruction="Add an optional field cookies, a list of strings, to APIGatewayProxyResult",
        right=(
            (
                "  headers: Record<string, string>\n  isBase64Encoded",
                "  headers: Record<string, string>\n  cookies?: string[]\n  isBase64Encoded",
            ),
        ),
        where=("new:APIGatewayProxyResult",),
        asked=(
            contains(
                "APIGatewayProxyResult", r"\bcookies\?: (?:readonly )?(?:string\[\]|Array<string>)"
            ),
        ),
        keeps=(keeps_lines("APIGatewayProxyResult"),),
        spoilt=(
            (
                (
                    "  headers: Record<string, string>\n  isBase64Encoded",
                    "  headers: Record<string, string>\n  cookies: string[]\n  isBase64Encoded",
                ),
            ),
            (
                (
                    "  headers: Record<string, string>\n  isBase64Encoded: boolean\n",
                    "  headers: Record<string, string>\n  cookies?: string[]\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-ollama-keep_alive",
        file=COMMITS + "continuedev_continue/ae3325d0de",
        kind="default",
        instruction="Change the default of keep_alive from 30 to 10 minutes, with its comment",
        right=(("60 * 30, // 30 minutes", "60 * 10, // 10 minutes"),),
        where=("Ollama._convertArgs",),
        asked=(
            mentions(
                "Ollama._convertArgs",
                r"options\.keepAlive \?\? (?:60 \* 10|10 \* 60|600), // 10 min",
            ),
            omits(None, r"30 minutes"),
        ),
        keeps=(keeps_lines("Ollama._convertArgs", r"keep_alive"),),
        spoilt=(
            (("60 * 30, // 30 minutes", "60 * 10, // 30 minutes"),),
            (("options.keepAlive ?? 60 * 30, // 30 minutes", "60 * 10, // 10 minutes"),),
            (
                ("60 * 30, // 30 minutes", "60 * 10, // 10 minutes"),
                ("        mirostat: options.mirostat,\n", ""),
            ),
        ),
    ),
    Case(
        id="typescript-ollama-template_literal",
        file=COMMITS + "continuedev_continue/ae3325d0de",
        kind="message",
        instruction="The warning about the stop parameter is a plain string. Make it a template literal "
        "so that value and e are filled in",
        right=(
            (
                "'Error parsing stop parameter value \"{value}: ${e}',",
                '`Error parsing stop parameter value "${value}": ${e}`,',
            ),
        ),
        where=("Ollama.constructor",),
        asked=(
            contains(
                "Ollama.constructor",
                r"console\.warn\(\s*`Error parsing stop parameter value[^`]*\$\{value\}[^`]*\$\{e\}[^`]*`",
            ),
        ),
        keeps=(keeps_lines("Ollama.constructor", r"stop parameter|console\.warn\(|^\s*\);?$"),),
        spoilt=(
            (
                (
                    "'Error parsing stop parameter value \"{value}: ${e}',",
                    '`Error parsing stop parameter value "{value}: ${e}`,',
                ),
            ),
            (
                (
                    "'Error parsing stop parameter value \"{value}: ${e}',",
                    '`Error parsing stop parameter value "${value}": ${e}`,',
                ),
                ("let parts = line.match(", "const parts = line.match("),
            ),
        ),
    ),
    Case(
        id="typescript-ollama-extract_headers",
        file=COMMITS + "continuedev_continue/ae3325d0de",
        kind="extract",
        instruction="_streamComplete and _streamChat build the same headers object. Extract it into a "
        "private method _headers() and call it in both",
        right=(
            (
                "  protected async *_streamComplete(",
                '  private _headers() {\n    return {\n      "Content-Type": "application/json",\n'
                "      Authorization: `Bearer ${this.apiKey}`,\n    };\n  }\n\n"
                "  protected async *_streamComplete(",
            ),
            (
                'this.getEndpoint("api/generate"), {\n      method: "POST",\n      headers: {\n'
                '        "Content-Type": "application/json",\n'
                "        Authorization: `Bearer ${this.apiKey}`,\n      },\n",
                'this.getEndpoint("api/generate"), {\n      method: "POST",\n'
                "      headers: this._headers(),\n",
            ),
            (
                'this.getEndpoint("api/chat"), {\n      method: "POST",\n      headers: {\n'
                '        "Content-Type": "application/json",\n'
                "        Authorization: `Bearer ${this.apiKey}`,\n      },\n",
                'this.getEndpoint("api/chat"), {\n      method: "POST",\n'
                "      headers: this._headers(),\n",
            ),
        ),
        where=("new:Ollama", "Ollama._streamComplete", "Ollama._streamChat"),
        asked=(
            contains("Ollama._headers", r"Authorization['\"]?: `Bearer \$\{this\.apiKey\}`"),
            contains("Ollama._headers", r"['\"]Content-Type['\"]: ['\"]application/json['\"]"),
            contains("Ollama._streamComplete", r"this\._headers\(\)"),
            contains("Ollama._streamChat", r"this\._headers\(\)"),
            lacks("Ollama._streamComplete", r"Authorization"),
            lacks("Ollama._streamChat", r"Authorization"),
        ),
        keeps=(
            keeps_lines("Ollama._streamComplete", r"headers|Content-Type|Authorization|^\s*\},?$"),
            keeps_lines("Ollama._streamChat", r"headers|Content-Type|Authorization|^\s*\},?$"),
        ),
        spoilt=(
            (
                (
                    "  protected async *_streamComplete(",
                    '  private _headers() {\n    return {\n      "Content-Type": "application/json",\n'
                    "      Authorization: `Bearer ${this.apiKey}`,\n    };\n  }\n\n"
                    "  protected async *_streamComplete(",
                ),
            ),
            (
                (
                    "  protected async *_streamComplete(",
                    '  private _headers() {\n    return {\n      "Content-Type": "application/json",\n'
                    "      Authorization: `Bearer ${this.apiKey}`,\n    };\n  }\n\n"
                    "  protected async *_streamComplete(",
                ),
                (
                    'this.getEndpoint("api/generate"), {\n      method: "POST",\n      headers: {\n'
                    '        "Content-Type": "application/json",\n'
                    "        Authorization: `Bearer ${this.apiKey}`,\n      },\n",
                    'this.getEndpoint("api/generate"), {\n      method: "POST",\n'
                    "      headers: this._headers(),\n",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_body-function",
        file=COMMITS + "honojs_hono/82b321b5b0",
        kind="convert",
        instruction="Turn handleParsingNestedValues into a function declaration instead of a constant "
        "with an arrow function",
        right=(
            ("const handleParsingNestedValues = (", "function handleParsingNestedValues("),
            (
                "  value: BodyDataValue<Partial<ParseBodyOptions>>\n): void => {",
                "  value: BodyDataValue<Partial<ParseBodyOptions>>\n): void {",
            ),
        ),
        where=("handleParsingNestedValues",),
        asked=(
            contains(None, r"(?m)^function handleParsingNestedValues\("),
            lacks(None, r"const handleParsingNestedValues\b"),
            contains(
                "handleParsingNestedValues",
                r"value: BodyDataValue<Partial<ParseBodyOptions>>,?\s*\): void \{",
            ),
        ),
        keeps=(
            keeps_lines(
                "handleParsingNestedValues", r"handleParsingNestedValues|\): void|^\}?\s*$"
            ),
        ),
        spoilt=(
            (("const handleParsingNestedValues = (", "function handleParsingNestedValues("),),
            (
                ("const handleParsingNestedValues = (", "function handleParsingNestedValues("),
                (
                    "  value: BodyDataValue<Partial<ParseBodyOptions>>\n): void => {\n"
                    "  if (/(?:^|\\.)__proto__\\./.test(key)) {\n    return\n  }\n",
                    "  value: BodyDataValue<Partial<ParseBodyOptions>>\n): void {",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-hono_url-separator",
        file="files/typescript/hono__url.ts",
        kind="add-parameter",
        instruction="Give splitPath a second parameter separator with the default '/' and split the "
        "path at it",
        right=(
            (
                "export const splitPath = (path: string): string[] => {\n"
                "  const paths = path.split('/')",
                "export const splitPath = (path: string, separator: string = '/'): string[] => {\n"
                "  const paths = path.split(separator)",
            ),
        ),
        where=("splitPath",),
        asked=(
            contains(
                "splitPath", r"\(\s*path: string,\s*separator(?:: string)? = ['\"]/['\"],?\s*\)"
            ),
            contains("splitPath", r"path\.split\(separator\)"),
        ),
        keeps=(keeps_lines("splitPath", r"=>|split\("),),
        spoilt=(
            (
                (
                    "export const splitPath = (path: string): string[] => {",
                    "export const splitPath = (path: string, separator = '/'): string[] => {",
                ),
            ),
            (
                (
                    "export const splitPath = (path: string): string[] => {\n"
                    "  const paths = path.split('/')",
                    "export const splitPath = (path: string, separator: string): string[] => {\n"
                    "  const paths = path.split(separator)",
                ),
            ),
            (
                (
                    "export const splitPath = (path: string): string[] => {\n"
                    "  const paths = path.split('/')",
                    "export const splitPath = (path: string, separator = '/'): string[] => {\n"
                    "  const paths = path.split(separator)",
                ),
                ("const segments = path.split('/')", "const segments = path.split(separator)"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_etag-return_types",
        file="files/typescript/hono__index.ts",
        kind="type-hints",
        instruction="Add the missing return types of stripWeak and etagMatches",
        right=(
            ("const stripWeak = (tag: string) =>", "const stripWeak = (tag: string): string =>"),
            ("ifNoneMatch: string | null) {", "ifNoneMatch: string | null): boolean {"),
        ),
        where=("stripWeak", "etagMatches"),
        asked=(
            contains("stripWeak", r"\(tag: string\): string =>"),
            contains("etagMatches", r"ifNoneMatch: string \| null,?\s*\): boolean \{"),
        ),
        keeps=(
            keeps_lines("stripWeak", r"=>"),
            keeps_lines("etagMatches", r"function"),
            contains("stripWeak", r"tag\.replace\("),
        ),
        spoilt=(
            (("const stripWeak = (tag: string) =>", "const stripWeak = (tag: string): string =>"),),
            (
                (
                    "const stripWeak = (tag: string) =>",
                    "const stripWeak = (tag: string): string =>",
                ),
                ("ifNoneMatch: string | null) {", "ifNoneMatch: string | null): string {"),
            ),
            (
                (
                    "const stripWeak = (tag: string) =>",
                    "const stripWeak = (tag: string): string =>",
                ),
                ("ifNoneMatch: string | null) {", "ifNoneMatch: string | null): boolean {"),
                ("    ifNoneMatch != null &&", "    ifNoneMatch !== null &&"),
            ),
        ),
    ),
    Case(
        id="typescript-immer_finalize-deep",
        file="files/typescript/immer__finalize.ts",
        kind="remove-parameter",
        instruction="Remove the parameter deep of maybeFreeze: it always freezes deeply. Adapt its "
        "only call",
        right=(
            ("value: any, deep = false) {", "value: any) {"),
            ("\t\tfreeze(value, deep)", "\t\tfreeze(value, true)"),
            ("maybeFreeze(scope, result, true)", "maybeFreeze(scope, result)"),
        ),
        where=("maybeFreeze", "processResult"),
        asked=(
            parameters("maybeFreeze", ["scope", "value"]),
            contains("maybeFreeze", r"freeze\(value, true\)"),
            lacks("maybeFreeze", r"\bdeep\b"),
            contains("processResult", r"maybeFreeze\(scope, result\)"),
        ),
        keeps=(
            keeps_lines("maybeFreeze", r"\bdeep\b"),
            keeps_lines("processResult", r"maybeFreeze\("),
        ),
        spoilt=(
            (
                ("value: any, deep = false) {", "value: any) {"),
                ("maybeFreeze(scope, result, true)", "maybeFreeze(scope, result)"),
            ),
            (
                ("value: any, deep = false) {", "value: any) {"),
                ("\t\tfreeze(value, deep)", "\t\tfreeze(value, true)"),
            ),
            (
                ("value: any, deep = false) {", "value: any) {"),
                ("\t\tfreeze(value, deep)", "\t\tfreeze(value, false)"),
                ("maybeFreeze(scope, result, true)", "maybeFreeze(scope, result)"),
            ),
        ),
    ),
    Case(
        id="typescript-hono_body-invert",
        file=COMMITS + "honojs_hono/82b321b5b0",
        kind="invert-condition",
        instruction="In handleParsingAllValues invert the condition !key.endsWith('[]') and swap its "
        "two branches",
        right=(
            (
                "    if (!key.endsWith('[]')) {\n      form[key] = value\n    } else {\n"
                "      form[key] = [value]\n    }\n",
                "    if (key.endsWith('[]')) {\n      form[key] = [value]\n    } else {\n"
                "      form[key] = value\n    }\n",
            ),
        ),
        where=("handleParsingAllValues",),
        asked=(
            contains(
                "handleParsingAllValues",
                r"if \(key\.endsWith\('\[\]'\)\) \{\s*form\[key\] = \[value\];?\s*\} else \{\s*"
                r"form\[key\] = value;?\s*\}",
            ),
            lacks("handleParsingAllValues", r"!key\.endsWith"),
        ),
        keeps=(
            keeps_lines(
                "handleParsingAllValues", r"endsWith|form\[key\] = (?:\[value\]|value)|else|^\}$"
            ),
        ),
        spoilt=(
            (("    if (!key.endsWith('[]')) {", "    if (key.endsWith('[]')) {"),),
            (
                (
                    "    if (!key.endsWith('[]')) {\n      form[key] = value\n    } else {\n"
                    "      form[key] = [value]\n    }\n",
                    "    if (!key.endsWith('[]')) {\n      form[key] = [value]\n    } else {\n"
                    "      form[key] = value\n    }\n",
                ),
            ),
            (
                (
                    "    if (!key.endsWith('[]')) {\n      form[key] = value\n    } else {\n"
                    "      form[key] = [value]\n    }\n",
                    "    if (key.endsWith('[]')) {\n      form[key] = [value]\n    } else {\n"
                    "      form[key] = value\n    }\n",
                ),
                (
                    "const shouldParseAllValues = options.all || key",
                    "const shouldParseAllValues = key",
                ),
            ),
        ),
    ),
    Case(
        id="typescript-stream-cause",
        file=COMMITS + "continuedev_continue/2d1155d7d4",
        kind="wrap-error",
        instruction='The "Malformed JSON" error of parseDataLine should have e as its cause',
        right=(
            (
                "throw new Error(`Malformed JSON sent from server: ${json}`);",
                "throw new Error(`Malformed JSON sent from server: ${json}`, { cause: e });",
            ),
        ),
        where=("parseDataLine",),
        asked=(
            contains(
                "parseDataLine",
                r"new Error\(\s*`Malformed JSON sent from server: \$\{json\}`,\s*\{\s*cause: e,?\s*\},?\s*\)",
            ),
            contains("parseDataLine", r"catch \(e(?:: \w+)?\)"),
        ),
        keeps=(keeps_lines("parseDataLine", r"Malformed"),),
        spoilt=(
            (
                (
                    "throw new Error(`Malformed JSON sent from server: ${json}`);",
                    "throw new Error(`Malformed JSON sent from server: ${json}: ${e}`);",
                ),
            ),
            (
                (
                    "throw new Error(`Malformed JSON sent from server: ${json}`);",
                    "throw new Error(`Malformed JSON sent from server: ${json}`, { cause: e });",
                ),
                (
                    "throw new Error(`Error streaming response: ${data.error}`);",
                    "throw new Error(`Error streaming response: ${data.error}`, { cause: data });",
                ),
            ),
        ),
    ),
)
