"""Modified rejection sampling: draws of a draft model are kept so that no distribution changes.

A draw x from q is kept with the chance min(1, p(x) / q(x)), where p is the target's distribution;
else the choice is drawn from what of p stands above q (Leviathan et al., Chen et al., 2023). Ids
of a tree that nobody drew, candidates and predictions, need no rule: a choice from p either is
one of them or is not.

Every draw at a place that is reached is put to that test, whether it was offered or not, and
whichever drafter's ids were: what was drawn must not decide whether it is tested. Knows rows and
trees; knows no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specedit.engines.base import Sampling
from specedit.engines.sampling import Numbers, distribution, drawn


@dataclass(frozen=True)
class Draws:
    """Ids that were drawn one behind the other, each from its own distribution."""

    ids: Sequence[int]
    chances: Sequence[Numbers]


def keeps(target: float, draft: float, noise: float) -> bool:
    """Whether a draw is kept, by its chances under both models and a number in [0, 1)."""
    return noise * draft < target


def settled(
    ids: Sequence[int],
    parents: Sequence[int] | None,
    rows: Sequence[Any],
    draws: Sequence[Draws],
    sampling: Sampling,
    noise: Callable[[], float],
) -> tuple[list[int], list[int]]:
    """The rows of a pass that were right, and the choice behind each of them."""
    above = range(-1, len(ids) - 1) if parents is None else parents
    children: dict[tuple[int, int], int] = {}
    for row in range(1, len(ids)):
        children.setdefault((above[row], ids[row]), row)
    path, at = [0], 0
    tokens: list[int] = []
    live = list(draws)
    while True:
        depth = len(tokens)
        live = [one for one in live if len(one.ids) > depth]
        token = _choice(distribution(rows[at], sampling), live, depth, noise)
        tokens.append(token)
        live = [one for one in live if one.ids[depth] == token]
        if (found := children.get((at, token))) is None:
            return path, tokens
        path.append(found)
        at = found


def _choice(chances: Numbers, live: Sequence[Draws], depth: int, noise: Callable[[], float]) -> int:
    for one in live:
        token, draft = one.ids[depth], one.chances[depth]
        size = min(chances.size, draft.size)  # what pads a vocabulary has no chance
        target = float(chances[token]) if token < chances.size else 0.0
        if keeps(target, float(draft[token]), noise()):
            return token
        left = chances.copy()
        left[:size] = np.maximum(left[:size] - draft[:size], 0.0)
        total = float(left.sum())
        if total <= 0.0:  # the two are equal but for rounding
            return token
        chances = left / total
    return drawn(chances, noise())
