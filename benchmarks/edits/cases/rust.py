"""Edits of Rust files."""

from benchmarks.edits.case import Case, Replacements
from benchmarks.edits.checkers import (
    before,
    contains,
    keeps_code,
    keeps_lines,
    lacks,
    mentions,
    omits,
    only,
)

HUMAN = "files/rust/ripgrep__human.rs"
RANGE = "files/rust/clap__range.rs"
ALIGN = "files/rust/delta__align.rs"
DECOMPRESS = "files/rust/ripgrep__decompress.rs"
TYPES = "files/rust/ripgrep__types.rs"
GIT = "commits/dandavison_delta/55e6a01353"
right: Replacements  # of the case at hand, for its spoilt answers

CASES = (
    Case(
        id="rust-rg_human-petabyte",
        file=HUMAN,
        kind="add-case",
        instruction='parse_human_readable_size should accept the suffix "P" for 1 << 50',
        right=(
            right := (
                (
                    '        "G" => value.checked_mul(1 << 30),\n',
                    '        "G" => value.checked_mul(1 << 30),\n        "P" => value.checked_mul(1 << 50),\n',
                ),
            )
        ),
        where=("parse_human_readable_size",),
        asked=(
            contains("parse_human_readable_size", r'"P" => value\.checked_mul\(1(?:_?u64)? << 50\),'),
            before("parse_human_readable_size", r'"P" =>', r"_ => return Err"),
        ),
        keeps=(keeps_lines("parse_human_readable_size", r"^///"),),
        spoilt=(
            (('"G" => value.checked_mul(1 << 30)', '"P" => value.checked_mul(1 << 50)'),),
            (
                (
                    '        "G" => value.checked_mul(1 << 30),\n',
                    '        "G" => value.checked_mul(1 << 30),\n        "P" => value.checked_mul(1 << 40),\n',
                ),
            ),
            (*right, ("        return Ok(value);\n", "        return Ok(value + 0);\n")),
        ),
    ),
    Case(
        id="rust-rg_human-overflow",
        file=HUMAN,
        kind="message",
        instruction="Change \"size too big in '{}'\" to \"size '{}' is too big\"",
        right=(right := (("\"size too big in '{}'\"", "\"size '{}' is too big\""),)),
        where=("ParseSizeError.fmt",),
        asked=(
            contains(
                "ParseSizeError.fmt",
                r"Overflow => (?:\{\s*)?write!\(\s*f,\s*\"size '\{\}' is too big\",\s*self\.original,?\s*\)",
            ),
            lacks(None, r"size too big in"),
        ),
        keeps=(only("ParseSizeError.fmt", (r"size too big in '\{\}'", "size '{}' is too big")),),
        spoilt=(
            (("\"size too big in '{}'\"", "\"size {} is too big\""),),
            (*right, ("\"invalid integer found in size '{}': {}\"", "\"invalid integer in size '{}': {}\"")),
            (*right, ("Overflow => write!(", "ParseSizeErrorKind::Overflow => write!(")),
        ),
    ),
    Case(
        id="rust-rg_human-test_lower",
        file=HUMAN,
        kind="add-test",
        instruction='Add a test invalid_lowercase to the tests: "123k" must be an error',
        right=(
            right := (
                (
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n',
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n\n    #[test]\n'
                    "    fn invalid_lowercase() {\n"
                    '        assert!(parse_human_readable_size("123k").is_err());\n    }\n',
                ),
            )
        ),
        where=("new:tests",),
        asked=(
            contains("tests.invalid_lowercase", r"fn invalid_lowercase\(\) \{"),
            contains(
                "tests.invalid_lowercase",
                r'parse_human_readable_size\("123k"\)\s*\.is_err\(\)|parse_human_readable_size\("123k"\)\s*\.unwrap_err\(\)|'
                r'matches!\(\s*parse_human_readable_size\("123k"\),\s*Err\(',
            ),
            mentions("tests.invalid_lowercase", r"#\[test\]"),
        ),
        spoilt=(
            (
                (
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n',
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n\n'
                    "    fn invalid_lowercase() {\n"
                    '        assert!(parse_human_readable_size("123k").is_err());\n    }\n',
                ),
            ),
            (("    fn invalid_suffix() {", "    fn invalid_lowercase() {"), ('"123T"', '"123k"')),
            (
                (
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n',
                    '        assert!(parse_human_readable_size("123T").is_err());\n    }\n\n    #[test]\n'
                    "    fn invalid_lowercase() {\n"
                    '        assert!(parse_human_readable_size("123k").is_ok());\n    }\n',
                ),
            ),
        ),
    ),
    Case(
        id="rust-clap_range-typo",
        file=RANGE,
        kind="comments",
        instruction='Fix the typo in the comment of EMPTY: "Nor argument values" should be "No argument '
        'values"',
        right=(right := (("/// Nor argument values, or a flag", "/// No argument values, or a flag"),)),
        where=("doc:ValueRange.EMPTY",),
        asked=(
            mentions(None, r"/// No argument values, or a flag"),
            omits(None, r"\bNor argument"),
        ),
        keeps=(keeps_code(None),),
        spoilt=(
            (("/// Nor argument values, or a flag", "/// No values, or a flag"),),
            (*right, ("/// A single argument value, the most common case", "/// One argument value, the most common case")),
        ),
    ),
    Case(
        id="rust-clap_range-optional",
        file=RANGE,
        kind="add-method",
        instruction="Add a method is_optional behind is_fixed, with the same visibility and return type; "
        "it says whether start_inclusive is 0",
        right=(
            right := (
                (
                    "        self.start_inclusive == self.end_inclusive\n    }\n",
                    "        self.start_inclusive == self.end_inclusive\n    }\n\n"
                    "    pub(crate) fn is_optional(&self) -> bool {\n        self.start_inclusive == 0\n    }\n",
                ),
            )
        ),
        where=("new:ValueRange",),
        asked=(
            contains("ValueRange.is_optional", r"pub\(crate\) fn is_optional\(&self\) -> bool \{"),
            contains("ValueRange.is_optional", r"(?:return )?\b(?:self\.start_inclusive|self\.min_values\(\)) == 0\b|0 == self\.start_inclusive"),
            before(None, r"fn is_fixed\(", r"fn is_optional\("),
            before(None, r"fn is_optional\(", r"fn is_multiple\("),
        ),
        spoilt=(
            (("pub(crate) fn is_fixed(&self) -> bool {", "pub(crate) fn is_optional(&self) -> bool {"),),
            (
                (
                    "        self.start_inclusive == self.end_inclusive\n    }\n",
                    "        self.start_inclusive == self.end_inclusive\n    }\n\n"
                    "    pub fn is_optional(&self) -> bool {\n        self.start_inclusive == 0\n    }\n",
                ),
            ),
            (*right, ("self.start_inclusive != self.end_inclusive || 1 <", "self.start_inclusive != self.end_inclusive && 1 <")),
        ),
    ),
    Case(
        id="rust-clap_range-doc_all",
        file=RANGE,
        kind="doc-all",
        instruction="is_unbounded, is_fixed, is_multiple, num_values and accepts_more have no doc "
        "comments. Add one to each",
        right=(
            right := tuple(
                (f"    pub(crate) fn {name}(&self", f"    /// {text}\n    pub(crate) fn {name}(&self")
                for name, text in (
                    ("is_unbounded", "Whether there is no upper bound"),
                    ("is_fixed", "Whether exactly one number of values is accepted"),
                    ("is_multiple", "Whether more than one value may be given"),
                    ("num_values", "The number of values if it is fixed"),
                    ("accepts_more", "Whether a further value is accepted"),
                )
            )
        ),
        where=tuple(
            f"doc:ValueRange.{name}"
            for name in ("is_unbounded", "is_fixed", "is_multiple", "num_values", "accepts_more")
        ),
        asked=tuple(
            mentions(None, rf"(?:///[^\n]*\S[^\n]*\n\s*(?:#\[[^\n]*\n\s*)?)pub\(crate\) fn {name}\(&self")
            for name in ("is_unbounded", "is_fixed", "is_multiple", "num_values", "accepts_more")
        ),
        keeps=(keeps_code(None),),
        spoilt=(
            right[:4],
            right[1:],
            (*right, ("        current < self.end_inclusive\n", "        current <= self.end_inclusive\n")),
        ),
    ),
    Case(
        id="rust-delta_align-penalty",
        file=ALIGN,
        kind="constant",
        instruction="Raise INITIAL_MISMATCH_PENALTY to 3",
        right=(
            right := (("INITIAL_MISMATCH_PENALTY: usize = 1;", "INITIAL_MISMATCH_PENALTY: usize = 3;"),)
        ),
        where=("INITIAL_MISMATCH_PENALTY",),
        asked=(contains("INITIAL_MISMATCH_PENALTY", r"const INITIAL_MISMATCH_PENALTY: usize = 3;"),),
        keeps=(mentions("INITIAL_MISMATCH_PENALTY", r"// extra cost for starting a new group of changed tokens"),),
        spoilt=(
            (("INSERTION_COST: usize = 2;", "INSERTION_COST: usize = 3;"),),
            (("INITIAL_MISMATCH_PENALTY: usize = 1;", "INITIAL_MISMATCH_PENALTY: u32 = 3;"),),
            (("// extra cost for starting a new group of changed tokens\n", ""), *right),
        ),
    ),
    Case(
        id="rust-delta_align-rename_ops",
        file=ALIGN,
        kind="rename-local",
        instruction="Rename the local variable ops in Alignment::operations to result",
        right=(
            right := (
                ("let mut ops = VecDeque", "let mut result = VecDeque"),
                ("ops.push_front(cell.operation);", "result.push_front(cell.operation);"),
                ("Vec::from(ops)", "Vec::from(result)"),
            )
        ),
        where=("Alignment.operations",),
        asked=(
            lacks("Alignment.operations", r"\bops\b"),
            contains("Alignment.operations", r"let mut result = VecDeque"),
            contains("Alignment.operations", r"result\.push_front\(cell\.operation\);"),
            contains("Alignment.operations", r"Vec::from\(result\)"),
        ),
        keeps=(
            only("Alignment.operations", (r"\bops\b", "result")),
            keeps_lines("Alignment.operations", r"\bops\b"),
        ),
        spoilt=(
            right[:2],
            (*right, ("            if cell.parent == 0 {", "            if cell.parent < 1 {")),
        ),
    ),
    Case(
        id="rust-delta_align-derive_hash",
        file=ALIGN,
        kind="add-derive",
        instruction="Derive Hash for the enum Operation",
        right=(
            right := (
                (
                    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum Operation {",
                    "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum Operation {",
                ),
            )
        ),
        where=("Operation",),
        asked=(
            *(
                mentions(None, rf"#\[derive\([^)\n]*\b{name}\b[^)\n]*\)\]\s*(?:#\[[^\n]*\s*)*pub enum Operation \{{")
                for name in ("Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash")
            ),
        ),
        keeps=(keeps_lines("Operation", r"derive"),),
        spoilt=(
            (
                (
                    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum Operation {",
                    "#[derive(Clone, Copy, Hash)]\npub enum Operation {",
                ),
            ),
            (("#[derive(Clone, Debug)]\nstruct Cell {", "#[derive(Clone, Debug, Hash)]\nstruct Cell {"),),
            (*right, ("#[derive(Clone, Debug)]\nstruct Cell {", "#[derive(Clone, Debug, Hash)]\nstruct Cell {")),
        ),
    ),
    Case(
        id="rust-delta_hunk-moved_words",
        file="files/rust/delta__hunk.rs",
        kind="add-case",
        instruction='compute_is_word_diff should also be true for the long option "--color-moved-words"',
        right=(
            right := (
                (
                    '                || cmd_line.long_options.contains("--color-words")\n',
                    '                || cmd_line.long_options.contains("--color-words")\n'
                    '                || cmd_line.long_options.contains("--color-moved-words")\n',
                ),
            )
        ),
        where=("compute_is_word_diff",),
        asked=(
            contains("compute_is_word_diff", r'"--color-moved-words"'),
            contains("compute_is_word_diff", r'\|\| cmd_line\s*\.long_options\s*\.contains\("--color-moved-words"\)|\.any\('),
        ),
        keeps=(keeps_lines("compute_is_word_diff"),),
        spoilt=(
            (('.contains("--color-words")', '.contains("--color-moved-words")'),),
            (
                (
                    '                || cmd_line.long_options.contains("--color-words")\n',
                    '                || cmd_line.long_options.contains("--color-words")\n'
                    '                && cmd_line.long_options.contains("--color-moved-words")\n',
                ),
            ),
            (*right, ("        _ => false,\n", "        _ => return false,\n")),
        ),
    ),
    Case(
        id="rust-rg_decompress-other",
        file=DECOMPRESS,
        kind="convert",
        instruction="DecompressionMatcherBuilder::build should use io::Error::other(err) instead of "
        "io::Error::new(io::ErrorKind::Other, err)",
        right=(
            right := (
                (
                    "Glob::new(&decomp_cmd.glob).map_err(|err| {\n"
                    "                CommandError::io(io::Error::new(io::ErrorKind::Other, err))\n",
                    "Glob::new(&decomp_cmd.glob).map_err(|err| {\n"
                    "                CommandError::io(io::Error::other(err))\n",
                ),
                (
                    "glob_builder.build().map_err(|err| {\n"
                    "            CommandError::io(io::Error::new(io::ErrorKind::Other, err))\n",
                    "glob_builder.build().map_err(|err| {\n"
                    "            CommandError::io(io::Error::other(err))\n",
                ),
            )
        ),
        where=("DecompressionMatcherBuilder.build",),
        asked=(
            contains("DecompressionMatcherBuilder.build", r"CommandError::io\(io::Error::other\(\w+\)\)", 2),
            lacks("DecompressionMatcherBuilder.build", r"ErrorKind::Other"),
        ),
        keeps=(keeps_lines("DecompressionMatcherBuilder.build", r"map_err|CommandError::io|^\}\)\?;"),),
        spoilt=(
            right[:1],
            right[1:],
            (*right, ("            commands.push(decomp_cmd.clone());\n", "            commands.push(decomp_cmd.to_owned());\n")),
        ),
    ),
    Case(
        id="rust-rg_decompress-log_command",
        file=DECOMPRESS,
        kind="log",
        instruction="DecompressionMatcher::command should log the command that it returns with log::debug!",
        right=(
            right := (
                (
                    "            return Some(cmd);\n",
                    '            log::debug!("decompression command: {:?}", cmd);\n            return Some(cmd);\n',
                ),
            )
        ),
        where=("DecompressionMatcher.command",),
        asked=(
            contains("DecompressionMatcher.command", r"log::debug!\([^;]*\b(?:cmd|decomp_cmd|bin)\b[^;]*\);"),
            before("DecompressionMatcher.command", r"log::debug!", r"return Some\(cmd\)"),
        ),
        keeps=(keeps_lines("DecompressionMatcher.command"),),
        spoilt=(
            (
                (
                    "            return Some(cmd);\n",
                    '            println!("decompression command: {:?}", cmd);\n            return Some(cmd);\n',
                ),
            ),
            (
                (
                    "            cmd.args(&decomp_cmd.args);\n",
                    '            log::debug!("decompression command: {:?}", cmd);\n',
                ),
            ),
        ),
    ),
    Case(
        id="rust-rg_types-matches",
        file=TYPES,
        kind="simplify",
        instruction="Use the matches! macro in Selection::is_negated",
        right=(
            right := (
                (
                    "        match *self {\n            Selection::Select(..) => false,\n"
                    "            Selection::Negate(..) => true,\n        }\n",
                    "        matches!(*self, Selection::Negate(..))\n",
                ),
            )
        ),
        where=("Selection.is_negated",),
        asked=(
            contains("Selection.is_negated", r"matches!\(\s*\*?self,\s*(?:Selection|Self)::Negate\((?:\.\.|_, _)\),?\s*\)"),
            lacks("Selection.is_negated", r"\bmatch \*?self|!matches!"),
        ),
        keeps=(keeps_lines("Selection.is_negated", r"match|=>|^\}$"),),
        spoilt=(
            (
                (
                    "        match *self {\n            Selection::Select(..) => false,\n"
                    "            Selection::Negate(..) => true,\n        }\n",
                    "        matches!(*self, Selection::Select(..))\n",
                ),
            ),
            (
                *right,
                (
                    "            Selection::Select(ref name, _) => name,\n"
                    "            Selection::Negate(ref name, _) => name,\n",
                    "            Selection::Select(ref name, _) | Selection::Negate(ref name, _) => name,\n",
                ),
            ),
        ),
    ),
    Case(
        id="rust-rg_types-has_globs",
        file=TYPES,
        kind="add-method",
        instruction="Add a public method has_globs(&self) -> bool to FileTypeDef that says whether there "
        "is any glob, with a doc comment",
        right=(
            right := (
                (
                    "    pub fn globs(&self) -> &[String] {\n        &self.globs\n    }\n",
                    "    pub fn globs(&self) -> &[String] {\n        &self.globs\n    }\n\n"
                    "    /// Return true if there is at least one glob.\n"
                    "    pub fn has_globs(&self) -> bool {\n        !self.globs.is_empty()\n    }\n",
                ),
            )
        ),
        where=("new:FileTypeDef",),
        asked=(
            contains("FileTypeDef.has_globs", r"pub fn has_globs\(&self\) -> bool \{"),
            contains("FileTypeDef.has_globs", r"!self\.globs(?:\(\))?\.is_empty\(\)|self\.globs(?:\(\))?\.len\(\) (?:> 0|!= 0|>= 1)"),
            mentions("FileTypeDef.has_globs", r"///"),
        ),
        spoilt=(
            (
                (
                    "    pub fn globs(&self) -> &[String] {\n        &self.globs\n    }\n",
                    "    pub fn globs(&self) -> &[String] {\n        &self.globs\n    }\n\n"
                    "    /// Return true if there is at least one glob.\n"
                    "    pub fn has_globs(&self) -> bool {\n        self.globs.is_empty()\n    }\n",
                ),
            ),
            (
                (
                    "    pub fn globs(&self) -> &[String] {\n        &self.globs\n    }\n",
                    "    pub fn has_globs(&self) -> bool {\n        !self.globs.is_empty()\n    }\n",
                ),
            ),
            (*right, ("    pub fn name(&self) -> &str {", "    pub fn name(&self) -> &String {")),
        ),
    ),
    Case(
        id="rust-clap_validator-rename_bn",
        file="files/rust/clap__validator.rs",
        kind="rename-local",
        instruction="bn is a bad name; call the variable bin_name in validate",
        right=(
            right := (
                ("let bn = self.cmd.get_bin_name_fallback();", "let bin_name = self.cmd.get_bin_name_fallback();"),
                ("                bn.to_owned(),\n", "                bin_name.to_owned(),\n"),
            )
        ),
        where=("Validator.validate",),
        asked=(
            lacks("Validator.validate", r"\bbn\b"),
            contains("Validator.validate", r"let bin_name = self\.cmd\.get_bin_name_fallback\(\);"),
            contains("Validator.validate", r"\bbin_name\.to_owned\(\),"),
        ),
        keeps=(
            only("Validator.validate", (r"\bbn\b", "bin_name")),
            keeps_lines("Validator.validate", r"\bbn\b"),
        ),
        spoilt=(
            right[:1],
            (*right, ("            if num_user_values == 0 {", "            if num_user_values < 1 {")),
        ),
    ),
    Case(
        id="rust-delta_git-expect",
        file=GIT,
        kind="message",
        instruction='from_path should use expect("cannot open the git config") instead of unwrap',
        right=(
            right := (
                ("git2::Config::open(path).unwrap()", 'git2::Config::open(path).expect("cannot open the git config")'),
            )
        ),
        where=("GitConfig.from_path",),
        asked=(
            contains("GitConfig.from_path", r'git2::Config::open\(path\)\s*\.expect\("cannot open the git config"\)'),
            lacks("GitConfig.from_path", r"unwrap"),
        ),
        keeps=(keeps_lines("GitConfig.from_path", r"unwrap"),),
        spoilt=(
            (("git2::Config::open(path).unwrap()", 'git2::Config::open(path).expect("cannot open it")'),),
            (*right, ("    #[cfg(test)]\n    pub fn from_path", "    pub fn from_path")),
            (*right, ("            Err(_) => None,\n        }\n    }\n", "            Err(_) => Option::None,\n        }\n    }\n")),
        ),
    ),
    Case(
        id="rust-delta_git-question_mark",
        file=GIT,
        kind="convert",
        instruction="Rewrite try_create with .ok()? instead of the nested matches; keep the error message "
        "and the exit",
        right=(
            right := (
                (
                    "        match std::env::current_dir() {\n"
                    "            Ok(dir) => match git2::Repository::discover(dir) {\n"
                    "                Ok(repo) => match repo.config() {\n"
                    "                    Ok(mut config) => {\n",
                    "        let dir = std::env::current_dir().ok()?;\n"
                    "        let repo = git2::Repository::discover(dir).ok()?;\n"
                    "        let mut config = repo.config().ok()?;\n",
                ),
                (
                    "                    }\n"
                    "                    Err(_) => None,\n"
                    "                },\n"
                    "                Err(_) => None,\n"
                    "            },\n"
                    "            Err(_) => None,\n"
                    "        }\n",
                    "",
                ),
            )
        ),
        where=("GitConfig.try_create",),
        asked=(
            contains("GitConfig.try_create", r"current_dir\(\)\s*\.ok\(\)\?"),
            contains("GitConfig.try_create", r"Repository::discover\([\s\S]*?\)\s*\.ok\(\)\?"),
            contains("GitConfig.try_create", r"\.config\(\)\s*\.ok\(\)\?"),
            contains("GitConfig.try_create", r"\.snapshot\(\)"),
            contains("GitConfig.try_create", r'eprintln!\("Failed to read git config: \{(?:err|e)?\}"'),
            contains("GitConfig.try_create", r"process::exit\(1\)"),
            contains("GitConfig.try_create", r"Some\((?:Self|GitConfig) \{ config"),
            lacks("GitConfig.try_create", r"match (?:std|git2|repo)"),
        ),
        spoilt=(
            (
                (
                    "            Ok(dir) => match git2::Repository::discover(dir) {\n",
                    "            Ok(dir) => match git2::Repository::discover(dir).ok()? {\n",
                ),
            ),
            (*right, ("process::exit(1)", "panic!()")),
            (*right, ("            config: git2::Config::open(path).unwrap(),", "            config: git2::Config::open(path).ok()?,")),
        ),
    ),
    Case(
        id="rust-rg_path-first",
        file="commits/BurntSushi_ripgrep/a72467996b",
        kind="convert",
        instruction="is_hidden should call first() instead of get(0)",
        right=(right := (("name.as_bytes().get(0) ==", "name.as_bytes().first() =="),)),
        where=("is_hidden",),
        asked=(
            contains("is_hidden", r"name\.as_bytes\(\)\.first\(\) == Some\(&b'\.'\)"),
            lacks("is_hidden", r"\.get\(0\)"),
        ),
        keeps=(
            only("is_hidden", (r"\.get\(0\)", ".first()")),
            keeps_lines("is_hidden", r"\.get\(0\)"),
        ),
        spoilt=(
            (("name.as_bytes().get(0) == Some(&b'.')", "name.as_bytes().first() == Some(b'.')"),),
            (*right, ('name.to_str().map(|s| s.starts_with("."))', "name.to_str().map(|s| s.starts_with('.'))")),
            (*right, ("    } else if path.len() == 1 && path[0] == b'.' {", "    } else if path == b\".\" {")),
        ),
    ),
    Case(
        id="rust-rg_human-trim",
        file=HUMAN,
        kind="add-statement",
        instruction="parse_human_readable_size should ignore white space around size (trim it first)",
        right=(
            right := (
                ("    let digits_end =\n", "    let size = size.trim();\n    let digits_end =\n"),
            )
        ),
        where=("parse_human_readable_size",),
        asked=(
            contains("parse_human_readable_size", r"let size(?:: &str)? = size\.trim\(\);"),
            before("parse_human_readable_size", r"\.trim\(\)", r"let digits_end"),
        ),
        keeps=(keeps_lines("parse_human_readable_size", r"^///"),),
        spoilt=(
            (("    let digits = &size[..digits_end];\n", "    let digits = &size[..digits_end].trim();\n"),),
            (("    let digits_end =\n", "    let size = size.trim_end();\n    let digits_end =\n"),),
            (*right, ("    if digits.is_empty() {\n", "    if digits == \"\" {\n")),
        ),
    ),
)
