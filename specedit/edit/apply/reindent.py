"""Indent the lines of a snippet as the file does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specedit.edit.apply.markers import LEFT_OUT, ShownLines
from specedit.edit.apply.part_places import FileIndex, Margins, margin, weight
from specedit.edit.apply.structure import VALUE, Definition


def reindented(
    shown: ShownLines,
    own: Sequence[Definition],
    pairs: Mapping[Definition, Definition],
    index: FileIndex,
) -> list[str]:
    """The lines: a definition as deep as the one that it stands for, and what stands around it with
    it; other lines between markers as deep as the file has them, where all that it has are at one
    other depth."""
    lines = list(shown.lines)
    solid = [other for other in own if other in pairs or other.kind != VALUE]
    covered = {n for definition in solid for n in range(definition.top, definition.last)}
    shifts = {
        definition: Margins(_pairs(shown.lines, definition, old, index))
        for definition, old in pairs.items()
    }
    last: Margins | None = None
    for definition in solid:
        change = shifts.get(definition, last)
        if change is None and shifts:
            change = next(iter(shifts.values()))
        if change is None or change.same:
            continue
        last = change
        deep = _literal(shown.lines, definition, pairs.get(definition), index)
        for n in range(definition.top, definition.last):
            if deep is None or len(margin(lines[n])) < deep:
                lines[n] = change.applied(lines[n])
    start = 0
    for end in [*(n for n, kind in enumerate(shown.kinds) if kind == LEFT_OUT), len(lines)]:
        rest = [n for n in range(start, end) if n not in covered]
        start = end + 1
        for n, line in _moved(shown.lines, rest, index):
            lines[n] = line
    return lines


def _literal(
    lines: Sequence[str], own: Definition, old: Definition | None, index: FileIndex
) -> int | None:
    """From which indentation on a definition's lines are as deep as the file's, where its first
    line is not."""
    if old is None or margin(lines[own.first]) == margin(index.lines[old.first]):
        return None
    inside = set(index.lines[old.first + 1 : old.last])
    deeper = [line for line in lines[own.first + 1 : own.last] if weight(line) >= 0.6]
    change = Margins([(lines[own.first], index.lines[old.first])])
    depth = len(margin(index.lines[old.first]))
    equal = sum(line in inside and len(margin(line)) > depth for line in deeper)
    return depth if equal > sum(change.applied(line) in inside for line in deeper) else None


def _pairs(
    lines: Sequence[str], own: Definition, old: Definition, index: FileIndex
) -> list[tuple[str, str]]:
    """First lines, and equal ones where the file indents with another character, or by another
    number of them for each level."""
    head = (lines[own.first], index.lines[old.first])
    inside: dict[str, set[str]] = {}
    for row in range(old.first, old.last):
        inside.setdefault(index.lines[row].strip(), set()).add(index.lines[row])
    equal = [
        (line, next(iter(inside[line.strip()])))
        for line in lines[own.first + 1 : own.last]
        if len(inside.get(line.strip(), ())) == 1 and weight(line) >= 0.6
    ]
    deeper = [(a, b) for a, b in equal if margin(a) and margin(b)]
    if any(a == b for a, b in deeper):
        return [head]
    if any(set(margin(a)) ^ set(margin(b)) for a, b in deeper):
        return [head, *equal]
    base = [len(margin(line)) for line in head]
    levels = {(len(margin(a)) - base[0], len(margin(b)) - base[1]) for a, b in deeper}
    (one, other), *rest = sorted(levels) or [(0, 0)]
    scaled = rest and 0 < one != other > 0 and all(a * other == b * one for a, b in rest)
    return [head, *equal] if scaled else [head]


def _moved(lines: Sequence[str], rest: Sequence[int], index: FileIndex) -> list[tuple[int, str]]:
    rows = index.rows(2)
    known = [
        (lines[n], index.lines[found[0]])
        for n in rest
        if len(found := rows.get(lines[n].strip(), [])) == 1 and weight(lines[n]) >= 0.6
    ]
    margins = Margins(known)
    literal = any(lines[n] in index.rows(0) and weight(lines[n]) >= 0.6 for n in rest)
    if known and margins.sure and not literal:
        return [(n, margins.applied(lines[n])) for n in rest]
    return []
