"""Probabilities of ids by one row of logits, for drafting.

An imprecise probability costs time and never changes an id, so sums may run in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specedit.engines.base import Subset


def likeliest(
    row: Any,
    temperature: float,
    chosen: int,
    count: int,
    also: Sequence[int] = (),
    among: Subset | None = None,
) -> list[tuple[int, float]]:
    """The chosen id with its probability, then the `count` - 1 likeliest others, then those of
    `also` that are not among them. `among`: the ids that the row has logits of, in its order."""
    if among is not None:
        places = among.places
        others = [places[id] for id in also if id in places]
        found = likeliest(row, temperature, places[chosen], count, others)
        return [(among.ids[place], chance) for place, chance in found]
    logits = np.frombuffer(row, np.float32)
    most = float(logits.max())
    scaled = logits - most
    if temperature > 0:
        scaled /= temperature
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum()
    found = [(chosen, float(scaled[chosen]))]
    if count > 1:
        near = min(count, scaled.size - 1)
        ids = np.argpartition(scaled, scaled.size - near - 1)[-near - 1 :]
        ranked = ids[np.argsort(-scaled[ids], kind="stable")]
        found += [(int(id), float(scaled[id])) for id in ranked if id != chosen][: count - 1]
    listed = {id for id, _ in found}
    found += [(id, float(scaled[id])) for id in also if id not in listed and id < scaled.size]
    return found
