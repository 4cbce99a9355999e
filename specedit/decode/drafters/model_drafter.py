"""Drafts from a small model: the chain of its own greedy or sampled choices.

Each id costs a pass of the small model, so the draft ends where the cumulative probability says
that one more id is not worth that time. The small model reads the prompt only once passes of the
target that settled few ids have cost as much as that reading: a copied answer never needs it.

The small model's cache follows the committed ids by the longest common prefix, as any engine's
does. It lives as long as the target, so the next answer reuses its cache and its measured times.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specedit.decode import Draft
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.tree import is_chain, likeliest_chain, merge_drafts
from specedit.engines.base import GREEDY, Choices, Engine, SampledIds, Sampling, common

CATCH_UP = 24  # unread ids that are fed in one pass; more are read in chunks
RECENT_PASSES = 5  # passes whose median is the time of one
READ_SHARE = 0.15  # assumed time of reading one id, in narrow passes, before it is measured


@dataclass(frozen=True, slots=True)
class Next:
    """The model's choice of the next id, its probability, and the next best ids."""

    token: int
    chance: float
    others: tuple[tuple[int, float], ...] = ()
    sampled_from: Any = None  # the distribution, with rejection sampling


class SmallModel:
    """One draft model and its cache."""

    def __init__(
        self, engine: Engine, name: str = "", vocabulary: int = 0, frequent: Sequence[int] = ()
    ) -> None:
        """`frequent`: the ids that it may choose, besides those that it read; empty: all. Fewer ids
        make a draft cheaper."""
        self.engine = engine
        self.name = name
        self._frequent = frequent
        # ids that both models have: padding of a vocabulary is not a token
        self.vocabulary = min(vocabulary or engine.info.vocabulary, engine.info.vocabulary)
        self._times: deque[float] = deque(maxlen=RECENT_PASSES)  # seconds of narrow passes
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
        self._read_ids = [*ids, *(draft.token for draft in chain[:-1])]
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


MAX_DRAFT_IDS = 16  # ids of a draft
GUIDING = 8  # ids of other drafts that one pass of the small model verifies
# A pass that settled at most so many ids is one that a draft model might have helped
FEW_SETTLED_IDS = 2
HELP = 1.0  # passes saved, as assumed for each of them
ID_VALUE = 0.7  # value of one more id in passes of the target: other drafts find some of them too
EXPECTED = 0.85  # probability of the next id before it is known


class ModelDrafter:
    """Follows a small model. `eager`: there is no prediction, so it reads the prompt at once."""

    name = "model"
    count = 1  # ids that are requested at each position

    def __init__(
        self,
        small: SmallModel,
        sampling: Sampling,
        *,
        eager: bool = False,
        lookup: LookupDrafter | None = None,
    ) -> None:
        self._small = small
        self._sampling = sampling
        self._eager = eager
        self._lookup = lookup
        self._offered: Sequence[Draft] = ()
        self._allowed = self._once = self._width = 0.0

    def begin(self, prompt: Sequence[int]) -> None:
        self._ids = list(prompt)
        self._prompt = len(prompt)
        self._slow_passes = 0.0  # passes that settled few ids since it last read everything
        self._unknown = False  # an id was committed that the small model does not have
        self._small.begin(self._sampling)

    @property
    def cost(self) -> float:
        """One id, and reading the unread part of the answer (not the prompt)."""
        unread = min(self._small.behind(self._ids), len(self._ids) - self._prompt)
        small = self._small
        return small.each + (small.reading(unread) if unread > CATCH_UP else 0.0)

    def set_budget(
        self, seconds: float, once: float, each: float, drafts: Sequence[Draft] = ()
    ) -> None:
        self._allowed, self._once, self._width = seconds, once, each
        self._offered = drafts

    def propose(self, most: int) -> Draft | None:
        small, ids = self._small, self._ids
        fits = len(ids) + MAX_DRAFT_IDS + GUIDING <= small.engine.info.window
        if self._unknown or not fits or not self._pays_to_read():
            return None
        spent = 0.0
        if small.behind(ids) > CATCH_UP:
            unread = min(small.behind(ids), len(ids) - self._prompt)
            share = unread / small.behind(ids)
            spent = small.read(ids) * share
        self._slow_passes = 0.0
        started = time.perf_counter()
        chain = self._chain(min(most, MAX_DRAFT_IDS), self._allowed - spent)
        spent += time.perf_counter() - started
        if not chain:
            return None
        ids, chances, parents = self._draft_ids(chain, most)
        samples = None
        if self._sampling.rejects:
            distributions = [guess.sampled_from for guess in chain]
            samples = SampledIds([guess.token for guess in chain], distributions)
        return Draft(
            ids,
            chances,
            self.name,
            seconds=spent,
            parents=parents,
            samples=samples,
            from_model=True,
        )

    def _draft_ids(
        self, chain: list[Next], most: int
    ) -> tuple[list[int], list[float], list[int] | None]:
        """Ids and probabilities; a tree if there are parents."""
        return [guess.token for guess in chain], [guess.chance for guess in chain], None

    def _chain(self, most: int, allowed: float) -> list[Next]:
        """Guess after guess, while the next one is worth its time."""
        small, ended = self._small, time.perf_counter() + allowed
        chain: list[Next] = []
        ids = list(self._ids)
        alive = 1.0
        guide = guide_of(self._offered)
        while len(chain) < most:
            for guess in small.after(ids, self.count, guide):
                if guess.token >= small.vocabulary or len(chain) >= most:
                    return chain
                chain.append(guess)
                ids.append(guess.token)
                alive *= guess.chance
            if alive * EXPECTED * ID_VALUE * self._once < small.each + self._width:
                break
            if time.perf_counter() + small.each > ended:
                break
            following = self._lookup.continue_from(ids, GUIDING) if self._lookup else None
            guide = guide_of([following] if following else [])
        return chain

    def _pays_to_read(self) -> bool:
        """Whether not having read has cost as much as reading would."""
        unread = self._small.behind(self._ids)
        if unread <= CATCH_UP or (self._eager and unread >= self._prompt):
            return True
        return self._slow_passes * HELP * self._once >= self._small.reading(unread)

    def commit(self, tokens: Sequence[int]) -> None:
        self._ids.extend(tokens)
        self._unknown |= max(tokens) >= self._small.vocabulary
        self._slow_passes += len(tokens) <= FEW_SETTLED_IDS


def guide_of(drafts: Sequence[Draft]) -> Draft:
    """The likeliest ids of the drafts, as a guide."""
    return merge_drafts(drafts, [draft.chances for draft in drafts], GUIDING)


MAX_IDS_AT_POSITION = 4  # ids at one position, the chain's own included
MIN_PATH_PROBABILITY = 0.02  # probability of a path below which an id is dropped


class CandidatesDrafter(ModelDrafter):
    """Proposes the small model's chain and its next best ids."""

    name = "candidates"

    count = MAX_IDS_AT_POSITION

    def _draft_ids(
        self, chain: list[Next], most: int
    ) -> tuple[list[int], list[float], list[int] | None]:
        return candidate_tree(chain, most, self._small.vocabulary)


def candidate_tree(
    chain: list[Next], most: int, known: int
) -> tuple[list[int], list[float], list[int] | None]:
    """The tree of a chain and its candidates: ids, probabilities given the parent, and parents."""
    nodes: list[tuple[float, int, int, float, int]] = []  # path, depth, rank, chance, token
    alive = 1.0
    for depth, guess in enumerate(chain):
        ranked = ((guess.token, guess.chance), *guess.others)
        for rank, (token, chance) in enumerate(ranked):
            if not rank or (alive * chance >= MIN_PATH_PROBABILITY and token < known):
                nodes.append((alive * chance, depth, rank, chance, token))
        alive *= guess.chance
    # a chain's id is never less likely than its descendants, so parents stay before children; equal
    # ones are ordered by depth
    nodes.sort(key=lambda node: (-node[0], node[1], node[2]))
    spine: dict[int, int] = {-1: -1}  # depth -> index of the chain's id
    ids: list[int] = []
    chances: list[float] = []
    parents: list[int] = []
    for _, depth, rank, chance, token in nodes[:most]:
        if not rank:
            spine[depth] = len(ids)
        ids.append(token)
        chances.append(chance)
        parents.append(spine[depth - 1])
    return ids, chances, parents
