"""Where the statement of an import goes: the list of names of its module, or a line of its own in
the sorted place of its group; and how the other files of the work tree import the name.

Reads a bounded number of files, the nearest first, and parses only those that hold the name.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from specedit.check.parsed import ParsedText
from specedit.edit.imports.statements import (
    IMPORTS,
    SCRIPTS,
    Import,
    Stated,
    requires,
    specifier,
    stated_imports,
    written,
)
from specedit.errors import SpeceditError
from specedit.files import git
from specedit.files.git import real
from specedit.files.source import LINE_END, Source
from specedit.scoping.builtin_names import NODE_MODULES
from specedit.syntax.branch import Branch
from specedit.syntax.languages import BY_NAME, language_of
from specedit.syntax.lines import common

MOST_FILES, MOST_BYTES, LARGEST = 2_000, 20_000_000, 400_000
MOST_OF_NAME = 40  # files that are parsed for one name, the nearest first,
MOST_PARSED = 150  # and for all names of one answer
AGREEING = 8  # imports of a name that are enough to know how files import it
_DECLARES = (
    r"\b(?:class|struct|interface|enum|record|type|trait|func|fn|def|var|const|let|static|mod)\s+"
    r"(?:\([^)]*\)\s*)?{}\b|^\s+{}\s*(?:=|,|\w+\s*=)"
)
_DEFINES = (  # at the top level of a module
    r"^(?:class|(?:async )?def) {name}\b|^(?:\w+, *)*{name}\b(?:, *\w+)*\s*(?::[^=\n]+)?=[^=]"
    r"|^export (?:default )?(?:async )?(?:function|class|const|let|interface|type|enum) {name}\b"
    r"|^pub(?:\([^)]*\))? (?:fn|struct|enum|trait|const|static|type|mod) {name}\b"
    r"|^public (?:[a-z]+ )*(?:class|interface|enum|record) {name}\b"
)

_MENTIONS = (  # a line that may import a name: a statement, or a line of a list
    r"\b(?:import|use|require)\b.*\b{name}\b|\b{name}\b.*(?:\bfrom\b|\brequire\()"
    r"|^[ \t]+(?:[\w\"./@-]+,[ \t]*)*(?:\w+ )?[\w\"./@-]*\b{name}\b\"?(?: as \w+)?(?:,.*)?$"
)


class WorkTree:
    """The files of one language around a file. Nothing is read before something is asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parsed: dict[str, list[tuple[Stated, bool]]] = {}
        name = source.language.name if source.language else ""
        names = SCRIPTS if name in SCRIPTS else (name,)
        self._ends = tuple(end for language in names for end in BY_NAME[language].extensions)
        if name == "csharp":
            self._ends += (".csproj", ".props")  # they may say what every file sees

    @cached_property
    def _root(self) -> Path | None:
        if self._source.path is None:
            return None
        try:
            top = git.top(self._source.path.parent)
        except SpeceditError:
            return None
        limit = self._source.root  # of a workspace: nothing above it is read
        return None if limit.is_absolute() and not real(top).is_relative_to(limit) else top

    @cached_property
    def _tracked(self) -> list[str]:
        return git.known(self._root) if self._root is not None else []

    @property
    def path(self) -> str:
        """The file's own place in the tree."""
        if self._root is None or self._source.path is None:
            return ""
        return Path(os.path.relpath(self._source.path, os.path.realpath(self._root))).as_posix()

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The other files of the language, the nearest first."""
        root = self._root
        if root is None:
            return {}
        here = PurePosixPath(self.path).parent.parts
        paths = [name for name in self._tracked if name.endswith(self._ends) and name != self.path]
        texts: dict[str, str] = {}
        size = 0

        def distance(path: str) -> int:
            there = PurePosixPath(path).parent.parts
            return len(here) + len(there) - 2 * common(here, there)

        for path in sorted(paths, key=lambda path: (distance(path), path))[:MOST_FILES]:
            place = root / path
            try:
                if place.is_symlink() or not place.is_file() or place.stat().st_size > LARGEST:
                    continue
                text = place.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            size += len(text)
            if size > MOST_BYTES:
                break
            texts[path] = LINE_END.sub("\n", text)
        return texts

    def holding(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The other files in whose text a pattern is found."""
        wanted = re.compile(pattern, re.M)
        return ((path, text) for path, text in self._texts.items() if wanted.search(text))

    def imports(self, name: str, parsed: ParsedText) -> set[Import]:
        """The ways in which other files import a name, as this file has to write them."""
        results: list[Import] = []
        mentions = self.holding(_MENTIONS.format(name=re.escape(name)))
        for path, text in islice(mentions, MOST_OF_NAME):
            if len(results) >= AGREEING:
                break
            for line, is_commonjs in self._imports_of(path, text):
                if line.local != name or (line.requires or is_commonjs) != requires(parsed):
                    continue
                what = self._from_here(line.what, path)
                if what is not None and not self._is_this_file(what):
                    results.append(what)
        plain = {result for result in results if not result.type_only}
        return {
            result for result in results if replace(result, type_only=False) not in plain
        } | plain

    def _imports_of(self, path: str, text: str) -> list[tuple[Stated, bool]]:
        """The imports of another file, each with whether the file is a CommonJS module."""
        if path not in self._parsed and len(self._parsed) < MOST_PARSED:
            language = language_of(path, text)
            stated: list[tuple[Stated, bool]] = []
            if language is not None and re.search(r"\b(?:import|use|require)\b", text):
                other = ParsedText(text, language)
                is_commonjs = language.name in SCRIPTS and requires(other)
                stated = [(statement, is_commonjs) for statement in stated_imports(other)]
            self._parsed[path] = stated
        return self._parsed.get(path, [])

    def _is_this_file(self, what: Import) -> bool:
        """Whether a module may be the file itself, by its name."""
        place = PurePosixPath(self.path)
        own = {place.stem, place.name.partition(".")[0]}
        if own & {"index", "__init__", "mod", "lib"}:
            own.add(place.parent.name)
        return re.split(r"[./:]+", what.module.rstrip("./"))[-1] in own

    def declares(self, name: str) -> bool:
        """Whether a file that shares its names with this one without an import declares one."""
        language = self._source.language
        anywhere = language is not None and language.name == "csharp"
        folder = posixpath.dirname(self.path)
        pattern = _DECLARES.format(re.escape(name), re.escape(name))
        return any(
            anywhere or posixpath.dirname(path) == folder for path, _ in self.holding(pattern)
        )

    def definitions(self, name: str) -> int:
        """How many files of the tree define something of a name that others may import."""
        return sum(1 for _ in self.holding(_DEFINES.format(name=re.escape(name))))

    def is_own(self, first: str) -> bool:
        """Whether the first part of a module's name is a file or a folder of the tree."""
        folder = posixpath.dirname(self.path)
        places = (first, f"src/{first}", f"lib/{first}", posixpath.join(folder, first))
        return any(
            name == f"{place}.py" or name.startswith(f"{place}/")
            for place in places
            for name in self._tracked
        )

    def _from_here(self, what: Import, path: str) -> Import | None:
        """An import of another file, as it has to be written in this one."""
        language = self._source.language
        if language is not None and language.name == "python" and not (what.name or what.alias):
            return None if "." in what.module else what  # `import a.b` is for the members of a.b
        theirs, ours = posixpath.dirname(path), posixpath.dirname(self.path)
        if language is None or theirs == ours:
            return what
        if language.name == "python" and what.module.startswith("."):
            dots = len(what.module) - len(what.module.lstrip("."))
            parts = theirs.split("/") if theirs else []
            base = parts[: len(parts) - dots + 1]
            rest = [part for part in what.module.lstrip(".").split(".") if part]
            mine = ours.split("/") if ours else []
            same = common(base, mine)
            if not same:
                return None
            module = "." * (len(mine) - same + 1) + ".".join(base[same:] + rest)
            return replace(what, module=module)
        if language.name in SCRIPTS and what.module.startswith("."):
            target = posixpath.normpath(posixpath.join(theirs, what.module))
            module = posixpath.relpath(target, ours or ".")
            return replace(what, module=module if module.startswith(".") else "./" + module)
        if language.name == "rust" and what.module.startswith(("super", "self")):
            return None
        if language.name == "rust" and what.module.startswith("crate"):
            return what if self._crate(path) == self._crate(self.path) else None
        return what

    def _crate(self, path: str) -> str:
        known = set(self._tracked)
        ups = (up.as_posix() for up in PurePosixPath(path).parents)
        return next(
            (up for up in ups if posixpath.join(up, "Cargo.toml").removeprefix("./") in known), ""
        )


HEADS = (  # what stands before the imports of a file
    *("package_clause", "package_declaration", "inner_attribute_item", "hash_bang_line"),
    *("extern_alias_directive", "shebang"),
)
DEFINITIONS = ("function_definition", "class_definition", "function_declaration", "_item")
MAX_COLUMNS = 88  # a list of names does not grow beyond it, unless the file has longer lines
_LISTS = {  # statements with a list of names: before, the names, after
    "python": r"(from \S+ import *\()([^()#]*)(\))|(from \S+ import )([^()#\\*\n;]+)()",
    "rust": r"(use [\w:]+::\{)([^{}/*]*)(\};)",
    **dict.fromkeys(
        SCRIPTS,
        r"(import (?:type )?(?:\w+, *)?\{)([^{}/]*)(\} from [^\n]*)"
        r"|((?:const|let|var) \{)([^{}/:]*)(\} = require[^\n]*)",
    ),
}
_QUOTED = r"[\"'`]([^\"'`\n]*)[\"'`]\s*\)?;?$"
_DOTTED = r"([\w.]+)\s*;$"
_MODULE = {  # the module in a statement
    "python": r"^(?:from|import)\s+([\w.]+)",
    "rust": r"\buse (.+?)(?:::\{.*)?;$",
    "java": _DOTTED,
    "csharp": _DOTTED,
    **dict.fromkeys(("go", *SCRIPTS), _QUOTED),
}
_RUST_GROUPS = {"std": 0, "core": 0, "alloc": 0, "crate": 2, "self": 2, "super": 2}
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ImportLine:
    """A statement among others: its lines from 0, its group, its place in it."""

    first: int
    last: int
    group: int
    key: Key


def with_import(what: Import, parsed: ParsedText, tree: WorkTree) -> str:
    """The text with one more import."""
    merged = _in_list(what, parsed)
    return merged if merged is not None else _on_own_line(what, parsed, tree)


def _in_list(what: Import, parsed: ParsedText) -> str | None:
    """The text with a name more in the list of its module's statement."""
    language = parsed.language.name
    if language not in _LISTS or not what.name or what.name in ("default", "*"):
        return None
    for stated in stated_imports(parsed):
        alike = stated.what.module == what.module and stated.what.type_only == what.type_only
        match = re.fullmatch(_LISTS[language], parsed.text_of(stated.statement)) if alike else None
        if match is None:
            continue
        before, names, rest = (part for part in match.groups() if part is not None)
        longer = _with_name(names, specifier(what))
        if longer is None:
            continue
        text = before + longer + rest
        widest = max(map(len, parsed.text.split("\n")))
        if max(map(len, text.split("\n"))) > max(MAX_COLUMNS, widest):
            continue
        start, end = stated.statement.start, stated.statement.end
        return (parsed.data[:start] + text.encode() + parsed.data[end:]).decode(
            "utf-8", "surrogatepass"
        )
    return None


def _with_name(names: str, name: str) -> str | None:
    """A list of names with one more: on the same line, or on a line of its own as the others."""
    known = [word.strip() for word in names.split(",") if word.strip()]
    orders: tuple[Callable[[str], Key], ...] = (
        lambda word: (word,),
        lambda word: (word.lower(),),
        lambda word: (not word.isupper(), not word[:1].isupper(), word),
    )
    key = next((key for key in orders if sorted(known, key=key) == known), None)
    at = len(known) if key is None else sum(key(word) < key(name) for word in known)
    if "\n" not in names:
        left = names[: len(names) - len(names.lstrip())]
        right = names[len(names.rstrip()) :]
        comma = "," if names.rstrip().endswith(",") else ""
        return left + ", ".join([*known[:at], name, *known[at:]]) + comma + right
    lines = names.split("\n")
    full = [line for line in lines if line.strip()]
    if any(line.strip().rstrip(",").count(",") for line in full) or lines[0].strip():
        return None
    indent = full[0][: len(full[0]) - len(full[0].lstrip())]
    ends = full[-1].rstrip().endswith(",")
    body = [f"{indent}{word}" for word in [*known[:at], name, *known[at:]]]
    return "\n" + ",\n".join(body) + ("," if ends else "") + "\n" + lines[-1]


def _on_own_line(what: Import, parsed: ParsedText, tree: WorkTree) -> str:
    language = parsed.language.name
    lines = parsed.text.split("\n")
    known, inside = import_lines(parsed, tree)
    statement = written(what, parsed)
    if not known:
        return _first(statement, parsed, lines)
    new = ImportLine(0, 0, *_place(statement, parsed, tree))
    if inside:  # Go's block
        statement = statement.removeprefix("import ")
    above = lines[known[0].first]
    statement = above[: len(above) - len(above.lstrip())] + statement
    if language == "go" and not inside and len(known) == 1:
        return _as_block(known[0], new, statement, lines)
    same = [line for line in known if line.group == new.group]
    lower = [line for line in known if line.group < new.group]
    spaced = _spaced(known, lines, language)
    if same:
        is_sorted = [line.key for line in same] == sorted(line.key for line in same)
        earlier = [line for line in same if line.key < new.key] if is_sorted else same
        at = earlier[-1].last + 1 if earlier else _above(same[0].first, lines)
        added = [statement]
    elif lower:
        at, added = lower[-1].last + 1, [*[""] * spaced, statement]
    else:
        at, added = _above(known[0].first, lines), [statement, *[""] * spaced]
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _as_block(only: ImportLine, new: ImportLine, statement: str, lines: list[str]) -> str:
    """The text with Go's only import and a new one in a block."""
    both = [(only, lines[only.first]), (new, statement)]
    both.sort(key=lambda pair: (pair[0].group, pair[0].key))
    block = [f"\t{line.strip().removeprefix('import ')}" for _, line in both]
    if only.group != new.group:
        block.insert(1, "")
    return "\n".join([*lines[: only.first], "import (", *block, ")", *lines[only.last + 1 :]])


def import_lines(parsed: ParsedText, tree: WorkTree) -> tuple[list[ImportLine], bool]:
    """The first run of imports, and whether it is a Go block with a line for each."""
    language = parsed.language.name
    if language == "go":
        blocks = [part for part in parsed.root.children if part.type == "import_declaration"]
        specs = next(
            (listed for block in blocks if (listed := block.first("import_spec_list"))), None
        )
        if specs is not None and specs.children[0].line != specs.children[-1].line:
            within = [part for part in specs.children if part.type == "import_spec"]
            if within:
                return [_line(node, parsed, tree) for node in within], True
    requiring = {id(stated.statement) for stated in stated_imports(parsed) if stated.requires}
    run: list[Branch] = []
    for child in _container(parsed).children:
        if child.type in IMPORTS or id(child) in requiring:
            run.append(child)
        elif (run and "comment" not in child.type) or child.type.endswith(DEFINITIONS):
            break
    return [_line(node, parsed, tree) for node in run], False


def _container(parsed: ParsedText) -> Branch:
    """The node that holds the imports: the file, or a C# namespace that has them inside."""
    if parsed.language.name == "csharp" and parsed.root.first("using_directive") is None:
        for child in parsed.root.children:
            body = child.part("body") if child.type == "namespace_declaration" else None
            if body is not None and body.first("using_directive") is not None:
                return body
    return parsed.root


def _line(node: Branch, parsed: ParsedText, tree: WorkTree) -> ImportLine:
    text, first = parsed.text_of(node).rstrip("\n"), node.line - 1
    return ImportLine(first, first + text.count("\n"), *_place(text, parsed, tree))


def _place(statement: str, parsed: ParsedText, tree: WorkTree) -> tuple[int, Key]:
    """The group of a statement, in the order in which groups follow each other, and its place in
    the group."""
    language = parsed.language.name
    match = re.search(_MODULE[language], statement, re.DOTALL)
    module = match[1] if match else statement
    first = re.split(r"[./:]", module)[0]
    if language == "python":
        local = 4 if not first else 3 if tree.is_own(first) else 2
        group = 0 if first == "__future__" else 1 if first in sys.stdlib_module_names else local
        return group, (statement.startswith("from"), module.lower())
    if language == "rust":
        return _RUST_GROUPS.get(first, 1), (module,)
    if language in SCRIPTS:
        is_builtin = module.removeprefix("node:") in NODE_MODULES
        return 0 if is_builtin else 2 if not first else 1, (module,)
    if language == "go":
        return int("." in module.partition("/")[0]), (module,)
    return 0, (language == "csharp" and first != "System", module)


def _spaced(known: list[ImportLine], lines: list[str], language: str) -> bool:
    """Whether a blank line stands between groups."""
    pairs = [(a, b) for a, b in pairwise(known) if a.group != b.group]
    if not pairs:
        return language in ("python", "go")
    return any("" in map(str.strip, lines[a.last + 1 : b.first]) for a, b in pairs)


def _above(first: int, lines: list[str]) -> int:
    """The line of a statement, or of the comment that belongs to it."""
    at = first
    while at and lines[at - 1].lstrip().startswith(("#", "//", "/*", "*")):
        at -= 1
    return at if at else first


def _first(statement: str, parsed: ParsedText, lines: list[str]) -> str:
    """The text with its first import, after everything that has to stand before."""
    at = head_end(parsed, lines)
    added = [statement]
    if at and lines[at - 1].strip():
        added.insert(0, "")
    following = lines[at] if at < len(lines) else ""
    if following.strip():
        starts = re.match(r"(?:async )?def |class |@", following)
        added += ["", ""] if parsed.language.name == "python" and starts else [""]
    return "\n".join([*lines[:at], *added, *lines[at:]])


def head_end(parsed: ParsedText, lines: list[str]) -> int:
    """The number of lines that have to stand before the imports."""
    end = 0
    for child in parsed.root.children:
        text = parsed.text_of(child).rstrip("\n")
        last = child.line - 1 + text.count("\n")
        is_string = child.type == "expression_statement" and child.children[0].type == "string"
        marked = text.startswith(("#!", "//!")) or "coding" in text[:20]
        if not (child.type in HEADS or is_string or "comment" in child.type):
            break
        if "comment" not in child.type or marked or not "".join(lines[last + 1 : last + 2]).strip():
            end = last + 1
    return end
