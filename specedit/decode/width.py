"""How much of a draft one pass should offer.

Knows what passes cost and how drafts fared. Does not know ids, text or engines.

A draft comes with chances. `Survival` corrects them by what became of earlier drafts: only ids
that were reached count (a fully accepted draft proves "at least n", an id behind a divergence
proves nothing). `Widths` then minimises the expected cost of the way to the next divergence:
offering n ids costs c(1 + n) now; if all of them and the id after them hold (S), another pass,
and for each later id that would have held, what an id costs at best (v):

    J(n) = c(1 + n) + c(1) * S[n + 1] + v * sum of S[i] for i > n + 1
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from specedit.decode.constants import Constants
from specedit.decode.cost import TYPICAL, Clock, Curve
from specedit.decode.drafters.base import Draft
from specedit.decode.fitted import FITTED

WIDEST = 512
CHEAP = 1.02  # a pass that costs so much more than the narrowest costs nothing more
TRUST = 2.0  # passes staked before any draft held
LOOK = 8
PATIENCE = 0.02  # of plain decoding may be lost on drafts
EDGES = (0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997)


@dataclass
class Survival:
    """What the chances a drafter states are worth, by how sure it says it is."""

    inertia: float  # expected failures (or successes, for unlikely ids) a prior chance is worth
    _seen: dict[tuple[str, int], list[float]] = field(default_factory=dict)

    def corrected(self, draft: Draft) -> list[float]:
        factors = [self._factor(draft.source, sure) for sure in range(len(EDGES) + 1)]
        return [_correct(chance, factors[_bin(chance)]) for chance in draft.chances]

    def _factor(self, source: str, sure: int) -> float:
        seen = self._seen.get((source, sure))
        if seen is None:
            return 1.0
        expected, happened = seen
        return (happened + self.inertia) / (expected + self.inertia)

    def learn(self, draft: Draft, tokens: Sequence[int]) -> None:
        """`tokens` were settled: the accepted part of the draft, and the model's own choice.

        That choice is a trial too where the draft went on beyond what was offered."""
        for n in range(min(len(tokens), len(draft.ids))):
            chance, held = draft.chances[n], draft.ids[n] == tokens[n]
            seen = self._seen.setdefault((draft.source, _bin(chance)), [0.0, 0.0])
            if chance < 0.5:
                seen[0] += chance
                seen[1] += held
            else:
                seen[0] += 1 - chance
                seen[1] += not held


def _bin(chance: float) -> int:
    n = 0
    for edge in EDGES:
        if chance < edge:
            return n
        n += 1
    return n


def _correct(chance: float, factor: float) -> float:
    if chance < 0.5:
        return min(0.9, chance * factor)
    return max(0.02, 1 - (1 - chance) * factor)


class Widths:
    """Chooses the draft and its length for each pass; learns from what was accepted.

    The gate: drafts never stake more than they have saved, a fiftieth of what plain decoding
    would have cost so far, and `TRUST` passes. So however bad they are, decoding stays within
    2 % and that many passes of plain decoding.
    """

    def __init__(
        self,
        curve: Curve = TYPICAL,
        *,
        widest: int = WIDEST,
        clock: Clock | None = None,
        constants: Constants = FITTED,
    ) -> None:
        self._constants = constants
        self._widest = widest
        self._clock = clock
        self.take(clock.curve if clock else curve)
        self.begin()

    def begin(self) -> None:
        """A new answer: what earlier drafts were worth says nothing about its own."""
        self._survival = Survival(self._constants.inertia)
        self._credit = TRUST * self._cost[1]

    def take(self, curve: Curve) -> None:
        """From now on passes cost what `curve` says."""
        self.curve = curve
        self._cost = [curve.seconds(max(1, width)) for width in range(self._widest + 1)]
        self._each = self._constants.overhead * min(s / w for w, s in enumerate(self._cost) if w)
        self._free = bisect_right(self._cost, CHEAP * self._cost[1]) - 2

    @property
    def room(self) -> int:
        """How many ids of a draft are worth looking at: twice what may be staked."""
        return min(self._widest - 1, 2 * self._stake() + LOOK)

    def _stake(self) -> int:
        """How many ids may be offered, however good they look."""
        staked = bisect_right(self._cost, self._cost[1] + self._credit) - 2
        return max(self._free, staked, 0)

    def choose(self, drafts: Sequence[Draft]) -> tuple[Draft, int] | None:
        """The draft to offer and how many of its ids; None for a pass without a draft."""
        chosen: tuple[Draft, int] | None = None
        most = -1.0
        stake = self._stake()
        for draft in drafts:
            length, gain = self._length(self._survival.corrected(draft), draft.beyond)
            if gain > most:
                free = min(self._free, len(draft.ids))
                chosen, most = (draft, max(min(length, stake), free)), gain
        return chosen

    def _length(self, chances: Sequence[float], beyond: float) -> tuple[int, float]:
        """The n of the smallest J, and how much smaller it is than J(0)."""
        cost, again, each = self._cost, self._cost[1], self._each
        alive = 1.0
        survival = []
        for chance in chances:
            alive *= chance
            survival.append(alive)
        survival.append(alive * beyond)
        later, best, least, price = 0.0, 0, math.inf, 0.0
        for n in range(len(chances), -1, -1):  # J(n)
            price = cost[1 + n] + again * survival[n] + each * later
            if price < least:
                best, least = n, price
            later += survival[n]
        return best, price - least

    def learn(
        self, draft: Draft | None, proposed: int, tokens: Sequence[int], seconds: float
    ) -> None:
        """What became of a pass that offered `proposed` ids of `draft` and settled `tokens`."""
        once = self._cost[1]
        self._credit += (len(tokens) - 1) * once + PATIENCE * len(tokens) * once
        self._credit -= self._cost[1 + proposed] - once
        if draft is not None:
            self._credit -= draft.seconds
            self._survival.learn(draft, tokens)
        if self._clock is not None and self._clock.add(1 + proposed, seconds):
            self.take(self._clock.curve)
