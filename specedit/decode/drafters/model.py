"""Drafts of a small model: a chain of what it would say itself, as long as it is sure.

Knows ids and a `SmallModel`. Each id costs a pass of that model, so the draft ends where its own
certainty, all ids so far taken together, says that one more is not worth that time. What it has
not read it reads first, and only where passes of the target that settled little have cost as much
already: an answer that is copied never needs it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from specedit.decode.drafters.base import Ahead, Draft
from specedit.decode.drafters.small import CATCH_UP, Guide, Next, SmallModel
from specedit.decode.merge import merged
from specedit.engines.base import Sampling

if TYPE_CHECKING:
    from specedit.decode.rejection import Draws

LONGEST = 16  # ids of a draft
GUIDING = 8  # ids of other drafts that one pass of the small model checks
LITTLE = 2  # a pass that settled so few ids is one that a draft model might have helped
HELPED = 1.0  # passes that it is thought to have saved by then
SHARE = 0.7  # of a pass of the target, what one more id is worth: other drafts find some of them
USUAL = 0.85  # chance of the next id, before it is known


class ModelDrafter:
    """Follows a small model. `eager`: there is no prediction, so it reads the prompt at once."""

    name = "model"
    count = 1  # ids that are asked for at each place

    def __init__(
        self,
        small: SmallModel,
        sampling: Sampling,
        *,
        eager: bool = False,
        ahead: Sequence[Ahead] = (),
    ) -> None:
        self._small = small
        self._sampling = sampling
        self._eager = eager
        self._others = ahead
        self._offered: Sequence[Draft] = ()
        self._allowed = self._once = self._width = 0.0

    def begin(self, prompt: Sequence[int]) -> None:
        self._ids = list(prompt)
        self._prompt = len(prompt)
        self._wanted = 0.0  # passes that settled little since it last knew all
        self._lost = False  # an id was committed that the small model does not know
        self._small.begin(self._sampling)

    @property
    def cost(self) -> float:
        """One id, and reading what of the answer it has not read; the prompt is nobody's draft."""
        unread = min(self._small.behind(self._ids), len(self._ids) - self._prompt)
        small = self._small
        return small.each + (small.reading(unread) if unread > CATCH_UP else 0.0)

    def spend(self, seconds: float, once: float, each: float) -> None:
        self._allowed, self._once, self._width = seconds, once, each

    def guide(self, drafts: Sequence[Draft]) -> None:
        self._offered = drafts

    def propose(self, room: int) -> Draft | None:
        small, ids = self._small, self._ids
        if self._lost or not small.fits(len(ids) + LONGEST) or not self._pays_to_read():
            return None
        spent = 0.0
        if small.behind(ids) > CATCH_UP:
            unread = min(small.behind(ids), len(ids) - self._prompt)
            share = unread / small.behind(ids)
            spent = small.read(ids) * share
        self._wanted = 0.0
        started = time.perf_counter()
        chain = self._chain(min(room, LONGEST), self._allowed - spent)
        spent += time.perf_counter() - started
        if not chain:
            return None
        ids, chances, parents = self._shaped(chain, room)
        drawn = _draws(chain) if self._sampling.rejects else None
        return Draft(
            ids, chances, self.name, seconds=spent, parents=parents, drawn=drawn, modelled=True
        )

    def _shaped(
        self, chain: list[Next], room: int
    ) -> tuple[list[int], list[float], list[int] | None]:
        """Ids and chances; a tree where there are parents."""
        return [guess.token for guess in chain], [guess.chance for guess in chain], None

    def _chain(self, room: int, allowed: float) -> list[Next]:
        """Next after guess, while the next one is worth its time."""
        small, ended = self._small, time.perf_counter() + allowed
        found: list[Next] = []
        ids = list(self._ids)
        alive = 1.0
        guide = guide_of(self._offered)
        while len(found) < room:
            said = small.after(ids, self.count, guide)
            for guess in said:
                if guess.token >= small.vocabulary or len(found) >= room:
                    return found
                found.append(guess)
                ids.append(guess.token)
                alive *= guess.chance
            price = small.each / small.pace + self._width
            if alive * USUAL * SHARE * self._once < price:
                break
            if time.perf_counter() + small.each > ended:
                break
            others: Sequence[Ahead] = (*self._others, small)
            guide = guide_of([d for one in others if (d := one.ahead(ids, GUIDING))])
        return found

    def _pays_to_read(self) -> bool:
        """Whether what it would have to read has been lost already by not having read it."""
        behind = self._small.behind(self._ids)
        if behind <= CATCH_UP or (self._eager and behind >= self._prompt):
            return True
        return self._wanted * HELPED * self._once >= self._small.reading(behind)

    def commit(self, tokens: Sequence[int]) -> None:
        self._ids.extend(tokens)
        self._lost |= max(tokens) >= self._small.vocabulary
        self._wanted += len(tokens) <= LITTLE


def guide_of(drafts: Sequence[Draft]) -> Guide:
    """What the drafts say comes next, the likeliest of it."""
    nodes = merged([(draft, draft.chances) for draft in drafts], GUIDING)
    return Guide(nodes.ids, nodes.parents)


def _draws(chain: list[Next]) -> Draws:
    from specedit.decode.rejection import Draws

    return Draws([guess.token for guess in chain], [guess.drawn_from for guess in chain])
