"""Which of some texts are likeliest as an answer. Only ids that continue one of them may follow;
their probabilities are those among all ids, so that a text pays for each of its ids. (Probabilities
among the ids that may follow favour a text that differs early from all others: of 53 questions
about places 22 were right, and 26 this way.)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Protocol

from specedit.engines.base import Engine, common

Ids = tuple[int, ...]


class Weighing(Engine, Protocol):
    """An engine that tells how likely ids are."""

    def weigh(self, ids: Sequence[int], wanted: Sequence[Sequence[int]]) -> list[list[float]]:
        """Feed ids; for each of the last ones, the logarithms of the probabilities that the ids
        `wanted` there follow it."""
        ...


def likeliest(
    engine: Weighing, last: int, texts: Sequence[Ids], most: int
) -> tuple[list[tuple[Ids, float]], int]:
    """The likeliest texts after what the cache holds and the id `last`, each with its share of the
    probability of all of them, which is counted as if each beginning that was left led to a text;
    and the number of passes. No text begins with another one, and all differ."""
    start, passes = engine.length, 0
    found: list[tuple[Ids, float]] = []
    beginnings: list[tuple[float, Ids, Sequence[Ids]]] = [(0.0, (), texts)]
    while beginnings and len(found) < most:
        cost, ids, rest = heappop(beginnings)
        if list(rest) == [ids]:
            found.append((ids, cost))
            continue
        shared = common(min(rest), max(rest)) if len(rest) > 1 else len(rest[0]) - 1
        path = rest[0][:shared]
        nexts = sorted({text[shared] for text in rest})
        *forced, chances = engine.weigh([last, *path], [*([id] for id in path[len(ids) :]), nexts])
        engine.crop(start)
        passes += 1
        cost -= sum(chance for (chance,) in forced)
        for id, chance in zip(nexts, chances, strict=True):
            longer = [text for text in rest if text[shared] == id]
            heappush(beginnings, (cost - chance, (*path, id), longer))
    costs = [*(cost for _, cost in found), *(cost for cost, *_ in beginnings)]
    total = sum(math.exp(costs[0] - cost) for cost in costs)  # the first is the least
    return [(ids, math.exp(costs[0] - cost) / total) for ids, cost in found], passes
