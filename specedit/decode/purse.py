"""What drafters that cost time have to spend, and whether it is worth asking them.

Each has a purse: what its ids saved is in it, and what it takes to draft goes out of it, so that
one that does not pay is soon asked seldom. It is asked where the doubt in what is proposed already,
times what its proposals save, pays for one. Knows seconds and rows of drafts; how much all drafts
together may lose is `decode.width`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specedit.decode.drafters.base import Draft
from specedit.decode.tree import tried

LOSS = 1.5  # passes that a drafter may lose before it is asked seldom
PROMISE = 2.0  # passes that a proposal is thought to save before any did
GROWS = 0.02  # of plain decoding, what a purse gets whatever its drafter does
FRESH = 0.12  # of what a drafter is thought to save and take, what its last proposal says
SLIGHT = 0.05  # of a pass: what may be won is not worth asking for
LEAST = 0.1  # doubt by which what was saved is measured


@dataclass
class DraftPurse:
    """In seconds; `saves` is what a proposal saves where nothing else is known."""

    left: float
    saves: float
    takes: float = 0.0  # for a proposal; 0.0 until that is known
    doubt: float = 1.0  # when it was asked last


class Purses:
    """Those of one answer, by drafter. A pass of one id takes `once` seconds."""

    def __init__(self) -> None:
        self._of: dict[str, DraftPurse] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._of

    def of(self, name: str, once: float) -> DraftPurse:
        return self._of.setdefault(name, DraftPurse(LOSS * once, PROMISE * once))

    def allowed(self, name: str, cost: float, doubt: float, once: float) -> float:
        """Seconds that it may spend on a proposal which takes at least `cost`; 0.0 where asking
        would not pay."""
        purse = self.of(name, once)
        takes = max(purse.takes, cost, SLIGHT * once)
        return purse.left if doubt * purse.saves >= takes else 0.0

    def paid(self, name: str, seconds: float, doubt: float, once: float) -> None:
        """It took so long, whatever becomes of what it proposed."""
        purse = self.of(name, once)
        purse.left -= seconds
        purse.takes += FRESH * (seconds - purse.takes) if purse.takes else seconds
        purse.doubt = max(doubt, LEAST)

    def settled(self, count: int, once: float) -> None:
        """So many ids are settled: one that was not worth asking may be tried again."""
        for purse in self._of.values():
            purse.left += GROWS * count * once
            purse.saves = min(purse.saves + GROWS * count * once, PROMISE * once)

    def saved(self, name: str, seconds: float) -> None:
        """What the ids of its last proposal saved."""
        purse = self._of[name]
        purse.left += seconds
        purse.saves += FRESH * (seconds / purse.doubt - purse.saves)

    def shared(
        self, draft: Draft, proposed: int, tokens: Sequence[int], once: float, each: float
    ) -> None:
        """What each of them added to a pass of several. An id belongs to who has it for nothing,
        else to the model that says so, else to whoever else does."""
        held = {row for row, right in tried(draft.ids, draft.parents, tokens) if right}
        parts = draft.parts

        def rank(number: int) -> tuple[bool, bool]:
            return parts[number].source in self._of, not parts[number].modelled

        owners = [min(said, key=rank) for said in draft.said[:proposed]]
        for number, part in enumerate(parts):
            if part.source in self._of:
                own = [row for row, owner in enumerate(owners) if owner == number]
                self.saved(part.source, sum(row in held for row in own) * once - len(own) * each)
