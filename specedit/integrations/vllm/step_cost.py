"""The seconds of a server's step by its ids, measured while it serves.

A step is one forward pass over all requests. The model is a line, `start + each * ids`, through the
medians of recent steps of each size.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import dataclass

RECENT = 9  # steps of a size whose median counts
EVERY = 8  # steps between looks at the line
LEAST = 1.001  # `start` in ids is at least this: never less than one id's cost
GRAIN = 8  # values of the ratio per power of two


@dataclass(frozen=True)
class StepCost:
    """Seconds of a step of n ids: `start + each * n`."""

    start: float
    each: float


UNKNOWN = StepCost(40.0, 1.0)  # a step costs as much as forty ids more


class Steps:
    """The line that recent steps lie on."""

    def __init__(self) -> None:
        self.line = UNKNOWN
        self._recent: dict[int, deque[tuple[int, float]]] = {}
        self._count = 0

    def add(self, ids: int, seconds: float) -> None:
        """A step without a prompt took so many seconds for `ids` ids."""
        if ids < 1 or seconds <= 0:
            return
        size = ids.bit_length()
        self._recent.setdefault(size, deque(maxlen=RECENT)).append((ids, seconds))
        self._count += 1
        if self._count == 1 or self._count % EVERY == 0:
            self.line = self._fitted()

    @property
    def known(self) -> bool:
        """Whether a step was measured."""
        return self._count > 0

    def _fitted(self) -> StepCost:
        """The line through the medians, by least squares of relative errors. One size alone does
        not say what an id costs: the last line is scaled to it."""
        points = [
            (
                statistics.median(ids for ids, _ in recent),
                statistics.median(seconds for _, seconds in recent),
            )
            for recent in self._recent.values()
        ]
        if len(points) == 1:
            (ids, seconds) = points[0]
            scale = seconds / (self.line.start + self.line.each * ids)
            return StepCost(self.line.start * scale, self.line.each * scale)
        a = b = c = d = e = 0.0
        for ids, seconds in points:  # weights 1 / seconds²
            w = 1 / (seconds * seconds)
            a, b, c = a + w, b + w * ids, c + w * ids * ids
            d, e = d + w * seconds, e + w * ids * seconds
        det = a * c - b * b
        each = (a * e - b * d) / det if det > 1e-12 * a * c else 0.0
        start = (d - each * b) / a
        if each <= 0:  # wider steps were no dearer: an id more is nearly free
            start, each = d / a, (d / a) / 1000
        if start < each:
            each = e / c
            start = each * LEAST
        return StepCost(start, each)

    def share(self, requests: int) -> float:
        """One request's seconds of a step without drafts, of so many requests."""
        return self.line.start / max(1, requests) + self.line.each

    def ratio(self, requests: int) -> float:
        """What a request's share of a step costs besides its own id, in ids.

        An id more costs the server `each`; a step less of one request saves its id and its share
        of `start`, because the others continue. So the fuller the batch, the less a draft may
        cost. The drafts of other requests do not count: they are verified anyway. The result is
        rounded, so that few curves are needed."""
        exact = max(self.share(requests) / self.line.each - 1, 1 / 64)
        return float(2 ** (round(math.log2(exact) * GRAIN) / GRAIN))
