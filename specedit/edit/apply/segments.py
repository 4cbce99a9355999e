"""The alignment of a comparison, from each row that is one column alone to the next such row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from specedit.edit.apply.alignment import NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.comparison import (
    HEAD,
    LINE,
    Comparison,
    FileColumn,
    SnippetRow,
    closes,
    opens,
)
from specedit.edit.apply.part_places import likeness, margin, same_line
from specedit.edit.apply.scoring import MIN_LIKENESS, NEARLY, costs_of

BLOCKS = 4  # times that an alignment is corrected by blocks


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

    def placed(self, path: Sequence[AlignedLine]) -> list[AlignedLine]:
        return [
            AlignedLine(step.at + self.column, step.matched, step.kept, step.gone) for step in path
        ]


class Alignment:
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
        return self._with({})

    def _with(self, other: dict[int, list[AlignedLine]]) -> list[AlignedLine]:
        result: list[AlignedLine] = []
        for n, segment in enumerate(self._segments):
            path = segment.placed(other.get(n) or segment.aligner.path())
            result += path[1:] if result else path
        return result

    def through(self, row: int, column: int) -> list[AlignedLine] | None:
        """The best alignment that matches a row with a column, if they may be the same."""
        for n, segment in enumerate(self._segments):
            k, at = row - segment.row, column - segment.column
            if 0 <= k < len(segment.rows) and 0 <= at < len(segment.columns):
                if not segment.aligner.may_match(k, at):
                    continue
                return self._with({n: segment.aligner.path_through(k, at)})
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
        text = lines[above]
        if text.strip() and len(margin(text)) < depth + (closes(lines[n]) and opens(text)):
            return above
    return None


def _closing(lines: Sequence[str], n: int) -> int | None:
    """The line that closes the block that a line opens."""
    depth = len(margin(lines[n]))
    for below in range(n + 1, len(lines)):
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
    keys = {row.column for row in rows}
    ours, theirs = [row.text for row in rows], [column.text for column in columns]
    taken = {n for n, column in enumerate(columns) if column.key in keys}
    changed = False

    def only(n: int, column: int | None) -> None:
        nonlocal changed
        wanted = costs.scores[n].copy()
        wanted[:] = NO
        if column is not None:
            wanted[column] = 2.0
        if (wanted != costs.scores[n]).any():
            costs.scores[n] = wanted
            costs.insert[n] = 0.05
            changed = True

    for n, row in enumerate(rows):
        if row.part != LINE or not closes(row.text):
            continue
        start = enclosing(ours, n)
        if start is None or not opens(ours[start]) or rows[start].part not in (LINE, HEAD):
            continue
        if len(margin(ours[start])) != len(margin(row.text)):
            continue  # it closes a block whose first line is left out
        if opens(row.text) and _in_chain(ours, theirs, path, start, n):
            continue
        other = theirs[path[start].at] if path[start].matched else ""
        if closes(ours[start]) and closes(other) and not opens(other):
            for k in range(start + 1, n + 1):
                only(k, None)  # of a branch that is new
        elif _one_more(rows, columns, path, start):
            for k in range(start, n + 1):
                only(k, None)
        elif path[start].matched:
            end = _closing(theirs, path[start].at)
            done = path[n].matched and path[n].at == end
            if end is not None and closes(theirs[end]) and end not in taken and not done:
                only(n, end)
        elif not any(path[k].matched for k in range(start, n)):
            only(n, None)
    return changed
