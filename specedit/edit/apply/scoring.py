"""What it is worth that a line of a change is a line of the file: for a snippet, and for a hunk
whose lines are not quite those of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from specedit.edit.apply.alignment import NEVER, NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.change import ChangeHunk
from specedit.edit.apply.markers import comment_text
from specedit.edit.apply.part_places import (
    FileIndex,
    HunkPlace,
    likeness,
    same_line,
    squeezed,
    weight,
)
from specedit.edit.apply.structure import VALUE, Definition

LIKE = 0.6  # least likeness of two lines that may be one line changed
MOST = 40  # alternatives that are looked at
SURE = 0.9  # margin of a hunk's place over the second best
LARGEST = 6_000_000  # pairs of lines that are compared
_WORD = re.compile(r"\w+")
_COMMON = 60  # file lines with a word, beyond which it finds nothing
MISQUOTED = 0.75  # least likeness of a line that a change removes, and quotes wrongly
EDGE = 2.5  # further cost of a new line at the end of a chunk that the file has
STANDS_FOR = 0.55  # cost of a comment that stands for lines left out
BETWEEN = 0.02  # cost of keeping lines beside a definition that the snippet shows


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


@dataclass(frozen=True, slots=True)
class SnippetRow:
    """A line of a snippet, or a definition of it that the file has, too."""

    text: str
    number: int  # in the snippet, from 0
    definition: Definition | None = None  # of the file
    inner: int | None = None  # which one of the scope's definitions
    blank: bool = False
    maybe: bool = False  # a comment that may stand for lines left out
    fresh: bool = False  # of a definition that the file does not have
    edge: bool = False  # no line: where the scope begins
    apart: bool = False  # lines are left out above
    lead: int = 0  # blank lines above and below it, beside what is left out
    trail: int = 0


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A line of the file, or a definition, its lines [first, last), that the snippet shows."""

    text: str
    first: int
    last: int
    definition: Definition | None = None
    free: bool = False  # the change says that it is removed


def costs_of(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], bind: Mapping[int, int]
) -> Costs:
    """What the matches of a scope's rows with its columns are worth. `bind`: rows that match one
    column, which no other row matches."""
    import numpy as np

    scores = np.full((len(rows), len(columns)), NO)
    insert = np.full(len(rows), 0.05)
    weights = np.array([weight(row.text) for row in rows])
    free = [n for n, column in enumerate(columns) if n not in set(bind.values())]
    exact: dict[str, list[int]] = {}
    same: dict[str, list[int]] = {}
    for n in free:
        exact.setdefault(columns[n].text, []).append(n)
        same.setdefault(columns[n].text.rstrip(), []).append(n)
    like: Likeness | None = None
    for n, row in enumerate(rows):
        if n in bind or row.fresh or row.edge:
            continue
        equal = same.get(row.text.rstrip(), [])
        if weights[n] >= 0.6:
            if not equal:
                like = like or Likeness([columns[k].text for k in free])
                for k, ratio in like.rows(row.text):
                    same_one = same_line(row.text, columns[free[k]].text)
                    worth = 0.85 * ratio if same_one else 0.6 * (ratio - 0.5)
                    scores[n, free[k]] = weights[n] * worth
            insert[n] = 0.05 + 0.45 / len(equal) if equal else 0.05
        elif equal:
            insert[n] = 0.15
        worth = weights[n] * (0.5 + 0.5 / max(1, len(equal)))
        scores[n, equal] = 0.95 * worth
        scores[n, exact.get(row.text, [])] = worth
        last = n + 1 == len(rows) or rows[n + 1].apart
        if (row.apart or last) and weights[n] >= 0.6 and equal:
            insert[n] += EDGE
    for n, column in bind.items():
        scores[n, column] = 2.0
        insert[n] = 50.0
    skips = [0.0 if row.apart else NEVER for row in rows]
    solid = [n for n, row in enumerate(rows) if not row.blank]
    for above, below in pairwise(solid):
        both = [stays_beside(rows[n]) or n in bind for n in (above, below)]
        if all(both) and any(stays_beside(rows[n]) for n in (above, below)):
            skips[above + 1 : below + 1] = [
                min(BETWEEN, skip) for skip in skips[above + 1 : below + 1]
            ]
    return Costs(
        scores,
        [*skips, 0.0],
        [_gone_cost(rows, n, same) if row.maybe else NEVER for n, row in enumerate(rows)],
        insert,
        np.array([_drop(column) for column in columns]),
    )


def _gone_cost(rows: Sequence[SnippetRow], n: int, same: Mapping[str, object]) -> float:
    """What it costs that a comment stands for lines left out: nothing where only a line of the
    file is shown beside it."""
    first, last = rows[n].apart, n + 1 == len(rows) or rows[n + 1].apart
    beside = [
        *([rows[n + 1]] if first and not last else []),
        *([rows[n - 1]] if last and n else []),
    ]
    alone = beside and all(row.text.rstrip() in same and not row.blank for row in beside)
    return 0.0 if alone else STANDS_FOR


def stays_beside(row: SnippetRow) -> bool:
    """Whether file lines beside a row stay, though the snippet does not show them."""
    return row.definition is not None and row.definition.kind != VALUE


def _drop(column: FileColumn) -> float:
    comment = comment_text(column.text) is not None
    return 0.0 if column.free else (0.1 if comment else 0.5) * weight(column.text)


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
        for row, ratio in like.rows(line):
            if signs[n] == " " or ratio >= MISQUOTED:
                scores[n, row] = weights[n] * (ratio - 0.3)
        scores[n, rows.get(squeezed(line), [])] = weights[n]
    costs = Costs(
        scores,
        [0.0, *[NEVER] * (len(old) - 1), 0.0],
        [NEVER] * len(old),
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
