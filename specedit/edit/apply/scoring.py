"""The score of matching a line of a change with a line of the file: for a snippet, for a hunk
whose lines are not quite those of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise

from specedit.edit.apply.alignment import NEVER, NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.change import ChangeHunk
from specedit.edit.apply.comparison import (
    END,
    LINE,
    NEW,
    FileColumn,
    SnippetRow,
    may_stay_between,
)
from specedit.edit.apply.markers import comment_text
from specedit.edit.apply.part_places import (
    FileIndex,
    HunkPlace,
    likeness,
    same_call,
    same_line,
    squeezed,
    weight,
)
from specedit.edit.apply.structure import Definition

MIN_LIKENESS = 0.6  # least likeness of two lines that may be one line changed
MAX_ALTERNATIVES = 40  # alternatives that are looked at
SURE_MARGIN = 0.9  # margin of a hunk's place over the second best
MAX_LINE_PAIRS = 6_000_000  # pairs of lines that are compared
CONTEXT_LINES = 60  # lines around a hunk's lines that are compared
MOST_WINDOWS = 40  # parts of a file that are compared
_WORD = re.compile(r"\w+")
_COMMON = 60  # file lines with a word, beyond which it finds nothing
SIBLINGS, NEARLY = 0.75, 0.1  # likeness to a neighbour from which on a line is one more of a list
MISQUOTED = 0.75  # least likeness of a line that a change removes, and quotes wrongly
ALMOST = 0.95  # likeness from which on a line counts as equal
# Further cost of a new line that the file has: at the end of a chunk, or where it defines
EDGE = 2.5
MOVED_LINE_COST = 0.05  # cost of dropping a line that a new definition has
STANDS_FOR = 0.55  # cost of a comment that stands for lines left out
BETWEEN = 0.02  # cost of keeping lines next to a definition that the snippet shows


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
        """The file lines most like a line, or that set the same name, with their likeness."""
        words = set(_WORD.findall(line))
        shared: Counter[int] = Counter()
        for word in words:
            rows = self._words.get(word, ())
            if len(rows) <= _COMMON:
                shared.update(rows)
        texts: dict[str, list[int]] = {}
        for row in shared:
            texts.setdefault(self._lines[row], []).append(row)
        candidates = sorted(
            (2 * shared[rows[0]] / (len(words) + self._sizes[rows[0]]), rows[0], text)
            for text, rows in texts.items()
        )[-most:]
        result: list[tuple[int, float]] = []
        for _, _, text in candidates:
            ratio = likeness(line, text)
            if ratio >= MIN_LIKENESS or same_line(line, text) or same_call(line, text):
                result += [(row, ratio) for row in texts[text]]
        return result


def costs_of(rows: Sequence[SnippetRow], columns: Sequence[FileColumn]) -> Costs:
    """The scores of the matches of rows with columns."""
    import numpy as np

    keys = {column.key: n for n, column in enumerate(columns)}
    bind = {n: keys[row.column] for n, row in enumerate(rows) if row.column in keys}
    scores = np.full((len(rows), len(columns)), NO)
    insert = np.full(len(rows), 0.05)
    weights = np.array([weight(row.text) for row in rows])
    taken = set(bind.values())
    free: dict[Definition | None, list[int]] = {}  # by what they are in
    exact: dict[tuple[Definition | None, str], list[int]] = {}
    same: dict[tuple[Definition | None, str], list[int]] = {}
    bare: dict[tuple[Definition | None, str], list[int]] = {}
    for k, column in enumerate(columns):
        if k not in taken and not column.fixed:
            free.setdefault(column.owner, []).append(k)
            exact.setdefault((column.owner, column.text), []).append(k)
            same.setdefault((column.owner, column.text.rstrip()), []).append(k)
            bare.setdefault((column.owner, column.text.strip()), []).append(k)
    like: dict[Definition | None, Likeness] = {}
    for n, row in enumerate(rows):
        if n in bind or row.part == NEW or row.fresh:
            continue
        equal = same.get((row.owner, row.text.rstrip()), [])
        if weights[n] >= 0.6:
            if not equal and (near := free.get(row.owner)):
                if row.owner not in like:
                    like[row.owner] = Likeness([columns[k].text for k in near])
                beside = [
                    other.text
                    for other in rows[max(0, n - 1) : n + 2]
                    if other is not row and (other.owner, other.text.rstrip()) in same
                ]
                siblings = max((likeness(row.text, text) for text in beside), default=0.0)
                for k, ratio in like[row.owner].rows(row.text):
                    text = columns[near[k]].text
                    same_one = same_line(row.text, text)
                    of_list = SIBLINGS <= siblings >= ratio - NEARLY
                    if row.owner is None and not same_one:
                        of_list |= any(_one_list(row.text, text, other) for other in beside)
                    if of_list and not same_one:
                        continue
                    worth = (
                        0.85 * max(ratio, MIN_LIKENESS)
                        if same_one
                        else 0.6 * (max(ratio, MIN_LIKENESS) - 0.5)
                    )
                    scores[n, near[k]] = weights[n] * worth
            insert[n] = 0.05 + 0.45 / len(equal) if equal else 0.05
        worth = weights[n] * (0.5 + 0.5 / max(1, len(equal)))
        if weights[n] >= 0.6:
            scores[n, bare.get((row.owner, row.text.strip()), [])] = 0.8 * worth
        scores[n, equal] = 0.95 * worth
        scores[n, exact.get((row.owner, row.text), [])] = worth
        at_edge = row.text.strip() and (_at_edge(rows, n, -1) or _at_edge(rows, n, 1))
        if (at_edge and equal) or any(columns[k].defines for k in equal):
            insert[n] += EDGE
    for n, k in bind.items():
        scores[n, k] = 2.0
        insert[n] = 50.0
    gone = [NEVER] * len(rows)
    for n, row in enumerate(rows):
        if row.maybe:
            gone[n] = _gone_cost(rows, n, same)
    drop = np.array([_drop(column) for column in columns])
    return Costs(scores, [*_skips(rows), 0.0], gone, insert, drop)


def _at_edge(rows: Sequence[SnippetRow], n: int, step: int) -> bool:
    """Whether lines are left out next to a row, or, where it has a word, next to the brackets that
    follow it."""
    word = weight(rows[n].text) >= 0.6
    while not rows[n].apart if step < 0 else n + 1 < len(rows) and not rows[n + 1].apart:
        n += step
        if not word or not 0 <= n < len(rows) or weight(rows[n].text) >= 0.6:
            return False
    return True


def _one_list(*lines: str) -> bool:
    """Whether lines are statements of one kind that name something and do nothing: imports."""
    words = {line.split(None, 1)[0] for line in lines if line.strip()}
    plain = all(line.split() and not line[:1].isspace() for line in lines)
    return plain and len(words) == 1 and not any(char in line for line in lines for char in "=(")


def _skips(rows: Sequence[SnippetRow]) -> list[float]:
    """The cost of lines of the file that stay above a row: nothing where the snippet leaves lines
    out; little between two definitions, and between one and the ends of its holder."""
    skips = [0.0 if row.apart or row.part == END or not n else NEVER for n, row in enumerate(rows)]
    for n, (above, below) in enumerate(pairwise(rows), 1):
        if may_stay_between(above, below):
            skips[n] = min(skips[n], BETWEEN * (1.5 if below.part == NEW else 1.0))
    return skips


def _gone_cost(
    rows: Sequence[SnippetRow], n: int, same: Mapping[tuple[Definition | None, str], object]
) -> float:
    """The cost of a comment that stands for lines left out: nothing where only a line of the
    file is shown next to it."""
    first, last = rows[n].apart, n + 1 == len(rows) or rows[n + 1].apart
    beside = [
        *([rows[n + 1]] if first and not last else []),
        *([rows[n - 1]] if last and n else []),
    ]
    alone = beside and all(
        (row.owner, row.text.rstrip()) in same and row.part == LINE for row in beside
    )
    return 0.0 if alone else STANDS_FOR


def _drop(column: FileColumn) -> float:
    if column.fixed or column.free or column.moved:
        return 50.0 if column.fixed else 0.0 if column.free else MOVED_LINE_COST
    comment = comment_text(column.text) is not None
    return (0.1 if comment else 0.5) * weight(column.text) if column.lines else 0.0


def similar_places(hunk: ChangeHunk, index: FileIndex) -> list[HunkPlace]:
    """The best place of a hunk that differs in some lines from the file, and others that are nearly
    as good; none where too little of it is in the file."""
    import numpy as np

    old, lines = hunk.old, index.lines
    signs = [sign for sign, _ in hunk.lines if sign != "+"]
    like = index.likeness = index.likeness or Likeness(lines)
    rows, weights = index.rows(3), [weight(line) for line in old]
    scores: list[dict[int, float]] = []  # of each line, by the file lines that it may be
    for n, line in enumerate(old):
        near = {
            row: weights[n] * (ratio - 0.3)
            for row, ratio in like.rows(line)
            if signs[n] == " " or ratio >= MISQUOTED
        }
        scores.append(near | dict.fromkeys(rows.get(squeezed(line), ()), weights[n]))
    insert = np.array([3.0 if sign == "-" else 0.5 for sign in signs]) * weights
    found: list[tuple[float, HunkPlace]] = []
    best, most = -NEVER, MOST_WINDOWS
    for bound, first, last in _windows(scores, weights, len(lines)):
        if bound < best - SURE_MARGIN or not most:
            break
        most -= 1
        if len(old) * (last - first) > MAX_LINE_PAIRS:
            return []
        table = np.full((len(old), last - first), NO)
        for n, near in enumerate(scores):
            for row, score in near.items():
                if first <= row < last:
                    table[n, row - first] = score
        skips = [0.0, *[NEVER] * (len(old) - 1), 0.0]
        drop = 0.3 * np.array(index.weights[first:last])
        aligner = Aligner(Costs(table, skips, [NEVER] * len(old), insert, drop))
        best = max(best, aligner.best)
        path = aligner.path()
        found.append((aligner.best, _of_path(path, first)))
        for number, at, total in islice(aligner.alternatives(path, SURE_MARGIN), MAX_ALTERNATIVES):
            found.append((total, _of_path(aligner.path_through(number, at), first)))
    found.sort(key=lambda pair: -pair[0])
    if not found or not _enough(found[0][1], old, scores, weights, lines):
        return []
    near_best = (place for total, place in found if total >= best - SURE_MARGIN)
    aligned = (reading for reading in near_best if any(row is not None for row in reading.rows))
    return list(dict.fromkeys(aligned))


def _windows(
    scores: Sequence[Mapping[int, float]], weights: Sequence[float], length: int
) -> list[tuple[float, int, int]]:
    """The parts of the file that hold some of a hunk's lines, with the most that these are worth;
    the best first."""
    telling = [n for n, own in enumerate(weights) if own >= 0.6 and scores[n]]
    rows = sorted({row for n in telling or range(len(scores)) for row in scores[n]})
    around = max(CONTEXT_LINES, 3 * len(scores))
    spans: list[tuple[int, int]] = []
    for row in rows:
        first, last = max(0, row - around), min(length, row + around + 1)
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    bounds = [
        sum(max((s for row, s in near.items() if a <= row < b), default=0.0) for near in scores)
        for a, b in spans
    ]
    return sorted(
        ((bound, a, b) for bound, (a, b) in zip(bounds, spans, strict=True)), reverse=True
    )


def _enough(
    place: HunkPlace,
    old: Sequence[str],
    scores: Sequence[Mapping[int, float]],
    weights: Sequence[float],
    lines: Sequence[str],
) -> bool:
    """Whether a place holds as much of a hunk as says that it is its place."""
    equal = near = 0.0
    for n, row in enumerate(place.rows):
        if row is None:
            continue
        if scores[n].get(row, 0.0) >= weights[n] * (ALMOST - 0.3):
            equal += weights[n]
        elif scores[n].get(row, 0.0) >= weights[n] * (MISQUOTED - 0.3):
            near += weights[n]
    return equal >= 1.0 and equal + near >= 0.5 * sum(weights)


def _of_path(path: Sequence[AlignedLine], start: int) -> HunkPlace:
    """The rows of an alignment with the lines from `start` on."""
    return HunkPlace(tuple(step.at + start if step.matched else None for step in path), "matched")
