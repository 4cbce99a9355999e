"""What passes cost here: measured once per model, engine and machine, kept in the store.

A curve whose shape no longer fits what passes take (another load, another CPU behind the same name)
is forgotten, and measured again by the next load. Knows the Engine seam and a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from statistics import median

from specedit.decode.cost import Curve
from specedit.engines.base import Engine
from specedit.report import ModelLine

WIDTHS = (1, 8, 32, 128)  # 1.3 s a round with the 1.5B on two cores
ROUNDS = 2
CONTEXT = 64
NARROW, WIDE = 8, 24
ENOUGH = 6  # passes on each side before a shape is believed
BENT = 1.6  # how far wide against narrow may drift


def place(store: Path, line: ModelLine) -> Path:
    """Where the curve of this model on this engine and machine is kept."""
    machine = (platform.machine(), platform.processor(), platform.node(), os.cpu_count())
    what = (line.name, line.sha256, line.engine, line.device, line.threads, line.note, *machine)
    digest = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    return store / "curves" / f"{line.name.replace('/', '--')}-{digest}.json"


def load(path: Path) -> Curve | None:
    """The stored curve; None when there is none that can be read."""
    try:
        points = json.loads(path.read_text(encoding="utf-8"))["points"]
        return Curve.of([(int(width), float(seconds)) for width, seconds in points])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, curve: Curve) -> None:
    """Keep it; a store that cannot be written costs a measurement, not the run."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps({"points": curve.points}), encoding="utf-8")
        fresh.replace(path)


def measure(engine: Engine) -> Curve:
    """Pass widths against seconds, the better of two rounds; leaves the cache empty."""
    vocabulary = engine.info.vocabulary
    ids = [(7919 * n + 1) % vocabulary for n in range(CONTEXT + max(WIDTHS) + 1)]
    for _ in engine.begin(ids[: CONTEXT + 1]):
        pass
    best: dict[int, float] = {}
    for _ in range(ROUNDS):
        for width in WIDTHS:
            started = time.perf_counter()
            engine.forward(ids[CONTEXT : CONTEXT + width])
            seconds = time.perf_counter() - started
            engine.crop(CONTEXT)
            best[width] = min(seconds, best.get(width, seconds))
    engine.crop(0)
    return Curve.of(best.items())


def bent(curve: Curve, passes: Iterable[tuple[int, float]]) -> bool:
    """Whether wide passes against narrow ones cost something else than the curve says.

    A machine that is slower throughout has the same shape, and the same best widths."""
    narrow, wide = [], []
    for width, seconds in passes:
        ratio = seconds / curve.seconds(width)
        if width <= NARROW:
            narrow.append(ratio)
        elif width >= WIDE:
            wide.append(ratio)
    if min(len(narrow), len(wide)) < ENOUGH:
        return False
    drift = median(wide) / median(narrow)
    return not 1 / BENT < drift < BENT
