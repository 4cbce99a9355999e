"""How much of a draft one pass should offer.

Knows what passes cost and how drafts fared. Does not know ids, text or engines.
"""

from __future__ import annotations

from collections.abc import Sequence

from specedit.decode.cost import TYPICAL, Curve
from specedit.decode.drafters.base import Draft

WIDEST = 128


class Widths:
    """Chooses the draft and its length for each pass; learns from what was accepted."""

    def __init__(self, curve: Curve = TYPICAL, *, widest: int = WIDEST) -> None:
        self.curve = curve
        self.room = widest - 1

    def choose(self, drafts: Sequence[Draft]) -> tuple[Draft, int] | None:
        """The draft to offer and how many of its ids; None for a pass without a draft."""
        if not drafts:
            return None
        draft = drafts[0]
        return draft, min(len(draft.ids), max(7, 2 * draft.age))

    def learn(self, draft: Draft | None, proposed: int, accepted: int, seconds: float) -> None:
        """What became of a pass."""
