"""A backend in this process whose model says what it is told."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from scripted_engine import ScriptedEngine, ScriptedTokenizer

from specedit.decode.width import Widths
from specedit.edit.backend import Answer, Backend, Emit, ModelInfo, Plan, Ready
from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.inference.model import LoadedModel
from specedit.settings import Settings


class Scripted:
    """A backend whose model says what it is told, in a window of a chosen size."""

    server = None
    notes: tuple[str, ...] = ()
    model = ModelInfo("scripted")

    def __init__(self, answer: str | Callable[[str], str], window: int = 1 << 20) -> None:
        def said(prompt: Sequence[int]) -> bytes:
            given = bytes(token for token in prompt if token < 256).decode()
            return (answer if isinstance(answer, str) else answer(given)).encode()

        engine = ScriptedEngine(said, window=window)
        tokenizer = ScriptedTokenizer()

        def render(turns: object, opening: str) -> list[int]:
            assert isinstance(turns, list)
            return tokenizer.encode("".join("".join(parts) + "\n" for _, parts in turns) + opening)

        self._loaded = LoadedModel(self.model, engine, tokenizer, render, Widths())
        self.plans: list[Plan] = []

    def run(self, plan: Plan, emit: Emit) -> Answer:
        self.plans.append(plan)
        emit(Ready(self.model, 0.0))
        return self._loaded.answer(plan, emit)

    def close(self) -> None:
        pass


def perform(job: Job, backend: Backend, settings: Settings, sink: Sink | None = None) -> Edit:
    """One answer to a Job."""
    request = Request("edit", lambda _: job, replace(settings, tries=1), alone=False)
    return run_edit(job.source, request, backend, sink or Sink())
