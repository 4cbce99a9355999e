"""What decoding says while it works: `Prefill…, Chunk…, Done`.

Every number shown anywhere is a fold over these events.
"""

from __future__ import annotations

from dataclasses import dataclass

FREE = "free"  # the source of a pass that had no draft


@dataclass(frozen=True)
class Chunk:
    """What one pass settled.

    `tokens` are the committed ids: the accepted part of the draft, then the model's own choice
    (missing only when an accepted token ended the answer). `proposed` counts the draft's ids.
    """

    tokens: tuple[int, ...]
    proposed: int
    accepted: int
    source: str  # the drafter's name, or FREE
    resynced: bool  # the drafter had just found its place again after a divergence
    seconds: float  # forward, crop and drafting together
    which: int = 0  # the prediction that the draft came from, where there were several
    depth: int = 0  # ids in a row that could have been accepted: less than `proposed` of a tree
    drafting: float = 0.0  # of the seconds, those that drafting took

    @property
    def width(self) -> int:
        return 1 + self.proposed


@dataclass(frozen=True)
class Done:
    """The answer is over. `reason`: "stop" (the model or fence did it) or "length" (cut off)."""

    reason: str
    logits_digest: str | None = None
