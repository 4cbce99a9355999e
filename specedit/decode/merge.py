"""Several drafts as one tree: what one of them knows stands beside, and behind, what another does.

Knows drafts and the chances of their ids. Where two say the same id behind the same ids it is one
node. What a model says of a place is trusted before what is copied from somewhere, and that before
what others guess (`shared`). Does not know what a pass costs.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specedit.decode.drafters.base import Draft

MERGED = "merged"  # the source of a draft that is several; what is told names one of them


@dataclass
class DraftTree:
    """Nodes, parents before their children and the likelier before the others.

    `said[n]`: the drafts, by number, that have node n."""

    ids: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    said: list[tuple[int, ...]] = field(default_factory=list)


def merged(drafts: Sequence[tuple[Draft, Sequence[float]]], most: int) -> DraftTree:
    """The likeliest `most` ids of drafts with their chances."""
    below = [_children(draft) for draft, _ in drafts]
    tree = DraftTree()
    # (way's chance negated, order, parent, id, chance, where in each draft)
    waiting: list[tuple[float, int, int, int, float, tuple[tuple[int, int], ...]]] = []
    order = 0

    def grow(parent: int, alive: float, at: Sequence[tuple[int, int]]) -> None:
        nonlocal order
        places: dict[int, list[tuple[int, int]]] = {}
        claims: list[dict[int, float]] = []
        for number, row in at:
            claim: dict[int, float] = {}
            for child in below[number].get(row, ()):
                id = drafts[number][0].ids[child]
                places.setdefault(id, []).append((number, child))
                claim[id] = drafts[number][1][child]
            claims.append(claim)
        for id, chance in shared(claims).items():
            rows = tuple(places[id])
            heapq.heappush(waiting, (-alive * chance, order, parent, id, chance, rows))
            order += 1

    trusted = sorted(range(len(drafts)), key=lambda number: not drafts[number][0].modelled)
    grow(-1, 1.0, [(number, -1) for number in trusted])
    while waiting and len(tree.ids) < most:
        way, _, parent, id, chance, rows = heapq.heappop(waiting)
        tree.ids.append(id)
        tree.parents.append(parent)
        tree.chances.append(chance)
        tree.said.append(tuple(sorted(number for number, _ in rows)))
        grow(len(tree.ids) - 1, -way, rows)
    return tree


def shared(claims: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """What one place's ids are worth by all that was said of them, the most trusted first: of an
    id that two say the surer is believed, and what only a later one says gets a share of what the
    earlier leave."""
    found: dict[int, float] = {}
    for claim in claims:
        agreed = {id: max(found[id], chance) for id, chance in claim.items() if id in found}
        over = max(1.0, sum(agreed.values()))
        agreed = {id: chance / over for id, chance in agreed.items()}
        rest = sum(chance for id, chance in found.items() if id not in agreed)
        room = max(0.0, 1.0 - sum(agreed.values()))
        if rest > room:
            found = {id: chance * room / rest for id, chance in found.items()}
        found |= agreed
        left = max(0.0, 1.0 - sum(found.values()))
        found |= {id: chance * left for id, chance in claim.items() if id not in found}
    return found


def together(drafts: Sequence[Draft], chances: Sequence[Sequence[float]], most: int) -> Draft:
    """One draft that is all of them."""
    tree = merged(list(zip(drafts, chances, strict=True)), most)
    return Draft(tree.ids, tree.chances, MERGED, parents=tree.parents, parts=drafts, said=tree.said)


def told(draft: Draft, offered: int, held: Sequence[int]) -> Draft:
    """Of the drafts that one is made of, that which the pass owes most to: whose ids held; where
    none did, whose were offered."""
    if not draft.parts:
        return draft
    counts = Counter(draft.said[row][0] for row in held or range(offered))
    return draft.parts[max(counts, key=lambda number: (counts[number], -number))]


def _children(draft: Draft) -> dict[int, list[int]]:
    above = range(-1, len(draft.ids) - 1) if draft.parents is None else draft.parents
    found: dict[int, list[int]] = {}
    for row, parent in enumerate(above):
        found.setdefault(parent, []).append(row)
    return found
