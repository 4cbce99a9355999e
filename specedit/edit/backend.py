"""The Backend seam: runs a Plan and yields events, in this process or in a warm server.

A run yields `Loading…, Ready, Prefill…, Written…, Answer`. Everything the user sees and every
number in a report is computed from them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

from specedit.decode.events import FREE, Chunk
from specedit.edit.plan import Plan
from specedit.edit.report import Figures, ModelLine, Tally
from specedit.engines.base import Prefill
from specedit.errors import InputError

WAITING = "waiting: "  # how `what` begins where a busy server runs others first


@dataclass(frozen=True)
class Loading:
    """What a run waits for before its model can answer. `total` 0: it is not known."""

    what: str
    done: float = 0.0
    total: float = 0.0
    unit: str = ""  # "bytes" when done and total are


@dataclass(frozen=True)
class Ready:
    """The model can answer. `load_s` is what this run waited for it."""

    model: ModelLine
    load_s: float


@dataclass(frozen=True)
class Written:
    """What one pass settled, as text: one piece per token, never half a character."""

    chunk: Chunk
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Answer:
    """The whole answer, without opening and closing. `reason`: "stop", or "length" when cut off.

    `closed` says whether the closing line was seen (always, when the plan names none)."""

    text: str
    reason: str
    closed: bool
    prompt: int = 0
    reused: int = 0
    completion: int = 0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    logits_digest: str | None = None
    passes: int = 0  # that a remote server tells; 0: each Written was one
    appeared: int = 0  # ids of the prediction that the completion has, where they were counted
    absent: int = 0  # ids of the prediction that it does not have


Event = Loading | Ready | Prefill | Written | Answer


class Backend(Protocol):
    """Where a Plan runs. Closing the generator cancels the run within one pass.

    A `Ready` that comes again says that the run started over: what came before it is void."""

    @property
    def server(self) -> str | None:
        """The server's address for the report; None in this process."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the last run: that a server was lost, what left here."""
        ...

    def run(self, plan: Plan) -> Iterator[Event]: ...

    def close(self) -> None: ...


def run(
    plan: Plan, name: str, backend: Backend, without: tuple[type[Event], ...] = ()
) -> Generator[Event, None, tuple[Answer, Figures]]:
    """Run a plan; returns its Answer and what it cost. `name`: of the file that it is for.
    `without`: events that are not yielded."""
    started = time.perf_counter()
    answer: Answer | None = None
    load_s, passes = 0.0, 0
    drafts: dict[str, Tally] = {}
    for event in backend.run(plan):
        match event:
            case Ready():  # again: the run started over elsewhere, and what came before is void
                load_s, passes, drafts = event.load_s, 0, {}
            case Written(chunk=chunk):
                passes += 1
                if chunk.source != FREE:
                    tally = Tally(chunk.proposed, chunk.accepted)
                    drafts[chunk.source] = drafts.get(chunk.source, Tally()) + tally
            case Answer():
                answer = event
        if not isinstance(event, without):
            yield event
    if answer is None:
        raise InputError("the backend gave no answer.", file=name)
    return answer, Figures(
        prompt=answer.prompt,
        reused=answer.reused,
        completion=answer.completion,
        passes=answer.passes or passes,
        drafts=drafts,
        load_s=load_s,
        prefill_s=answer.prefill_s,
        decode_s=answer.decode_s,
        total_s=time.perf_counter() - started,
        logits_digest=answer.logits_digest,
    )
