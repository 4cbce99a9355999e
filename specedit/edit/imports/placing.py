"""Where the statement of an import goes: the list of names of its module, or a line of its own in
the sorted place of its group.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from specedit.check.parsed import ParsedText
from specedit.edit.imports.standard_tables import NODE_MODULES
from specedit.edit.imports.statements import (
    IMPORTS,
    SCRIPTS,
    Import,
    specifier,
    stated_imports,
    written,
)
from specedit.edit.imports.work_tree import WorkTree
from specedit.syntax.branch import Branch

HEADS = (  # what stands before the imports of a file
    *("package_clause", "package_declaration", "inner_attribute_item", "hash_bang_line"),
    *("extern_alias_directive", "shebang"),
)
DEFINITIONS = ("function_definition", "class_definition", "function_declaration", "_item")
WIDTH = 88  # a list of names does not grow beyond it, unless the file has longer lines
_LISTS = {  # statements with a list of names: before, the names, behind
    "python": r"(from \S+ import *\()([^()#]*)(\))|(from \S+ import )([^()#\\*\n;]+)()",
    "rust": r"(use [\w:]+::\{)([^{}/*]*)(\};)",
    **dict.fromkeys(
        SCRIPTS,
        r"(import (?:type )?(?:\w+, *)?\{)([^{}/]*)(\} from [^\n]*)"
        r"|((?:const|let|var) \{)([^{}/:]*)(\} = require[^\n]*)",
    ),
}
Key = tuple[Any, ...]


@dataclass(frozen=True)
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
    for one in stated_imports(parsed):
        alike = one.what.module == what.module and one.what.type_only == what.type_only
        match = re.fullmatch(_LISTS[language], parsed.text_of(one.statement)) if alike else None
        if match is None:
            continue
        before, names, behind = (part for part in match.groups() if part is not None)
        spelled = specifier(what, "require" if one.requires else language)
        if (longer := _with_name(names, spelled)) is None:
            continue
        text = before + longer + behind
        widest = max(map(len, parsed.text.split("\n")))
        if max(map(len, text.split("\n"))) > max(WIDTH, widest):
            continue
        start, end = one.statement.start, one.statement.end
        return (parsed.data[:start] + text.encode() + parsed.data[end:]).decode(
            "utf-8", "surrogatepass"
        )
    return None


def _with_name(names: str, name: str) -> str | None:
    """A list of names with one more: on the same line, or on a line of its own as the others."""
    known = [one.strip() for one in names.split(",") if one.strip()]
    orders: tuple[Callable[[str], Key], ...] = (
        lambda one: (one,),
        lambda one: (one.lower(),),
        lambda one: (not one.isupper(), not one[:1].isupper(), one),
    )
    key = next((key for key in orders if sorted(known, key=key) == known), None)
    at = len(known) if key is None else sum(key(one) < key(name) for one in known)
    if "\n" not in names.strip("\n") and "\n" not in names:
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
    body = [f"{indent}{one}" for one in [*known[:at], name, *known[at:]]]
    return "\n" + ",\n".join(body) + ("," if ends else "") + "\n" + lines[-1]


def _on_own_line(what: Import, parsed: ParsedText, tree: WorkTree) -> str:
    language = parsed.language.name
    lines = parsed.text.split("\n")
    known, inside = _statements(parsed, tree)
    statement = written(what, parsed)
    if inside:  # Go's block
        statement = statement.removeprefix("import ")
    indent = re.match(r"\s*", lines[known[0].first])[0] if known else ""  # type: ignore[index]
    new = ImportLine(0, 0, _group(what.module, parsed, tree), _key(what, language))
    if not known:
        return _first(statement, parsed, lines)
    if language == "go" and not inside and len(known) == 1:
        return _as_block(known[0], new, statement, lines)
    spaced = _spaced(known, lines, language)
    same = [one for one in known if one.group == new.group]
    lower = [one for one in known if one.group < new.group]
    if same:
        is_sorted = [one.key for one in same] == sorted(one.key for one in same)
        earlier = [one for one in same if one.key < new.key] if is_sorted else same
        at = earlier[-1].last + 1 if earlier else _above(same[0].first, lines)
        added = [indent + statement]
    elif lower:
        at = lower[-1].last + 1
        added = [*([""] if spaced else []), indent + statement]
    else:
        at = _above(known[0].first, lines)
        added = [indent + statement, *([""] if spaced else [])]
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _as_block(one: ImportLine, new: ImportLine, statement: str, lines: list[str]) -> str:
    """The text with Go's only import and a new one in a block."""
    both = [(one, lines[one.first]), (new, statement)]
    both.sort(key=lambda pair: (pair[0].group, pair[0].key))
    block = [f"\t{line.strip().removeprefix('import ')}" for _, line in both]
    if one.group != new.group:
        block.insert(1, "")
    return "\n".join([*lines[: one.first], "import (", *block, ")", *lines[one.last + 1 :]])


def _statements(parsed: ParsedText, tree: WorkTree) -> tuple[list[ImportLine], bool]:
    """The first run of imports, and whether it is a Go block with a line for each."""
    language = parsed.language.name
    if language == "go":
        blocks = [one for one in parsed.root.children if one.type == "import_declaration"]
        specs = next((one for block in blocks if (one := block.first("import_spec_list"))), None)
        if specs is not None and specs.children[0].line != specs.children[-1].line:
            within = [one for one in specs.children if one.type == "import_spec"]
            if within:
                return [_line(one, parsed, tree) for one in within], True
    requiring = {id(one.statement) for one in stated_imports(parsed) if one.requires}
    run: list[Branch] = []
    for child in _container(parsed).children:
        if child.type in IMPORTS[language] or id(child) in requiring:
            run.append(child)
        elif (run and "comment" not in child.type) or child.type.endswith(DEFINITIONS):
            break
    return [_line(one, parsed, tree) for one in run], False


def _container(parsed: ParsedText) -> Branch:
    """What holds the imports: the file, or a C# namespace that has them inside."""
    if parsed.language.name == "csharp" and parsed.root.first("using_directive") is None:
        for child in parsed.root.children:
            body = child.part("body") if child.type == "namespace_declaration" else None
            if body is not None and body.first("using_directive") is not None:
                return body
    return parsed.root


def _line(node: Branch, parsed: ParsedText, tree: WorkTree) -> ImportLine:
    text = parsed.text_of(node).rstrip("\n")
    what = _import_of(text, parsed.language.name)
    first = node.line - 1
    return ImportLine(
        first,
        first + text.count("\n"),
        _group(what.module, parsed, tree),
        _key(what, parsed.language.name),
    )


def _import_of(text: str, language: str) -> Import:
    """Enough of what a statement brings in to sort it."""
    if language == "python":
        match = re.match(r"(from|import)\s+(\S+?)[,;]?(?:\s|$)", text)
        return Import(match[2], "x" if match[1] == "from" else "") if match else Import(text)
    if language == "rust":
        path = re.sub(r"^(?:pub(?:\([^)]*\))? )?use |;$", "", text)
        return Import(path.partition("::{")[0], "")
    if language in ("go", *SCRIPTS):
        quoted = re.findall(r"""(['"`])([^'"`\n]*)\1""", text)
        return Import(quoted[-1][1] if quoted else text)
    return Import(re.sub(r"^(?:global )?(?:import|using) (?:static )?(?:\w+ = )?|;$", "", text))


def _group(module: str, parsed: ParsedText, tree: WorkTree) -> int:
    """The group of a module, in the order in which groups follow each other."""
    language = parsed.language.name
    first = re.split(r"[./:]", module)[0]
    if language == "python":
        if module == "__future__":
            return 0
        if module.startswith("."):
            return 4
        return 1 if first in sys.stdlib_module_names else 3 if tree.is_own(first) else 2
    if language == "go":
        return 1 if "." in module.partition("/")[0] else 0
    if language == "rust":
        return {"std": 0, "core": 0, "alloc": 0, "crate": 2, "self": 2, "super": 2}.get(first, 1)
    if language in SCRIPTS:
        return (
            0
            if module.removeprefix("node:") in NODE_MODULES
            else 2
            if module.startswith(".")
            else 1
        )
    return 0


def _key(what: Import, language: str) -> Key:
    if language == "python":
        return (bool(what.name), what.module.lower())
    if language == "csharp":
        return (what.module.partition(".")[0] != "System", what.module)
    if language == "rust":
        return (f"{what.module}::{what.name}" if what.name else what.module,)
    return (what.module,)


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
    """The text with its first import, behind everything that has to stand before."""
    at = _head_end(parsed, lines)
    added = [statement]
    if at and lines[at - 1].strip():
        added.insert(0, "")
    following = lines[at] if at < len(lines) else ""
    if following.strip():
        starts = re.match(r"(?:async )?def |class |@", following)
        added += ["", ""] if parsed.language.name == "python" and starts else [""]
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _head_end(parsed: ParsedText, lines: list[str]) -> int:
    end = 0
    for number, child in enumerate(parsed.root.children):
        text = parsed.text_of(child).rstrip("\n")
        last = child.line - 1 + text.count("\n")
        is_comment = "comment" in child.type
        is_text = child.type == "expression_statement" and child.children[0].type == "string"
        if (
            child.type in HEADS
            or (
                is_text
                and not any(
                    one.type == "expression_statement" for one in parsed.root.children[:number]
                )
            )
            or text.startswith(("#!", "//!"))
            or "coding" in text[:20]
        ):
            end = last + 1
        elif not is_comment:
            break
        elif not lines[last + 1 : last + 2] or not lines[last + 1].strip():
            end = last + 1
    return end
