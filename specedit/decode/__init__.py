"""Ids in, chunks out: the loop, its drafters, where it resyncs and how wide a pass is.

Token ids only: no text, no models, no torch. Engines are known by their interface,
`specedit.engines.base`. Decoding reports `Prefill…, Chunk…, Done` while it runs; every number shown
anywhere is computed from these events.
"""

from __future__ import annotations

from dataclasses import dataclass

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
