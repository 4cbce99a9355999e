"""Chooses the width of each forward pass: which draft to offer, and how many of its ids.

A draft comes with probabilities. `Widths` corrects them by the results of earlier drafts. Only
ids that were reached count: a fully accepted draft proves "at least n", and an id after a
divergence proves nothing. It then minimises the expected cost of the way to the next
divergence. Offering n ids costs c(1 + n) now; if all of them and the next id hold (S), one more
pass; and for each later id that would have held, the cost of an id at the best width (v):

    J(n) = c(1 + n) + c(1) * S[n + 1] + v * sum of S[i] for i > n + 1

In a tree, S is the product of the probabilities on an id's own path. Each id that is not offered
but follows an offered one costs another pass if it holds, each further one v. Where a tree settles
few ids however much of it is offered, the next pass comes anyway, and such an id costs only what an
id costs at the best length.

Drafters that cost time have budgets of their own besides the common limit (`DraftBudget`), and
their proposals are merged with all other drafts of a pass into one tree (`decode.tree`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import mul, truediv

from specedit.decode import Draft, constants
from specedit.decode.cost import TYPICAL, Clock, Curve
from specedit.decode.tree import is_chain, merge_drafts, verified_ids

MAX_DRAFT_LOSS = 1.5  # passes that a drafter may lose before it is asked rarely
INITIAL_SAVING = 2.0  # passes that a proposal is expected to save before there is evidence
INCOME = 0.02  # share of plain decoding's time that every budget receives
SMOOTHING = 0.12  # weight of the newest proposal in the running averages
MIN_COST = 0.05  # passes: an expected gain below this is not worth asking for
MIN_UNCERTAINTY = 0.1  # lower bound of the uncertainty that a saving is divided by


@dataclass
class DraftBudget:
    """Seconds of one drafter. `saving` is what a proposal saves where no other draft helps."""

    left: float
    saving: float
    cost: float = 0.0  # of one proposal; 0.0 until it is known
    uncertainty: float = 1.0  # of the other drafts when it was last asked

    def charge(self, seconds: float, uncertainty: float) -> None:
        """Subtract the time that a proposal took, whatever becomes of it."""
        self.left -= seconds
        self.cost += SMOOTHING * (seconds - self.cost) if self.cost else seconds
        self.uncertainty = max(uncertainty, MIN_UNCERTAINTY)

    def credit(self, seconds: float) -> None:
        """Add what the ids of the drafter's last proposal saved."""
        self.left += seconds
        self.saving += SMOOTHING * (seconds / self.uncertainty - self.saving)


MAX_WIDTH = 512
FREE_RATIO = 1.02  # a pass up to this ratio of the narrowest one's cost counts as free
INITIAL_CREDIT = 2.0  # passes that drafts may lose before one was accepted
LOOKAHEAD = 8
MAX_LOSS = 0.02  # share of plain decoding's time that drafts may lose
LIKELY_IDS = 4  # ids that are likely already: no drafter that costs time is asked for more
# Ids that a tree settles, below which one more saves its share of a pass only
FEW_SETTLED_IDS = 4.0
EDGES = (0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997)  # of the bins of stated probabilities


@lru_cache(maxsize=64)
def _priced(curve: Curve, widest: int) -> tuple[list[float], float, int]:
    """Seconds by width, the least seconds per id, and how many draft ids are free."""
    cost = [curve.seconds(max(1, width)) for width in range(widest + 1)]
    each = min(map(truediv, cost[1:], range(1, widest + 1)))
    return cost, each, bisect_right(cost, FREE_RATIO * cost[1]) - 2


def _correct(chance: float, factor: float) -> float:
    if chance < 0.5:
        return min(0.9, chance * factor)
    return max(0.02, 1 - (1 - chance) * factor)


class Widths:
    """Chooses the draft and its length for each pass; learns from what was accepted.

    Guarantee 2: drafts never risk more than what they saved, plus a fiftieth of what plain decoding
    would have cost so far, plus `INITIAL_CREDIT` passes. However bad they are, decoding stays
    within 2 % and that many passes of plain decoding."""

    def __init__(
        self, curve: Curve = TYPICAL, *, widest: int = MAX_WIDTH, clock: Clock | None = None
    ) -> None:
        self._widest = widest
        self._clock = clock
        self.measured = clock.curve if clock else curve  # the curve that it begins with
        self.set_curve(self.measured)
        self.begin()

    def begin(self) -> None:
        """Start a new answer: results of earlier answers do not apply to it."""
        self._seen: dict[tuple[str, int], list[float]] = {}  # by drafter and bin: `_calibrate`
        self._credit = INITIAL_CREDIT * self._cost[1]
        self._budgets: dict[str, DraftBudget] = {}  # of the drafters that cost time

    def set_curve(self, curve: Curve) -> None:
        self.curve = curve
        self._cost, each, self._free = _priced(curve, self._widest)
        self._each = constants.FITTED.overhead * each

    @property
    def wait(self) -> int:
        """Plain ids until the shortest draft may be offered again."""
        if self._max_offer() > 0:
            return 0
        missing = self._cost[2] - self._cost[1] - self._credit
        return max(1, math.ceil(missing / (MAX_LOSS * self._cost[1])))

    @property
    def draft_limit(self) -> int:
        """The longest draft worth proposing: about twice what may be offered."""
        return min(self._widest - 1, 2 * self._max_offer() + LOOKAHEAD)

    def _max_offer(self) -> int:
        """How many ids may be offered, however likely they are."""
        affordable = bisect_right(self._cost, self._cost[1] + self._credit) - 2
        return max(self._free, affordable, 0)

    def choose(self, drafts: Sequence[Draft], *, trees: bool = False) -> tuple[Draft, int] | None:
        """The draft to offer and how many of its ids; None for a pass without a draft. Where the
        engine takes trees and a costly drafter proposed, all drafts are merged into one tree.

        J prices one draft up to its own divergence and cannot compare drafts: the better draft is
        the one whose offered ids are expected to save the most time for what they cost."""
        chosen: tuple[Draft, int] | None = None
        best_gain = -math.inf
        most = self._max_offer()
        if trees and len(drafts) > 1 and any(draft.source in self._budgets for draft in drafts):
            chances = [self._corrected(draft) for draft in drafts]
            merged = merge_drafts(drafts, chances, self.draft_limit)
            return merged, self._offer(merged, most, merged.chances)[0]
        for draft in drafts:
            length, gain = self._offer(draft, most)
            if gain > best_gain:
                chosen, best_gain = (draft, length), gain
        return chosen

    def _offer(
        self, draft: Draft, most: int, chances: Sequence[float] | None = None
    ) -> tuple[int, float]:
        """How many ids of a draft to offer, and the seconds that they are expected to save."""
        if chances is None:
            chances = self._corrected(draft)
        if draft.parents is None:
            alive = list(accumulate(chances, mul))
            # J expects later ids to cost what they do in the best pass. Where passes that wide may
            # not be offered yet, J puts drafts off again and again.
            length = self._chain_length(alive, draft.beyond) or self._cheapest_length(alive[:most])
        else:
            alive = []
            for chance, parent in zip(chances, draft.parents, strict=True):
                alive.append(chance * (alive[parent] if parent >= 0 else 1.0))
            length = self._tree_length(alive, draft.parents)
        length = max(min(length, most), min(self._free, len(draft.ids)))
        once = self._cost[1]
        return length, sum(alive[:length]) * once - (self._cost[1 + length] - once)

    @property
    def prices(self) -> tuple[float, float]:
        """Seconds of a pass of one id, and of each further id in a narrow pass."""
        return self._cost[1], (self._cost[min(9, self._widest)] - self._cost[1]) / 8

    def budget_for(self, name: str, cost: float, drafts: Sequence[Draft]) -> float:
        """Seconds that a drafter may spend on a proposal that takes at least `cost`, besides
        `drafts`; 0.0 where it is not worth asking."""
        budget = self._budget(name)
        price = max(budget.cost, cost, MIN_COST * self._cost[1])
        if self.uncertainty(drafts) * budget.saving < price:
            return 0.0
        seconds = min(self._credit, budget.left)
        return seconds if seconds > cost else 0.0

    def _budget(self, name: str) -> DraftBudget:
        once = self._cost[1]
        first = DraftBudget(MAX_DRAFT_LOSS * once, INITIAL_SAVING * once)
        return self._budgets.setdefault(name, first)

    def uncertainty(self, drafts: Sequence[Draft]) -> float:
        """The probability that all of `drafts` diverge within a few ids."""
        chains = [
            draft for draft in drafts if len(draft.ids) >= LIKELY_IDS and draft.parents is None
        ]
        first = (self._corrected(draft)[:LIKELY_IDS] for draft in chains)
        return 1 - max(map(math.prod, first), default=0.0)

    def charge(self, name: str, seconds: float, drafts: Sequence[Draft] = ()) -> None:
        """Subtract the time that a drafter took besides `drafts`."""
        self._credit -= seconds
        self._budget(name).charge(seconds, self.uncertainty(drafts))

    def _corrected(self, draft: Draft) -> Sequence[float]:
        """The probabilities that a draft states, corrected by how often such ids were right."""
        if not self._seen:
            return draft.chances
        factors, inertia = [], constants.FITTED.inertia
        for sure in range(len(EDGES) + 1):
            expected, happened = self._seen.get((draft.source, sure), (0.0, 0.0))
            factors.append((happened + inertia) / (expected + inertia))
        return [_correct(chance, factors[bisect_right(EDGES, chance)]) for chance in draft.chances]

    def _chain_length(self, alive: Sequence[float], beyond: float) -> int:
        """The n with the smallest J; `alive`: probabilities that an id is reached and right."""
        cost, again, each = self._cost, self._cost[1], self._each
        survival = [*alive, (alive[-1] if alive else 1.0) * beyond]
        later, best, least = 0.0, 0, math.inf
        for n in range(len(alive), -1, -1):  # J(n)
            price = cost[1 + n] + again * survival[n] + each * later
            if price < least:
                best, least = n, price
            later += survival[n]
        return best

    def _cheapest_length(self, alive: Sequence[float]) -> int:
        """The length whose right ids cost the least each; 0 where a pass for each is cheaper."""
        least, best = self._cost[1], 0
        for n, right in enumerate(accumulate(alive), 1):
            if (price := (self._cost[1 + n] - self._cost[1]) / max(right, 1e-9)) < least:
                least, best = price, n
        return best

    def _tree_length(self, alive: Sequence[float], parents: Sequence[int]) -> int:
        """The same for a tree: how many of its first ids."""
        cost, again, each = self._cost, self._cost[1], self._each
        if 1 + sum(alive) < FEW_SETTLED_IDS and not is_chain(parents):
            ids = accumulate(alive, initial=1.0)
            again = min(again, min(cost[1 + n] / settled for n, settled in enumerate(ids)))
        after = [0.0] * len(alive)  # probability that one of an id's children holds
        first = 0.0
        for chance, parent in zip(alive, parents, strict=True):
            if parent >= 0:
                after[parent] += chance
            else:
                first += chance
        later, next_up = sum(alive) - first, first  # with n = 0 offered
        best, least = 0, math.inf
        for n in range(len(alive) + 1):
            if n:
                later -= after[n - 1]
                next_up += after[n - 1] - alive[n - 1]
            price = cost[1 + n] + again * next_up + each * later
            if price < least:
                best, least = n, price
        return best

    def learn(
        self, draft: Draft | None, proposed: int, tokens: Sequence[int], seconds: float
    ) -> None:
        """Record a pass that offered `proposed` ids of `draft` and committed `tokens`; without a
        draft, `tokens` may come from several passes."""
        once = self._cost[1]
        self._credit += MAX_LOSS * len(tokens) * once
        for budget in self._budgets.values():  # one that was not worth asking may be tried again
            budget.left += INCOME * len(tokens) * once
            budget.saving = min(budget.saving + INCOME * len(tokens) * once, INITIAL_SAVING * once)
        if draft is not None:
            saved = (len(tokens) - 1) * once - (self._cost[1 + proposed] - once)
            self._credit += saved
            for part in draft.parts or (draft,):
                self._calibrate(part, tokens)
            if draft.parts:
                self._credit_parts(draft, proposed, tokens)
            elif draft.source in self._budgets:
                self._budgets[draft.source].credit(saved)
        if self._clock is not None and self._clock.add(1 + proposed, seconds):
            self.set_curve(self._clock.curve)

    def _calibrate(self, draft: Draft, tokens: Sequence[int]) -> None:
        """`tokens` were committed: the accepted part of the draft, and the model's own choice.

        That choice counts as well where the draft continues beyond what was offered."""
        for n, right in verified_ids(draft.ids, draft.parents, tokens):
            chance = draft.chances[n]
            seen = self._seen.setdefault((draft.source, bisect_right(EDGES, chance)), [0.0, 0.0])
            if chance < 0.5:
                seen[0] += chance
                seen[1] += right
            else:
                seen[0] += 1 - chance
                seen[1] += not right

    def _credit_parts(self, draft: Draft, proposed: int, tokens: Sequence[int]) -> None:
        """Credit each drafter with what it added to a merged draft. An id is credited to a drafter
        that costs nothing if one proposed it, else to a language model, else to any other."""
        right = {row for row, ok in verified_ids(draft.ids, draft.parents, tokens) if ok}
        parts, (once, each) = draft.parts, self.prices

        def rank(number: int) -> tuple[bool, bool]:
            return parts[number].source in self._budgets, not parts[number].from_model

        owners = [min(proposers, key=rank) for proposers in draft.proposers[:proposed]]
        for number, part in enumerate(parts):
            if part.source in self._budgets:
                own = [row for row, owner in enumerate(owners) if owner == number]
                saved = sum(row in right for row in own) * once - len(own) * each
                self._budgets[part.source].credit(saved)
