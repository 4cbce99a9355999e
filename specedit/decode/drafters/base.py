"""What a drafter is: it proposes ids for the next pass, and sees what became of them.

Knows ids, and bytes through the codec. Does not know engines, costs or widths: how much of a
proposal is worth offering is decided in `decode.width`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Draft:
    """Ids for the next pass, and how sure their drafter is of them.

    `chances[i]` is the chance that `ids[i]` is the model's choice, given that the ids before it
    were; `beyond` is that of the id after the last. `seconds` is what the proposal itself cost,
    for drafters that run a model of their own.
    """

    ids: Sequence[int]
    chances: Sequence[float]
    source: str
    resynced: bool = False
    beyond: float = 0.0
    seconds: float = 0.0
    which: int = 0  # of several predictions, the one it came from


class Drafter(Protocol):
    """Proposes drafts; its state lives here and nowhere else."""

    @property
    def name(self) -> str: ...

    def begin(self, prompt: Sequence[int]) -> None:
        """A new answer starts after `prompt`."""
        ...

    def propose(self, room: int) -> Draft | None:
        """At most `room` ids that may come next; None when there is nothing to offer.

        Called before each pass that has room; a draft is a guess, not a promise."""
        ...

    def commit(self, tokens: Sequence[int]) -> None:
        """These ids were settled, whoever proposed them."""
        ...


class Codec(Protocol):
    """The two directions between ids and text that drafting needs; a tokenizer is one."""

    def encode(self, text: str) -> list[int]: ...

    def piece(self, token: int) -> bytes: ...
