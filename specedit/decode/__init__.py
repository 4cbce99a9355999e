"""Ids in, chunks out: the loop, its drafters, where it resyncs and how wide a pass is.

Token ids only: no text, no models, no torch. Engines are known by their interface,
`specedit.engines.base`. Decoding reports `Prefill…, Chunk…, Done` while it runs; every number shown
anywhere is computed from these events. A drafter proposes ids for the next pass, then sees what was
committed; how much of a proposal is offered to the engine is decided in `decode.width`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from specedit.engines.base import Row, SampledIds

FREE = "free"  # the source of a pass without a draft
PREDICTION = "prediction"  # the source of a pass whose draft follows an expected answer


@dataclass(frozen=True, slots=True)
class Tally:
    """Draft ids offered to the model, and those it chose itself."""

    proposed: int = 0
    accepted: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.proposed + other.proposed, self.accepted + other.accepted)

    @property
    def rejected(self) -> int:
        return self.proposed - self.accepted

    @property
    def rate(self) -> float:
        return self.accepted / self.proposed if self.proposed else 0.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """The result of one forward pass.

    `tokens` are the committed ids: the accepted part of the draft, then the model's own choice
    (missing only when an accepted token ended the answer). `proposed` counts the draft's ids.
    """

    tokens: tuple[int, ...]
    proposed: int
    accepted: int
    source: str  # the drafter's name, or FREE
    resynced: bool  # the drafter resynchronised just before this draft
    seconds: float  # forward, crop and drafting together
    which: int = 0  # the number of the prediction that the draft came from
    depth: int = 0  # longest path of the draft: less than `proposed` in a tree
    drafting: float = 0.0  # the part of `seconds` that drafting took
    margins: tuple[float, ...] = ()  # of each token: by how much its logit exceeds the second

    @property
    def width(self) -> int:
        return 1 + self.proposed


@dataclass(frozen=True, slots=True)
class Done:
    """The answer has ended. `reason`: "stop" (by the model or its fence) or "length" (cut off)."""

    reason: str
    logits_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Ids for the next pass, with their probabilities.

    `chances[i]` is the probability that `ids[i]` is the model's choice, given that the ids before
    it were; `beyond` is that of the id after the last. `seconds` is the cost of the proposal
    itself, for drafters that run a model of their own.

    With `parents` the ids are a tree: `ids[i]` follows `ids[parents[i]]`, or the last committed id
    where that is -1, and its probability is given that its parent was right. Parents come before
    their children and likelier ids before the others: a pass offers a prefix.
    """

    ids: Sequence[int]
    chances: Sequence[float]
    source: str
    resynced: bool = False
    beyond: float = 0.0
    seconds: float = 0.0
    which: int = 0  # the number of the prediction that it came from
    parents: Sequence[int] | None = None  # None: a chain
    from_model: bool = False  # the probabilities are a language model's own
    samples: SampledIds | None = None  # for rejection sampling
    parts: Sequence[Draft] = ()  # of a merged draft: the drafts it was made of,
    proposers: Sequence[Sequence[int]] = ()  # and for each id, the numbers of those that have it


class Drafter(Protocol):
    """Proposes drafts. All drafting state is in the drafter."""

    @property
    def name(self) -> str: ...

    def begin(self, prompt: Sequence[int]) -> None:
        """Start a new answer after `prompt`."""
        ...

    def propose(self, most: int) -> Draft | None:
        """At most `most` ids that may come next; None when there is nothing to offer."""
        ...

    def commit(self, tokens: Sequence[int]) -> None:
        """These ids were committed, whichever drafter proposed them."""
        ...


@runtime_checkable
class Watcher(Protocol):
    """A drafter that reads the target's hidden states."""

    def see(self, rows: Sequence[Row]) -> None:
        """`rows[i]` is the hidden state that the i-th id of the next `commit` was chosen from."""
        ...


@runtime_checkable
class Costly(Drafter, Protocol):
    """A drafter whose proposals cost time."""

    @property
    def cost(self) -> float:
        """Least seconds of the next proposal; 0.0 until it is known."""
        ...

    def set_budget(
        self, seconds: float, once: float, each: float, drafts: Sequence[Draft] = ()
    ) -> None:
        """Called before `propose`: the seconds that it may take, and the other drafts for the same
        pass. A pass of the target costs `once`, and `each` more for every id of a draft."""
        ...


class Codec(Protocol):
    """Conversion between ids and text, as a tokenizer does it."""

    def encode(self, text: str) -> list[int]: ...

    def piece(self, token: int) -> bytes: ...
