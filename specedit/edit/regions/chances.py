"""For each block the probability that the change belongs there.

    chance = exp(score) / sum of all blocks' exp(score),  score = sum of weight x feature x scale

a multinomial logistic formula over the blocks of one file, with one set of weights for what the
words say alone and one for after the model was asked. The instruction's words count for more the
more blocks a block stands out from: their scale is log(blocks + 1) / 4, that of the other features
is 1. Where nothing stands out, all blocks share the probability.

The weights are fitted on the even half of 197 cases, 2026-11-21 (docs/research/2026-11-regions.md).
Set by hand, where too few cases tell: "quoted", and what a name that is spelled as code is worth
before the model is asked (fitted: 1.9).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit.regions.blocks import Block
from specedit.edit.regions.evidence import FEATURES, FROM_WORDS, Evidence

BY_WORDS = (3.0, 2.2, 2.6, 0.2, 2.5, 3.3, 1.0, 1.0, 1.5, 0.0, 0.0)  # in the order of FEATURES
AFTER_ASKING = (1.1, 2.1, 2.6, 0.0, 2.5, 3.0, 1.3, 0.7, 1.4, 1.7, 0.3)
# The part of a block's chance that is handed on, once the model has been asked: to each block that
# uses what it defines, and to the block behind it.
TO_USERS, TO_NEXT = 0.3, 0.3


@dataclass(frozen=True)
class Likely:
    """A block and the probability that the change belongs there."""

    block: Block
    chance: float


def likely(evidence: Sequence[Evidence], *, asked: bool = False) -> list[Likely]:
    """Each block's chance; together they are 1. `asked`: the model has named blocks."""
    weights = AFTER_ASKING if asked else BY_WORDS
    scale = math.log(len(evidence) + 1) / 4
    scales = [scale if n < FROM_WORDS else 1.0 for n in range(len(FEATURES))]
    scores = [
        sum(w * x * s for w, x, s in zip(weights, one.row, scales, strict=True)) for one in evidence
    ]
    top = max(scores, default=0.0)
    parts = [math.exp(score - top) for score in scores]
    total = sum(parts)
    return [Likely(e.block, part / total) for e, part in zip(evidence, parts, strict=True)]


def spread(chances: Sequence[Likely], evidence: Sequence[Evidence]) -> list[Likely]:
    """The same, a part of each block's chance handed on to the blocks that use what it defines, and
    to the one behind it: a change there changes them, and new code often stands behind."""
    shares = [one.chance for one in chances]
    for n, one in enumerate(evidence):
        shares[n] += TO_USERS * sum(chances[used].chance for used in one.uses)
        shares[n] += TO_NEXT * chances[n - 1].chance if n else 0.0
    total = sum(shares)
    return [Likely(one.block, part / total) for one, part in zip(chances, shares, strict=True)]


def with_named(evidence: Sequence[Evidence], named: Sequence[Block]) -> list[Evidence]:
    """The evidence with the blocks that the model named, the likeliest first: all blocks of a
    definition are named with its first."""
    rank: dict[object, int] = {}
    for n, one in enumerate(named):
        rank.setdefault(one.name or one, n)
    ranks = [rank.get(one.block.name or one.block) for one in evidence]
    return [
        replace(one, row=(*one.row[:-2], float(n == 0), float(bool(n))))
        for one, n in zip(evidence, ranks, strict=True)
    ]
