"""What a drafter is: it proposes ids for the next pass, and sees what became of them.

Knows ids, and bytes through the codec. Does not know engines, costs or widths: how much of a
proposal is worth offering is decided in `decode.width`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from specedit.engines.base import Row


@dataclass(frozen=True)
class Draft:
    """Ids for the next pass, and how sure their drafter is of them.

    `chances[i]` is the chance that `ids[i]` is the model's choice, given that the ids before it
    were; `beyond` is that of the id after the last. `seconds` is what the proposal itself cost,
    for drafters that run a model of their own.

    With `parents` the ids are a tree: `ids[i]` stands behind `ids[parents[i]]`, or behind the last
    committed id where that is -1, and its chance is given that its parent was right. Parents come
    before their children and the likelier ids before the others: a pass offers a beginning of it.
    """

    ids: Sequence[int]
    chances: Sequence[float]
    source: str
    resynced: bool = False
    beyond: float = 0.0
    seconds: float = 0.0
    which: int = 0  # of several predictions, the one it came from
    parents: Sequence[int] | None = None  # None: a chain
    modelled: bool = False  # the chances are a language model's own, of each place
    drawn: Any = None  # the `decode.rejection.Draws` among the ids, where they were drawn
    parts: Sequence[Draft] = ()  # of one made of several (`decode.merge`): those,
    said: Sequence[Sequence[int]] = ()  # and by number, which of them have each of its ids


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


@runtime_checkable
class Watcher(Protocol):
    """A drafter that reads the target's hidden rows."""

    def see(self, rows: Sequence[Row]) -> None:
        """`rows[i]` is what the i-th of the ids that `commit` tells next was chosen from."""
        ...


@runtime_checkable
class Costly(Protocol):
    """A drafter whose proposals take time that they have to earn."""

    @property
    def cost(self) -> float:
        """Seconds that the next proposal takes at least; 0.0 until that is known."""
        ...

    def spend(self, seconds: float, once: float, each: float) -> None:
        """Told before `propose`: what that may take in all. A pass of the target costs `once`, and
        `each` more for every id of a draft."""
        ...


@runtime_checkable
class Guided(Protocol):
    """A drafter that goes on from what others offer."""

    def guide(self, drafts: Sequence[Draft]) -> None:
        """Told before `propose`: what the others propose for the same pass."""
        ...


class Ahead(Protocol):
    """A drafter that can say what would follow ids which nobody committed."""

    def ahead(self, ids: Sequence[int], room: int) -> Draft | None:
        """What it would propose if `ids`, the last of which may be guesses, were committed."""
        ...


class Codec(Protocol):
    """The two directions between ids and text that drafting needs; a tokenizer is one."""

    def encode(self, text: str) -> list[int]: ...

    def piece(self, token: int) -> bytes: ...
