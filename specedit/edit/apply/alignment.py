"""Lay the lines of a snippet along the lines of a file: the best order-preserving alignment.

A snippet is a sequence of chunks. Within a chunk, file lines between two matched lines are dropped
and chunk lines between them are new. Between chunks, and before the first and after the last
matched line of one, every file line stays. A chunk ends where the snippet leaves out lines, or
where one of its own lines may stand for others.

Scores are additive: a pass in each direction gives the best alignment through each pair of lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from specedit.syntax.work import spend

NO = -1e9
NEVER = 1e9
GAP_OPEN = 0.3  # lines of the file that are dropped or replaced by unlike ones,
DROP_MOST = 3.0  # and the most that dropping costs
_MATCH, _HEAD, _TAIL, _GONE, _GAP = range(5)
# States: matched; new lines before, after; standing for file lines; new lines between.


@dataclass(frozen=True, slots=True)
class Costs:
    """The scores of an alignment: arrays of numpy."""

    scores: Any  # [snippet line, file line]: what a match is worth; NO where it is none
    skips: Sequence[float]  # cost of keeping file lines above each line, and after the last
    gone: Sequence[float]  # cost of a line that stands for file lines; NEVER where it cannot
    insert: Any  # [snippet line]: cost of a line that is new
    drop: Any  # [file line]: cost of dropping it


@dataclass(frozen=True, slots=True)
class AlignedLine:
    """One line of the snippet: on a file line, or before file line `at` as a new one, or `gone`."""

    at: int
    matched: bool
    kept: bool = False  # the file lines above it, back to the line before, stay
    gone: bool = False


class Aligner:
    """The alignments of one snippet with one file."""

    def __init__(self, costs: Costs) -> None:
        import numpy as np

        self._np = np
        self._costs = costs
        self._forward = _Pass(costs)
        self.best = self._forward.best

    @cached_property
    def _backward(self) -> _Pass:
        costs = self._costs
        others = (part[::-1] for part in (costs.skips, costs.gone, costs.insert, costs.drop))
        return _Pass(Costs(costs.scores[::-1, ::-1], *others))

    def path(self) -> list[AlignedLine]:
        """The best alignment."""
        return self._forward.path_to_end()

    def through(self, line: int) -> Any:
        """For each file line the score of the best alignment that matches `line` with it."""
        count = len(self._costs.gone)
        forward = self._forward.states[line + 1, _MATCH, 1:]
        backward = self._backward.states[count - line, _MATCH, 1:][::-1]
        return forward + backward - self._costs.scores[line]

    def may_match(self, line: int, at: int) -> bool:
        return bool(self._costs.scores[line, at] > NO / 2)

    def path_through(self, line: int, at: int) -> list[AlignedLine]:
        """The best alignment that matches snippet line `line` with file line `at`."""
        count, length = len(self._costs.gone), self._costs.scores.shape[1]
        head = self._forward.path_to(line + 1, _MATCH, at + 1)
        tail = self._backward.path_to(count - line, _MATCH, length - at)[::-1]
        turned = [
            AlignedLine(
                length - step.at - (1 if step.matched else 0), step.matched, above.kept, step.gone
            )
            for above, step in pairwise(tail)
        ]
        return head + turned

    def alternatives(
        self, path: Sequence[AlignedLine], margin: float
    ) -> Iterator[tuple[int, int, float]]:
        """Matches of other alignments nearly as good: snippet line, file line, score."""
        for line, step in enumerate(path):
            totals = self.through(line)
            (near,) = self._np.nonzero(totals >= self.best - margin)
            for at in near.tolist():
                if not (step.matched and step.at == at):
                    yield line, at, float(totals[at])


class _Pass:
    """Best scores over the lines in one direction, for each state and each number of file lines
    that are passed."""

    def __init__(self, costs: Costs) -> None:
        import numpy as np

        self._np = np
        self._costs = costs
        count, length = costs.scores.shape
        self.states = np.full((count + 1, 5, length + 1), NO, dtype=np.float64)
        self.states[0, _MATCH] = 0.0
        self._dropped = np.concatenate([[0.0], np.cumsum(costs.drop)])
        for line in range(count):
            self._advance(line)
        self.best = float(self._ends(count).max()) if count else 0.0

    def _ends(self, line: int) -> Any:
        """Scores where a chunk may end."""
        return self.states[line, :_GAP].max(axis=0)

    def _opened(self, line: int) -> Any:
        """Scores with a gap begun: lines that are dropped, or replaced by unlike ones."""
        state = self.states[line]
        core = self._np.maximum(state[_MATCH], state[_TAIL])
        return self._np.maximum(core - GAP_OPEN, state[_GAP])

    def _gap(self, line: int) -> Any:
        """Scores in a gap, file lines dropped or none."""
        highest, dropped = self._np.maximum.accumulate, self._dropped
        opened = self._opened(line)
        return self._np.maximum(highest(opened + dropped) - dropped, highest(opened) - DROP_MOST)

    def _advance(self, line: int) -> None:
        np, costs = self._np, self._costs
        spend(50 + len(self._dropped) / 20)
        old, new = self.states[line], self.states[line + 1]
        score, insert = costs.scores[line], costs.insert[line]
        ends = np.maximum.accumulate(self._ends(line))
        start = np.maximum(old[_GONE], ends - costs.skips[line])
        if costs.gone[line] < NEVER:
            new[_GONE] = ends - costs.gone[line]
        if not line:
            new[_MATCH, 1:] = start[:-1] + score
            new[_HEAD] = start - insert
            return
        gap = self._gap(line)
        core = np.maximum(old[_MATCH], old[_TAIL])
        head = np.maximum(old[_HEAD], start)
        new[_MATCH, 1:] = np.maximum(np.maximum(core, gap), head)[:-1] + score
        new[_HEAD] = head - insert
        new[_TAIL] = core - insert
        new[_GAP] = gap - insert

    def path_to_end(self) -> list[AlignedLine]:
        count = len(self._costs.gone)
        if not count:
            return []
        states = self.states[count, :_GAP]
        state, at = divmod(int(states.argmax()), states.shape[1])
        return self.path_to(count, state, at)

    def path_to(self, line: int, state: int, at: int) -> list[AlignedLine]:
        """The best alignment of the first lines that ends in a state after `at` file lines."""
        steps: list[AlignedLine] = []
        spend(5 * line)
        while line:
            line -= 1
            if state == _GONE:
                state, at = self._ended(line, at)
                steps.append(AlignedLine(at, False, gone=True))
                continue
            value, matched, kept, row = float(self.states[line + 1, state, at]), False, False, at
            if state == _MATCH:
                row = at = at - 1
                matched, wanted = True, value - float(self._costs.scores[line, at])
            else:
                wanted = value + float(self._costs.insert[line])
            if line:
                state, at, kept = self._before(line, state, at, wanted)
            steps.append(AlignedLine(row, matched, kept or not line))
        return steps[::-1]

    def _ended(self, line: int, at: int) -> tuple[int, int]:
        """The end of a chunk before a line, at most `at` file lines passed."""
        if not line:
            return _MATCH, at
        spend(10 + len(self._dropped) / 200)
        at = int(self._ends(line)[: at + 1].argmax())
        return int(self.states[line, :_GAP, at].argmax()), at

    def _before(self, line: int, state: int, at: int, wanted: float) -> tuple[int, int, bool]:
        """The state before a line, and the number of file lines passed, that give a score; and
        whether a chunk begins with the line."""
        values = self.states[line]
        direct = {_HEAD: (_HEAD,), _MATCH: (_MATCH, _TAIL, _HEAD), _TAIL: (_MATCH, _TAIL), _GAP: ()}
        for earlier in direct[state]:
            if _same(float(values[earlier, at]), wanted):
                return earlier, at, False
        if state in (_MATCH, _HEAD):
            if _same(float(values[_GONE, at]), wanted):
                return _GONE, at, True
            ended = self._ended(line, at)
            if _same(float(values[ended]) - self._costs.skips[line], wanted):
                return *ended, True
        spend(20 + at / 50)
        dropped = self._dropped[at] - self._dropped[: at + 1]
        opened = self._opened(line)[: at + 1]
        at = int((opened - self._np.minimum(dropped, DROP_MOST)).argmax())
        if _same(float(values[_GAP, at]), float(opened[at])):
            return _GAP, at, False
        return max((_MATCH, _TAIL), key=lambda state: float(values[state, at])), at, False


def _same(score: float, other: float) -> bool:
    return abs(score - other) < 1e-6
