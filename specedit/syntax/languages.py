"""The table of languages: the names of their files, and the grammars.

A language without a grammar is never checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its grammar, and the names of its files."""

    name: str
    grammar: str = ""  # "module:function" of the grammar wheel; empty: not checked
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # in a "#!" line

    @property
    def lexer(self) -> str:
        """The name that highlighters and Markdown use."""
        return self.name.replace("-", "")


def _language(
    name: str, extensions: str, grammar: str = "", filenames: str = "", interpreters: str = ""
) -> Language:
    """A row of the table. `grammar`: of the wheel's name after `tree_sitter_`, and its function."""
    module, _, function = grammar.partition(":")
    path = f"tree_sitter_{module}:{function or 'language'}" if grammar else ""
    return Language(name, path, *map(tuple, map(str.split, (extensions, filenames, interpreters))))


LANGUAGES = (
    _language("python", ".py .pyi .pyw", "python", "SConstruct", "python"),
    _language("javascript", ".js .jsx .mjs .cjs", "javascript", "", "node"),
    _language(
        *("typescript", ".ts .mts .cts", "typescript:language_typescript"),
        interpreters="deno bun ts-node",
    ),
    _language("tsx", ".tsx", "typescript:language_tsx"),
    _language("csharp", ".cs .csx", "c_sharp"),
    _language("java", ".java", "java"),
    _language("go", ".go", "go"),
    _language("rust", ".rs", "rust"),
    _language("c", ".c .h", "c"),
    _language("cpp", ".cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp .cu", "cpp"),
    _language("ruby", ".rb .rake .gemspec .ru", "ruby", "Rakefile Gemfile Vagrantfile", "ruby"),
    _language("php", ".php .phtml .php5 .inc", "php:language_php", "", "php"),
    _language("kotlin", ".kt .kts", "kotlin"),
    _language(
        *("bash", ".sh .bash .zsh .ksh .bats", "bash"),
        filenames=".bashrc .bash_profile .profile .zshrc PKGBUILD",
        interpreters="sh bash zsh dash ksh",
    ),
    _language("json", ".json .jsonc .geojson .webmanifest", "json"),
    _language("yaml", ".yaml .yml", "yaml"),
    _language("toml", ".toml", "toml", "Cargo.lock poetry.lock uv.lock"),
    _language("html", ".html .htm .xhtml", "html"),
    _language("css", ".css", "css"),
    _language("markdown", ".md .markdown"),
    _language("sql", ".sql"),
    _language("swift", ".swift"),
    _language("scala", ".scala .sc", "scala", "", "scala scala-cli"),
    _language("dart", ".dart"),
    _language("lua", ".lua", interpreters="lua"),
    _language("perl", ".pl .pm", interpreters="perl"),
    _language("r", ".r", interpreters="Rscript"),
    _language("xml", ".xml .xsd .xsl .svg .csproj .props .targets"),
    _language("dockerfile", ".dockerfile", filenames="Dockerfile Containerfile"),
    _language("makefile", ".mk", filenames="Makefile makefile GNUmakefile"),
    _language("scss", ".scss .sass .less"),
    _language("vue", ".vue .svelte"),
    _language("powershell", ".ps1 .psm1"),
    _language("haskell", ".hs"),
    _language("elixir", ".ex .exs"),
    _language("objective-c", ".m .mm"),
)

BY_NAME = {language.name: language for language in LANGUAGES}
_BY_EXTENSION = {end: language for language in LANGUAGES for end in language.extensions}
_BY_FILENAME = {name: language for language in LANGUAGES for name in language.filenames}
_CPP_WORDS = ("namespace ", "template<", "template <", "class ", "public:", "private:", "std::")


def language_of(name: str, text: str = "") -> Language | None:
    """The language of a file by its name; the text decides for `.h` and for other names."""
    path = PurePath(name)
    language = _BY_FILENAME.get(path.name) or _BY_EXTENSION.get(path.suffix.lower())
    if language and path.suffix.lower() == ".h" and any(word in text for word in _CPP_WORDS):
        return BY_NAME["cpp"]
    if language or not text.startswith("#!"):
        return language
    command = text.split("\n", 1)[0].replace("/", " ").split()
    words = {word.rstrip("0123456789.") for word in command}
    return next((language for language in LANGUAGES if words & set(language.interpreters)), None)
