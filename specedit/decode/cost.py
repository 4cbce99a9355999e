"""What a pass costs on this machine, by width.

Knows (width, seconds) points and draws straight lines between them. Does not know what a pass
does. `measure` asks an engine once, in seconds; `Clock` watches the passes of real work and says
when the machine behaves differently; `load` and `save` keep a curve in a file the caller names.
"""

from __future__ import annotations

import json
import statistics
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from specedit.engines.base import Engine, EngineInfo
from specedit.files import atomic, stored

# what is measured: processors with tiles take 16 rows at a time, so 17 may cost what 32 do
WIDTHS = (1, 2, 4, 8, 16, 17, 32, 64, 128, 256)
WIDE = 64  # passes from here on are measured once,
ROUNDS = 4  # and narrower ones so often
RECENT = 9  # passes of a width that its cost is read from
ENOUGH = 3  # passes of a width before they are believed
DRIFT = 0.15  # a curve this far off is replaced
EVERY = 8  # passes between looks
STALE = 96  # passes after which what a width cost then says nothing of now
SHORTEST, LONGEST = 1e-8, 3600.0  # seconds of one pass that a kept curve may name
Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Curve:
    """Seconds of one pass as a function of its width: linear between points, never falling."""

    points: Points

    @classmethod
    def of(cls, points: Iterable[tuple[int, float]]) -> Curve:
        """A curve through `points`; a wider pass is never taken to be cheaper than a narrower."""
        rising: list[tuple[int, float]] = []
        for width, seconds in sorted(dict(points).items()):
            floor = rising[-1][1] if rising else 0.0
            rising.append((width, max(seconds, floor)))
        if not rising:
            raise ValueError("a cost curve needs at least one point")
        return cls(tuple(rising))

    @classmethod
    def line(cls, a: float, b: float) -> Curve:
        """Seconds a + b * width."""
        return cls(((1, a + b), (1025, a + b * 1025)))

    def seconds(self, width: int) -> float:
        points = self.points
        if len(points) == 1:
            return points[0][1]
        at = min(max(bisect_left(points, (width, 0.0)), 1), len(points) - 1)
        (w0, s0), (w1, s1) = points[at - 1], points[at]
        if width <= w0:
            return s0
        return s0 + (s1 - s0) * (width - w0) / (w1 - w0)


TYPICAL = Curve(  # the exact engine, 1.5B, two cores: where measuring starts from
    ((1, 0.075), (8, 0.107), (16, 0.157), (32, 0.226), (64, 0.454), (128, 0.844), (256, 1.6))
)


class Clock:
    """A curve that follows the machine: the medians of recent passes replace what was believed."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self._recent: dict[int, deque[float]] = {}  # nearest measured width -> ratios to belief
        self._seen: dict[
            int, int
        ] = {}  # nearest measured width -> the pass that was the last of it
        self._believed = curve
        self._passes = 0

    def add(self, width: int, seconds: float) -> bool:
        """Count a pass; whether the curve is a new one now."""
        if seconds <= 0:
            return False
        near = _nearest(width)
        ratios = self._recent.setdefault(near, deque(maxlen=RECENT))
        ratios.append(seconds / self._believed.seconds(width))
        self._passes += 1
        self._seen[near] = self._passes
        if self._passes % EVERY:
            return False
        for old in [w for w, last in self._seen.items() if self._passes - last >= STALE]:
            # a width that looked too dear is not tried, so it would look so for ever: a busy moment
            # took every draft away from the tenth answer of a process on
            del self._recent[old], self._seen[old]
        known = {
            width: statistics.median(ratios)
            for width, ratios in self._recent.items()
            if len(ratios) >= ENOUGH
        }
        if not known:
            return False
        other = statistics.median(known.values())
        points = [(w, self._believed.seconds(w) * known.get(w, other)) for w in WIDTHS]
        fresh = Curve.of(points)
        off = max(abs(s / self.curve.seconds(w) - 1) for w, s in fresh.points)
        if off <= DRIFT:
            return False
        self.curve = fresh
        return True


def _nearest(width: int) -> int:
    return min(
        WIDTHS, key=lambda w: abs(w.bit_length() - width.bit_length()) * 1024 + abs(w - width)
    )


def measure(engine: Engine, token: int = 0, *, widest: int = WIDTHS[-1]) -> Curve:
    """The curve of an engine behind what its cache holds; the cache is left as it was.

    Narrow widths are timed in turn, `ROUNDS` times, and the best is taken: a busy moment makes all
    of them dearer, not one. The first pass of all is not counted."""
    base = engine.length
    most = min(widest, engine.info.window - base)
    widths = [width for width in WIDTHS if width <= most]
    narrow = [width for width in widths if width < WIDE]
    best: dict[int, float] = {}
    for number, width in enumerate((*widths[:1], *widths, *narrow * (ROUNDS - 1))):
        started = time.perf_counter()
        engine.forward([token] * width)
        seconds = time.perf_counter() - started
        engine.crop(base)
        if number:
            best[width] = min(seconds, best.get(width, seconds))
    return Curve.of(best.items() or [(1, TYPICAL.seconds(1))])


def key(model: str, info: EngineInfo) -> str:
    """What a curve is of: the same model, engine (and its precision), device, threads."""
    return f"{model} {info.name} {info.note} {info.device} {info.threads}"


def load(path: Path, key: str) -> Curve | None:
    """The curve kept under `key`; None where there is none that can be read."""
    points = curves(path).get(key)
    return Curve.of(points) if points else None


def save(path: Path, key: str, curve: Curve) -> None:
    """Keep a curve beside those of other models; an unreadable file is replaced."""
    _write(path, {**curves(path), key: curve.points})


def doubt(path: Path, key: str) -> None:
    """Remove a curve that recent passes did not follow, so that it is measured again.

    At most once an hour: on a busy machine nothing holds for long. What busy passes seemed to cost
    is never kept, because widths that look too dear are not tried again."""
    known = curves(path)
    if key in known and time.time() - path.stat().st_mtime > 3600:
        del known[key]
        _write(path, known)


def curves(path: Path) -> dict[str, Points]:
    """Every curve of the file that a machine can have; {} where the file is unreadable."""
    known = stored.read(path, dict[str, Points]) or {}
    sound = {key: points for key, points in known.items() if _possible(points)}
    if len(sound) < len(known):
        stored.note_unreadable(path, "widths or seconds that no machine has")
    return sound


def _possible(points: Points) -> bool:
    return bool(points) and all(
        1 <= width <= 1 << 20 and SHORTEST <= seconds <= LONGEST for width, seconds in points
    )


def _write(path: Path, known: Mapping[str, Points]) -> None:
    atomic.whole(path, (json.dumps(known, indent=1) + "\n").encode())
