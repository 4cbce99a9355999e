"""Rules that a user writes: `assertTrue($A in $B)` -> `assertIn($A, $B)`, where `$A` is one node
and `$$$A` any number of neighbours; and those of a pyproject.toml: [tool.specedit.repeat.NAME] with
before, after, files, message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import InputError, SpeceditError, UsageError
from specedit.files import atomic, regular
from specedit.repeat.origin import is_import
from specedit.repeat.piece import Piece, piece_of
from specedit.repeat.rewriting import applied, rewritten
from specedit.repeat.rule import RepeatRule
from specedit.settings import nearest
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, Language

if TYPE_CHECKING:
    from tree_sitter import Node


KEYS = ("before", "after", "language", "files", "message", "imports")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class SavedRule:
    """One rule of a pyproject.toml."""

    name: str
    rule: RepeatRule
    files: tuple[str, ...] = ()  # globs as in a .gitignore; none: every file of the language
    message: str = ""


def saved_rule(name: str, tables: Mapping[str, Any]) -> SavedRule:
    """The rule of this name; an error that names what is wrong with it."""
    table = tables.get(name)
    if table is None:
        raise UsageError(f"pyproject.toml has no rule {name}.", hint=nearest(name, list(tables)))
    place = f"pyproject.toml: [tool.specedit.repeat.{name}]"
    for key in table:
        if key not in KEYS:
            raise UsageError(f"{place} has no key {key!r}.", hint=nearest(key, list(KEYS)))
    for key in ("before", "after", "language"):
        if not isinstance(table.get(key), str):
            raise UsageError(f"{place}: {key} must be a text.")
    files, imports = table.get("files", []), table.get("imports", {})
    files = [files] if isinstance(files, str) else files
    if not isinstance(files, list) or not all(isinstance(path, str) and path for path in files):
        raise UsageError(f"{place}: files must be a list of globs.")
    if not isinstance(imports, dict) or not all(isinstance(v, str) for v in imports.values()):
        raise UsageError(f"{place}: imports must be a table of names and their modules.")
    language = BY_NAME.get(table["language"])
    if language is None or not language.grammar:
        raise UsageError(f"{place}: language must be one of those of `specedit help repeat`.")
    try:
        rule = rule_from_text(table["before"], table["after"], language)
    except UsageError as problem:
        raise UsageError(f"{place}: {problem.message}", hint=problem.hint) from None
    return SavedRule(name, with_imports(rule, imports), tuple(files), str(table.get("message", "")))


def with_imports(rule: RepeatRule, imports: Mapping[str, str]) -> RepeatRule:
    """The rule whose names mean these imports: another thing of such a name is not a place."""
    return replace(rule, origins={name: f"import {module}" for name, module in imports.items()})


def table_of(rule: RepeatRule, name: str, files: Mapping[str, str]) -> str:
    """The rule as TOML; an error where text cannot say what it is. `files`: texts with places,
    where both must come to the same."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name}: a rule's name has letters, digits, - and _ only.")
    if rule.too_general:
        raise UsageError(f"The rule is too general to be saved: {rule.too_general}.")
    if variables := [variable for variable, origin in rule.needs if origin in ("local", "member")]:
        raise UsageError(
            f"The rule cannot be saved: it writes `{variables[0]}`, which only its example has."
        )
    before, after = rule.shown()
    imports = {
        word: origin.removeprefix("import ")
        for word, origin in rule.origins.items()
        if is_import(origin)
    }
    try:
        again = with_imports(rule_from_text(before, after, BY_NAME[rule.language]), imports)
        differs = [
            path
            for path, text in files.items()
            if _changed(again, text, path) != _changed(rule, text, path)
        ]
    except SpeceditError as problem:
        raise UsageError(f"The rule cannot be written as text: {problem.message}") from None
    if differs:
        raise UsageError(
            f"The rule cannot be saved: as text it would change {differs[0]} in another way.",
            hint=f"Write it yourself: --example '{before}' '{after}' --save {name}",
        )
    lines = [f"[tool.specedit.repeat.{name}]", f"language = {json.dumps(rule.language)}"]
    lines += [f"before = {_toml(before)}", f"after = {_toml(after)}"]
    if imports:
        pairs = ", ".join(f"{word} = {_toml(module)}" for word, module in imports.items())
        lines.append(f"imports = {{ {pairs} }}")
    lines.append(f'message = "repeat {name}"')
    return "\n".join(lines) + "\n"


def _changed(rule: RepeatRule, text: str, path: str) -> str:
    return applied(text, rewritten(rule, text, path).places)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def save(pyproject: Path, name: str, table: str, known: Mapping[str, Any]) -> None:
    """Add a rule to a pyproject.toml."""
    if name in known:
        raise UsageError(
            f"{pyproject} has a rule {name} already.", hint="Choose another name, or edit it there."
        )
    try:
        data = regular.read(pyproject) if pyproject.exists() else b""
    except OSError as problem:
        raise InputError(problem.strerror or str(problem), file=str(pyproject)) from None
    end = b"\r\n" if b"\r\n" in data else b"\n"
    gap = b"" if not data else end if data.endswith(b"\n") else end * 2
    atomic.whole(pyproject, data + gap + table.encode().replace(b"\n", end))


HOLE = re.compile(r"\$\$\$([A-Z][A-Z0-9_]*)|\$([A-Z][A-Z0-9_]*)")
_ONE, _MANY = "specedithole", "specedithomany"
_IN_FUNCTION = (("void f() { ", "; }"), ("void f() { ", " }"), ("", ""))
_IN_CLASS = tuple(
    (f"class A {{ {before}", f"{after} }}")
    for before, after in (("void f() { ", "; }"), ("void f() { ", " }"), ("", ""), ("", " x;"))
)
_AROUND = {  # what a pattern can stand in
    "java": (*_IN_CLASS, ("", "")),
    "csharp": (*_IN_CLASS, ("", "")),
    "c": _IN_FUNCTION,
    "cpp": _IN_FUNCTION,
    "go": (
        ("package p\nfunc f() { ", " }"),
        ("package p\nfunc f() { _ = ", " }"),
        ("package p\n", "\n"),
        ("package p\nvar x ", "\n"),
    ),
    "rust": (("fn f() { ", "; }"), ("fn f() { ", " }"), ("", ""), ("type X = ", ";")),
    "php": (("<?php ", ";"), ("<?php ", ""), ("<?php class A { ", " }")),
    "kotlin": (("fun f() { ", " }"), ("", "")),
    "scala": (("object A { ", " }"), ("", "")),
    "python": (("", ""), ("x: ", ""), ("try: pass\n", "")),
}
_ELSEWHERE = (("", ""), ("class A { ", " }"), ("let x: ", ";"))


def has_holes(text: str) -> bool:
    return HOLE.search(text) is not None


def rule_from_text(before: str, after: str, language: Language) -> RepeatRule:
    """The rule of two patterns; an error where one does not parse in a language."""
    before, after = before.strip(), after.strip()
    if not before:
        raise UsageError("The pattern before is empty.", hint="It says what the places look like.")
    olds = _pieces(before, language)
    if olds is None:
        raise UsageError(
            f"`{before}` does not parse as {language.name}.",
            hint="Write a whole expression or statement; $A is a hole for one of them.",
        )
    if not any(unit.hole == "" for piece in olds for unit in piece.units()):
        raise UsageError(f"`{before}` fits everything.", hint="Write what all places share.")
    news = _pieces(after, language) if after else ()
    if news is None:
        raise UsageError(f"`{after}` does not parse as {language.name}.")
    if any(sum(child.many for child in inner.children) > 1 for p in olds for inner in p.walk()):
        raise UsageError(f"`{before}` has two holes of any length in one list; one can be found.")
    known = {unit.hole for piece in olds for unit in piece.units() if unit.hole}
    units = [unit for piece in news for unit in piece.units()]
    for unit in units:
        if unit.hole and unit.hole not in known:
            raise UsageError(f"{unit.hole} stands only in the new side.", hint=f"`{before}`")
    if [piece.key for piece in olds] == [piece.key for piece in news]:
        raise UsageError("Both sides of the example are the same: there is nothing to repeat.")
    sources = _encoded(before).encode(), _encoded(after).encode()
    return RepeatRule(language.name, olds, tuple(news), *sources, receivers=True)


def _encoded(text: str) -> str:
    return HOLE.sub(lambda hit: f"{_MANY}{hit[1]}" if hit[1] else f"{_ONE}{hit[2]}", text)


def _pieces(text: str, language: Language) -> tuple[Piece, ...] | None:
    """The nodes of a pattern, with offsets in its encoded text; None where it does not parse."""
    encoded = _encoded(text)
    for before, after in _AROUND.get(language.name, _ELSEWHERE):
        whole = f"{before}{encoded}{after}"
        try:
            root = trees.parse(whole, language).root_node
        except SpeceditError:
            return None
        data = whole.encode()
        start = len(before.encode())
        nodes = [] if root.has_error else _spanning(root, start, start + len(encoded.encode()))
        if nodes:
            return tuple(
                _with_holes(_moved(piece_of(node, data, language.name), start)) for node in nodes
            )
    return None


def _spanning(root: Node, start: int, end: int) -> list[Node]:
    """The node of exactly these bytes, or the neighbours that fill them."""
    node = root.descendant_for_byte_range(start, end)
    if node is None:
        return []
    if (node.start_byte, node.end_byte) == (start, end):
        while len(node.children) == 1 and node.children[0].end_byte == end and node.is_named:
            if not node.children[0].is_named:
                break
            node = node.children[0]
        return [node]
    inside = [
        child
        for child in node.children
        if child.start_byte >= start and child.end_byte <= end and child.is_named
    ]
    fills = inside and (inside[0].start_byte, inside[-1].end_byte) == (start, end)
    return inside if fills else []


def _moved(piece: Piece, by: int) -> Piece:
    children = tuple(_moved(child, by) for child in piece.children)
    return replace(piece, start=piece.start - by, end=piece.end - by, children=children)


def _with_holes(piece: Piece) -> Piece:
    for sign, many in ((_ONE, False), (_MANY, True)):
        if piece.named and len(piece.key) == 1 and piece.key[0].startswith(sign):
            name = piece.key[0].removeprefix(sign)
            hole = f"$$${name}" if many else f"${name}"
            return replace(piece, kind="", text="", children=(), hole=hole, many=many)
    return piece.with_children([_with_holes(child) for child in piece.children])
