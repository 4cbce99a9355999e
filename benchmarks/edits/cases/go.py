"""Edits of Go files."""

from benchmarks.edits.case import Case, Replacements
from benchmarks.edits.checkers import (
    before,
    contains,
    either,
    imports,
    keeps_lines,
    lacks,
    mentions,
    omits,
    only,
    parameters,
)

ARGS = "files/go/cobra__args.go"
GROUPS = "files/go/cobra__flag_groups.go"
LOGGER = "files/go/gin__logger.go"
RECOVERY = "files/go/gin__recovery.go"
ROUTER = "files/go/gin__routergroup.go"
IMPORTS = "files/go/tools__imports.go"
REWRITE = "files/go/tools__rewrite.go"
right: Replacements  # of the case at hand, for its spoilt answers

CASES = (
    Case(
        id="go-cobra_args-message",
        file=ARGS,
        kind="message",
        instruction='Change the error of NoArgs to "unexpected argument %q for %q"',
        right=(
            right := (
                (
                    'fmt.Errorf("unknown command %q for %q", args[0]',
                    'fmt.Errorf("unexpected argument %q for %q", args[0]',
                ),
            )
        ),
        where=("NoArgs",),
        asked=(
            contains(
                "NoArgs",
                r'fmt\.Errorf\("unexpected argument %q for %q", args\[0\], cmd\.CommandPath\(\)\)',
            ),
            lacks("NoArgs", "unknown command"),
        ),
        keeps=(keeps_lines("NoArgs", r"Errorf"),),
        spoilt=(
            (
                (
                    'fmt.Errorf("unknown command %q for %q%s"',
                    'fmt.Errorf("unexpected argument %q for %q"',
                ),
            ),
            (
                *right,
                (
                    'fmt.Errorf("unknown command %q for %q%s"',
                    'fmt.Errorf("unexpected argument %q for %q%s"',
                ),
            ),
        ),
    ),
    Case(
        id="go-cobra_args-at_most_one",
        file=ARGS,
        kind="add-function",
        instruction="Add a function AtMostOneArg with a doc comment behind MaximumNArgs. It returns "
        "MaximumNArgs(1)",
        right=(
            right := (
                (
                    "// ExactArgs returns an error if there are not exactly n args.\n",
                    "// AtMostOneArg returns an error if there is more than one arg.\n"
                    "func AtMostOneArg() PositionalArgs {\n\treturn MaximumNArgs(1)\n}\n\n"
                    "// ExactArgs returns an error if there are not exactly n args.\n",
                ),
            )
        ),
        where=("new:",),
        asked=(
            contains("AtMostOneArg", r"func AtMostOneArg\(\) PositionalArgs \{"),
            contains("AtMostOneArg", r"return MaximumNArgs\(1\)"),
            mentions(None, r"//[^\n]*\n(?://[^\n]*\n)*func AtMostOneArg\("),
            before(None, r"func MaximumNArgs\(", r"func AtMostOneArg\("),
            before(None, r"func AtMostOneArg\(", r"func ExactArgs\("),
        ),
        spoilt=(
            (
                (
                    "// ExactArgs returns an error if there are not exactly n args.\n",
                    "func AtMostOneArg() PositionalArgs {\n\treturn MaximumNArgs(1)\n}\n\n"
                    "// ExactArgs returns an error if there are not exactly n args.\n",
                ),
            ),
            (("func MaximumNArgs(n int)", "func AtMostOneArg(n int)"),),
            (*right, ("// ArbitraryArgs never returns an error.\n", "")),
        ),
    ),
    Case(
        id="go-cobra_args-range_panics",
        file=ARGS,
        kind="guard",
        instruction="RangeArgs should panic if min is greater than max",
        right=(
            right := (
                (
                    "func RangeArgs(min int, max int) PositionalArgs {\n",
                    "func RangeArgs(min int, max int) PositionalArgs {\n\tif min > max {\n"
                    '\t\tpanic("min is greater than max")\n\t}\n\n',
                ),
            )
        ),
        where=("RangeArgs",),
        asked=(
            contains("RangeArgs", r"if (?:min > max|max < min) \{\s*panic\("),
            before("RangeArgs", r"panic\(", r"return func\("),
        ),
        keeps=(keeps_lines("RangeArgs"),),
        spoilt=(
            (
                (
                    "func RangeArgs(min int, max int) PositionalArgs {\n",
                    "func RangeArgs(min int, max int) PositionalArgs {\n\tif min >= max {\n"
                    '\t\tpanic("min is greater than max")\n\t}\n\n',
                ),
            ),
            (*right, ("if len(args) < min || len(args) > max {", "if len(args) > max {")),
        ),
    ),
    Case(
        id="go-cobra_args-doc_type",
        file=ARGS,
        kind="doc-one",
        instruction="Add a doc comment to the type PositionalArgs",
        right=(
            right := (
                (
                    "type PositionalArgs func",
                    "// PositionalArgs validates the positional arguments of a command.\n"
                    "type PositionalArgs func",
                ),
            )
        ),
        where=("doc:PositionalArgs",),
        asked=(
            mentions(None, r"// PositionalArgs [^\n]*\n(?://[^\n]*\n)*type PositionalArgs func"),
        ),
        spoilt=(
            (("// NoArgs returns", "// PositionalArgs returns"),),
            (
                *right,
                ("validArgs := make([]string, 0, len(cmd.ValidArgs))", "var validArgs []string"),
            ),
        ),
    ),
    Case(
        id="go-cobra_groups-rename_unset",
        file=GROUPS,
        kind="rename-local",
        instruction="In validateRequiredFlagGroups rename the variable unset to missing",
        right=(
            right := (
                ("unset := []string{}", "missing := []string{}"),
                ("unset = append(unset, flagname)", "missing = append(missing, flagname)"),
                (
                    "if len(unset) == len(flagnameAndStatus) || len(unset) == 0 {",
                    "if len(missing) == len(flagnameAndStatus) || len(missing) == 0 {",
                ),
                ("sort.Strings(unset)", "sort.Strings(missing)"),
                ("flagList, unset)", "flagList, missing)"),
            )
        ),
        where=("validateRequiredFlagGroups",),
        asked=(
            lacks("validateRequiredFlagGroups", r"\bunset\b"),
            contains(
                "validateRequiredFlagGroups", r"\bmissing := \[\]string\{\}|var missing \[\]string"
            ),
            contains("validateRequiredFlagGroups", r"missing = append\(missing, flagname\)"),
            contains("validateRequiredFlagGroups", r'missing %v", flagList, missing\)'),
        ),
        keeps=(
            only("validateRequiredFlagGroups", (r"\bunset\b", "missing")),
            keeps_lines("validateRequiredFlagGroups", r"\bunset\b"),
        ),
        spoilt=(
            right[:-1],
            (
                *right,
                (
                    "\t\tif len(set) >= 1 {\n\t\t\tcontinue\n\t\t}\n\n"
                    "\t\t// Sort values, so they can be tested/scripted against consistently.\n",
                    "\t\tif len(set) >= 1 {\n\t\t\tcontinue\n\t\t}\n\n",
                ),
            ),
            (
                *right,
                (
                    "\t\tfor flagname, isSet := range flagnameAndStatus {\n\t\t\tif !isSet {",
                    "\t\tfor flagname, isSet := range flagnameAndStatus {\n\t\t\tif isSet {",
                ),
            ),
        ),
    ),
    Case(
        id="go-cobra_groups-annotation",
        file=GROUPS,
        kind="constant",
        instruction='Set oneRequiredAnnotation to "cobra_annotation_at_least_one_required"',
        right=(
            right := (
                ('"cobra_annotation_one_required"', '"cobra_annotation_at_least_one_required"'),
            )
        ),
        where=("oneRequiredAnnotation",),
        asked=(
            contains(
                None, r'^\s*oneRequiredAnnotation\s*= "cobra_annotation_at_least_one_required"$'
            ),
        ),
        spoilt=(
            (
                (
                    '"cobra_annotation_mutually_exclusive"',
                    '"cobra_annotation_at_least_one_required"',
                ),
            ),
            (
                *right,
                ('"cobra_annotation_mutually_exclusive"', '"cobra_annotation_exclusive"'),
            ),
        ),
    ),
    Case(
        id="go-cobra_groups-append",
        file=GROUPS,
        kind="convert",
        instruction="sortedKeys should build keys with append instead of the index i",
        right=(
            right := (
                (
                    "keys := make([]string, len(m))\n\ti := 0\n",
                    "keys := make([]string, 0, len(m))\n",
                ),
                ("\t\tkeys[i] = k\n\t\ti++\n", "\t\tkeys = append(keys, k)\n"),
            )
        ),
        where=("sortedKeys",),
        asked=(
            contains("sortedKeys", r"keys = append\(keys, \w+\)"),
            lacks("sortedKeys", r"keys\[i\]|\bi\b"),
            either(
                contains("sortedKeys", r"make\(\[\]string, 0(?:, len\(m\))?\)"),
                contains("sortedKeys", r"var keys \[\]string|keys := \[\]string\{\}"),
            ),
            contains("sortedKeys", r"sort\.Strings\(keys\)|slices\.Sort\(keys\)"),
            contains("sortedKeys", r"return keys\b"),
        ),
        keeps=(keeps_lines("sortedKeys", r"make\(|\bi\b"),),
        spoilt=(
            (("\t\tkeys[i] = k\n\t\ti++\n", "\t\tkeys = append(keys, k)\n"), ("\ti := 0\n", "")),
            (*right, ("\tsort.Strings(keys)\n", "")),
        ),
    ),
    Case(
        id="go-cobra_bash-wrap_create",
        file="files/go/cobra__bash_completionsV2.go",
        kind="wrap-error",
        instruction="GenBashCompletionFileV2 should wrap the error of os.Create with fmt.Errorf, %w and "
        "the file name",
        right=(
            right := (
                (
                    "outFile, err := os.Create(filename)\n\tif err != nil {\n\t\treturn err\n",
                    "outFile, err := os.Create(filename)\n\tif err != nil {\n"
                    '\t\treturn fmt.Errorf("cannot create %s: %w", filename, err)\n',
                ),
            )
        ),
        where=("Command.GenBashCompletionFileV2",),
        asked=(
            contains(
                "Command.GenBashCompletionFileV2",
                r'return fmt\.Errorf\("[^"\n]*%w[^"\n]*",[^\n]*\berr\b[^\n]*\)',
            ),
            contains("Command.GenBashCompletionFileV2", r"fmt\.Errorf\([^\n]*\bfilename\b"),
            lacks("Command.GenBashCompletionFileV2", r"return err$"),
        ),
        keeps=(keeps_lines("Command.GenBashCompletionFileV2", r"return err$"),),
        spoilt=(
            (
                (
                    "outFile, err := os.Create(filename)\n\tif err != nil {\n\t\treturn err\n",
                    "outFile, err := os.Create(filename)\n\tif err != nil {\n"
                    '\t\treturn fmt.Errorf("cannot create %s: %v", filename, err)\n',
                ),
            ),
            (*right, ("\tdefer outFile.Close()\n", "")),
        ),
    ),
    Case(
        id="go-gin_logger-method_trace",
        file=LOGGER,
        kind="add-case",
        instruction="MethodColor should return magenta for http.MethodTrace, too",
        right=(
            right := (("\tcase http.MethodHead:\n", "\tcase http.MethodHead, http.MethodTrace:\n"),)
        ),
        where=("LogFormatterParams.MethodColor",),
        asked=(
            contains(
                "LogFormatterParams.MethodColor",
                r"case (?:http\.MethodHead, )?http\.MethodTrace(?:, http\.MethodHead)?:\s*return magenta",
            ),
            contains(
                "LogFormatterParams.MethodColor",
                r"case (?:http\.MethodTrace, )?http\.MethodHead(?:, http\.MethodTrace)?:\s*return magenta",
            ),
        ),
        keeps=(keeps_lines("LogFormatterParams.MethodColor", r"case http\.MethodHead"),),
        spoilt=(
            (("\tcase http.MethodHead:\n", "\tcase http.MethodTrace:\n"),),
            (*right, ("\tcase http.MethodDelete:\n\t\treturn red\n", "")),
            (("\tcase http.MethodOptions:\n", "\tcase http.MethodOptions, http.MethodTrace:\n"),),
        ),
    ),
    Case(
        id="go-gin_logger-skip_status",
        file=LOGGER,
        kind="add-field",
        instruction="Add a field SkipStatusCodes []int with a comment to LoggerConfig",
        right=(
            right := (
                (
                    "\tSkip Skipper\n",
                    "\tSkip Skipper\n\n\t// SkipStatusCodes is a list of status codes which are not logged.\n"
                    "\t// Optional.\n\tSkipStatusCodes []int\n",
                ),
            )
        ),
        where=("new:LoggerConfig", "LoggerConfig"),
        asked=(
            contains("LoggerConfig", r"^\s*SkipStatusCodes\s+\[\]int\b"),
            mentions(
                "LoggerConfig", r"//[^\n]*\n\s*SkipStatusCodes\b|SkipStatusCodes\s+\[\]int //"
            ),
        ),
        keeps=(keeps_lines("LoggerConfig"),),
        spoilt=(
            (("\tSkip Skipper\n", "\tSkip Skipper\n\n\tSkipStatusCodes []int\n"),),
            (
                (
                    "\tSkip Skipper\n",
                    "\t// SkipStatusCodes are not logged.\n\tSkipStatusCodes []int\n",
                ),
            ),
            (*right, ("\tSkipPaths []string\n", "\tSkipPaths  []string\n\tSkipMethods []string\n")),
        ),
    ),
    Case(
        id="go-gin_logger-latency",
        file=LOGGER,
        kind="constant",
        instruction="In LatencyColor lower the limit for blue from 500 to 400 milliseconds",
        right=(right := (("latency < time.Millisecond*500", "latency < time.Millisecond*400"),)),
        where=("LogFormatterParams.LatencyColor",),
        asked=(
            contains(
                "LogFormatterParams.LatencyColor",
                r"case latency < (?:time\.Millisecond ?\* ?400|400 ?\* ?time\.Millisecond):\s*return blue",
            ),
        ),
        keeps=(keeps_lines("LogFormatterParams.LatencyColor", r"Millisecond\*500"),),
        spoilt=(
            (("latency < time.Millisecond*300", "latency < time.Millisecond*400"),),
            (*right, ("\tcase latency < time.Second:\n\t\treturn yellow\n", "")),
        ),
    ),
    Case(
        id="go-gin_logger-doc_force",
        file=LOGGER,
        kind="comments",
        instruction='Correct the grammar of the comments: "ForceConsoleColor force" to "forces", and '
        '"LoggerWithFormatter instance", "LoggerWithWriter instance" and "LoggerWithConfig instance" to '
        '"instantiates"',
        right=(
            right := (
                ("// ForceConsoleColor force color", "// ForceConsoleColor forces color"),
                ("// LoggerWithFormatter instance a", "// LoggerWithFormatter instantiates a"),
                ("// LoggerWithWriter instance a", "// LoggerWithWriter instantiates a"),
                ("// LoggerWithConfig instance a", "// LoggerWithConfig instantiates a"),
            )
        ),
        where=("comments",),
        asked=(
            mentions(None, r"// ForceConsoleColor forces color"),
            mentions(None, r"// LoggerWithFormatter instantiates a Logger"),
            mentions(None, r"// LoggerWithWriter instantiates a Logger"),
            mentions(None, r"// LoggerWithConfig instantiates a Logger"),
        ),
        spoilt=(
            right[:-1],
            (*right, ("\tout := conf.Output\n", "\tvar out = conf.Output\n")),
        ),
    ),
    Case(
        id="go-gin_recovery-constant",
        file=RECOVERY,
        kind="constant",
        instruction="Change stackSkip to 4",
        right=(right := (("stackSkip = 3", "stackSkip = 4"),)),
        where=("stackSkip",),
        asked=(contains(None, r"^\s*stackSkip\s*= 4$"),),
        spoilt=(
            (("stackSkip = 3", "stackSkip = 5"),),
            (*right, ('dunno     = "???"', 'dunno     = "?"')),
        ),
    ),
    Case(
        id="go-gin_recovery-cookie",
        file=RECOVERY,
        kind="add-case",
        instruction='secureRequestDump should mask the Cookie header as well ("Cookie: *")',
        right=(
            right := (
                (
                    '\t\t\tlines[i] = "Authorization: *"\n\t\t}\n',
                    '\t\t\tlines[i] = "Authorization: *"\n\t\t}\n'
                    '\t\tif strings.HasPrefix(line, "Cookie:") {\n\t\t\tlines[i] = "Cookie: *"\n\t\t}\n',
                ),
            )
        ),
        where=("secureRequestDump",),
        asked=(
            contains("secureRequestDump", r'"Cookie[:"]'),
            contains("secureRequestDump", r'"Cookie: \*"|\+ ?"(?:: ?)?\*"|Sprintf\("%s:? \*"'),
            contains("secureRequestDump", r'"Authorization[:"]'),
            contains("secureRequestDump", r"HasPrefix\("),
        ),
        keeps=(keeps_lines("secureRequestDump", r"Authorization|^\}$|^//"),),
        spoilt=(
            (
                ('HasPrefix(line, "Authorization:")', 'HasPrefix(line, "Cookie:")'),
                ('lines[i] = "Authorization: *"', 'lines[i] = "Cookie: *"'),
            ),
            (*right, ('return strings.Join(lines, "\\r\\n")', 'return strings.Join(lines, "\\n")')),
        ),
    ),
    Case(
        id="go-gin_recovery-wrap_open",
        file=RECOVERY,
        kind="wrap-error",
        instruction="Wrap the error of os.Open in readNthLine with the name of the file (fmt.Errorf "
        "and %w)",
        right=(
            right := (
                (
                    '\t\treturn "", err\n\t}\n\tdefer f.Close()',
                    '\t\treturn "", fmt.Errorf("open %s: %w", file, err)\n\t}\n\tdefer f.Close()',
                ),
            )
        ),
        where=("readNthLine",),
        asked=(
            contains("readNthLine", r'return "", fmt\.Errorf\("[^"\n]*%w[^"\n]*",[^\n]*\berr\b'),
            contains("readNthLine", r"fmt\.Errorf\([^\n]*\bfile\b"),
            lacks("readNthLine", r'return "", err$'),
        ),
        keeps=(keeps_lines("readNthLine", r'return "", err$'),),
        spoilt=(
            (
                (
                    '\t\treturn "", err\n\t}\n\tdefer f.Close()',
                    '\t\treturn "", fmt.Errorf("open %s: %v", file, err)\n\t}\n\tdefer f.Close()',
                ),
            ),
            (*right, ('\tif n < 0 {\n\t\treturn "", nil\n\t}\n\n', "")),
        ),
    ),
    Case(
        id="go-gin_recovery-doc_default",
        file=RECOVERY,
        kind="doc-one",
        instruction="defaultHandleRecovery has no doc comment. Write one",
        right=(
            right := (
                (
                    "func defaultHandleRecovery(",
                    "// defaultHandleRecovery records the error and aborts with status 500.\n"
                    "func defaultHandleRecovery(",
                ),
            )
        ),
        where=("doc:defaultHandleRecovery",),
        asked=(
            mentions(
                None,
                r"// defaultHandleRecovery [^\n]*\n(?://[^\n]*\n)*func defaultHandleRecovery\(",
            ),
        ),
        spoilt=(
            (
                (
                    "func defaultHandleRecovery(c *Context, err any) {\n",
                    "func defaultHandleRecovery(c *Context, err any) {\n"
                    "\t// defaultHandleRecovery aborts with status 500.\n",
                ),
            ),
            (*right, ('e = fmt.Errorf("%v", err)', 'e = fmt.Errorf("panic: %v", err)')),
        ),
    ),
    Case(
        id="go-gin_router-connect",
        file=ROUTER,
        kind="add-method",
        instruction="Add a CONNECT shortcut to RouterGroup like HEAD, and add it to the interface IRoutes",
        right=(
            right := (
                (
                    "\tHEAD(string, ...HandlerFunc) IRoutes\n",
                    "\tHEAD(string, ...HandlerFunc) IRoutes\n"
                    "\tCONNECT(string, ...HandlerFunc) IRoutes\n",
                ),
                (
                    "// Any registers a route",
                    '// CONNECT is a shortcut for router.Handle("CONNECT", path, handlers).\n'
                    "func (group *RouterGroup) CONNECT(relativePath string, handlers ...HandlerFunc) "
                    "IRoutes {\n\treturn group.handle(http.MethodConnect, relativePath, handlers)\n}\n\n"
                    "// Any registers a route",
                ),
            )
        ),
        where=("new:", "new:RouterGroup", "new:IRoutes"),
        asked=(
            contains(
                "RouterGroup.CONNECT",
                r"CONNECT\(relativePath string, handlers \.\.\.HandlerFunc\) IRoutes \{",
            ),
            contains(
                "RouterGroup.CONNECT",
                r'return group\.handle\((?:http\.MethodConnect|"CONNECT"), relativePath, handlers\)',
            ),
            contains("IRoutes", r"^\s*CONNECT\(string, \.\.\.HandlerFunc\) IRoutes$"),
        ),
        keeps=(keeps_lines("IRoutes"),),
        spoilt=(
            right[1:],
            right[:1],
            (
                right[0],
                ("func (group *RouterGroup) HEAD(", "func (group *RouterGroup) CONNECT("),
                ("http.MethodHead, relativePath", "http.MethodConnect, relativePath"),
            ),
        ),
    ),
    Case(
        id="go-gin_router-cannot",
        file=ROUTER,
        kind="message",
        instruction='Write "cannot" instead of "can not" in the panic messages',
        right=(
            right := (
                (
                    "can not be used when serving a static file",
                    "cannot be used when serving a static file",
                ),
                (
                    "can not be used when serving a static folder",
                    "cannot be used when serving a static folder",
                ),
            )
        ),
        where=("RouterGroup.staticFileHandler", "RouterGroup.StaticFS"),
        asked=(
            contains(
                "RouterGroup.staticFileHandler",
                r'panic\("URL parameters cannot be used when serving a static file"\)',
            ),
            contains(
                "RouterGroup.StaticFS",
                r'panic\("URL parameters cannot be used when serving a static folder"\)',
            ),
            omits(None, r"can not"),
        ),
        keeps=(
            keeps_lines("RouterGroup.staticFileHandler", r"can not"),
            keeps_lines("RouterGroup.StaticFS", r"can not"),
        ),
        spoilt=(
            right[:1],
            (*right, ("\tgroup.HEAD(urlPattern, handler)\n", "")),
        ),
    ),
    Case(
        id="go-gin_router-match_empty",
        file=ROUTER,
        kind="guard",
        instruction='RouterGroup.Match should panic with "no http methods given" if methods is empty',
        right=(
            right := (
                (
                    "\tfor _, method := range methods {\n",
                    '\tif len(methods) == 0 {\n\t\tpanic("no http methods given")\n\t}\n\n'
                    "\tfor _, method := range methods {\n",
                ),
            )
        ),
        where=("RouterGroup.Match",),
        asked=(
            contains(
                "RouterGroup.Match",
                r'if len\(methods\) (?:== 0|< 1|<= 0) \{\s*panic\("no http methods given"\)',
            ),
            before("RouterGroup.Match", r"panic\(", r"range methods"),
        ),
        keeps=(keeps_lines("RouterGroup.Match"),),
        spoilt=(
            (
                (
                    "\tfor _, method := range methods {\n",
                    '\tif methods == nil {\n\t\tpanic("no methods")\n\t}\n\n'
                    "\tfor _, method := range methods {\n",
                ),
            ),
            (
                (
                    "\tfor _, method := range anyMethods {\n",
                    '\tif len(methods) == 0 {\n\t\tpanic("no http methods given")\n\t}\n\n'
                    "\tfor _, method := range anyMethods {\n",
                ),
            ),
        ),
    ),
    Case(
        id="go-tools_imports-rename_len",
        file=IMPORTS,
        kind="rename-local",
        instruction="The local variable len in updateBasicLitPos hides the builtin; rename it to length",
        right=(
            right := (
                ("\tlen := lit.End() - lit.Pos()", "\tlength := lit.End() - lit.Pos()"),
                ("v.SetInt(int64(pos + len))", "v.SetInt(int64(pos + length))"),
            )
        ),
        where=("updateBasicLitPos",),
        asked=(
            contains("updateBasicLitPos", r"\blength := lit\.End\(\) - lit\.Pos\(\)"),
            contains("updateBasicLitPos", r"int64\(pos ?\+ ?length\)"),
            lacks("updateBasicLitPos", r"\blen\b"),
        ),
        keeps=(
            only("updateBasicLitPos", (r"\blen\b", "length")),
            keeps_lines("updateBasicLitPos", r"\blen\b"),
        ),
        spoilt=(
            right[:1],
            (*right, ("\tlit.ValuePos = pos\n", "")),
        ),
    ),
    Case(
        id="go-tools_imports-guard_path",
        file=IMPORTS,
        kind="guard",
        instruction="AddNamedImport should return false straight away if path is empty",
        right=(
            right := (
                (
                    "\tif imports(f, name, path) {\n",
                    '\tif path == "" {\n\t\treturn false\n\t}\n\tif imports(f, name, path) {\n',
                ),
            )
        ),
        where=("AddNamedImport",),
        asked=(
            contains(
                "AddNamedImport",
                r'if (?:path == ""|len\(path\) == 0)(?: \|\| imports\(f, name, path\))? \{\s*return\b(?: false)?',
            ),
            contains("AddNamedImport", r"imports\(f, name, path\)"),
            before("AddNamedImport", r'path == ""|len\(path\) == 0', r"newImport :="),
        ),
        keeps=(keeps_lines("AddNamedImport", r"if imports\("),),
        spoilt=(
            (
                (
                    "\tif imports(f, name, path) {\n",
                    '\tif name == "" {\n\t\treturn false\n\t}\n\tif imports(f, name, path) {\n',
                ),
            ),
            (
                (
                    "\tif imports(f, name, path) {\n\t\treturn false\n\t}\n",
                    '\tif path == "" {\n\t\treturn false\n\t}\n',
                ),
            ),
            (*right, ("\t\t\t\t// +2 for a blank line\n", "")),
        ),
    ),
    Case(
        id="go-tools_imports-contains_func",
        file=IMPORTS,
        kind="convert",
        instruction="Replace the loop in declImports by slices.ContainsFunc",
        right=(
            right := (
                (
                    "\tfor _, spec := range gen.Specs {\n\t\timpspec := spec.(*ast.ImportSpec)\n"
                    "\t\tif importPath(impspec) == path {\n\t\t\treturn true\n\t\t}\n\t}\n"
                    "\treturn false\n}\n\n// matchLen",
                    "\treturn slices.ContainsFunc(gen.Specs, func(spec ast.Spec) bool {\n"
                    "\t\treturn importPath(spec.(*ast.ImportSpec)) == path\n\t})\n}\n\n// matchLen",
                ),
            )
        ),
        where=("declImports",),
        asked=(
            contains(
                "declImports", r"slices\.ContainsFunc\(gen\.Specs, func\(\w+ ast\.Spec\) bool \{"
            ),
            contains("declImports", r"importPath\(.*\) == path|path == importPath\("),
            lacks("declImports", r"\bfor\b"),
            contains("declImports", r"gen\.Tok != token\.IMPORT"),
        ),
        keeps=(
            keeps_lines("declImports", r"for |impspec|return|^\}\)?$"),
            contains("declImports", r"return false"),
        ),
        spoilt=(
            (
                (
                    "\tfor _, spec := range gen.Specs {\n\t\timpspec := spec.(*ast.ImportSpec)\n"
                    "\t\tif importPath(impspec) == path {\n\t\t\treturn true\n\t\t}\n\t}\n"
                    "\treturn false\n}\n\n// matchLen",
                    "\treturn slices.Contains(gen.Specs, path)\n}\n\n// matchLen",
                ),
            ),
            (
                (
                    "\tif gen.Tok != token.IMPORT {\n\t\treturn false\n\t}\n"
                    "\tfor _, spec := range gen.Specs {\n\t\timpspec := spec.(*ast.ImportSpec)\n"
                    "\t\tif importPath(impspec) == path {\n\t\t\treturn true\n\t\t}\n\t}\n"
                    "\treturn false\n}\n\n// matchLen",
                    "\treturn slices.ContainsFunc(gen.Specs, func(spec ast.Spec) bool {\n"
                    "\t\treturn importPath(spec.(*ast.ImportSpec)) == path\n\t})\n}\n\n// matchLen",
                ),
            ),
        ),
    ),
    Case(
        id="go-tools_rewrite-in_slice",
        file=REWRITE,
        kind="add-method",
        instruction="Add a method InSlice() bool to Cursor, after Index, that reports whether the "
        "current node is part of a slice",
        right=(
            right := (
                (
                    "// field returns the current node's",
                    "// InSlice reports whether the current node is part of a slice.\n"
                    "func (c *Cursor) InSlice() bool { return c.iter != nil }\n\n"
                    "// field returns the current node's",
                ),
            )
        ),
        where=("new:", "new:Cursor"),
        asked=(
            contains("Cursor.InSlice", r"func \(\w+ \*Cursor\) InSlice\(\) bool \{"),
            contains(
                "Cursor.InSlice",
                r"\w+\.iter != nil|\w+\.Index\(\) (?:>= 0|> -1|!= -1)|"
                r"\w+\.iter == nil[\s\S]*return true|\w+\.field\(\)\.Kind\(\) == reflect\.Slice",
            ),
        ),
        spoilt=(
            (
                (
                    "// field returns the current node's",
                    "// InSlice reports whether the current node is part of a slice.\n"
                    "func (c *Cursor) InSlice() bool { return c.iter == nil }\n\n"
                    "// field returns the current node's",
                ),
            ),
            (
                (
                    "func (c *Cursor) Name() string { return c.name }",
                    "func (c *Cursor) InSlice() bool { return c.iter != nil }",
                ),
            ),
        ),
    ),
    Case(
        id="go-tools_rewrite-delete_message",
        file=REWRITE,
        kind="message",
        instruction='Change the panic message of Cursor.Delete to "Delete: node is not in a slice"',
        right=(
            right := (('"Delete node not contained in slice"', '"Delete: node is not in a slice"'),)
        ),
        where=("Cursor.Delete",),
        asked=(contains("Cursor.Delete", r'panic\("Delete: node is not in a slice"\)'),),
        keeps=(
            only(
                "Cursor.Delete",
                ("Delete node not contained in slice", "Delete: node is not in a slice"),
            ),
        ),
        spoilt=(
            (('"InsertAfter node not contained in slice"', '"Delete: node is not in a slice"'),),
            (*right, ("\tc.iter.step--\n", "")),
        ),
    ),
    Case(
        id="go-gin_mode-quiet",
        file="commits/gin-gonic_gin/7ccbc8f584",
        kind="add-case",
        instruction='Add a mode QuietMode ("quiet") with the code quietCode, and handle it in SetMode',
        right=(
            right := (
                (
                    '\tTestMode    string = "test"\n',
                    '\tTestMode    string = "test"\n\tQuietMode   string = "quiet"\n',
                ),
                ("\ttestCode    = iota\n", "\ttestCode    = iota\n\tquietCode   = iota\n"),
                (
                    "\t\tginMode = testCode\n",
                    "\t\tginMode = testCode\n\tcase QuietMode:\n\t\tginMode = quietCode\n",
                ),
            )
        ),
        where=("new:", "SetMode"),
        asked=(
            contains(None, r'^\s*QuietMode(?:\s+string)?\s*= "quiet"$'),
            contains(None, r"^\s*quietCode(?:\s*= (?:iota|3))?$"),
            contains("SetMode", r"case QuietMode:\s*ginMode = quietCode$"),
        ),
        keeps=(keeps_lines("SetMode"),),
        spoilt=(
            right[:2],
            (right[0], right[2]),
            (
                *right[:2],
                (
                    "\t\tginMode = testCode\n",
                    "\t\tginMode = testCode\n\tcase QuietMode:\n\t\tginMode = releaseCode\n",
                ),
            ),
        ),
    ),
    Case(
        id="go-gin_mode-doc_all",
        file="commits/gin-gonic_gin/7ccbc8f584",
        kind="doc-all",
        instruction="Write doc comments for all exported functions of this file",
        right=(
            right := (
                ("func SetMode(", "// SetMode sets the mode of gin.\nfunc SetMode("),
                (
                    "func DisableBindValidation(",
                    "// DisableBindValidation switches the validator off.\n"
                    "func DisableBindValidation(",
                ),
                ("func Mode() string", "// Mode returns the current mode.\nfunc Mode() string"),
            )
        ),
        where=("doc:SetMode", "doc:DisableBindValidation", "doc:Mode"),
        asked=tuple(
            mentions(None, rf"// {name} [^\n]*\n(?://[^\n]*\n)*func {name}\(")
            for name in ("SetMode", "DisableBindValidation", "Mode")
        ),
        spoilt=(
            right[:2],
            (
                *right,
                ('panic("gin mode unknown: " + value)', 'panic("unknown gin mode: " + value)'),
            ),
        ),
    ),
    Case(
        id="go-gin_auth-constant_time",
        file="commits/gin-gonic_gin/b539606eed",
        kind="convert",
        instruction="searchCredential should compare with secureCompare instead of ==",
        right=(
            right := (
                ("if pair.Value == authValue {", "if secureCompare(pair.Value, authValue) {"),
            )
        ),
        where=("authPairs.searchCredential",),
        asked=(
            contains(
                "authPairs.searchCredential",
                r"if secureCompare\((?:pair\.Value, authValue|authValue, pair\.Value)\) \{",
            ),
            lacks("authPairs.searchCredential", r"pair\.Value =="),
        ),
        keeps=(keeps_lines("authPairs.searchCredential", r"pair\.Value =="),),
        spoilt=(
            (("if pair.Value == authValue {", "if !secureCompare(pair.Value, authValue) {"),),
            (*right, ("\tif len(authValue) == 0 {", '\tif authValue == "" {')),
        ),
    ),
    Case(
        id="go-gin_auth-status",
        file="commits/gin-gonic_gin/b539606eed",
        kind="add-import",
        instruction="Use http.StatusUnauthorized instead of the number 401 in BasicAuthForRealm",
        right=(
            right := (
                ("c.AbortWithStatus(401)", "c.AbortWithStatus(http.StatusUnauthorized)"),
                ('\t"encoding/base64"\n', '\t"encoding/base64"\n\t"net/http"\n'),
            )
        ),
        where=("BasicAuthForRealm", "imports"),
        asked=(
            contains("BasicAuthForRealm", r"c\.AbortWithStatus\(http\.StatusUnauthorized\)"),
            lacks("BasicAuthForRealm", r"\(401\)"),
            imports("net/http", "crypto/subtle", "encoding/base64", "strconv"),
        ),
        keeps=(keeps_lines("BasicAuthForRealm", r"401"),),
        spoilt=(
            right[:1],
            (right[0], ('\t"encoding/base64"\n', '\t"net/http"\n')),
            (*right, ('\tif realm == "" {\n\t\trealm = "Authorization Required"\n\t}\n', "")),
        ),
    ),
    Case(
        id="go-gin_validator-separator",
        file="commits/gin-gonic_gin/c79f5d466e",
        kind="constant",
        instruction='SliceValidationError.Error should join the messages with "; " instead of "\\n"',
        right=(right := (('b.WriteString("\\n")', 'b.WriteString("; ")'),)),
        where=("SliceValidationError.Error",),
        asked=(
            contains(
                "SliceValidationError.Error", r'WriteString\("; "\)|strings\.Join\([^\n]*"; "\)'
            ),
            lacks("SliceValidationError.Error", r'"\\n"'),
        ),
        keeps=(keeps_lines("SliceValidationError.Error", r'"\\n"|^//'),),
        spoilt=(
            (('b.WriteString("\\n")', 'b.WriteString(";")'),),
            (*right, ("\t\t\tif b.Len() > 0 {", "\t\t\tif i > 0 {")),
        ),
    ),
    Case(
        id="go-gin_debug-default_writer",
        file="commits/gin-gonic_gin/3d44ff82a1",
        kind="remove-import",
        instruction="debugPrint should write to DefaultWriter instead of os.Stderr; remove the import "
        "that is not needed any more",
        right=(
            right := (
                ("fmt.Fprintf(os.Stderr, ", "fmt.Fprintf(DefaultWriter, "),
                ('\t"os"\n', ""),
            )
        ),
        where=("debugPrint", "imports"),
        asked=(
            imports("bytes", "fmt", "html/template", "runtime", "strconv", "strings"),
            contains("debugPrint", r"fmt\.Fprintf\(DefaultWriter, "),
            lacks(None, r'"os"|os\.Stderr'),
        ),
        keeps=(keeps_lines("debugPrint", r"os\.Stderr"),),
        spoilt=(
            right[:1],
            (*right, ('\t"strconv"\n', "")),
        ),
    ),
    Case(
        id="go-gin_render-extract",
        file="commits/gin-gonic_gin/abcc6d9dec",
        kind="extract",
        instruction="plainTextRender.Render and htmlPlainRender.Render format their data in the same "
        "way. Move that into a function writeText(w http.ResponseWriter, data ...interface{}) error and "
        "call it in both",
        right=(
            right := (
                (
                    'WriteHeader(w, code, "text/plain")\n\tformat := data[0].(string)\n'
                    "\targs := data[1].([]interface{})\n\tif len(args) > 0 {\n"
                    "\t\t_, err = w.Write([]byte(fmt.Sprintf(format, args...)))\n\t} else {\n"
                    "\t\t_, err = w.Write([]byte(format))\n\t}\n\treturn\n",
                    'WriteHeader(w, code, "text/plain")\n\treturn writeText(w, data...)\n',
                ),
                (
                    'WriteHeader(w, code, "text/html")\n\tformat := data[0].(string)\n'
                    "\targs := data[1].([]interface{})\n\tif len(args) > 0 {\n"
                    "\t\t_, err = w.Write([]byte(fmt.Sprintf(format, args...)))\n\t} else {\n"
                    "\t\t_, err = w.Write([]byte(format))\n\t}\n\treturn\n",
                    'WriteHeader(w, code, "text/html")\n\treturn writeText(w, data...)\n',
                ),
                (
                    "func WriteHeader(",
                    "func writeText(w http.ResponseWriter, data ...interface{}) (err error) {\n"
                    "\tformat := data[0].(string)\n\targs := data[1].([]interface{})\n"
                    "\tif len(args) > 0 {\n\t\t_, err = w.Write([]byte(fmt.Sprintf(format, args...)))\n"
                    "\t} else {\n\t\t_, err = w.Write([]byte(format))\n\t}\n\treturn\n}\n\n"
                    "func WriteHeader(",
                ),
            )
        ),
        where=("new:", "plainTextRender.Render", "htmlPlainRender.Render"),
        asked=(
            contains("writeText", r"fmt\.(?:Sprintf|Fprintf)\("),
            contains("writeText", r"data \.\.\.(?:interface\{\}|any)\)"),
            contains("plainTextRender.Render", r"writeText\(w, data\.\.\.\)"),
            contains("htmlPlainRender.Render", r"writeText\(w, data\.\.\.\)"),
            lacks("plainTextRender.Render", r"Sprintf"),
            lacks("htmlPlainRender.Render", r"Sprintf"),
            contains("plainTextRender.Render", r'WriteHeader\(w, code, "text/plain"\)'),
            contains("htmlPlainRender.Render", r'WriteHeader\(w, code, "text/html"\)'),
        ),
        spoilt=(
            (right[0], right[2]),
            right[:2],
            (*right, ('"application/xml"', '"text/xml"')),
        ),
    ),
    Case(
        id="go-tools_sizes-fields",
        file="commits/golang_tools/79186431cf",
        kind="guard",
        instruction="GetSizesGolist should return an error if fields has fewer than two entries",
        right=(
            right := (
                (
                    "\tgoarch := fields[0]\n",
                    "\tif len(fields) < 2 {\n"
                    '\t\treturn nil, fmt.Errorf("unexpected output of go list: %q", stdout)\n\t}\n'
                    "\tgoarch := fields[0]\n",
                ),
            )
        ),
        where=("GetSizesGolist",),
        asked=(
            contains(
                "GetSizesGolist",
                r"if len\(fields\) (?:< 2|!= 2|<= 1) \{\s*return nil, (?:fmt\.Errorf|errors\.New)\(",
            ),
            before("GetSizesGolist", r"len\(fields\)", r"fields\[0\]$"),
        ),
        keeps=(keeps_lines("GetSizesGolist"),),
        spoilt=(
            (
                (
                    "\tgoarch := fields[0]\n",
                    "\tif len(fields) < 2 {\n\t\treturn nil, nil\n\t}\n\tgoarch := fields[0]\n",
                ),
            ),
            (
                (
                    "\treturn types.SizesFor(compiler, goarch), nil\n",
                    "\tif len(fields) < 2 {\n"
                    '\t\treturn nil, fmt.Errorf("unexpected output of go list")\n\t}\n'
                    "\treturn types.SizesFor(compiler, goarch), nil\n",
                ),
            ),
        ),
    ),
    Case(
        id="go-tools_sizes-missing_key",
        file="commits/golang_tools/79186431cf",
        kind="missing-key",
        instruction="cmdDebugStr panics when an entry of envlist has no '='. Skip such entries",
        right=(
            right := (
                (
                    "\t\tk, v := split[0], split[1]\n",
                    "\t\tif len(split) < 2 {\n\t\t\tcontinue\n\t\t}\n\t\tk, v := split[0], split[1]\n",
                ),
            )
        ),
        where=("cmdDebugStr",),
        asked=(
            either(
                contains(
                    "cmdDebugStr",
                    r"if (?:len\(split\) (?:<|!=) ?2|len\(split\) (?:<=|==) ?1|!strings\.Contains\(kv, \"=\"\)|!(?:ok|found)) "
                    r"\{\s*continue\s*\}",
                ),
                contains(
                    "cmdDebugStr",
                    r"if (?:len\(split\) (?:>=|==) ?2|len\(split\) > ?1|strings\.Contains\(kv, \"=\"\)|[^\n]*(?:ok|found)) \{"
                    r"[\s\S]*env\[\w+\] = ",
                ),
            ),
            contains("cmdDebugStr", r"env\[\w+\] = "),
        ),
        keeps=(keeps_lines("cmdDebugStr", r"split|env\[k\] = v"),),
        spoilt=(
            (
                (
                    "\t\tk, v := split[0], split[1]\n",
                    '\t\tif len(split) < 2 {\n\t\t\treturn ""\n\t\t}\n\t\tk, v := split[0], split[1]\n',
                ),
            ),
            (
                *right,
                ("cmd.Stderr = new(bytes.Buffer)\n", "cmd.Stderr = os.Stderr\n"),
            ),
            (("\t\tk, v := split[0], split[1]\n", '\t\tk, v := split[0], ""\n'),),
        ),
    ),
    Case(
        id="go-tools_sizes-log_path",
        file="commits/golang_tools/79186431cf",
        kind="log",
        instruction="When exec.LookPath fails, GetSizes should log the error with log.Printf before it sets "
        "tool to off",
        right=(
            right := (
                (
                    '\t\t\ttool = "off"\n',
                    '\t\t\tlog.Printf("gopackagesdriver not found: %v", err)\n\t\t\ttool = "off"\n',
                ),
            )
        ),
        where=("GetSizes",),
        asked=(
            contains("GetSizes", r'LookPath\([\s\S]*if err != nil \{\s*log\.Printf\([^\n]*\berr\b[^\n]*\)\s*tool = "off"'),
        ),
        keeps=(keeps_lines("GetSizes"),),
        spoilt=(
            (('\t\t\ttool = "off"\n', '\t\t\tlog.Printf("gopackagesdriver not found: %v", err)\n'),),
            (
                (
                    '\t\t\ttool = "off"\n',
                    '\t\t\tlog.Fatalf("gopackagesdriver not found: %v", err)\n\t\t\ttool = "off"\n',
                ),
            ),
            (*right, ('\t\t\t// We did not find the driver, so use "go list".\n', "")),
        ),
    ),
    Case(
        id="go-gin_recovery-limit",
        file=RECOVERY,
        kind="add-parameter",
        instruction="stack should take a second int parameter limit and stop after limit frames; both "
        "callers pass 32",
        right=(
            right := (
                ("func stack(skip int) []byte {", "func stack(skip, limit int) []byte {"),
                (
                    "for i := skip; ; i++ { // Skip",
                    "for i := skip; i < skip+limit; i++ { // Skip",
                ),
                (
                    "secureRequestDump(c.Request), rec, stack(stackSkip), reset)",
                    "secureRequestDump(c.Request), rec, stack(stackSkip, 32), reset)",
                ),
                ("timeFormat(time.Now()), rec, stack(stackSkip), reset)", "timeFormat(time.Now()), rec, stack(stackSkip, 32), reset)"),
            )
        ),
        where=("stack", "CustomRecoveryWithWriter"),
        asked=(
            parameters("stack", ["skip", "limit"]),
            contains("stack", r"[<>]=? ?(?:skip ?\+ ?)?limit\b|\blimit(?: ?\+ ?skip)? ?[<>=]|-skip ?(?:>=|==|<) ?limit|limit--|range limit"),
            contains("CustomRecoveryWithWriter", r"stack\(stackSkip, 32\)", 2),
        ),
        keeps=(
            keeps_lines("stack", r"func stack|for i := skip|^//"),
            keeps_lines("CustomRecoveryWithWriter", r"stack\(stackSkip\)"),
        ),
        spoilt=(
            right[:2],
            (right[0], *right[2:]),
            (*right[:3], ("timeFormat(time.Now()), rec, stack(stackSkip), reset)", "timeFormat(time.Now()), rec, stack(stackSkip, 16), reset)")),
            (*right, ("\t\t\tlastFile = file\n", "")),
        ),
    ),
)
