"""The seam of a peer: a task in, a measured run out.

Two kinds of task. *Dictated*: `answer` holds the ids of the answer, and every peer does all the
work of choosing but then takes those ids, so that all write the same text and time compares with
time. *Own*: `answer` is empty, each peer writes what its own arithmetic chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from specedit.decode.events import Chunk
from specedit.edit.answer import Pieces, Reader, reader_of
from specedit.edit.plan import Plan
from specedit.settings import Settings


@dataclass(frozen=True)
class Task:
    """The same for every peer: prompt ids and where to stop; the Plan is for specedit."""

    id: str
    plan: Plan
    prompt: tuple[int, ...]
    answer: tuple[int, ...]  # () for the peer's own
    limit: int

    @property
    def dictated(self) -> bool:
        return bool(self.answer)


@dataclass(frozen=True)
class Spent:
    """Where decoding's time went, pass by pass."""

    free: int = 0  # passes without a draft
    free_s: float = 0.0
    drafted: int = 0
    drafted_s: float = 0.0
    rejected: int = 0  # ids
    rejected_s: float = 0.0  # of `drafted_s`, the rejected ids' share of their passes' ids

    def after(self, chunk: Chunk) -> Spent:
        """With one more pass."""
        if not chunk.proposed:
            return replace(self, free=self.free + 1, free_s=self.free_s + chunk.seconds)
        lost = chunk.proposed - chunk.accepted
        return replace(
            self,
            drafted=self.drafted + 1,
            drafted_s=self.drafted_s + chunk.seconds,
            rejected=self.rejected + lost,
            rejected_s=self.rejected_s + chunk.seconds * lost / (1 + chunk.proposed),
        )


@dataclass(frozen=True)
class PeerRun:
    """What one peer did with one task. `passes` 0 where the peer does not tell."""

    prefill_s: float  # until the prompt is in the cache
    decode_s: float
    tokens: tuple[int, ...]
    passes: int = 0
    proposed: int = 0
    accepted: int = 0
    spent: Spent | None = None  # where the peer tells of each pass
    ahead: int = 0  # tokens that came within `prefill_s`

    @property
    def total_s(self) -> float:
        return self.prefill_s + self.decode_s


@dataclass(frozen=True)
class PeerOptions:
    """What every peer is opened with. Precision and engine among the settings are specedit's."""

    settings: Settings
    threads: int
    window: int  # positions the longest task needs

    @property
    def model(self) -> str:
        return self.settings.model


class Peer(Protocol):
    """One program with its weights in memory."""

    note: str  # how it was run, for the report

    def run(self, task: Task, way: str) -> PeerRun: ...


def ender(pieces: Pieces, task: Task) -> Reader:
    """Tells when the peer's own answer is over, by the same rule for all."""
    return reader_of(task.plan, pieces)


def cut(pieces: Pieces, task: Task, tokens: Sequence[int]) -> tuple[int, ...]:
    """The ids up to the one that ends the answer."""
    if task.dictated:
        return tuple(tokens[: len(task.answer)])
    reader = ender(pieces, task)
    for at, token in enumerate(tokens):
        if reader.ends(token):
            return tuple(tokens[: at + 1])
    return tuple(tokens)
