"""Modified rejection sampling: samples of a draft model are accepted so that the distribution of
the answer does not change.

A sample x from q is accepted with probability min(1, p(x) / q(x)), where p is the target's
distribution. If it is rejected, the choice is sampled from the part of p above q (Leviathan et al.,
Chen et al., 2023). Ids of a tree that were not sampled, such as candidates and predictions, need no
rule: a sample from p either is one of them or is not.

Every sample at a position that is reached is tested, whether or not it was offered, because the
value of a sample must not decide whether it is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specedit.decode.drafter import SampledIds
from specedit.engines.base import Sampling
from specedit.engines.sampling import Numbers, distribution, sampled


def accepts(target: float, draft: float, noise: float) -> bool:
    """Whether a sample is accepted: its probability under both models, a number in [0, 1)."""
    return noise * draft < target


def settle(
    ids: Sequence[int],
    parents: Sequence[int] | None,
    rows: Sequence[Any],
    samples: Sequence[SampledIds],
    sampling: Sampling,
    noise: Callable[[], float],
) -> tuple[list[int], list[int]]:
    """The accepted rows of a pass, and the choice after each of them."""
    above = range(-1, len(ids) - 1) if parents is None else parents
    children: dict[tuple[int, int], int] = {}
    for row in range(1, len(ids)):
        children.setdefault((above[row], ids[row]), row)
    path, at = [0], 0
    tokens: list[int] = []
    live = list(samples)
    while True:
        depth = len(tokens)
        live = [one for one in live if len(one.ids) > depth]
        token = _choice(distribution(rows[at], sampling), live, depth, noise)
        tokens.append(token)
        live = [one for one in live if one.ids[depth] == token]
        child = children.get((at, token))
        if child is None:
            return path, tokens
        path.append(child)
        at = child


def _choice(
    target: Numbers, live: Sequence[SampledIds], depth: int, noise: Callable[[], float]
) -> int:
    for one in live:
        token, draft = one.ids[depth], one.distributions[depth]
        size = min(target.size, draft.size)  # padding of a vocabulary has probability 0
        probability = float(target[token]) if token < target.size else 0.0
        if accepts(probability, float(draft[token]), noise()):
            return token
        rest = target.copy()
        rest[:size] = np.maximum(rest[:size] - draft[:size], 0.0)
        total = float(rest.sum())
        if total <= 0.0:  # the two distributions are equal up to rounding
            return token
        target = rest / total
    return sampled(target, noise())
