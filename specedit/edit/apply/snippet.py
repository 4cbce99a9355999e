"""A snippet made ready to be laid along a file: its chunks and its definitions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from specedit.edit.apply.part_places import FileIndex, Margins, margin, weight
from specedit.edit.apply.snippet_parts import (
    Definition,
    Elided,
    counterpart,
    definitions,
    ends_itself,
)
from specedit.import_time import frozen
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol


@frozen
class Pair:
    """A definition that the snippet shows whole, and the one of the file that it replaces."""

    own: Definition
    old: Symbol


@frozen
class Prepared:
    """A snippet's lines without elisions and without the blank lines beside them."""

    lines: tuple[str, ...]
    begins: tuple[bool, ...]  # the line begins a chunk
    blanks: tuple[tuple[int, int], ...]  # blank lines left out before and behind each line
    gaps: tuple[str | None, ...]  # indentation of the elision above each line; one more at the end
    shown: tuple[Definition, ...]
    pairs: tuple[Pair, ...]
    fresh: tuple[Definition, ...]  # shown whole, and not in the file
    reindented: bool = False

    def chunks(self) -> list[tuple[int, int]]:
        starts = [n for n, first in enumerate(self.begins) if first]
        return list(zip(starts, [*starts[1:], len(self.lines)], strict=True))


def prepared(
    cut: Elided, index: FileIndex, symbols: Sequence[Symbol], language: Language | None
) -> Prepared:
    """The snippet with its chunks and its definitions."""
    lines, gaps = list(cut.lines), list(cut.gaps)
    shown = _definitions(lines, gaps, language)
    named: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        named.setdefault(symbol.own_name, []).append(symbol)
    whole = [one for one in shown if _whole(one, lines, gaps, language)]
    matched = [(one, *counterpart(one, lines, named, index.lines)) for one in whole]
    pairs = [Pair(one, old) for one, old, _ in matched if old is not None]
    fresh = [one for one, _, several in matched if not several]
    begins = {n for n, gap in enumerate(gaps[:-1]) if gap is not None} | {0}
    if not any(gap is not None for gap in gaps):
        begins |= _between_definitions(lines, pairs)
    moved = _indented(lines, begins, pairs, index)
    starts = tuple(n in begins for n in range(len(lines)))
    parts = (tuple(shown), tuple(pairs), tuple(fresh), moved)
    return _without_edges(Prepared(tuple(lines), starts, (), tuple(gaps), *parts))


def _indented(lines: list[str], begins: set[int], pairs: Sequence[Pair], index: FileIndex) -> bool:
    """Indent the lines as deep as the file's: a definition like the one that it replaces, a chunk
    where all its lines are in the file at one other depth. Returns whether any line moved."""
    before, starts = list(lines), sorted(begins)
    inside = {n for pair in pairs for n in range(pair.own.first, pair.own.last)}
    for pair in pairs:
        own = range(pair.own.first, pair.own.last)
        number = bisect_right(starts, own[0])
        chunk = range(starts[number - 1], [*starts, len(lines)][number])
        if any(lines[n].strip() and n not in inside for n in chunk):
            continue  # its other lines say how deep it is
        depth = margin(index.lines[pair.old.first_line - 1])
        margins = Margins([(before[own[0]], depth + "x")])
        if all(not before[n].strip() or before[n].startswith(margin(before[own[0]])) for n in own):
            for n in own:
                lines[n] = margins.applied(before[n])
    rows = index.rows(2)
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        rest = [n for n in range(start, end) if n not in inside]
        known = [
            (before[n], index.lines[found[0]])
            for n in rest
            if len(found := rows.get(before[n].strip(), [])) == 1 and weight(before[n]) >= 0.6
        ]
        margins = Margins(known)
        literal = any(before[n] in index.rows(0) and weight(before[n]) >= 0.6 for n in rest)
        fresh = any(before[n].strip() and before[n].strip() not in rows for n in rest)
        if known and margins.sure and fresh and not literal:
            for n in rest:
                lines[n] = margins.applied(before[n])
    return lines != before


def _definitions(
    lines: Sequence[str], gaps: Sequence[str | None], language: Language | None
) -> list[Definition]:
    """The definitions, parsed with a statement or a blank line for each elision."""
    shown: list[str] = []
    rows: list[int] = []  # of the parsed lines: which own line, or the one below
    python = language is not None and language.name == "python"
    for n, gap in enumerate(gaps):
        if gap is not None:
            shown.append(gap + "pass" if python else "")
            rows.append(n)
        if n < len(lines):
            shown.append(lines[n])
            rows.append(n)
    rows.append(len(lines))
    result = []
    for one in definitions(shown, language):
        first, last = rows[one.first], rows[one.last - 1] + 1
        if gaps[min(last - 1, len(gaps) - 1)] is not None and shown[one.last - 1].strip() in (
            "pass",
            "",
        ):
            last -= 1
        if first < last:
            result.append(replace(one, first=first, last=last))
    return result


def _whole(
    one: Definition, lines: Sequence[str], gaps: Sequence[str | None], language: Language | None
) -> bool:
    """Whether the snippet shows a definition from its first to its last line."""
    if any(gap is not None for gap in gaps[one.first + 1 : one.last]):
        return False
    if ends_itself(one, lines):
        return True
    if language is None or language.name not in ("python", "ruby"):
        return one.last - one.first == 1 and lines[one.first].rstrip().endswith((";", "}"))
    end = next((n for n in range(one.last, len(lines)) if lines[n].strip()), len(lines))
    gap = next((gap for gap in gaps[one.last : end + 1] if gap is not None), None)
    if gap is not None:  # no deeper than the definition: it ends before what is left out
        apart = end > one.last or gap != ""
        return apart and len(gap) <= len(margin(lines[one.first]))
    return True


def _between_definitions(lines: Sequence[str], pairs: Sequence[Pair]) -> set[int]:
    """The lines of a snippet without elisions that need not stand directly behind the line before:
    definitions that replace one, behind another such or behind what stands at the top."""
    result = set()
    before = 0
    for pair in sorted(pairs, key=lambda one: one.own.first):
        start = pair.own.first
        while start > before and re.match(r"\s*[#/*@\[]", lines[start - 1]):
            start -= 1
        depth = len(margin(lines[pair.own.first]))
        inside = any(line.strip() and len(margin(line)) < depth for line in lines[before:start])
        if start and not inside:
            result.add(start)
        before = pair.own.last
    return result


def _without_edges(one: Prepared) -> Prepared:
    """Without the blank lines at the ends of chunks."""
    kept: list[int] = []
    heads: set[int] = set()
    blanks: dict[int, tuple[int, int]] = {}
    for start, end in one.chunks():
        solid = [n for n in range(start, end) if one.lines[n].strip()]
        if solid:
            kept += range(solid[0], solid[-1] + 1)
            heads.add(solid[0])
            blanks[solid[0]] = (solid[0] - start, 0)
            blanks[solid[-1]] = (blanks.get(solid[-1], (0, 0))[0], end - 1 - solid[-1])

    def again(shown: Definition) -> Definition:
        first, last = bisect_left(kept, shown.first), bisect_left(kept, shown.last)
        return replace(shown, first=first, last=last)

    elisions: list[str | None] = [None] * (len(kept) + 1)
    for n, gap in enumerate(one.gaps):
        if gap is not None:
            elisions[bisect_left(kept, n)] = gap
    return Prepared(
        tuple(one.lines[n] for n in kept),
        tuple(n in heads for n in kept),
        tuple(blanks.get(n, (0, 0)) for n in kept),
        tuple(elisions),
        tuple(map(again, one.shown)),
        tuple(Pair(again(pair.own), pair.old) for pair in one.pairs),
        tuple(map(again, one.fresh)),
        one.reindented,
    )
