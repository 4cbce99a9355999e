"""What it is worth that a line of a change is a line of the file: for a snippet, and for a hunk
whose lines are not quite those of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

from specedit.edit.apply.alignment import NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.change import ChangeHunk
from specedit.edit.apply.part_places import (
    FileIndex,
    HunkPlace,
    likeness,
    squeezed,
    weight,
)
from specedit.edit.apply.snippet import Prepared
from specedit.import_time import regex

LIKE = 0.6  # least likeness of two lines that may be one line changed
MOST = 40  # alternatives that are looked at
SURE = 0.9  # margin of a hunk's place over the second best
LARGEST = 6_000_000  # pairs of lines that are compared
_WORD = regex(r"\w+")
_COMMON = 60  # file lines with a word, beyond which it finds nothing
EDGE = 2.5  # further cost of a new line at the end of a chunk that the file has
REMARK = ("#", "/", "*", "@", "[")  # what stands above a definition


class Likeness:
    """Which file lines are like a line: by the words that they share, then by their characters."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._words: dict[str, list[int]] = {}
        self._sizes = []
        for row, line in enumerate(lines):
            words = set(_WORD.findall(line))
            self._sizes.append(len(words))
            for word in words:
                self._words.setdefault(word, []).append(row)

    def rows(self, line: str, most: int = 6) -> list[tuple[int, float]]:
        """The file lines most like a line, with their likeness."""
        words = set(_WORD.findall(line))
        shared: Counter[int] = Counter()
        for word in words:
            rows = self._words.get(word, ())
            if len(rows) <= _COMMON:
                shared.update(rows)
        candidates = sorted(
            (2 * count / (len(words) + self._sizes[row]), row) for row, count in shared.items()
        )[-most:]
        result = [(row, likeness(line, self._lines[row])) for _, row in candidates]
        return [(row, ratio) for row, ratio in result if ratio >= LIKE]


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
    new = {n for one in ready.fresh for n in range(one.first, one.last)}
    for start, end in ready.chunks():
        rest = (n for n in range(start, end) if n not in new)
        if new & {*range(start, end)} and all(lines[n].lstrip().startswith(REMARK) for n in rest):
            scores[start:end, :] = NO  # nothing but new definitions
            insert[start:end] = 0.05
    for pair in ready.pairs:  # a definition that is shown whole replaces the one of its name
        bound = {pair.own.first: pair.old.first_line - 1}
        if pair.own.last - pair.own.first > 1:
            bound[pair.own.last - 1] = pair.old.last_line - 1
        for n, row in bound.items():
            scores[n, :] = NO
            scores[n, row] = 2.0
            insert[n] = 50.0
    drop = np.array([0.5 * weight(line) for line in old])
    return Costs(scores, ready.begins, insert, drop)


def similar_places(hunk: ChangeHunk, index: FileIndex) -> list[HunkPlace]:
    """The best place of a hunk that differs in some lines from the file, and others that are nearly
    as good; none where too little of it is in the file."""
    import numpy as np

    old, lines = hunk.old, index.lines
    if len(old) * len(lines) > LARGEST:
        return []
    signs = [sign for sign, _ in hunk.lines if sign != "+"]
    like = index.likeness = index.likeness or Likeness(lines)
    scores = np.full((len(old), len(lines)), NO)
    rows = index.rows(3)
    weights = np.array([weight(line) for line in old])
    for n, line in enumerate(old):
        if signs[n] == " ":
            for row, ratio in like.rows(line):
                scores[n, row] = weights[n] * (ratio - 0.3)
        scores[n, rows.get(squeezed(line), [])] = weights[n]
    costs = Costs(
        scores,
        [n == 0 for n in range(len(old))],
        np.array([3.0 if sign == "-" else 0.5 for sign in signs]) * weights,
        0.3 * np.array(index.weights),
    )
    aligner = Aligner(costs)
    path = aligner.path()
    places = [_of_path(path, signs)]
    equal = sum(
        weights[n]
        for n, step in enumerate(path)
        if step.matched and squeezed(old[n]) == squeezed(lines[step.at])
    )
    if equal < max(1.0, 0.5 * weights.sum()):
        return []
    for number, at, _ in islice(aligner.alternatives(path, SURE), MOST):
        places.append(_of_path(aligner.path_through(number, at), signs))
    return list(dict.fromkeys(one for one in places if any(r is not None for r in one.rows)))


def _of_path(path: Sequence[AlignedLine], signs: Sequence[str]) -> HunkPlace:
    """The rows of an alignment; context lines that the file has not stand for as many others."""
    rows = [step.at if step.matched else None for step in path]
    known = [n for n, row in enumerate(rows) if row is not None]
    for a, b in pairwise(known):
        first, last = path[a].at, path[b].at
        if b - a == last - first and set(signs[a + 1 : b]) <= {" "}:
            rows[a:b] = range(first, last)
    return HunkPlace(tuple(rows), "matched")
