"""One Plan run: its events go on, its numbers are folded."""

from __future__ import annotations

import time
from collections.abc import Generator

from specedit.decode.events import FREE
from specedit.edit.backend import Answer, Backend, Event, Loading, Ready, Written
from specedit.edit.plan import Plan
from specedit.edit.report import Figures, Tally
from specedit.engines.base import Prefill
from specedit.errors import InputError


def run(plan: Plan, name: str, backend: Backend) -> Generator[Event, None, tuple[Answer, Figures]]:
    """Run a plan; returns its Answer and what it cost. `name`: of the file that it is for."""
    started = time.perf_counter()
    fold = Fold()
    for event in backend.run(plan):
        fold.add(event)
        yield event
    if fold.answer is None:
        raise InputError("the backend gave no answer.", file=name)
    return fold.answer, fold.figures(time.perf_counter() - started)


class Fold:
    """Every number of one run, from its events."""

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self._passes = 0
        self._load_s = 0.0
        self._drafts: dict[str, Tally] = {}

    def add(self, event: Event) -> None:
        match event:
            case Ready():  # again: the run started over elsewhere, and what came before is void
                self._load_s, self._passes, self._drafts = event.load_s, 0, {}
            case Written():
                chunk = event.chunk
                self._passes += 1
                if chunk.source != FREE:
                    tally = Tally(chunk.proposed, chunk.accepted)
                    self._drafts[chunk.source] = self._drafts.get(chunk.source, Tally()) + tally
            case Answer():
                self.answer = event
            case Loading() | Prefill():
                pass

    def figures(self, total_s: float) -> Figures:
        a = self.answer
        assert a is not None
        return Figures(
            prompt=a.prompt,
            reused=a.reused,
            completion=a.completion,
            passes=a.passes or self._passes,
            drafts=self._drafts,
            load_s=self._load_s,
            prefill_s=a.prefill_s,
            decode_s=a.decode_s,
            total_s=total_s,
            logits_digest=a.logits_digest,
        )
