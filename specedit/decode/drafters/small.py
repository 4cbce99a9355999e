"""A small model beside the target: it reads what was committed and says what may come next.

Knows an Engine of its own and how long its passes take. Its cache follows what is committed by the
longest common prefix, as any engine's does. Does not know widths, nor what the target costs.
It lives as long as the target does: the next answer finds its cache and its times.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specedit.engines.base import GREEDY, Engine, Sampling, common

CATCH_UP = 24  # ids that are fed in one pass together with the last; more are read in chunks
RECENT = 5  # passes whose median is what one takes: one of them may have had to wait
READ_SHARE = 0.15  # of a narrow pass, what reading one id takes, before that is known


@dataclass(frozen=True)
class Next:
    """What comes next: the id it would put there, that id's chance, and the likeliest ids."""

    token: int
    chance: float
    others: tuple[tuple[int, float], ...] = ()
    drawn_from: Any = None  # the distribution it was drawn from, where choices reject


class SmallModel:
    """One draft model and its cache."""

    def __init__(self, engine: Engine, name: str = "", vocabulary: int = 0) -> None:
        self.engine = engine
        self.name = name
        # ids that both models know: what pads a vocabulary is no token
        self.vocabulary = min(vocabulary or engine.info.vocabulary, engine.info.vocabulary)
        self._times: deque[float] = deque(maxlen=RECENT)  # seconds of narrow passes
        self._read = 0.0  # seconds of reading an id, once known
        self.begin(GREEDY)
        self._held: list[int] = []

    @property
    def each(self) -> float:
        """Seconds of a narrow pass; 0.0 until that is known."""
        return statistics.median(self._times) if self._times else 0.0

    def warm(self) -> None:
        """Go through the weights once, so that a first draft takes no longer than the others."""
        for _ in range(3):
            self.after([0, 0])
            self._held = []
        del self._times[0]

    def begin(self, sampling: Sampling) -> None:
        """A new answer, whose choices are made so."""
        self._sampling = sampling
        self._noise = random.Random(f"drafts {sampling.seed}").random

    def behind(self, ids: Sequence[int]) -> int:
        """How many of `ids` it has not read."""
        return len(ids) - common(self._held, ids)

    def reading(self, count: int) -> float:
        """Seconds that reading so many ids takes, as far as is known."""
        return count * (self._read or READ_SHARE * self.each)

    def fits(self, length: int) -> bool:
        return length <= self.engine.info.window

    def read(self, ids: Sequence[int]) -> float:
        """Read all of `ids` but the last; the seconds that took."""
        started = time.perf_counter()
        before = self.behind(ids)
        sampling = GREEDY if self._sampling.rejects else self._sampling
        for _ in self.engine.begin(ids, sampling, audit=True):
            pass
        self._held = list(ids[:-1])
        took = time.perf_counter() - started
        if before > CATCH_UP:
            self._read = took / before
        return took

    def after(self, ids: Sequence[int], count: int = 1) -> Next:
        """What comes behind `ids`, and with it the `count` likeliest ids there."""
        from specedit.engines.likely import likeliest
        from specedit.engines.sampling import distribution, drawn

        kept = min(common(self._held, ids), len(ids) - 1)
        if len(ids) - kept > CATCH_UP or not self._held:
            self.read(ids)
            kept = len(ids) - 1
        self.engine.crop(kept)
        fed = list(ids[kept:])
        self._held = list(ids)
        started = time.perf_counter()
        choices = self.engine.forward(fed)
        assert choices.rows is not None, "the draft model's engine audits"
        chosen, drawn_from = choices.ids[-1], None
        if self._sampling.rejects:
            known = memoryview(choices.rows[-1]).cast("B")[: 4 * self.vocabulary]
            drawn_from = distribution(known, self._sampling)
            chosen = drawn(drawn_from, self._noise())
        found = likeliest(choices.rows[-1], self._sampling.temperature, chosen, count)
        self._times.append(time.perf_counter() - started)
        (token, chance), *others = found
        if drawn_from is not None:  # it is kept where the models agree, however unlikely it is
            chance = (1 + chance) / 2
        return Next(token, chance, tuple(others), drawn_from)
