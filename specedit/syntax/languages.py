"""The table of languages: what a file's name says, and which grammar reads it.

Data only. A language without a grammar has a name and nothing else: it is never checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Language:
    """One language: how files are named, how a highlighter names it, which grammar reads it."""

    name: str
    lexer: str
    extensions: tuple[str, ...]
    grammar: str = ""  # "module:function" of the grammar wheel; empty: not checked
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # in a "#!" line


def _grammar(module: str, function: str = "language") -> str:
    return f"tree_sitter_{module}:{function}"


LANGUAGES = (
    Language(
        "python",
        "python",
        (".py", ".pyi", ".pyw"),
        _grammar("python"),
        ("SConstruct",),
        ("python",),
    ),
    Language(
        "javascript",
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        _grammar("javascript"),
        (),
        ("node",),
    ),
    Language(
        "typescript",
        "typescript",
        (".ts", ".mts", ".cts"),
        _grammar("typescript", "language_typescript"),
        (),
        ("deno", "bun", "ts-node"),
    ),
    Language("tsx", "tsx", (".tsx",), _grammar("typescript", "language_tsx")),
    Language("csharp", "csharp", (".cs", ".csx"), _grammar("c_sharp")),
    Language("java", "java", (".java",), _grammar("java")),
    Language("go", "go", (".go",), _grammar("go")),
    Language("rust", "rust", (".rs",), _grammar("rust")),
    Language("c", "c", (".c", ".h"), _grammar("c")),
    Language(
        "cpp",
        "cpp",
        (
            ".cpp",
            ".cc",
            ".cxx",
            ".c++",
            ".hpp",
            ".hh",
            ".hxx",
            ".h++",
            ".ipp",
            ".inl",
            ".tpp",
            ".cu",
        ),
        _grammar("cpp"),
    ),
    Language(
        "ruby",
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru"),
        _grammar("ruby"),
        ("Rakefile", "Gemfile", "Vagrantfile"),
        ("ruby",),
    ),
    Language(
        "php",
        "php",
        (".php", ".phtml", ".php5", ".inc"),
        _grammar("php", "language_php"),
        (),
        ("php",),
    ),
    Language("kotlin", "kotlin", (".kt", ".kts"), _grammar("kotlin")),
    Language(
        "bash",
        "bash",
        (".sh", ".bash", ".zsh", ".ksh", ".bats"),
        _grammar("bash"),
        (".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        ("sh", "bash", "zsh", "dash", "ksh"),
    ),
    Language("json", "json", (".json", ".jsonc", ".geojson", ".webmanifest"), _grammar("json")),
    Language("yaml", "yaml", (".yaml", ".yml"), _grammar("yaml")),
    Language(
        "toml", "toml", (".toml",), _grammar("toml"), ("Cargo.lock", "poetry.lock", "uv.lock")
    ),
    Language("html", "html", (".html", ".htm", ".xhtml"), _grammar("html")),
    Language("css", "css", (".css",), _grammar("css")),
    Language("markdown", "markdown", (".md", ".markdown")),
    Language("sql", "sql", (".sql",)),
    Language("swift", "swift", (".swift",)),
    Language("scala", "scala", (".scala", ".sc"), _grammar("scala"), (), ("scala", "scala-cli")),
    Language("dart", "dart", (".dart",)),
    Language("lua", "lua", (".lua",), "", (), ("lua",)),
    Language("perl", "perl", (".pl", ".pm"), "", (), ("perl",)),
    Language("r", "r", (".r",), "", (), ("Rscript",)),
    Language("xml", "xml", (".xml", ".xsd", ".xsl", ".svg", ".csproj", ".props", ".targets")),
    Language("dockerfile", "dockerfile", (".dockerfile",), "", ("Dockerfile", "Containerfile")),
    Language("makefile", "makefile", (".mk",), "", ("Makefile", "makefile", "GNUmakefile")),
    Language("scss", "scss", (".scss", ".sass", ".less")),
    Language("vue", "vue", (".vue", ".svelte")),
    Language("powershell", "powershell", (".ps1", ".psm1")),
    Language("haskell", "haskell", (".hs",)),
    Language("elixir", "elixir", (".ex", ".exs")),
    Language("objective-c", "objectivec", (".m", ".mm")),
)

BY_NAME = {language.name: language for language in LANGUAGES}
_BY_EXTENSION = {end: language for language in LANGUAGES for end in language.extensions}
_BY_FILENAME = {name: language for language in LANGUAGES for name in language.filenames}
_CPP_WORDS = ("namespace ", "template<", "template <", "class ", "public:", "private:", "std::")


def language_of(name: str, text: str = "") -> Language | None:
    """The language a file's name says; its text decides for `.h` and for names that say nothing."""
    path = PurePath(name)
    result = _BY_FILENAME.get(path.name) or _BY_EXTENSION.get(path.suffix.lower())
    if result and path.suffix.lower() == ".h" and any(word in text for word in _CPP_WORDS):
        return BY_NAME["cpp"]
    if result or not text.startswith("#!"):
        return result
    command = text.split("\n", 1)[0].replace("/", " ").split()
    words = {word.rstrip("0123456789.") for word in command}
    return next((one for one in LANGUAGES if words & set(one.interpreters)), None)
