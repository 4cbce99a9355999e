"""The draft budget: how much time the drafters that cost time may spend, and when they are asked.

Each such drafter has a budget in seconds. What its accepted ids saved is added, what drafting took
is subtracted, so a drafter that does not pay is soon asked rarely. It is asked when the probability
that the other drafts diverge soon, times what its proposals save, is worth its time. How much all
drafts together may lose is decided in `decode.width`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specedit.decode.drafter import Draft
from specedit.decode.tree import verified_ids

MAX_LOSS = 1.5  # passes that a drafter may lose before it is asked rarely
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


class DraftBudgets:
    """The budgets of one answer, by drafter. A pass of one id takes `once` seconds."""

    def __init__(self) -> None:
        self._by_name: dict[str, DraftBudget] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def of(self, name: str, once: float) -> DraftBudget:
        return self._by_name.setdefault(name, DraftBudget(MAX_LOSS * once, INITIAL_SAVING * once))

    def available(self, name: str, cost: float, uncertainty: float, once: float) -> float:
        """Seconds that a drafter may spend on a proposal that takes at least `cost`; 0.0 where
        asking does not pay."""
        budget = self.of(name, once)
        price = max(budget.cost, cost, MIN_COST * once)
        return budget.left if uncertainty * budget.saving >= price else 0.0

    def charge(self, name: str, seconds: float, uncertainty: float, once: float) -> None:
        """Subtract the time that a proposal took, whatever becomes of it."""
        budget = self.of(name, once)
        budget.left -= seconds
        budget.cost += SMOOTHING * (seconds - budget.cost) if budget.cost else seconds
        budget.uncertainty = max(uncertainty, MIN_UNCERTAINTY)

    def add_income(self, count: int, once: float) -> None:
        """`count` ids were committed: a drafter that was not worth asking may be tried again."""
        for budget in self._by_name.values():
            budget.left += INCOME * count * once
            budget.saving = min(budget.saving + INCOME * count * once, INITIAL_SAVING * once)

    def credit(self, name: str, seconds: float) -> None:
        """Add what the ids of the drafter's last proposal saved."""
        budget = self._by_name[name]
        budget.left += seconds
        budget.saving += SMOOTHING * (seconds / budget.uncertainty - budget.saving)

    def credit_parts(
        self, draft: Draft, proposed: int, tokens: Sequence[int], once: float, each: float
    ) -> None:
        """Credit each drafter with what it added to a merged draft. An id is credited to a drafter
        that costs nothing if one proposed it, else to a language model, else to any other."""
        right = {row for row, ok in verified_ids(draft.ids, draft.parents, tokens) if ok}
        parts = draft.parts

        def rank(number: int) -> tuple[bool, bool]:
            return parts[number].source in self._by_name, not parts[number].from_model

        owners = [min(proposers, key=rank) for proposers in draft.proposers[:proposed]]
        for number, part in enumerate(parts):
            if part.source in self._by_name:
                own = [row for row, owner in enumerate(owners) if owner == number]
                self.credit(part.source, sum(row in right for row in own) * once - len(own) * each)
