"""specedit, predicted and plain: the model and the loop that `specedit edit` uses."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from benchmarks.speed.peers import PLAIN, PREDICTED, PeerOptions, PeerRun, Task
from specedit.decode import Tally
from specedit.decode.drafters import HEADS_NAMES
from specedit.edit.backend import Event, Plan, Written, unreported
from specedit.engines.base import GREEDY, Choices, Engine, Prefill, Sampling, depths
from specedit.engines.exact.engine import ExactEngine
from specedit.errors import ModelError, UsageError
from specedit.inference.loading import heads_of, load
from specedit.inference.model import LoadedModel
from specedit.models.store import store_path

ROUNDS = 5


class Dictated:
    """An engine that computes each pass in full, and then chooses the ids it is given."""

    def __init__(self, inner: Engine, prompt: int, answer: Sequence[int]) -> None:
        self._inner = inner
        self._prompt = prompt
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        return self._inner.begin(prompt, sampling, audit=audit)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        first, answer = self._inner.length + 1 - self._prompt, self._answer
        choices = self._inner.forward(ids, parents)
        where = range(len(ids)) if parents is None else depths(parents)
        dictated = [
            answer[first + at] if first + at < len(answer) else chosen
            for at, chosen in zip(where, choices.ids, strict=True)
        ]
        return replace(choices, ids=dictated)


class Own:
    """specedit in this process."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self._heads = {**loaded.heads}
        info = loaded.engine.info
        exact = "exact" if info.exact else "not exact"
        self.note = f"{info.name} engine, {exact}, {info.threads} threads"

    def run(self, task: Task, way: str) -> PeerRun | None:
        """`way`: predicted as the settings say, plain, or the names of drafters. None where such a
        drafter is not there."""
        loaded, plan = self.loaded, replace(task.plan, fresh=True, max_tokens=task.limit)
        loaded.heads = {**self._heads}
        if way != PREDICTED:
            plan = replace(plan, draft=() if way == PLAIN else tuple(way.split(",")))
            if not {"prediction", "auto"} & {*plan.draft}:
                plan = replace(plan, prediction=None)
        passes = getattr(loaded.engine, "passes", None)
        if loaded.small is not None:
            loaded.small.forget()  # what an earlier run read is not free
        try:
            if way != PREDICTED and passes and {*plan.draft} & {*HEADS_NAMES}:
                # every kind of heads, not only what auto takes
                loaded.heads = heads_of(loaded.engine, HEADS_NAMES, loaded.line.name, store_path())
            run = run_plan(loaded, plan, task)
        except UsageError:
            return None
        if task.dictated and run.tokens != task.answer:
            raise ModelError(f"{task.id}: {len(run.tokens)} of {len(task.answer)} ids written")
        return run

    def passes(self, context: int, widths: Sequence[int]) -> dict[str, dict[int, float]]:
        """Seconds of a pass behind `context` positions by its width, and of two parts of it."""
        engine = self.loaded.engine
        ids = [n * 7919 % min(engine.info.vocabulary, 50_000) for n in range(context + 1)]
        for _ in engine.begin(ids):
            pass

        def one(width: int) -> None:
            engine.forward(ids[:width])
            engine.crop(context)

        table = {engine.info.name: medians(one, widths)}
        if isinstance(engine, ExactEngine):
            kernels, cache = engine.passes, engine.cache
            table["of it, int8 products"] = medians(kernels.products, widths)
            table["of it, attention"] = medians(
                lambda width: kernels.attention(cache, context, width), widths
            )
        return table


def run_plan(loaded: LoadedModel, plan: Plan, task: Task) -> PeerRun:
    """A measured run. A dictated answer is written whole, whatever the model would choose."""
    engine = loaded.engine
    if task.dictated:
        loaded.engine = cast(Engine, Dictated(engine, len(task.prompt), task.answer))
        prediction = plan.prediction if plan.prediction is None else plan.prediction + plan.closing
        plan = replace(plan, prediction=prediction, closing="")  # nothing in the text ends it
    events: list[Event] = []
    try:
        answer = loaded.answer(plan, events.append)
    finally:
        loaded.engine = engine
    drafted = sum(answer.drafts.values(), Tally())
    return PeerRun(
        answer.prefill_s,
        answer.decode_s,
        tuple(id for event in events if isinstance(event, Written) for id in event.chunk.tokens),
        answer.passes,
        drafted.proposed,
        drafted.accepted,
    )


def medians(run: Callable[[int], object], widths: Sequence[int]) -> dict[int, float]:
    """Median seconds of `run` by width. Widths alternate; the first round only warms up."""
    seconds: dict[int, list[float]] = {width: [] for width in widths}
    for number in range(ROUNDS + 1):
        for width in widths:
            started = time.perf_counter()
            run(width)
            if number:
                seconds[width].append(time.perf_counter() - started)
    return {width: statistics.median(values) for width, values in seconds.items()}


def open_peer(options: PeerOptions) -> Own:
    return Own(load(replace(options.settings, threads=options.threads, server="off"), unreported))
