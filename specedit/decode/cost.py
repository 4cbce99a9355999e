"""What a pass costs on this machine, by width.

Knows (width, seconds) points and draws straight lines between them. Does not know what a pass
does; whoever has an engine measures, whoever has a disk stores.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """Seconds of one pass as a function of its width: linear between points, never falling."""

    points: tuple[tuple[int, float], ...]

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
