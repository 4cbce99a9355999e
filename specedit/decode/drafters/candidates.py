"""Draft trees of a small model: its chain, and beside each id the other likely ids.

Candidates cost no pass of the small model: they are the next best ids of logits that the chain
needed anyway. They are ordered by the probability of their whole path.
"""

from __future__ import annotations

from specedit.decode.drafters.model_drafter import ModelDrafter
from specedit.decode.drafters.small_model import Next

MOST = 4  # ids at one position, the chain's own included
LEAST = 0.02  # probability of a path below which an id is dropped


class CandidatesDrafter(ModelDrafter):
    """Proposes the small model's chain and its next best ids."""

    name = "candidates"

    count = MOST

    def _draft_ids(
        self, chain: list[Next], room: int
    ) -> tuple[list[int], list[float], list[int] | None]:
        return candidate_tree(chain, room, self._small.vocabulary)


def candidate_tree(
    chain: list[Next], room: int, known: int
) -> tuple[list[int], list[float], list[int] | None]:
    """The tree of a chain and its candidates: ids, probabilities given the parent, and parents."""
    nodes: list[tuple[float, int, int, float, int]] = []  # path, depth, rank, chance, token
    alive = 1.0
    for depth, guess in enumerate(chain):
        ranked = ((guess.token, guess.chance), *guess.others)
        for rank, (token, chance) in enumerate(ranked):
            if not rank or (alive * chance >= LEAST and token < known):
                nodes.append((alive * chance, depth, rank, chance, token))
        alive *= guess.chance
    # a chain's id is never less likely than its descendants, so parents stay before children; equal
    # ones are ordered by depth
    nodes.sort(key=lambda node: (-node[0], node[1], node[2]))
    spine: dict[int, int] = {-1: -1}  # depth -> index of the chain's id
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
