"""What one pass costs here, by its width: our engine beside bf16 and llama.cpp.

The exact engine's table is `bench.engine`'s; any other engine is measured here, alone: widths
alternate, so that a noisy moment spoils no single one, and the median of each is given.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping

from specedit.bench.peers.own import load
from specedit.decode.cost import WIDTHS
from specedit.engines import exact
from specedit.engines.base import Engine
from specedit.settings import Settings

CONTEXT = 1024
ROUNDS = 5
PART = "of it, "  # begins the name of what is measured alone: a part of the engine before it


def measure(settings: Settings, threads: int) -> dict[str, list[tuple[int, float]]]:
    """For each engine, and parts of ours: (width, median seconds) after `CONTEXT` positions."""
    if settings.engine in ("auto", "exact") and exact.available() is None:
        from specedit.bench import engine as table

        options = Namespace(
            model=settings.model, context=CONTEXT, threads=threads, precision=settings.precision
        )
        measured: dict[str, list[tuple[int, float]]] = {}
        for name, found in table.widths(options).items():
            measured[name] = _points(found["passes"])
            for part, points in found.get("parts", {}).items():
                measured[PART + part] = _points(points)
        return measured
    engine = load(settings).engine
    return {engine.info.name: list(of_engine(engine, context=CONTEXT, rounds=ROUNDS))}


def _points(seconds: Mapping[str, float]) -> list[tuple[int, float]]:
    return [(int(width), float(s)) for width, s in seconds.items()]


def of_engine(engine: Engine, *, context: int, rounds: int) -> Iterator[tuple[int, float]]:
    vocabulary = engine.info.vocabulary
    prompt = [(n * 7919) % min(vocabulary, 50_000) for n in range(context + 1)]
    for _ in engine.begin(prompt):
        pass
    held = engine.length
    taken: dict[int, list[float]] = {w: [] for w in WIDTHS}
    for turn in range(rounds + 1):
        for width in WIDTHS:
            ids = prompt[:width]
            started = time.perf_counter()
            engine.forward(ids)
            seconds = time.perf_counter() - started
            engine.crop(held)
            if turn:  # the first turn warms up
                taken[width].append(seconds)
    for width, values in taken.items():
        yield width, statistics.median(values)
