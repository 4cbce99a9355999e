"""A snippet made ready to be laid along a file: its chunks, its definitions, its scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.edit.apply.alignment import NO, Costs
from specedit.edit.apply.definitions import Definition, counterpart, definitions, ends_itself
from specedit.edit.apply.elision import Elided
from specedit.edit.apply.indentation import Margins
from specedit.edit.apply.placing import FileIndex, margin
from specedit.edit.apply.similar import Likeness, weight
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

if TYPE_CHECKING:
    from numpy import ndarray

EDGE = 2.5  # further cost of a new line at the end of a chunk that the file has
NAMING = 4  # lines from a definition's first that may name it
INSIDE, OUTSIDE = 1.2, 0.7  # factors of a match whose header is the snippet's, or is not


@dataclass(frozen=True)
class Pair:
    """A definition that the snippet shows whole, and the one of the file that it replaces."""

    own: Definition
    old: Symbol


@dataclass(frozen=True)
class Prepared:
    """A snippet's lines without elisions and without the blank lines beside them."""

    lines: tuple[str, ...]
    begins: tuple[bool, ...]  # the line begins a chunk
    blanks: tuple[tuple[int, int], ...]  # blank lines left out before and behind each line
    gaps: tuple[str | None, ...]  # indentation of the elision above each line; one more at the end
    shown: tuple[Definition, ...]
    pairs: tuple[Pair, ...]
    headers: tuple[Pair, ...]  # of definitions that the snippet shows whole or in part
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
    matched = _matched(shown, lines, symbols, index)
    pairs = [
        Pair(one, old)
        for one, old, _ in matched
        if old is not None and _whole(one, lines, gaps, language)
    ]
    headers = [Pair(one, old) for one, old, _ in matched if old is not None]
    pairs = [p for p in pairs if not any(_within(p.own, q.own) for q in pairs)]
    begins = {n for n, gap in enumerate(gaps[:-1]) if gap is not None} | {0}
    if not any(gap is not None for gap in gaps):
        begins |= _between_definitions(lines, pairs)
    moved = _indented(lines, begins, pairs, index)
    return _without_edges(
        lines,
        begins,
        gaps,
        shown,
        pairs,
        headers,
        moved,
    )


def _matched(
    shown: Sequence[Definition],
    lines: Sequence[str],
    symbols: Sequence[Symbol],
    index: FileIndex,
) -> list[tuple[Definition, Symbol | None, list[Symbol]]]:
    """Each definition with its counterpart; of several with one counterpart, the one whose first
    line is the same has it."""
    matched = [(one, *counterpart(one, lines, symbols, index.lines)) for one in shown]
    result = []
    for one, old, several in matched:
        rivals = [other for other, theirs, _ in matched if old is not None and theirs is old]
        if old is not None and len(rivals) > 1:
            head = index.lines[old.first_line - 1].strip()
            same = [other for other in rivals if lines[other.first].strip() == head]
            old = old if same == [one] else None
        result.append((one, old, several))
    return result


def _within(one: Definition, other: Definition) -> bool:
    return one is not other and other.first <= one.first and one.last <= other.last


def _indented(lines: list[str], begins: set[int], pairs: Sequence[Pair], index: FileIndex) -> bool:
    """Indent the lines as deep as the file's: a definition like the one that it replaces, a chunk
    where all its lines are in the file at one other depth. Returns whether any line moved."""
    before, inside = list(lines), set[int]()
    for pair in pairs:
        own = range(pair.own.first, pair.own.last)
        inside |= set(own)
        if not _alone(own, lines, begins, pairs):
            continue
        depth = margin(index.lines[pair.old.first_line - 1])
        margins = Margins([(before[own[0]], depth + "x")])
        if all(not before[n].strip() or before[n].startswith(margin(before[own[0]])) for n in own):
            for n in own:
                lines[n] = margins.applied(before[n])
    rows = index.rows(2)
    starts = sorted(begins)
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


def _alone(own: range, lines: Sequence[str], begins: set[int], pairs: Sequence[Pair]) -> bool:
    """Whether the chunk of a definition holds nothing but definitions that replace others."""
    start = max(n for n in begins if n <= own[0])
    end = min((n for n in begins if n > own[0]), default=len(lines))
    held = {n for pair in pairs for n in range(pair.own.first, pair.own.last)}
    return all(n in held or not lines[n].strip() for n in range(start, end))


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
            result.append(Definition(first, last, one.name, one.qualified, one.kind))
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
    if gaps[one.last] is not None:
        return False
    rest = [line for line in lines[one.last :] if line.strip()]
    if rest:
        return True
    head = [line for line in lines[: one.first] if line.strip()]
    return (not any(gap is not None for gap in gaps) and not head) or one.first == 0


def _between_definitions(lines: Sequence[str], pairs: Sequence[Pair]) -> set[int]:
    """Where a snippet without elisions goes on elsewhere: at a definition that replaces one, behind
    another such or behind what stands at the top."""
    result = set()
    before = 0
    for number, pair in enumerate(sorted(pairs, key=lambda one: one.own.first)):
        start = pair.own.first
        while (
            start > before
            and lines[start - 1].strip()
            and weight(lines[start - 1])
            and (lines[start - 1].strip()[0] in "#/*@[")
        ):
            start -= 1
        depth = len(margin(lines[pair.own.first]))
        inside = any(line.strip() and len(margin(line)) < depth for line in lines[before:start])
        if start and not inside and (number or start > 0):
            result.add(start)
        before = pair.own.last
    return result


def _without_edges(
    lines: Sequence[str],
    begins: set[int],
    gaps: Sequence[str | None],
    shown: Sequence[Definition],
    pairs: Sequence[Pair],
    headers: Sequence[Pair],
    moved: bool,
) -> Prepared:
    """Without the blank lines at the ends of chunks."""
    starts = sorted(begins)
    kept: list[int] = []
    blanks: dict[int, tuple[int, int]] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        solid = [n for n in range(start, end) if lines[n].strip()]
        if solid:
            kept += range(solid[0], solid[-1] + 1)
            blanks[solid[0]] = (solid[0] - start, 0)
            before = blanks.get(solid[-1], (0, 0))[0]
            blanks[solid[-1]] = (before, end - 1 - solid[-1])
    new = {n: at for at, n in enumerate(kept)}
    ends = {n + 1: at + 1 for n, at in new.items()}
    heads = {min((n for n in kept if n >= start), default=-1) for start in starts}

    def again(one: Definition) -> Definition:
        last = max(n for n in kept if n < one.last) + 1
        return Definition(new[one.first], ends[last], one.name, one.qualified, one.kind)

    elisions: list[str | None] = [None] * (len(kept) + 1)
    for n, gap in enumerate(gaps):
        if gap is not None:
            elisions[sum(one < n for one in kept)] = gap
    return Prepared(
        tuple(lines[n] for n in kept),
        tuple(n in heads for n in kept),
        tuple(blanks.get(n, (0, 0)) for n in kept),
        tuple(elisions),
        tuple(again(one) for one in shown),
        tuple(Pair(again(one.own), one.old) for one in pairs),
        tuple(Pair(again(one.own), one.old) for one in headers),
        moved,
    )


def costs_of(ready: Prepared, index: FileIndex) -> Costs:
    """What the matches of a snippet's lines with a file's lines are worth."""
    import numpy as np

    lines, old = ready.lines, index.lines
    scores = np.full((len(lines), len(old)), NO)
    rows, same, like = index.rows(1), index.rows(0), Likeness(old)
    weights = np.array([weight(line) for line in lines])
    insert = np.full(len(lines), 0.05)
    for n, line in enumerate(lines):
        equal = rows.get(line.rstrip(), [])
        if weights[n] >= 0.6:
            for row, ratio in () if equal else like.rows(line):
                scores[n, row] = 0.6 * weights[n] * (ratio - 0.5)
            insert[n] = 0.05 + 0.45 / len(equal) if equal else 0.05
        elif equal:
            insert[n] = 0.15
        worth = weights[n] * (0.5 + 0.5 / max(1, len(equal)))
        scores[n, equal] = 0.95 * worth
        scores[n, same.get(line, [])] = worth
    for start, end in ready.chunks():
        for n in {start, end - 1}:
            if weights[n] and rows.get(lines[n].rstrip()):
                insert[n] += EDGE
    _prefer_same_block(ready, index, scores)
    for pair in ready.headers:
        _bind_header(pair, ready, index, scores)
    for pair in ready.pairs:
        first, last = pair.own.first, pair.own.last - 1
        bound = {first: pair.old.first_line - 1, last: pair.old.last_line - 1}
        for n, row in bound.items():
            scores[n, :] = NO
            if len(bound) == 1 and pair.old.last_line != pair.old.first_line:
                row = pair.old.first_line - 1
            scores[n, row] = 2.0
            insert[n] = 50.0
    drop = np.array([0.5 * weight(line) for line in old])
    return Costs(scores, ready.begins, insert, drop)


def _bind_header(pair: Pair, ready: Prepared, index: FileIndex, scores: ndarray) -> None:
    """Match the line that names a definition with the one that names its counterpart alone."""
    name = re.compile(rf"(?<![\w$]){re.escape(pair.own.name.rpartition('.')[2])}(?![\w$])")
    own = range(pair.own.first, min(pair.own.last, pair.own.first + NAMING))
    old = range(pair.old.first_line - 1, min(pair.old.last_line, pair.old.first_line + NAMING))
    here = next((n for n in own if name.search(ready.lines[n])), None)
    there = next((row for row in old if name.search(index.lines[row])), None)
    if here is not None and there is not None:
        scores[here, :] = NO
        scores[here, there] = 1.5


def _prefer_same_block(ready: Prepared, index: FileIndex, scores: ndarray) -> None:
    """Raise matches that stand in the block of the same header, lower the others."""

    headers: dict[int, ndarray | None] = {}
    stack: list[int] = []
    for n, line in enumerate(ready.lines):
        if not line.strip():
            continue
        depth = len(margin(line))
        while stack and len(margin(ready.lines[stack[-1]])) >= depth:
            stack.pop()
        if stack:
            header = stack[-1]
            if header not in headers:
                headers[header] = _blocks_below(ready, header, index)
            inside = headers[header]
            if inside is not None:
                valid = scores[n] > NO / 2
                scores[n, valid & inside] *= INSIDE
                scores[n, valid & ~inside] *= OUTSIDE
        stack.append(n)


def _blocks_below(ready: Prepared, header: int, index: FileIndex) -> ndarray | None:
    """The file lines in the blocks under a header's own lines in the file; None where it is not
    there."""
    import numpy as np

    line = ready.lines[header]
    rows = list(index.rows(1).get(line.rstrip(), []))
    for one in ready.pairs:
        if one.own.first <= header < one.own.first + 3:
            rows.append(one.old.first_line - 1)
    if not rows or len(rows) > 20:
        return None
    inside = np.zeros(len(index.lines), dtype=bool)
    for row in rows:
        depth = len(margin(index.lines[row]))
        for at in range(row + 1, len(index.lines)):
            text = index.lines[at]
            if text.strip() and len(margin(text)) <= depth:
                break
            inside[at] = True
    return inside
