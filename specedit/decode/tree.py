"""Draft trees: the parent of each id, the path that the model confirmed, several drafts as one.

The ids of a tree come parents first, so any prefix of a tree is also a tree. The parent -1 is the
last committed id. In a tree of several drafts, the same id after the same ids is one node. At each
position, a language model's probabilities come first, then those of copied text, then those of
other guesses (`combined`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence

from specedit.decode import Draft


def pass_parents(parents: Sequence[int]) -> list[int]:
    """A draft's parents as those of a forward pass, whose first id is the last committed one."""
    return [-1, *(parent + 1 for parent in parents)]


def is_chain(parents: Sequence[int]) -> bool:
    return all(parent == at - 1 for at, parent in enumerate(parents))


def children_of(parents: Sequence[int]) -> dict[int, list[int]]:
    """The rows that follow each row."""
    children: dict[int, list[int]] = {}
    for row, parent in enumerate(parents):
        children.setdefault(parent, []).append(row)
    return children


def accepted_path(ids: Sequence[int], parents: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The accepted rows of a pass, from the first on: each is its parent's choice."""
    children, path = children_of(parents), [0]
    while True:
        below = children.get(path[-1], ())
        child = next((row for row in below if ids[row] == choices[path[-1]]), None)
        if child is None:
            return path
        path.append(child)


def verified_ids(
    ids: Sequence[int], parents: Sequence[int] | None, tokens: Sequence[int]
) -> list[tuple[int, bool]]:
    """The indices of a draft that `tokens` confirmed or refuted, and whether each was right.

    The model's own choice counts as well where the draft continues beyond what was offered."""
    if parents is None:
        return [(n, ids[n] == tokens[n]) for n in range(min(len(ids), len(tokens)))]
    children = children_of(parents)
    results: list[tuple[int, bool]] = []
    at = -1
    for token in tokens:
        right_child = None
        for index in children.get(at, ()):
            right = right_child is None and ids[index] == token
            results.append((index, right))
            if right:
                right_child = index
        if right_child is None:
            break
        at = right_child
    return results


def likeliest_chain(parents: Sequence[int]) -> list[int]:
    """The chain of a tree's likeliest ids, for an engine without tree support."""
    chain: list[int] = []
    at = -1
    while at in parents:
        at = parents.index(at)
        chain.append(at)
    return chain


MERGED = "merged"  # the source of a merged draft; the chunk names the part that helped most


def merge_drafts(drafts: Sequence[Draft], chances: Sequence[Sequence[float]], limit: int) -> Draft:
    """One draft of the likeliest `limit` ids of all of them, in order of probability; `chances` are
    their ids' probabilities."""
    children = [
        children_of(range(-1, len(draft.ids) - 1) if draft.parents is None else draft.parents)
        for draft in drafts
    ]
    ids: list[int] = []
    parents: list[int] = []
    merged_chances: list[float] = []
    proposers: list[tuple[int, ...]] = []
    # (negated probability of the path, order, parent, id, chance, row of the id in each draft)
    queue: list[tuple[float, int, int, int, float, tuple[tuple[int, int], ...]]] = []
    order = 0

    def grow(parent: int, path_chance: float, rows: Sequence[tuple[int, int]]) -> None:
        nonlocal order
        places: dict[int, list[tuple[int, int]]] = {}
        claims: list[dict[int, float]] = []
        for number, row in rows:
            claim: dict[int, float] = {}
            for child in children[number].get(row, ()):
                id = drafts[number].ids[child]
                places.setdefault(id, []).append((number, child))
                claim[id] = chances[number][child]
            claims.append(claim)
        for id, chance in combined(claims).items():
            entry = (-path_chance * chance, order, parent, id, chance, tuple(places[id]))
            heapq.heappush(queue, entry)
            order += 1

    by_trust = sorted(range(len(drafts)), key=lambda number: not drafts[number].from_model)
    grow(-1, 1.0, [(number, -1) for number in by_trust])
    while queue and len(ids) < limit:
        negated, _, parent, id, chance, rows = heapq.heappop(queue)
        ids.append(id)
        parents.append(parent)
        merged_chances.append(chance)
        proposers.append(tuple(sorted(number for number, _ in rows)))
        grow(len(ids) - 1, -negated, rows)
    return Draft(ids, merged_chances, MERGED, parents=parents, parts=drafts, proposers=proposers)


def combined(claims: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """The probabilities of one position's ids by several claims, the most trusted claim first.

    An id that two claims name gets the higher probability. An id that only a later claim names gets
    a share of what the earlier claims leave."""
    result: dict[int, float] = {}
    for claim in claims:
        agreed = {id: max(result[id], chance) for id, chance in claim.items() if id in result}
        over = max(1.0, sum(agreed.values()))
        agreed = {id: chance / over for id, chance in agreed.items()}
        rest = sum(chance for id, chance in result.items() if id not in agreed)
        free = max(0.0, 1.0 - sum(agreed.values()))
        if rest > free:
            result = {id: chance * free / rest for id, chance in result.items()}
        result |= agreed
        left = max(0.0, 1.0 - sum(result.values()))
        result |= {id: chance * left for id, chance in claim.items() if id not in result}
    return result


def main_part(draft: Draft, offered: int, accepted: Sequence[int]) -> Draft:
    """The part of a merged draft with the most accepted ids, or where none was accepted, with the
    most offered ids."""
    if not draft.parts:
        return draft
    counts = Counter(draft.proposers[row][0] for row in accepted or range(offered))
    return draft.parts[max(counts, key=lambda number: (counts[number], -number))]
