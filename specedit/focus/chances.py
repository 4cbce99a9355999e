"""What the evidence is worth: for each block the probability that the change belongs there.

    chance = exp(score) / sum of all blocks' exp(score),  score = sum of weight x feature x scale

a logistic formula over the blocks of one file (multinomial), with one set of weights for what the
words say alone, and one for when the model has been asked. What the instruction's words say counts
for more the more blocks it stands out from: their scale is log(blocks + 1) / 4, that of the others
is 1. Where nothing stands out, all blocks share the chance, and nobody can be sure: that is the
formula's way to say it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.focus.blocks import Block
from specedit.focus.evidence import FEATURES, OWN, Evidence
from specedit.focus.weights import ASKED, BEHIND, UNASKED, USED


@dataclass(frozen=True)
class Likely:
    """A block and the probability that the change belongs there."""

    block: Block
    chance: float


def likely(evidence: Sequence[Evidence], *, asked: bool = False) -> list[Likely]:
    """Each block's chance; together they are 1. `asked`: the model has said which it means."""
    weights = ASKED if asked else UNASKED
    scale = math.log(len(evidence) + 1) / 4
    scales = [scale if at < OWN else 1.0 for at in range(len(FEATURES))]
    scores = [
        sum(w * x * s for w, x, s in zip(weights, one.row, scales, strict=True)) for one in evidence
    ]
    top = max(scores, default=0.0)
    parts = [math.exp(score - top) for score in scores]
    total = sum(parts)
    return [Likely(e.block, part / total) for e, part in zip(evidence, parts, strict=True)]


def spread(chances: Sequence[Likely], evidence: Sequence[Evidence]) -> list[Likely]:
    """The same, a part of each block's chance handed on to those that use what it defines, and to
    the one behind it: what changes there changes them, and much of what is new stands behind."""
    given = [one.chance for one in chances]
    for at, one in enumerate(evidence):
        given[at] += USED * sum(chances[used].chance for used in one.uses)
        given[at] += BEHIND * chances[at - 1].chance if at else 0.0
    total = sum(given)
    return [Likely(one.block, part / total) for one, part in zip(chances, given, strict=True)]


def with_opinion(evidence: Sequence[Evidence], named: Sequence[Block]) -> list[Evidence]:
    """The evidence, with what the model named, the likeliest first: all of a definition's blocks
    are named with its first."""
    rank: dict[object, int] = {}
    for at, one in enumerate(named):
        rank.setdefault(one.name or one, at)
    return [
        replace(one, row=(*one.row[:-2], *_ranked(rank.get(one.block.name or one.block))))
        for one in evidence
    ]


def _ranked(at: int | None) -> tuple[float, float]:
    """The evidence of an opinion: named first, named later."""
    return float(at == 0), float(bool(at))
