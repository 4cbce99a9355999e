"""Rules written by hand: `assertTrue($A in $B)` -> `assertIn($A, $B)`. `$A` is one node, and
`$$$A` any number of neighbours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from specedit.errors import SpeceditError, UsageError
from specedit.repeat.piece import Piece, piece_of
from specedit.repeat.rule import RepeatRule
from specedit.syntax import trees
from specedit.syntax.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

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
