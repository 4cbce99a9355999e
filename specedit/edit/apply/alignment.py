"""Lay the lines of a snippet along the lines of a file: the best order-preserving alignment.

A snippet is a sequence of chunks with elisions between them. Within a chunk, file lines between two
matched lines are dropped and chunk lines between them are new; before the first and behind the last
matched line of a chunk nothing is dropped. Between chunks every file line stays.

Scores are additive, so the best alignment through every pair of lines comes from one pass over the
lines in each direction. An alignment is as sure as its margin over the best one with another text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from specedit.import_time import frozen

NO = -1e9
GAP_OPEN = 0.3  # lines of the file that are dropped or replaced by unlike ones,
DROP_MOST = 3.0  # and the most that dropping costs
_MATCH, _HEAD, _TAIL, _GAP = range(4)  # states: matched; new lines before, behind, between


@frozen
class Costs:
    """What an alignment is scored by: arrays of numpy."""

    scores: Any  # [snippet line, file line]: what a match is worth; NO where it is none
    begins: Sequence[bool]  # the line begins a chunk
    insert: Any  # [snippet line]: cost of a line that is new
    drop: Any  # [file line]: cost of dropping it


@frozen
class AlignedLine:
    """One line of the snippet: on a file line, or before file line `at` as a new one."""

    at: int
    matched: bool


class Aligner:
    """The alignments of one snippet with one file."""

    def __init__(self, costs: Costs) -> None:
        import numpy as np

        self._np = np
        self._costs = costs
        count = len(costs.begins)
        ends = [number + 1 == count or costs.begins[number + 1] for number in range(count)]
        reverse = Costs(costs.scores[::-1, ::-1], ends[::-1], costs.insert[::-1], costs.drop[::-1])
        self._forward = _Pass(costs)
        self._backward = _Pass(reverse)
        self.best = self._forward.best

    def path(self) -> list[AlignedLine]:
        """The best alignment."""
        return self._forward.path_to_end()

    def through(self, line: int) -> Any:
        """For each file line the score of the best alignment that matches `line` with it."""
        count = len(self._costs.begins)
        forward = self._forward.states[line + 1, _MATCH, 1:]
        backward = self._backward.states[count - line, _MATCH, 1:][::-1]
        return forward + backward - self._costs.scores[line]

    def may_match(self, line: int, at: int) -> bool:
        return bool(self._costs.scores[line, at] > NO / 2)

    def path_through(self, line: int, at: int) -> list[AlignedLine]:
        """The best alignment that matches snippet line `line` with file line `at`."""
        count, length = len(self._costs.begins), self._costs.scores.shape[1]
        head = self._forward.path_to(line + 1, _MATCH, at + 1)
        tail = self._backward.path_to(count - line, _MATCH, length - at)
        turned = [
            AlignedLine(length - one.at - (1 if one.matched else 0), one.matched)
            for one in reversed(tail[:-1])
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
    that are behind it."""

    def __init__(self, costs: Costs) -> None:
        import numpy as np

        self._np = np
        self._costs = costs
        count, length = costs.scores.shape
        self.states = np.full((count + 1, 4, length + 1), NO, dtype=np.float64)
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
        np, dropped = self._np, self._dropped
        opened = self._opened(line)
        near = np.maximum.accumulate(opened + dropped) - dropped
        return np.maximum(near, np.maximum.accumulate(opened) - DROP_MOST)

    def _advance(self, line: int) -> None:
        np, costs = self._np, self._costs
        old, new = self.states[line], self.states[line + 1]
        score, insert = costs.scores[line], costs.insert[line]
        if costs.begins[line]:
            start = np.maximum.accumulate(self._ends(line))
            new[_MATCH, 1:] = start[:-1] + score
            new[_HEAD] = start - insert
            return
        gap = self._gap(line)
        core = np.maximum(old[_MATCH], old[_TAIL])
        new[_MATCH, 1:] = np.maximum(np.maximum(core, gap), old[_HEAD])[:-1] + score
        new[_HEAD] = old[_HEAD] - insert
        new[_TAIL] = core - insert
        new[_GAP] = gap - insert

    def path_to_end(self) -> list[AlignedLine]:
        count = len(self._costs.begins)
        if not count:
            return []
        states = self.states[count, :_GAP]
        state, at = divmod(int(states.argmax()), states.shape[1])
        return self.path_to(count, state, at)

    def path_to(self, line: int, state: int, at: int) -> list[AlignedLine]:
        """The best alignment of the first lines that ends in a state behind `at` file lines."""
        steps: list[AlignedLine] = []
        while line:
            line -= 1
            score, insert = self._costs.scores[line], float(self._costs.insert[line])
            value = float(self.states[line + 1, state, at])
            if state == _MATCH:
                at -= 1
                steps.append(AlignedLine(at, True))
                wanted = value - float(score[at])
            else:
                steps.append(AlignedLine(at, False))
                wanted = value + insert
            if self._costs.begins[line]:
                at = int(self._ends(line)[: at + 1].argmax())
                state = int(self.states[line, :_GAP, at].argmax())
                continue
            state, at = self._before(line, state, at, wanted)
        return steps[::-1]

    def _before(self, line: int, state: int, at: int, wanted: float) -> tuple[int, int]:
        """The state before a line, and the number of file lines behind it, that give a score."""
        values = self.states[line]
        direct = {_HEAD: (_HEAD,), _MATCH: (_MATCH, _TAIL, _HEAD), _TAIL: (_MATCH, _TAIL), _GAP: ()}
        for one in direct[state]:
            if _same(float(values[one, at]), wanted):
                return one, at
        dropped = self._dropped
        costs = self._np.minimum(dropped[at] - dropped[: at + 1], DROP_MOST)
        opened = self._opened(line)[: at + 1]
        at = int((opened - costs).argmax())
        if _same(float(values[_GAP, at]), float(opened[at])):
            return _GAP, at
        return max((_MATCH, _TAIL), key=lambda one: float(values[one, at])), at


def _same(one: float, other: float) -> bool:
    return abs(one - other) < 1e-6
