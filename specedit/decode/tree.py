"""Drafts that branch: which ids stand behind which, and which way through them was right.

Knows ids and indices. A tree's ids come parents first, so any beginning of it is a tree as well;
-1 is the last committed id. Knows no chances, no costs and no engine.
"""

from __future__ import annotations

from collections.abc import Sequence


def shifted(parents: Sequence[int]) -> list[int]:
    """A draft's parents as those of a pass, whose first id is the last committed one."""
    return [-1, *(parent + 1 for parent in parents)]


def is_chain(parents: Sequence[int] | None) -> bool:
    return parents is None or all(parent == at - 1 for at, parent in enumerate(parents))


def walk(ids: Sequence[int], parents: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The rows of a pass that were right, from the first on: each is its parent's choice."""
    children: dict[int, list[int]] = {}
    for row in range(1, len(ids)):
        children.setdefault(parents[row], []).append(row)
    path, at = [0], 0
    while True:
        wanted = choices[at]
        found = next((row for row in children.get(at, ()) if ids[row] == wanted), None)
        if found is None:
            return path
        path.append(found)
        at = found


def tried(
    ids: Sequence[int], parents: Sequence[int] | None, tokens: Sequence[int]
) -> list[tuple[int, bool]]:
    """The ids of a draft that were put to the test by `tokens`, and whether they held.

    The model's own choice is a trial too where the draft went on beyond what was offered."""
    if parents is None:
        return [(n, ids[n] == tokens[n]) for n in range(min(len(ids), len(tokens)))]
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        children.setdefault(parent, []).append(index)
    found: list[tuple[int, bool]] = []
    at = -1
    for token in tokens:
        after = None
        for index in children.get(at, ()):
            held = after is None and ids[index] == token
            found.append((index, held))
            if held:
                after = index
        if after is None:
            break
        at = after
    return found


def straight(parents: Sequence[int]) -> list[int]:
    """The chain that a tree's likeliest ids are, for an engine that takes no trees."""
    found: list[int] = []
    at = -1
    while at in parents:
        at = parents.index(at)
        found.append(at)
    return found
