"""Drafts that branch where a small model is in doubt: its chain, and beside it what else is likely.

Knows ids and a `SmallModel`. Candidates cost no pass of the small model: they are the next best
ids of rows that the chain needed anyway. The likeliest come first, each by the chance of its whole
way; how many pay is decided in `decode.width`.
"""

from __future__ import annotations

from specedit.decode.drafters.model import ModelDrafter
from specedit.decode.drafters.small import Next

MOST = 4  # ids of one place, the chain's own among them
LEAST = 0.02  # chance of an id's whole way that is worth a look


class CandidatesDrafter(ModelDrafter):
    """Follows a small model, and offers what it nearly said."""

    name = "candidates"

    count = MOST

    def _shaped(
        self, chain: list[Next], room: int
    ) -> tuple[list[int], list[float], list[int] | None]:
        return grown(chain, room, self._small.vocabulary)


def grown(
    chain: list[Next], room: int, known: int
) -> tuple[list[int], list[float], list[int] | None]:
    """The tree of a chain and its candidates: ids, chances given the parent, and parents."""
    nodes: list[tuple[float, int, int, float, int]] = []  # way, depth, rank, chance, token
    alive = 1.0
    for depth, guess in enumerate(chain):
        ranked = ((guess.token, guess.chance), *guess.others)
        for rank, (token, chance) in enumerate(ranked):
            if not rank or (alive * chance >= LEAST and token < known):
                nodes.append((alive * chance, depth, rank, chance, token))
        alive *= guess.chance
    # a chain's id is never less likely than what stands behind it, so parents stay before children;
    # of equal ones the less deep is first
    nodes.sort(key=lambda node: (-node[0], node[1], node[2]))
    spine: dict[int, int] = {-1: -1}  # the chain's id at a depth -> its place
    ids: list[int] = []
    chances: list[float] = []
    parents: list[int] = []
    for _, depth, rank, chance, token in nodes[:room]:
        if not rank:
            spine[depth] = len(ids)
        ids.append(token)
        chances.append(chance)
        parents.append(spine[depth - 1])
    return ids, chances, parents
