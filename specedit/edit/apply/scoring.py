"""What it is worth that a line of a snippet is a line of the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specedit.edit.apply.alignment import NO, Costs
from specedit.edit.apply.part_places import FileIndex, margin
from specedit.edit.apply.similar import Likeness, weight
from specedit.edit.apply.snippet import Pair, Prepared

if TYPE_CHECKING:
    from numpy import ndarray

EDGE = 2.5  # further cost of a new line at the end of a chunk that the file has
NAMING = 4  # lines from a definition's first that may name it
INSIDE, OUTSIDE = 1.2, 0.7  # factors of a match whose header is the snippet's, or is not


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
    for one in ready.fresh:
        scores[one.first : one.last, :] = NO
        insert[one.first : one.last] = 0.05
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
