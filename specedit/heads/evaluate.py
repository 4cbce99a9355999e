"""How often heads are right on texts, by depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specedit.heads.network import Network
from specedit.heads.practice_requests import LONGEST, parts
from specedit.heads.reading import HeadsTarget, rows_of
from specedit.heads.rows import Rows
from specedit.heads.texts import Text
from specedit.heads.training import HeldOut, Teacher
from specedit.models.head_file import Heads


@dataclass(frozen=True)
class HeadsScore:
    """`accepted` by depth: of the places where all depths before it hold, the share that holds.
    `ids_per_pass`: what one guess of each depth commits, with the model's own id."""

    texts: int
    places: int
    accepted: tuple[float, ...]

    @property
    def ids_per_pass(self) -> float:
        return 1 + float(np.cumprod(self.accepted).sum())


def evaluate(target: HeadsTarget, texts: Sequence[Text], heads: Heads, places: int) -> HeadsScore:
    """Read a part of each text, the held-out texts first, up to so many places."""
    states, metas, read = [], [], 0
    for number, text in enumerate(sorted(texts, key=lambda one: not one.held)):
        request, part = next(parts(text))
        prompt = request.prompt(target.tokenizer, target.template)
        answer = target.tokenizer.encode(part)[:LONGEST]
        rows, ids, choices = rows_of(target.engine.passes, prompt, answer)
        states.append(rows)
        metas.append(np.array([ids, choices, [number] * len(ids)]))
        read += len(ids)
        if read >= places:
            break
    together = Rows(np.concatenate(states), np.concatenate(metas, 1))
    sizes = heads.about.sizes
    network = Network(sizes, np.ones(sizes.hidden), 1.0).eval()
    network.take(heads)
    likely, everywhere = np.array(heads.ids), np.ones(read, bool)
    held = HeldOut(together, everywhere, Teacher(target.weights), likely, sizes.depth)
    return HeadsScore(len(states), read, held.accepted(network))
