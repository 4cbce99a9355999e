"""The cost curve: seconds of a forward pass on this machine, by width.

`measure` times an engine once; `Clock` watches the passes of real work and reports when the machine
behaves differently; `load` and `save` store a curve in a file that the caller names.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from specedit.engines.base import Engine, EngineInfo
from specedit.files import atomic, stored

# the measured widths: processors with tiles take 16 rows at a time, so 17 may cost as much as 32
WIDTHS = (1, 2, 4, 8, 16, 17, 32, 64, 128, 256)
MEASURING_S = 2.0  # seconds that measuring takes at most, but for its first pass
# Those that say most come first: what the time does not suffice for is predicted
MEASURED = (1, 1, 8, 16, 32, 4, 17, 2, 64, 128, 256)
MEASURING_ROUNDS = 4  # as often widths below ONCE_MEASURED_WIDTH are measured
ONCE_MEASURED_WIDTH = 64
POSITIONS_ON_A_CARD = 64  # that passes are measured behind; a recurrent model's first pass differs
RECENT_PASSES = 9  # newest passes of a width that its cost is computed from
MIN_PASSES = 3  # passes of a width before its cost is trusted
DRIFT = 0.15  # a curve that is off by more is replaced
PASSES_BETWEEN_CHECKS = 8  # passes between two checks
STALE = 96  # passes after which the measurements of a width are dropped
MIN_PASS_S, MAX_PASS_S = 1e-8, 3600.0  # seconds of one pass that a stored curve may contain
CURVES_FILE = "curves.json"  # in the store: the curves of every model
Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds of one pass as a function of its width: linear between points, never falling."""

    points: Points

    @classmethod
    def of(cls, points: Iterable[tuple[int, float]]) -> Curve:
        """A curve through `points`, made non-decreasing."""
        rising: list[tuple[int, float]] = []
        for width, seconds in sorted(dict(points).items()):
            least = rising[-1][1] if rising else 0.0
            rising.append((width, max(seconds, least)))
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


TYPICAL = Curve(  # the exact engine, 1.5B, two cores: used until the machine is measured
    ((1, 0.075), (8, 0.107), (16, 0.157), (32, 0.226), (64, 0.454), (128, 0.844), (256, 1.6))
)


class Clock:
    """A curve that follows the machine: medians of recent passes replace the stored values."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self._recent: dict[int, deque[float]] = {}  # nearest measured width -> ratios to `_stored`
        self._last_pass: dict[int, int] = {}  # nearest measured width -> number of its last pass
        self._stored = curve
        self._passes = 0

    def add(self, width: int, seconds: float) -> bool:
        """Count a pass; True if the curve was replaced."""
        if seconds <= 0:
            return False
        near = _nearest(width)
        ratios = self._recent.setdefault(near, deque(maxlen=RECENT_PASSES))
        ratios.append(seconds / self._stored.seconds(width))
        self._passes += 1
        self._last_pass[near] = self._passes
        if self._passes % PASSES_BETWEEN_CHECKS:
            return False
        import statistics  # 3 ms, and few edits take so many passes

        for old in [w for w, last in self._last_pass.items() if self._passes - last >= STALE]:
            # a width that looks too expensive is not used, so its measurement would never change:
            # without this, one busy moment turns drafting off for the rest of the process
            del self._recent[old], self._last_pass[old]
        known = {
            width: statistics.median(ratios)
            for width, ratios in self._recent.items()
            if len(ratios) >= MIN_PASSES
        }
        if not known:
            return False
        other = statistics.median(known.values())
        points = [(w, self._stored.seconds(w) * known.get(w, other)) for w in WIDTHS]
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


def measure(engine: Engine, *, widest: int = WIDTHS[-1]) -> Curve:
    """Measure an engine's curve after the current cache; the cache is unchanged afterwards.

    The best of several times counts, so that a busy moment does not. Widths that MEASURING_S does
    not suffice for are predicted from those that were measured; `Clock` corrects them. On a card,
    where all passes are short, no width's first pass is counted, as it is recorded then."""
    on_card = engine.info.device != "cpu"
    if on_card and not engine.length:
        for _ in engine.begin([0] * (POSITIONS_ON_A_CARD + 1)):
            pass
    base = engine.length
    most = min(widest, engine.info.window - base)
    for width in (width for width in WIDTHS if on_card and width <= most):
        engine.forward([0] * width)
        engine.crop(base)
    again = [width for width in MEASURED[1:] if on_card or width < ONCE_MEASURED_WIDTH]
    began, best = time.perf_counter(), dict[int, float]()
    for width in (*MEASURED, *again * (MEASURING_ROUNDS - 1)):
        started = time.perf_counter()
        expected = best.get(width) or (_predicted(best, width) if best else 0.0)
        if width > most or started + expected > began + MEASURING_S:
            continue
        engine.forward([0] * width)
        seconds = time.perf_counter() - started
        engine.crop(base)
        best[width] = min(seconds, best.get(width, seconds))
    if not best:
        return Curve.of([(1, TYPICAL.seconds(1))])
    more = {width: _predicted(best, width) for width in WIDTHS if max(best) < width <= most}
    return Curve.of({**best, **more}.items())


def _predicted(known: Mapping[int, float], width: int) -> float:
    """The seconds of a pass on the line through the two widest measured widths below it; where
    there is one alone, with the slope that is typical."""
    below = sorted(w for w in known if w <= width and w != 17)[-2:]  # 17: a step, not a slope
    last = below[-1]
    if len(below) == 1:
        return known[last] * TYPICAL.seconds(width) / TYPICAL.seconds(last)
    slope = (known[last] - known[below[0]]) / (last - below[0])
    return known[last] + max(0.0, slope) * (width - last)


def key(model: str, info: EngineInfo) -> str:
    """The key of a stored curve: model, engine and its precision, device, threads."""
    return f"{model} {info.name} {info.note} {info.device} {info.threads}"


def load(path: Path, key: str) -> Curve | None:
    """The curve stored under `key`; None when there is none or it cannot be read."""
    points = curves(path).get(key)
    return Curve.of(points) if points else None


def save(path: Path, key: str, curve: Curve) -> None:
    """Store a curve with those of other models; an unreadable file is replaced."""
    _write(path, {**curves(path), key: curve.points})


def invalidate(path: Path, key: str) -> None:
    """Delete a stored curve that no longer fits, so that it is measured again; at most once an
    hour, because on a busy machine no curve fits for long."""
    known = curves(path)
    if key in known and time.time() - path.stat().st_mtime > 3600:
        del known[key]
        _write(path, known)


def curves(path: Path) -> dict[str, Points]:
    """Every curve of the file that a machine can have; {} where the file is unreadable."""
    known = stored.read(path, dict[str, Points]) or {}
    sound = {
        key: points
        for key, points in known.items()
        if points and all(1 <= w <= 1 << 20 and MIN_PASS_S <= s <= MAX_PASS_S for w, s in points)
    }
    if len(sound) < len(known):
        stored.note_unreadable(path, "widths or seconds that no machine has")
    return sound


def _write(path: Path, known: Mapping[str, Points]) -> None:
    atomic.whole(path, (json.dumps(known, indent=1) + "\n").encode())
