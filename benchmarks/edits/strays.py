"""What an edit changed where it must not: lines outside its places, definitions, imports, style."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from benchmarks.edits.code import Code, Definition

if TYPE_CHECKING:
    from tree_sitter import Node

SPECIAL = frozenset({"imports", "comments", "main block", "*"})


def strays(before: Code, after: Code, where: tuple[str, ...]) -> Iterator[str]:
    """What changed and must not have."""
    yield from _lost(before, after, where)
    if "*" in where:
        return
    if "imports" not in where:
        yield from _import_changes(before, after)
    yield from _restyled(before, after, where)
    old, new = _skeleton(before, after, where), _skeleton(after, before, where)
    adds = any(place.startswith("new:") for place in where)
    for index, (mine, theirs) in enumerate(zip(old, new, strict=False)):
        grows = adds and any(
            one.beside for part in (old, new) for one in part[index + 1 : index + 2]
        )
        texts = (mine.text, theirs.text)
        if mine.text != theirs.text and not (grows and _without_comma(*texts)):
            yield f"changed outside: {mine.text!r} is {theirs.text!r}"
            return
        if mine.blank != theirs.blank and not (mine.beside or theirs.beside):
            yield f"blank lines changed above {mine.text!r}"
            return
    if len(old) != len(new):
        yield "lines outside added or lost"


def _without_comma(old: str, new: str) -> bool:
    """Whether a comma was added because a new member follows."""
    return old.rstrip().removesuffix(",") == new.rstrip().removesuffix(",")


def _lost(before: Code, after: Code, where: tuple[str, ...]) -> Iterator[str]:
    counts = Counter(definition.name for definition in before.definitions)
    now = Counter(definition.name for definition in after.definitions)
    named = {one.name for name in where for one in before.named(name)}
    for name, count in counts.items():
        if now[name] < count and name not in named:
            yield f"lost: {name}"
        if name in named and now[name] > count:
            yield f"defined again: {name}"


def _restyled(before: Code, after: Code, where: tuple[str, ...]) -> Iterator[str]:
    """Places where only blank lines, quotes or spacing changed, with nothing else near them."""
    for name in where:
        spans = (before.named(name), after.named(name))
        for old, new in zip(*spans, strict=False):
            lines = before.lines[old.top : old.end], after.lines[new.top : new.end]
            codes = SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
            hunks = zip(codes, codes[1:], codes[2:], strict=False)
            for left, (_, a, b, c, d), right in hunks:
                alone = left[0] == right[0] == "equal"
                near = min(_full(lines[0][one[1] : one[2]]) for one in (left, right))
                if alone and near > 1 and _styled(lines[0][a:b], lines[1][c:d]):
                    yield f"style changed in {name}, line {new.top + c + 1}"


def _full(lines: list[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


def _styled(old: list[str], new: list[str]) -> bool:
    """Whether the lines have the same content and indentation."""

    def plain(lines: list[str]) -> list[str]:
        found = [
            (re.split(r"\S", line)[0], " ".join(line.split())) for line in lines if line.strip()
        ]
        return [lead + re.sub(r" ?([^\w ]) ?", r"\1", one).replace("'", '"') for lead, one in found]

    return plain(old) == plain(new)


def _import_changes(old: Code, new: Code) -> Iterator[str]:
    for one in sorted(old.imports - new.imports, key=lambda one: one.key):
        if not one.bound or one.bound in new.used or one.bound not in old.used:
            yield f"import lost: {' '.join(one.key)}"
    for one in sorted(new.imports - old.imports, key=lambda one: one.key):
        if one.bound and one.bound not in new.used:
            yield f"import not used: {' '.join(one.key)}"
    if old.imports == new.imports and _import_lines(old) != _import_lines(new):
        yield "imports rewritten"


def _import_lines(code: Code) -> set[str]:
    return {_whole_lines(code, *_span(node)) for node in code.import_nodes}


def _span(node: Node) -> tuple[int, int]:
    row, column = node.end_point
    first = node.start_point[0]
    return first, max(first, row if column else row - 1) + 1


def _whole_lines(code: Code, first: int, end: int) -> str:
    return "\n".join(code.lines[first:end])


@dataclass(frozen=True)
class Line:
    """A line that must stay, the blank lines above it, and whether something went or came there."""

    text: str
    blank: tuple[str, ...]
    beside: bool


def _skeleton(code: Code, other: Code, where: tuple[str, ...]) -> list[Line]:
    """The lines outside the places that may change; each of these places is one line."""
    lines = list(code.lines)
    dropped = _dropped(code, other, where)
    if "comments" in where:
        bare = code.blanked((*code.comments, *code.docstrings)).split("\n")
        for row, (line, rest) in enumerate(zip(lines, bare, strict=True)):
            if line != rest and not rest.strip():
                dropped.add(row)
            elif line != rest:
                lines[row] = rest.rstrip()
    regions: dict[int, tuple[str, int]] = {}
    for name in where:
        for one in code.named(name) if name not in SPECIAL and ":" not in name else ():
            if other.named(name):
                regions[one.top] = (f"<{name}>", max(one.end, regions.get(one.top, ("", 0))[1]))
            else:
                dropped.update(range(one.top, one.end))
    if "main block" in where and code.main:
        regions[code.main.start] = ("<main>", code.main.stop)
    found: list[Line] = []
    blank: list[str] = []
    beside, row = False, 0
    while row < len(lines):
        text, end = regions.get(row, (lines[row], row + 1))
        if row in dropped:
            beside = True
        elif not text.strip():
            blank.append(text)
        else:
            found.append(Line(text, tuple(blank), beside))
            blank, beside = [], False
        row = row + 1 if row in dropped else end
    return [*found, Line("<end>", tuple(blank), beside)]


def _dropped(code: Code, other: Code, where: tuple[str, ...]) -> set[int]:
    """Lines that may be there or not: changed imports and new definitions."""
    rows: set[int] = set()
    theirs = _import_lines(other)
    for node in code.import_nodes:
        first, end = _span(node)
        if _whole_lines(code, first, end) not in theirs or "imports" in where:
            rows.update(range(first, end))
            group = node.parent
            if group is None or group.type != "import_spec_list":  # Go's `import (`
                continue
            if len(group.named_children) == 1 or not _grouped(other):
                top, bottom = _span(group)
                rows.update((top, bottom - 1))
    known = {definition.name for definition in other.definitions}
    for place in where:
        kind, _, parent = place.partition(":")
        if place.startswith("new:"):
            for one in code.definitions:
                if one.name not in known and _belongs(one, parent):
                    above = _whole_lines(code, one.top, one.first)
                    moved = code.text.count(above) <= other.text.count(above)
                    rows.update(range(one.first if moved else one.top, one.end))
        elif kind == "doc":
            for one in code.named(parent):
                rows.update(range(one.top, one.first))
                rows.update(row for node in code.docstrings_of(one) for row in range(*_span(node)))
    return rows


def _grouped(code: Code) -> bool:
    """Whether Go's imports stand in brackets."""
    return any(
        node.parent is not None and node.parent.type == "import_spec_list"
        for node in code.import_nodes
    )


def _belongs(definition: Definition, parent: str) -> bool:
    return definition.parent == parent or (
        bool(parent) and definition.parent.endswith(f".{parent}")
    )
