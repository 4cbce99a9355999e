"""The draft model: a small model that reads what was committed and guesses the next ids.

Its cache follows the committed ids by the longest common prefix, as any engine's does. It lives as
long as the target, so the next answer reuses its cache and its measured times.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from specedit.decode.drafter import Draft
from specedit.decode.tree import is_chain, likeliest_chain
from specedit.engines.base import GREEDY, Choices, Engine, Sampling, common
from specedit.import_time import frozen

CATCH_UP = 24  # unread ids that are fed in one pass; more are read in chunks
RECENT = 5  # passes whose median is the time of one
READ_SHARE = 0.15  # assumed time of reading one id, in narrow passes, before it is measured


@frozen
class Next:
    """The model's choice of the next id, its probability, and the next best ids."""

    token: int
    chance: float
    others: tuple[tuple[int, float], ...] = ()
    sampled_from: Any = None  # the distribution, with rejection sampling


class SmallModel:
    """One draft model and its cache."""

    def __init__(
        self,
        engine: Engine,
        name: str = "",
        vocabulary: int = 0,
        frequent: Sequence[int] = (),
    ) -> None:
        """`frequent`: the ids that it may choose, beside those that it read; empty: all. Fewer ids
        make a draft cheaper."""
        self.engine = engine
        self.name = name
        self._frequent = frequent
        # ids that both models have: padding of a vocabulary is not a token
        self.vocabulary = min(vocabulary or engine.info.vocabulary, engine.info.vocabulary)
        self._times: deque[float] = deque(maxlen=RECENT)  # seconds of narrow passes
        self._read = 0.0  # seconds of reading an id, once known
        self.begin(GREEDY)
        self.forget()

    @property
    def each(self) -> float:
        """Seconds of a narrow pass; 0.0 until it is known."""
        import statistics  # 3 ms, only with a draft model

        return statistics.median(self._times) if self._times else 0.0

    def warm(self) -> None:
        """Read the weights once, so that the first draft is not slower than the others."""
        for _ in range(3):
            self.after([0, 0])
            self.forget()
        del self._times[0]

    def forget(self) -> None:
        """Forget what was read."""
        self._read_ids: list[int] = []

    def begin(self, sampling: Sampling) -> None:
        """Start a new answer."""
        self._sampling = sampling
        self._noise = random.Random(f"drafts {sampling.seed}").random
        narrow = getattr(self.engine, "narrow", None)  # choose among some ids, which is faster
        if narrow is not None:
            narrow(() if sampling.temperature > 0 else self._frequent)

    def behind(self, ids: Sequence[int]) -> int:
        """How many of `ids` it has not read."""
        return len(ids) - common(self._read_ids, ids)

    def reading(self, count: int) -> float:
        """Estimated seconds of reading `count` ids."""
        return count * (self._read or READ_SHARE * self.each)

    def fits(self, length: int) -> bool:
        return length <= self.engine.info.window

    def read(self, ids: Sequence[int]) -> float:
        """Read all of `ids` but the last; returns the seconds."""
        started = time.perf_counter()
        before = self.behind(ids)
        sampling = GREEDY if self._sampling.rejects else self._sampling
        for _ in self.engine.begin(ids, sampling, audit=True):
            pass
        self._read_ids = list(ids[:-1])
        took = time.perf_counter() - started
        if before > CATCH_UP:
            self._read = took / before
        return took

    def after(self, ids: Sequence[int], count: int = 1, guide: Draft | None = None) -> list[Next]:
        """The choice after `ids` with the `count` likeliest ids there, and, in the same pass, the
        same after each chosen id that `guide` has too: ids that other drafters propose. Where the
        guide differs, its ids are among the likeliest."""
        guided = guide.ids if guide else ()
        parents = guide.parents or () if guide else ()
        start = min(common(self._read_ids, ids), len(ids) - 1)
        if len(ids) - start > CATCH_UP or not self._read_ids:
            self.read(ids)
            start = len(ids) - 1
        self.engine.crop(start)
        fed = list(ids[start:])
        started = time.perf_counter()
        is_line = is_chain(parents)
        if not is_line and not self.engine.info.trees:
            rows = likeliest_chain(parents)
            guided, parents, is_line = [guided[row] for row in rows], range(-1, len(rows) - 1), True
        size = len(fed)
        above = [*range(-1, size - 1), *(parent + size for parent in parents)]
        choices = self.engine.forward([*fed, *guided], None if is_line else above)
        chain: list[Next] = []
        path = list(range(len(fed)))
        at = -1
        while True:
            here = {guided[row]: row for row, up in enumerate(parents) if up == at}
            chain.append(self._next(choices, len(fed) + at, count, list(here)))
            if chain[-1].token not in here:
                break
            at = here[chain[-1].token]
            path.append(len(fed) + at)
        if is_line:
            self.engine.crop(start + len(path))
        else:
            self.engine.keep(start, path)
        self._read_ids = [*ids, *(one.token for one in chain[:-1])]
        self._times.append(time.perf_counter() - started)
        return chain

    def _next(self, choices: Choices, at: int, count: int, also: Sequence[int]) -> Next:
        from specedit.engines.sampling import distribution, likeliest, sampled

        assert choices.rows is not None, "the draft model's engine audits"
        chosen, sampled_from = choices.ids[at], None
        if self._sampling.rejects:
            known = memoryview(choices.rows[at]).cast("B")[: 4 * self.vocabulary]
            sampled_from = distribution(known, self._sampling)
            chosen = sampled(sampled_from, self._noise())
        row, temperature = choices.rows[at], self._sampling.temperature
        ranked = likeliest(row, temperature, chosen, count, also, choices.among)
        (token, chance), *others = ranked
        if sampled_from is not None:  # it is accepted where the models agree, however unlikely
            chance = (1 + chance) / 2
        return Next(token, chance, tuple(others), sampled_from)
