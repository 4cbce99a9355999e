"""What one pass costs here, by its width: the engine that `specedit edit` would use.

Widths alternate, so that a noisy moment spoils no single one; the median of each is given.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from specedit.bench.peers.own import load
from specedit.engines.base import Engine
from specedit.settings import Settings

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTEXT = 1024
ROUNDS = 5


def measure(
    settings: Settings, *, context: int = CONTEXT, rounds: int = ROUNDS
) -> Iterator[tuple[int, float]]:
    """(width, median seconds) after `context` positions."""
    engine = load(settings).engine
    yield from of_engine(engine, context=context, rounds=rounds)


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
