"""Resync: where the prediction continues after a divergence.

A position is that of the id expected next. Candidates come from an index over the prediction and
from the position of the divergence (text was replaced, inserted or deleted there). The probability
of each is fitted to real commits: how many of the answer's last ids precede it, how far and in
which direction it is from the divergence, how often such ids occur.

Only the likeliest position is offered. A second one in the same pass (as a tree) does not
pay.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from specedit.decode import constants

NEAREST = 4  # occurrences that are considered on each side of the divergence
MAX_COMPARED_IDS = 24  # last ids of the answer that are compared


@dataclass(frozen=True, slots=True)
class ResyncPoint:
    """A position of the prediction, and the probability that the answer continues there."""

    at: int
    matched: int  # last ids of the answer that precede it
    chance: float


class Index:
    """Positions of ids and pairs of ids in the prediction."""

    def __init__(self, ids: Sequence[int], newline: Sequence[bool] | None = None) -> None:
        self.ids = ids
        self._after: dict[int | tuple[int, int], list[int]] = {}
        before = -1
        for at, token in enumerate(ids):
            self._after.setdefault(token, []).append(at + 1)
            self._after.setdefault((before, token), []).append(at + 1)
            before = token
        self.newline = newline

    def after(self, key: int | tuple[int, int], near: int) -> tuple[list[int], int]:
        """The positions after occurrences of `key` nearest to `near`, and how many there are."""
        places = self._after.get(key)
        if not places:
            return [], 0
        at = bisect_left(places, near)
        return places[max(0, at - NEAREST) : at + NEAREST], len(places)

    def matched(self, at: int, answer: Sequence[int]) -> int:
        """How many of the last ids of `answer` precede `at` in the prediction."""
        ids = self.ids
        most = min(at, len(answer), MAX_COMPARED_IDS)
        n = 0
        while n < most and ids[at - 1 - n] == answer[-1 - n]:
            n += 1
        return n

    def line_after(self, at: int) -> int:
        """The first position after the line of `at`."""
        if self.newline is None:
            return -1
        while at < len(self.ids) and not self.newline[at]:
            at += 1
        return at + 1


def features(
    matched: int, distance: int, count: int, since: int, fresh_line: bool
) -> tuple[int, ...]:
    """The evidence in bins: matched ids, direction and distance, occurrences, ids since, line."""
    return (
        (0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7)[matched] if matched < 12 else 8 if matched < 20 else 9,
        _distance(distance),
        min(count, 9).bit_length(),
        min(since, 40).bit_length(),
        int(fresh_line) * (1 + min(matched, 2)),
    )


def _distance(d: int) -> int:
    if d in (0, 1):
        return d
    if d > 0:
        return min(d.bit_length(), 10)  # 2 .. 10
    return 10 + min((-d).bit_length(), 10)


@lru_cache(maxsize=8)
def _tables(fitted: constants.Constants) -> tuple[tuple[float, ...], ...]:
    """The log odds of each feature, in the order of `features`."""
    distance = fitted.forward + fitted.behind
    return fitted.held, distance, fitted.occurrences, fitted.since, fitted.fresh_line


def candidates(
    index: Index, answer: Sequence[int], lost: int, since: int, fresh_line: bool
) -> Iterator[tuple[int, int, int]]:
    """Positions where the prediction may continue after a divergence at `lost`, each with the
    number of matched ids and of occurrences."""
    size = len(index.ids)
    seen: set[int] = set()
    tails: list[int | tuple[int, int]] = [*answer[-1:]]
    if len(answer) > 1 and since > 0:
        tails.insert(0, (answer[-2], answer[-1]))
    for tail in tails:
        places, count = index.after(tail, lost)
        for at in places:
            if at not in seen:
                seen.add(at)
                yield at, index.matched(at, answer), count
    guesses = [lost, lost + 1, lost + since]
    if fresh_line:
        guesses.append(index.line_after(lost))
    for at in guesses:
        if 0 <= at < size and at not in seen:
            seen.add(at)
            yield at, 0, 0


def best_resync(
    index: Index, answer: Sequence[int], lost: int, since: int, fresh_line: bool
) -> ResyncPoint | None:
    """The likeliest position after `answer`; None when there is no candidate."""
    tables = _tables(constants.FITTED)
    best: ResyncPoint | None = None
    for at, matched, count in candidates(index, answer, lost, since, fresh_line):
        if at >= len(index.ids):
            continue
        score = constants.FITTED.start
        for table, bin_ in zip(
            tables, features(matched, at - lost, count, since, fresh_line), strict=True
        ):
            score += table[bin_]
        chance = 1 / (1 + math.exp(-score))
        if best is None or chance > best.chance:
            best = ResyncPoint(at, matched, chance)
    return best
