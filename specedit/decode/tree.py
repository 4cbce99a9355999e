"""Draft trees: the parent of each id, and the path through them that the model confirmed.

The ids of a tree come parents first, so any prefix of a tree is also a tree. The parent -1 is the
last committed id.
"""

from __future__ import annotations

from collections.abc import Sequence


def pass_parents(parents: Sequence[int]) -> list[int]:
    """A draft's parents as those of a forward pass, whose first id is the last committed one."""
    return [-1, *(parent + 1 for parent in parents)]


def is_chain(parents: Sequence[int] | None) -> bool:
    return parents is None or all(parent == at - 1 for at, parent in enumerate(parents))


def accepted_path(ids: Sequence[int], parents: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The accepted rows of a pass, from the first on: each is its parent's choice."""
    children: dict[int, list[int]] = {}
    for row in range(1, len(ids)):
        children.setdefault(parents[row], []).append(row)
    path, at = [0], 0
    while True:
        choice = choices[at]
        child = next((row for row in children.get(at, ()) if ids[row] == choice), None)
        if child is None:
            return path
        path.append(child)
        at = child


def verified_ids(
    ids: Sequence[int], parents: Sequence[int] | None, tokens: Sequence[int]
) -> list[tuple[int, bool]]:
    """The indices of a draft that `tokens` confirmed or refuted, and whether each was right.

    The model's own choice counts as well where the draft continues beyond what was offered."""
    if parents is None:
        return [(n, ids[n] == tokens[n]) for n in range(min(len(ids), len(tokens)))]
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        children.setdefault(parent, []).append(index)
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
