"""Where the prediction goes on after a divergence.

Knows the prediction's ids and the tail of the answer. Places are positions of the id expected
next. Candidates come from an index over the prediction (never from a scan of it) and from the
place that was lost: replaced, inserted, deleted. Each has a chance, read from what the evidence
was worth on real commits: how much of the answer's tail precedes it, how far it is from the
place that was lost and in which direction, how often such a tail occurs.

Only the likeliest place is offered. A second one in the same pass (a tree) does not pay: in the
replay of 130 commits an oracle that always took the right one of two places, for nothing, would
save 0.2 to 0.3 % on curves 70+6w, 70+1w and 35+15w, and two ids for the second cost 0.7 to 1.7 %.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from specedit.decode.constants import Constants
from specedit.decode.fitted import FITTED

NEAREST = 4  # occurrences looked at on each side of the lost place
LONGEST = 24  # ids of the tail that are compared


@dataclass(frozen=True)
class Landing:
    """The prediction goes on at `at`, says evidence worth `chance`."""

    at: int
    held: int  # ids of the answer's tail that precede it
    chance: float


class Index:
    """Where ids and pairs of ids occur in the prediction."""

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
        """Places after occurrences of `key`, those nearest to `near`, and how many there are."""
        places = self._after.get(key)
        if not places:
            return [], 0
        at = bisect_left(places, near)
        return places[max(0, at - NEAREST) : at + NEAREST], len(places)

    def held(self, at: int, said: Sequence[int]) -> int:
        """How many of the last ids of `said` precede `at` in the prediction."""
        ids = self.ids
        most = min(at, len(said), LONGEST)
        n = 0
        while n < most and ids[at - 1 - n] == said[-1 - n]:
            n += 1
        return n

    def line_after(self, at: int) -> int:
        """The first place after the line of `at`."""
        if self.newline is None:
            return -1
        while at < len(self.ids) and not self.newline[at]:
            at += 1
        return at + 1


def features(held: int, distance: int, count: int, since: int, fresh_line: bool) -> tuple[int, ...]:
    """The evidence in bins: (held, direction and distance, occurrences, ids since, line)."""
    return (
        (0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7)[held] if held < 12 else 8 if held < 20 else 9,
        _distance(distance),
        min(count, 9).bit_length(),
        min(since, 40).bit_length(),
        int(fresh_line) * (1 + min(held, 2)),
    )


def _distance(d: int) -> int:
    if d in (0, 1):
        return d
    if d > 0:
        return min(d.bit_length(), 10)  # 2 .. 10
    return 10 + min((-d).bit_length(), 10)


@lru_cache(maxsize=8)
def _tables(constants: Constants) -> tuple[tuple[float, ...], ...]:
    """The log odds of each of the features, in their order."""
    distance = constants.forward + constants.behind
    return constants.held, distance, constants.occurrences, constants.since, constants.fresh_line


def candidates(
    index: Index, said: Sequence[int], lost: int, since: int, fresh_line: bool
) -> Iterator[tuple[int, int, int]]:
    """(place, ids held, occurrences) that may follow `said`, the prediction lost at `lost`."""
    size = len(index.ids)
    seen: set[int] = set()
    tail: int | tuple[int, int]
    if len(said) > 1 and since > 0:
        tail = (said[-2], said[-1])
        places, count = index.after(tail, lost)
        for at in places:
            seen.add(at)
            yield at, index.held(at, said), count
    if said:
        places, count = index.after(said[-1], lost)
        for at in places:
            if at not in seen:
                seen.add(at)
                yield at, index.held(at, said), count
    guesses = [lost, lost + 1, lost + since]
    if fresh_line:
        guesses.append(index.line_after(lost))
    for at in guesses:
        if 0 <= at < size and at not in seen:
            seen.add(at)
            yield at, 0, 0


def best(
    index: Index,
    said: Sequence[int],
    lost: int,
    since: int,
    fresh_line: bool,
    constants: Constants = FITTED,
) -> Landing | None:
    """The likeliest place for what comes after `said`; None when no place is worth a guess."""
    tables = _tables(constants)
    found: Landing | None = None
    for at, held, count in candidates(index, said, lost, since, fresh_line):
        if at >= len(index.ids):
            continue
        score = constants.start
        for table, bin_ in zip(
            tables, features(held, at - lost, count, since, fresh_line), strict=True
        ):
            score += table[bin_]
        chance = 1 / (1 + math.exp(-score))
        if found is None or chance > found.chance:
            found = Landing(at, held, chance)
    return found
