"""Rows on their way to the disk, in shards, so that a run that is stopped keeps what it read.

Knows what was read already, by name. Does not know how rows are made (`reading`), nor how they lie
(`rows`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from specedit.heads import rows
from specedit.heads.shelf import HeadsPlace

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

SHARD = 8192  # places of a shard


class Shards:
    """Rows on their way into shards; what they are of is written with them."""

    def __init__(self, place: HeadsPlace) -> None:
        self._folder = place.work
        self.index = rows.read_index(place.work) or {"texts": [], "answers": 0}
        self.places = 0 if (known := rows.load(place.work)) is None else len(known)
        self._parts: list[tuple[Array, Array]] = []

    def known(self, name: str) -> bool:
        return name in self._names

    @property
    def _names(self) -> set[str]:
        return {name for name, _ in self.index["texts"]}

    def add(self, name: str, held: bool, found: tuple[Array, list[int], list[int]]) -> None:
        """A text that was read."""
        states, ids, choices = found
        number = len(self.index["texts"])
        self.index["texts"].append([name, held])
        meta = np.stack([np.array(ids), np.array(choices), np.full(len(ids), number)])
        self._parts.append((states.astype(np.float16), meta.astype(np.int32)))
        self.places += len(ids)
        if sum(part[1].shape[1] for part in self._parts) >= SHARD:
            self.settle()

    def settle(self) -> None:
        """Put what there is on the disk."""
        if self._parts:
            states, metas = zip(*self._parts, strict=True)
            rows.add(self._folder, np.concatenate(states), np.concatenate(metas, 1))
            rows.write_index(self._folder, self.index)
            self._parts = []
