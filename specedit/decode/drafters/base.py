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
    """Ids for the next pass, best guess first, and how sure their drafter is of them.

    `grade` names the kind of evidence behind the draft and `age` how much of it there is (tokens
    that held since the drafter found its place); survival is learned per (source, grade, age).
    `seconds` is what the proposal itself cost, for drafters that run a model of their own.
    """

    ids: Sequence[int]
    source: str
    resynced: bool = False
    grade: str = ""
    age: int = 0
    seconds: float = 0.0


class Drafter(Protocol):
    """Proposes drafts; its state lives here and nowhere else."""

    @property
    def name(self) -> str: ...

    def begin(self, prompt: Sequence[int]) -> None:
        """A new answer starts after `prompt`."""
        ...

    def propose(self, room: int) -> Draft | None:
        """At most `room` ids that may come next; None when there is nothing to offer."""
        ...

    def commit(self, tokens: Sequence[int]) -> None:
        """These ids were settled, whoever proposed them."""
        ...


class Codec(Protocol):
    """The two directions between ids and text that drafting needs; a tokenizer is one."""

    def encode(self, text: str) -> list[int]: ...

    def piece(self, token: int) -> bytes: ...
