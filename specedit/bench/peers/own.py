"""specedit itself, predicted and plain: the model and the loop that `specedit edit` uses.

A dictated task wraps the engine: each pass is computed in full, and then says the dictated ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from specedit.backends import starting as loading
from specedit.backends.running import Loaded
from specedit.bench.peers.base import PeerOptions, PeerRun, Spent, Task
from specedit.decode.events import FREE
from specedit.edit.backend import Answer, Written
from specedit.edit.plan import Plan
from specedit.engines.base import GREEDY, Choices, Engine, EngineInfo, Prefill, Sampling, depths
from specedit.errors import ModelError
from specedit.settings import Settings


class Dictated:
    """An engine that works as its inner one does, and chooses what it is told."""

    def __init__(self, inner: Engine, start: int, answer: Sequence[int]) -> None:
        self._inner = inner
        self._start = start  # positions of the prompt
        self._answer = answer

    @property
    def info(self) -> EngineInfo:
        return self._inner.info

    @property
    def length(self) -> int:
        return self._inner.length

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        return self._inner.begin(prompt, sampling, audit=audit)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        first = self._inner.length + 1 - self._start
        choices = self._inner.forward(ids, parents)
        said, told = choices.ids, self._answer
        where = range(len(ids)) if parents is None else depths(parents)
        return replace(
            choices,
            ids=[
                told[first + at] if first + at < len(told) else own
                for at, own in zip(where, said, strict=True)
            ],
        )

    def crop(self, length: int) -> None:
        self._inner.crop(length)

    def keep(self, start: int, rows: Sequence[int]) -> None:
        self._inner.keep(start, rows)

    def watch(self, on: bool) -> None:
        self._inner.watch(on)


class Own:
    """specedit in this process."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        info = loaded.engine.info
        exact = "exact" if info.exact else "not exact"
        self.note = f"{info.name} engine, {exact}, {info.threads} threads"

    def run(self, task: Task, way: str) -> PeerRun:
        plan = replace(task.plan, fresh=True, max_tokens=task.limit)
        if way == "plain":
            plan = replace(plan, prediction=None, draft=())
        if not task.dictated:
            return self._run(plan)
        engine = self.loaded.engine
        self.loaded.engine = Dictated(engine, len(task.prompt), task.answer)
        try:
            done = self._run(unending(plan))
        finally:
            self.loaded.engine = engine
        if done.tokens != task.answer:
            raise ModelError(f"{task.id}: {len(done.tokens)} of {len(task.answer)} ids written")
        return done

    def _run(self, plan: Plan) -> PeerRun:
        tokens: list[int] = []
        passes = proposed = accepted = 0
        spent = Spent()
        answer: Answer | None = None
        for event in self.loaded.run(plan):
            match event:
                case Written():
                    chunk = event.chunk
                    tokens += chunk.tokens
                    passes += 1
                    spent = spent.after(chunk)
                    if chunk.source != FREE:
                        proposed += chunk.proposed
                        accepted += chunk.accepted
                case Answer():
                    answer = event
        assert answer is not None, "a run ends with its Answer"
        prefill, decode = answer.prefill_s, answer.decode_s
        return PeerRun(prefill, decode, tuple(tokens), passes, proposed, accepted, spent)


def unending(plan: Plan) -> Plan:
    """The same prediction, and nothing in the answer ends it: a given answer is written whole."""
    if plan.prediction is None:
        return replace(plan, closing="")
    return replace(plan, prediction=plan.prediction + plan.closing, closing="")


def load(settings: Settings, home: Path | None = None) -> Loaded:
    """A model ready to answer, as `specedit edit` has it."""
    events = loading.load(settings, home)
    while True:
        try:
            next(events)
        except StopIteration as end:
            loaded: Loaded = end.value
            return loaded


def open_peer(options: PeerOptions) -> Own:
    return Own(load(replace(options.settings, threads=options.threads, server="off")))
