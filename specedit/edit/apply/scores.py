"""The scores of matches of rows with columns, and their alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from specedit.edit.apply.alignment import NEVER, NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.comparison import (
    END,
    HEAD,
    LINE,
    NEW,
    Comparison,
    FileColumn,
    SnippetRow,
    may_stay_between,
)
from specedit.edit.apply.definitions import Definition
from specedit.edit.apply.lines import (
    MIN_LIKENESS,
    Likeness,
    closes,
    likeness,
    margin,
    opens,
    same_line,
    weight,
)
from specedit.edit.apply.markers import comment_text
from specedit.syntax.work import spend

SIBLINGS, NEARLY = 0.75, 0.1  # likeness to a neighbour from which on a line is one more of a list
# Further cost of a new line that the file has: at the end of a chunk, or where it defines
EDGE = 2.5
MOVED_LINE_COST = 0.05  # cost of dropping a line that a new definition has
STANDS_FOR = 0.55  # cost of a comment that stands for lines left out
BETWEEN = 0.02  # cost of keeping lines next to a definition that the snippet shows
BLOCKS = 4  # times that an alignment is corrected by blocks

_Key = tuple[Definition | None, int, str]  # what a line is in, how it is compared, its text
_Places = dict[_Key, list[int]]  # the columns that are so


def costs_of(rows: Sequence[SnippetRow], columns: Sequence[FileColumn]) -> Costs:
    """The scores of the matches of rows with columns."""
    import numpy as np

    keys = {column.key: n for n, column in enumerate(columns)}
    bind = {n: keys[row.column] for n, row in enumerate(rows) if row.column in keys}
    scores = np.full((len(rows), len(columns)), NO)
    insert = np.full(len(rows), 0.05)
    taken = set(bind.values())
    free: dict[Definition | None, list[int]] = {}  # by what they are in
    places: _Places = {}
    for k, column in enumerate(columns):
        if k not in taken and not column.fixed:
            free.setdefault(column.owner, []).append(k)
            for key in _keys(column):
                places.setdefault(key, []).append(k)
    like: dict[Definition | None, Likeness] = {}
    for n, row in enumerate(rows):
        if n in bind or row.part == NEW or row.fresh:
            continue
        exact, equal, bare = (places.get(key, []) for key in _keys(row))
        heavy = weight(row.text)
        if heavy >= 0.6 and equal:
            insert[n] += 0.45 / len(equal)
        elif heavy >= 0.6 and (near := free.get(row.owner)):
            if row.owner not in like:
                like[row.owner] = Likeness([columns[k].text for k in near])
            beside = [
                other.text for other in rows[max(0, n - 1) : n + 2] if _keys(other)[1] in places
            ]
            for k, ratio in like[row.owner].rows(row.text):
                worth = _worth(row, columns[near[k]].text, ratio, beside)
                scores[n, near[k]] = heavy * worth if worth else NO
        worth = heavy * (0.5 + 0.5 / max(1, len(equal)))
        if heavy >= 0.6:
            scores[n, bare] = 0.8 * worth
        scores[n, equal] = 0.95 * worth
        scores[n, exact] = worth
        at_edge = row.text.strip() and (_at_edge(rows, n, -1) or _at_edge(rows, n, 1))
        if (at_edge and equal) or any(columns[k].defines for k in equal):
            insert[n] += EDGE
    for n, k in bind.items():
        scores[n, k] = 2.0
        insert[n] = 50.0
    gone = [_gone_cost(rows, n, places) if row.maybe else NEVER for n, row in enumerate(rows)]
    drop = np.array([_drop(column) for column in columns])
    return Costs(scores, [*_skips(rows), 0.0], gone, insert, drop)


def _keys(line: SnippetRow | FileColumn) -> tuple[_Key, _Key, _Key]:
    """By what a line is found: its text, without white space at its end, without any around it."""
    owner, text = line.owner, line.text
    return (owner, 0, text), (owner, 1, text.rstrip()), (owner, 2, text.strip())


def _worth(row: SnippetRow, text: str, ratio: float, beside: Sequence[str]) -> float:
    """What a row is worth as a line with another text; 0 where it is rather one more of a list, as
    the rows beside it."""
    ratio_or_least = max(ratio, MIN_LIKENESS)
    if same_line(row.text, text):
        return 0.85 * ratio_or_least
    siblings = max((likeness(row.text, other) for other in beside), default=0.0)
    of_list = SIBLINGS <= siblings >= ratio - NEARLY
    of_list |= row.owner is None and any(_one_list(row.text, text, other) for other in beside)
    return 0.0 if of_list else 0.6 * (ratio_or_least - 0.5)


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
    return plain and len(words) == 1


def _skips(rows: Sequence[SnippetRow]) -> list[float]:
    """The cost of lines of the file that stay above a row: nothing where the snippet leaves lines
    out; little between two definitions, and between one and the ends of its holder."""
    skips = [0.0 if row.apart or row.part == END or not n else NEVER for n, row in enumerate(rows)]
    for n, (above, below) in enumerate(pairwise(rows), 1):
        if may_stay_between(above, below):
            skips[n] = min(skips[n], BETWEEN * (1.5 if below.part == NEW else 1.0))
    return skips


def _gone_cost(rows: Sequence[SnippetRow], n: int, places: _Places) -> float:
    """The cost of a comment that stands for lines left out: nothing where only a line of the
    file is shown next to it."""
    first, last = rows[n].apart, n + 1 == len(rows) or rows[n + 1].apart
    beside = rows[n + 1] if first and not last else rows[n - 1] if last and not first else None
    alone = beside is not None and beside.part == LINE and _keys(beside)[1] in places
    return 0.0 if alone else STANDS_FOR


def _drop(column: FileColumn) -> float:
    if column.fixed or column.moved:
        return 50.0 if column.fixed else MOVED_LINE_COST
    comment = comment_text(column.text) is not None
    return (0.1 if comment else 0.5) * weight(column.text) if column.lines else 0.0


class _Segment:
    """The rows and columns from one bound row to the next, both in."""

    def __init__(
        self, rows: Sequence[SnippetRow], columns: Sequence[FileColumn], row: int, column: int
    ):
        self.rows, self.columns = rows, columns
        self.row, self.column = row, column  # the first ones in the comparison

    @cached_property
    def aligner(self) -> Aligner:
        costs = costs_of(self.rows, self.columns)
        aligner = Aligner(costs)
        for _ in range(BLOCKS):
            if not _by_blocks(self.rows, self.columns, aligner.path(), costs):
                break
            aligner = Aligner(costs)
        return aligner


class Alignment:
    """The alignments of a comparison, from each row that is one column alone to the next."""

    def __init__(self, comparison: Comparison) -> None:
        rows, columns = comparison.rows, comparison.columns
        bound = sorted(comparison.bound.items())
        if any(c >= d for (_, c), (_, d) in pairwise(bound)):
            bound = []  # not in the file's order
        last = (len(rows) - 1, len(columns) - 1)
        cuts = [(0, 0), *bound, last]
        if len(rows) == 1:
            cuts = [(0, 0), last] if not bound else [bound[0], bound[0]]
        self._segments = [
            _Segment(rows[a : b + 1], columns[c : d + 1], a, c)
            for (a, c), (b, d) in pairwise(cuts)
            if b > a or len(rows) == 1
        ]
        self.pairs = sum(len(segment.rows) * len(segment.columns) for segment in self._segments)

    @cached_property
    def path(self) -> list[AlignedLine]:
        """The best alignment."""
        return self._with(None, [])

    def _with(self, other: _Segment | None, path: list[AlignedLine]) -> list[AlignedLine]:
        """The best alignment, but for one segment."""
        result: list[AlignedLine] = []
        spend(10 * sum(len(segment.rows) for segment in self._segments))
        for segment in self._segments:
            own = path if segment is other else segment.aligner.path()
            steps = [replace(step, at=step.at + segment.column) for step in own]
            result += steps[1:] if result else steps
        return result

    def through(self, row: int, column: int) -> list[AlignedLine] | None:
        """The best alignment that matches a row with a column, if they may be the same."""
        for segment in self._segments:
            k, at = row - segment.row, column - segment.column
            inside = 0 <= k < len(segment.rows) and 0 <= at < len(segment.columns)
            if inside and segment.aligner.may_match(k, at):
                return self._with(segment, segment.aligner.path_through(k, at))
        return None

    def alternatives(self, margin: float) -> Iterator[tuple[int, int]]:
        """Matches of rows and columns in other alignments nearly as good."""
        for segment in self._segments:
            for k, at, _ in segment.aligner.alternatives(segment.aligner.path(), margin):
                yield k + segment.row, at + segment.column


def enclosing(lines: Sequence[str], n: int) -> int | None:
    """The line that opens the block of a line, or that a line closes."""
    depth = len(margin(lines[n]))
    for above in range(n - 1, -1, -1):
        spend(1)
        text = lines[above]
        if text.strip() and len(margin(text)) < depth + (closes(lines[n]) and opens(text)):
            return above
    return None


def _closing(lines: Sequence[str], n: int) -> int | None:
    """The line that closes the block that a line opens."""
    depth = len(margin(lines[n]))
    for below in range(n + 1, len(lines)):
        spend(1)
        text = lines[below]
        if text.strip() and len(margin(text)) <= depth:
            return below if closes(text) and len(margin(text)) == depth else None
    return None


def _in_chain(
    ours: Sequence[str], theirs: Sequence[str], path: Sequence[AlignedLine], start: int, n: int
) -> bool:
    """Whether a line like `} else {` is one of the file's `if` that its own one is, after a new
    `} else if` at `start`."""
    while closes(ours[start]) and (above := enclosing(ours, start)) is not None:
        start = above
    at: int | None = path[start].at if path[start].matched and path[n].matched else None
    while at is not None and at < path[n].at:
        at = _closing(theirs, at)
    return at is not None and at == path[n].at


def _one_more(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: Sequence[AlignedLine], n: int
) -> bool:
    """Whether a row begins one more block like the one above it, which the file has: it is as like
    that as the line that it would replace."""
    ours = [row.text for row in rows]
    end = next((k for k in range(n - 1, 0, -1) if ours[k].strip()), 0)
    above = enclosing(ours, end) if closes(ours[end]) and not rows[n].apart else None
    if above is None or margin(ours[above]) != margin(ours[n]) or closes(ours[n]):
        return False
    equal = all(path[k].matched and ours[k] == columns[path[k].at].text for k in (above, end))
    old = columns[path[n].at].text if path[n].matched else ""
    like = likeness(ours[above], ours[n])
    same = path[n].matched and same_line(ours[n], old)
    return equal and not same and like >= MIN_LIKENESS and like >= likeness(ours[n], old) - NEARLY


def _by_blocks(
    rows: Sequence[SnippetRow],
    columns: Sequence[FileColumn],
    path: Sequence[AlignedLine],
    costs: Costs,
) -> bool:
    """Correct the costs where an alignment tears blocks apart: the line that closes a block belongs
    to the line that opens it. Returns whether anything changed."""
    ours, theirs = [row.text for row in rows], [column.text for column in columns]
    keys = {row.column for row in rows}
    changed = False

    def only(first: int, last: int, column: int | None = None) -> None:
        """Let rows be new, or one column."""
        nonlocal changed
        for n in range(first, last + 1):
            wanted = costs.scores[n] * 0 + NO
            if column is not None:
                wanted[column] = 2.0
            if (wanted != costs.scores[n]).any():
                costs.scores[n] = wanted
                costs.insert[n] = 0.05
                changed = True

    for n, row in enumerate(rows):
        start = enclosing(ours, n) if row.part == LINE and closes(row.text) else None
        if start is None or not opens(ours[start]) or rows[start].part not in (LINE, HEAD):
            continue
        if len(margin(ours[start])) != len(margin(row.text)):
            continue  # it closes a block whose first line is left out
        if opens(row.text) and _in_chain(ours, theirs, path, start, n):
            continue
        other = theirs[path[start].at] if path[start].matched else ""
        if closes(ours[start]) and closes(other) and not opens(other):
            only(start + 1, n)  # of a branch that is new
        elif _one_more(rows, columns, path, start):
            only(start, n)
        elif path[start].matched:
            end = _closing(theirs, path[start].at)
            done = path[n].matched and path[n].at == end
            if end is not None and columns[end].key not in keys and not done:
                only(n, n, end)
        elif not any(path[k].matched for k in range(start, n)):
            only(n, n)
    return changed
