"""How much of a draft one pass should offer.

Knows what passes cost and how drafts fared. Does not know ids, text or engines.

A draft comes with chances. `Survival` corrects them by what became of earlier drafts: only ids
that were reached count (a fully accepted draft proves "at least n", an id behind a divergence
proves nothing). `Widths` then minimises the expected cost of the way to the next divergence:
offering n ids costs c(1 + n) now; if all of them and the id after them hold (S), another pass,
and for each later id that would have held, what an id costs at best (v):

    J(n) = c(1 + n) + c(1) * S[n + 1] + v * sum of S[i] for i > n + 1

Of a tree, S is the product of the chances on an id's own way; each id that is not offered but
stands behind one that is costs another pass if it holds, each further one v. Where a tree settles
few ids however much of it is offered, the next pass comes anyway, and such an id costs only what an
id costs at the best length.

Drafters that cost time keep purses of their own beside the common gate (`decode.purse`), and what
they propose goes into one tree with all that is proposed for a pass (`decode.merge`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import mul

from specedit.decode.constants import Constants
from specedit.decode.cost import TYPICAL, Clock, Curve
from specedit.decode.drafters.base import Draft
from specedit.decode.fitted import FITTED
from specedit.decode.merge import together
from specedit.decode.purse import Purses
from specedit.decode.tree import is_chain, tried

WIDEST = 512
CHEAP = 1.02  # a pass that costs so much more than the narrowest costs nothing more
TRUST = 2.0  # passes staked before any draft held
LOOK = 8
PATIENCE = 0.02  # of plain decoding may be lost on drafts
ENOUGH = 4  # ids that are likely already: nobody who costs time need be asked for more
FEW = 4.0  # ids that a tree settles, below which one more saves its share of a pass only
EDGES = (0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997)


@lru_cache(maxsize=64)
def _priced(curve: Curve, widest: int) -> tuple[list[float], float, int]:
    """Seconds by width, the least seconds of an id, and how many ids cost nothing more."""
    cost = [curve.seconds(max(1, width)) for width in range(widest + 1)]
    each = min(seconds / width for width, seconds in enumerate(cost) if width)
    return cost, each, bisect_right(cost, CHEAP * cost[1]) - 2


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
        for n, held in tried(draft.ids, draft.parents, tokens):
            chance = draft.chances[n]
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
        self._purses = Purses()

    def take(self, curve: Curve) -> None:
        """From now on passes cost what `curve` says."""
        self.curve = curve
        self._cost, each, self._free = _priced(curve, self._widest)
        self._each = self._constants.overhead * each

    @property
    def wait(self) -> int:
        """Ids to be written plainly before the least draft may be staked again."""
        if self._stake() > 0:
            return 0
        lacks = self._cost[2] - self._cost[1] - self._credit
        return max(1, math.ceil(lacks / (PATIENCE * self._cost[1])))

    @property
    def room(self) -> int:
        """How many ids of a draft are worth looking at: twice what may be staked."""
        return min(self._widest - 1, 2 * self._stake() + LOOK)

    def _stake(self) -> int:
        """How many ids may be offered, however good they look."""
        staked = bisect_right(self._cost, self._cost[1] + self._credit) - 2
        return max(self._free, staked, 0)

    def choose(self, drafts: Sequence[Draft], *, trees: bool = False) -> tuple[Draft, int] | None:
        """The draft to offer and how many of its ids; None for a pass without a draft. Where a
        pass may be a tree, what cost time to draft goes into one with all that was proposed.

        J prices one draft's way to its own divergence, and says nothing of which draft is the
        better: that is whose ids, as many as it would offer, are expected to save the most passes
        for what they cost."""
        chosen: tuple[Draft, int] | None = None
        most = -math.inf
        stake = self._stake()
        if trees and len(drafts) > 1 and any(draft.source in self._purses for draft in drafts):
            chances = [self._survival.corrected(draft) for draft in drafts]
            one = together(drafts, chances, self.room)
            return one, self._worth(one, stake, one.chances)[0]
        for draft in drafts:
            length, gain = self._worth(draft, stake)
            if gain > most:
                chosen, most = (draft, length), gain
        return chosen

    def _worth(
        self, draft: Draft, stake: int, chances: Sequence[float] | None = None
    ) -> tuple[int, float]:
        """How many of its ids to offer, and the seconds that these are expected to save."""
        if chances is None:
            chances = self._survival.corrected(draft)
        if draft.parents is None:
            alive = list(accumulate(chances, mul))
            length = self._length(alive, draft.beyond)
        else:
            alive = []
            for chance, parent in zip(chances, draft.parents, strict=True):
                alive.append(chance * (alive[parent] if parent >= 0 else 1.0))
            length = self._branches(alive, draft.parents)
        length = max(min(length, stake), min(self._free, len(draft.ids)))
        once = self._cost[1]
        return length, sum(alive[:length]) * once - (self._cost[1 + length] - once)

    @property
    def prices(self) -> tuple[float, float]:
        """Seconds of a pass, and of each further id in one of a few."""
        return self._cost[1], (self._cost[min(9, self._widest)] - self._cost[1]) / 8

    def allowance(self, name: str, cost: float, drafts: Sequence[Draft]) -> float:
        """Seconds that a drafter may take for a proposal which takes at least `cost`, beside what
        is proposed already; 0.0 where it had better not be asked."""
        allowed = self._purses.allowed(name, cost, self.doubt(drafts), self._cost[1])
        seconds = min(self._credit, allowed)
        return seconds if seconds > cost else 0.0

    def doubt(self, drafts: Sequence[Draft]) -> float:
        """The chance that what is proposed already ends within a few ids."""
        return 1 - max((self._sure(draft) for draft in drafts), default=0.0)

    def _sure(self, draft: Draft) -> float:
        """The chance that its first few ids all hold. A tree is in doubt by its nature."""
        if len(draft.ids) < ENOUGH or draft.parents is not None:
            return 0.0
        return math.prod(self._survival.corrected(draft)[:ENOUGH])

    def paid(self, name: str, seconds: float, drafts: Sequence[Draft] = ()) -> None:
        """A drafter took so long beside these drafts, whatever becomes of what it proposed."""
        self._credit -= seconds
        self._purses.paid(name, seconds, self.doubt(drafts), self._cost[1])

    def _length(self, alive: Sequence[float], beyond: float) -> int:
        """The n of the smallest J; `alive` are the chances that an id is reached and right."""
        cost, again, each = self._cost, self._cost[1], self._each
        survival = [*alive, (alive[-1] if alive else 1.0) * beyond]
        later, best, least = 0.0, 0, math.inf
        for n in range(len(alive), -1, -1):  # J(n)
            price = cost[1 + n] + again * survival[n] + each * later
            if price < least:
                best, least = n, price
            later += survival[n]
        return best

    def _branches(self, alive: Sequence[float], parents: Sequence[int]) -> int:
        """As `_length`, of a tree: how many of its first ids."""
        cost, again, each = self._cost, self._cost[1], self._each
        if 1 + sum(alive) < FEW and not is_chain(parents):
            ids = accumulate(alive, initial=1.0)
            again = min(again, min(cost[1 + n] / settled for n, settled in enumerate(ids)))
        behind = [0.0] * len(alive)  # chance that one of an id's children holds
        first = 0.0
        for chance, parent in zip(alive, parents, strict=True):
            if parent >= 0:
                behind[parent] += chance
            else:
                first += chance
        later, next_up = sum(alive) - first, first  # with n = 0 offered
        best, least = 0, math.inf
        for n in range(len(alive) + 1):
            if n:
                later -= behind[n - 1]
                next_up += behind[n - 1] - alive[n - 1]
            price = cost[1 + n] + again * next_up + each * later
            if price < least:
                best, least = n, price
        return best

    def learn(
        self, draft: Draft | None, proposed: int, tokens: Sequence[int], seconds: float
    ) -> None:
        """What became of a pass that offered `proposed` ids of `draft` and settled `tokens`;
        without a draft they may be those of several passes."""
        once = self._cost[1]
        self._credit += PATIENCE * len(tokens) * once
        self._purses.settled(len(tokens), once)
        if draft is not None:
            saved = (len(tokens) - 1) * once - (self._cost[1 + proposed] - once)
            self._credit += saved
            for part in draft.parts or (draft,):
                self._survival.learn(part, tokens)
            if draft.parts:
                self._purses.shared(draft, proposed, tokens, *self.prices)
            elif draft.source in self._purses:
                self._purses.saved(draft.source, saved)
        if self._clock is not None and self._clock.add(1 + proposed, seconds):
            self.take(self._clock.curve)
