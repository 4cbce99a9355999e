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

from specedit.decode.drafters.base import Draft
from specedit.decode.drafters.heads import HeadsAtHand
from specedit.decode.tree import is_chain, straight
from specedit.engines.base import GREEDY, Choices, Engine, Narrows, Sampling, common

CATCH_UP = 24  # ids that are fed in one pass together with the last; more are read in chunks
RECENT = 5  # passes whose median is what one takes: one of them may have had to wait
READ_SHARE = 0.15  # of a narrow pass, what reading one id takes, before that is known
FOLLOWS = 0.9  # of how many ids a pass says, what a new one leaves


@dataclass(frozen=True)
class Next:
    """What comes next: the id it would put there, that id's chance, and the likeliest ids."""

    token: int
    chance: float
    others: tuple[tuple[int, float], ...] = ()
    drawn_from: Any = None  # the distribution it was drawn from, where choices reject


@dataclass(frozen=True)
class Guide:
    """What others think that comes next, a tree: it may be right, and checking it costs a small
    model little more than its next id."""

    ids: Sequence[int] = ()
    parents: Sequence[int] = ()


ALONE = Guide()


class SmallModel:
    """One draft model and its cache."""

    def __init__(
        self,
        engine: Engine,
        name: str = "",
        vocabulary: int = 0,
        usual: Sequence[int] = (),
        heads: HeadsAtHand | None = None,
    ) -> None:
        """`usual`: ids that it may say beside those that it read; none: all. An id that it never
        says is one that others have to find, and the fewer it knows the less a draft costs.
        `heads`: of this model; it drafts for itself then, as it does for the target."""
        self.engine = engine
        self._heads = None
        if heads is not None:
            self._heads = heads.drafter("")
            engine.watch(True)
        self._guessed = False  # whether its own heads are among those that guide the next pass
        self._pace = 1.0  # ids that a pass says which they guided
        self.name = name
        self._usual = usual
        # ids that both models know: what pads a vocabulary is no token
        self.vocabulary = min(vocabulary or engine.info.vocabulary, engine.info.vocabulary)
        self._times: deque[float] = deque(maxlen=RECENT)  # seconds of narrow passes
        self._read = 0.0  # seconds of reading an id, once known
        self.begin(GREEDY)
        self.forget()

    @property
    def each(self) -> float:
        """Seconds of a narrow pass; 0.0 until that is known."""
        return statistics.median(self._times) if self._times else 0.0

    @property
    def pace(self) -> float:
        """Ids that it says in a pass, beyond what others told it."""
        return self._pace

    def warm(self) -> None:
        """Go through the weights once, so that a first draft takes no longer than the others."""
        for _ in range(3):
            self.after([0, 0])
            self.forget()
        del self._times[0]

    def forget(self) -> None:
        """It has read nothing."""
        self._held: list[int] = []

    def begin(self, sampling: Sampling) -> None:
        """A new answer, whose choices are made so."""
        self._sampling = sampling
        self._noise = random.Random(f"drafts {sampling.seed}").random
        if isinstance(self.engine, Narrows):
            self.engine.narrow(() if sampling.temperature > 0 else self._usual)

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
        if self._heads is not None:
            self._heads.begin(ids)
        took = time.perf_counter() - started
        if before > CATCH_UP:
            self._read = took / before
        return took

    def after(self, ids: Sequence[int], count: int = 1, guide: Guide = ALONE) -> list[Next]:
        """What comes behind `ids`, and with it the `count` likeliest ids there; and the same
        behind each id that it says itself as long as `guide` says so too, in one pass. Where the
        guide says something else, its ids are among the likeliest."""
        kept = min(common(self._held, ids), len(ids) - 1)
        if len(ids) - kept > CATCH_UP or not self._held:
            self.read(ids)
            kept = len(ids) - 1
        self.engine.crop(kept)
        fed = list(ids[kept:])
        started = time.perf_counter()
        chain = is_chain(guide.parents)
        if not chain and not self.engine.info.trees:
            rows = straight(guide.parents)
            guide, chain = Guide([guide.ids[row] for row in rows], range(-1, len(rows) - 1)), True
        size = len(fed)
        above = [*range(-1, size - 1), *(parent + size for parent in guide.parents)]
        choices = self.engine.forward([*fed, *guide.ids], None if chain else above)
        found: list[Next] = []
        path = list(range(len(fed)))
        at = -1
        while True:
            here = {guide.ids[row]: row for row, up in enumerate(guide.parents) if up == at}
            found.append(self._next(choices, len(fed) + at, count, list(here)))
            if found[-1].token not in here:
                break
            at = here[found[-1].token]
            path.append(len(fed) + at)
        if chain:
            self.engine.crop(kept + len(path))
        else:
            self.engine.keep(kept, path)
        self._held = [*ids, *(one.token for one in found[:-1])]
        self._times.append(time.perf_counter() - started)
        if self._heads is not None:
            assert choices.states is not None, "an engine that has heads is watched"
            self._heads.see([choices.states[path[-1]]])
            self._heads.commit([*fed, *(one.token for one in found)])
            if self._guessed:
                self._pace = self._pace * FOLLOWS + len(found) * (1 - FOLLOWS)
        self._guessed = False
        return found

    def ahead(self, ids: Sequence[int], room: int) -> Draft | None:
        """What its own heads guess behind `ids`, all of which it has read but the last, which it
        said itself."""
        if self._heads is None or len(ids) != len(self._held) + 1:
            return None
        self._heads.spend(self.each, self.each, self.reading(1))
        draft = self._heads.propose(room)
        self._guessed = draft is not None
        return draft

    def _next(self, choices: Choices, at: int, count: int, also: Sequence[int]) -> Next:
        from specedit.engines.likely import likeliest
        from specedit.engines.sampling import distribution, drawn

        assert choices.rows is not None, "the draft model's engine audits"
        chosen, drawn_from = choices.ids[at], None
        if self._sampling.rejects:
            known = memoryview(choices.rows[at]).cast("B")[: 4 * self.vocabulary]
            drawn_from = distribution(known, self._sampling)
            chosen = drawn(drawn_from, self._noise())
        row, temperature = choices.rows[at], self._sampling.temperature
        said = likeliest(row, temperature, chosen, count, also, choices.among)
        (token, chance), *others = said
        if drawn_from is not None:  # it is kept where the models agree, however unlikely it is
            chance = (1 + chance) / 2
        return Next(token, chance, tuple(others), drawn_from)
