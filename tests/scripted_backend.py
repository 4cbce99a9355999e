"""A backend in this process whose model says what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from specedit.decode.width import Widths
from specedit.edit.backend import Backend, Event, Plan
from specedit.edit.job import Job
from specedit.edit.report import ModelLine
from specedit.edit.session import run_one
from specedit.engines.scripted import ScriptedEngine, ScriptedTokenizer
from specedit.server.loaded import Loaded
from specedit.settings import Settings


class Scripted:
    """A backend whose model says what it is told, in a window of a chosen size."""

    server = None
    notes: tuple[str, ...] = ()

    def __init__(self, answer: str | Callable[[str], str], window: int = 1 << 20) -> None:
        def said(prompt: Sequence[int]) -> bytes:
            given = bytes(token for token in prompt if token < 256).decode()
            return (answer if isinstance(answer, str) else answer(given)).encode()

        engine = ScriptedEngine(said, window=window)
        tokenizer = ScriptedTokenizer()

        def render(turns: object, opening: str) -> list[int]:
            assert isinstance(turns, list)
            return tokenizer.encode("".join("".join(parts) for _, parts in turns) + opening)

        self._loaded = Loaded(ModelLine("scripted"), engine, tokenizer, render, Widths())
        self.plans: list[Plan] = []

    def run(self, plan: Plan) -> Iterator[Event]:
        self.plans.append(plan)
        return self._loaded.run(plan)

    def close(self) -> None:
        pass


def perform(job: Job, backend: Backend, settings: Settings) -> Iterator[object]:
    """One answer to a Job, its Edit last."""
    settings = replace(settings, tries=1)
    return run_one("edit", job.source, lambda _: job, backend, settings, alone=False)
