"""What heads are worth on texts: passes replayed, with the model's own rows and the heads at work.

Where a text goes on as the model would have, a pass settles what the tree has of it, and one more.
Knows rows, drafts and seconds. Does not know what a pass costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.heads import reading

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array
    from specedit.heads.corpus import Text
    from specedit.heads.file import Heads
    from specedit.heads.target import HeadsTarget

NODES = 16  # of a tree that are offered


@dataclass(frozen=True)
class Replayed:
    """A replay. `accepted` by depth: of the passes that came so far, how many went on."""

    passes: int
    texts: int
    ids: int
    nodes: int
    seconds: float
    accepted: tuple[float, ...]


def measured(target: HeadsTarget, texts: Sequence[Text], heads: Heads, passes: int) -> Replayed:
    """Replay the held-out texts first, until there were so many passes."""
    drafter = heads.at_hand(target.engine.passes).drafter(heads.about.sizes.kind)
    found: list[tuple[int, int, float]] = []
    read = 0
    for text in sorted(texts, key=lambda one: not one.held):
        for sample in reading.samples(text, target.tokenizer, target.template):
            rows, ids, choices = reading.rows_of(target.engine.passes, sample)
            drafter.begin(sample.prompt)
            found.extend(replayed(drafter, rows, ids, choices))
            break
        read += 1
        if len(found) >= passes:
            break
    return summed(found, read)


def replayed(
    drafter: Any, rows: Array, ids: Sequence[int], choices: Sequence[int], nodes: int = NODES
) -> Iterator[tuple[int, int, float]]:
    """Of each pass: ids of the draft that hold, nodes offered, seconds. A pass begins only where
    the model says what the text says, for elsewhere an answer would be another."""
    at = 0
    while at + 1 < len(ids):
        if choices[at] != ids[at + 1]:
            at += 1
            continue
        drafter.see([np.ascontiguousarray(rows[at], np.float32)])
        drafter.commit([ids[at + 1]])
        draft = drafter.propose(nodes)
        held, place = 0, at + 1
        if draft is not None:
            parent = -1
            while place + 1 < len(ids):
                next_ = _child(draft, parent, choices[place])
                if next_ is None:
                    break
                held, parent = held + 1, next_
                if ids[place + 1] != choices[place]:  # the text leaves what the model would say
                    break
                place += 1
        yield held, 0 if draft is None else len(draft.ids), 0.0 if draft is None else draft.seconds
        if place > at + 1:
            drafter.commit(ids[at + 2 : place + 1])
        at = place


def _child(draft: Any, parent: int, id: int) -> int | None:
    for index, (other, above) in enumerate(zip(draft.ids, draft.parents, strict=True)):
        if above == parent and other == id:
            return index
    return None


def summed(found: Sequence[tuple[int, int, float]], texts: int) -> Replayed:
    """The fold over passes."""
    held = [one[0] for one in found]
    accepted = []
    for depth in range(1, max(held, default=0) + 1):
        before = sum(h >= depth - 1 for h in held)
        accepted.append(sum(h >= depth for h in held) / before)
    return Replayed(
        len(found),
        texts,
        sum(held) + len(held),
        sum(one[1] for one in found),
        sum(one[2] for one in found),
        tuple(accepted),
    )
