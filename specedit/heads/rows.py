"""What heads learn from, on disk: the model's last rows at places of texts.

Three files that only grow: the rows after the last norm as float16; for each place its id, the
model's own choice after it and the number of its text; and the names of the texts. After a kill,
what is not whole is cut off.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from specedit.errors import UsageError
from specedit.files import regular, stored

if TYPE_CHECKING:
    from specedit.models.head_file import Array

IDS, CHOICES, TEXTS = range(3)


@dataclass(frozen=True)
class Rows:
    """All places. The rows stay in their file until they are taken."""

    states: Array  # float16, [places, hidden]
    meta: Array  # int32, [3, places]: ids, choices, texts

    def take(self, places: Array) -> Array:
        """The rows at these places, as float32."""
        return np.asarray(self.states[places], np.float32)

    def anchors(self, depth: int) -> Array:
        """Places with at least `depth` places of the same text after them."""
        texts = self.meta[TEXTS]
        count = max(0, len(texts) - depth)
        return np.flatnonzero(texts[:count] == texts[len(texts) - count :])

    def agrees(self) -> Array:
        """For each place, whether the next id in the text is the model's own choice."""
        mask = np.zeros(self.meta.shape[1], bool)
        mask[:-1] = self.meta[IDS][1:] == self.meta[CHOICES][:-1]
        return mask


class RowStore:
    """A folder of rows, of `hidden` numbers each."""

    def __init__(self, folder: Path, hidden: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._hidden = hidden
        self._states, self._meta = folder / "rows.float16", folder / "places.int32"
        self._names = folder / "texts.jsonl"
        sizes = [
            path.stat().st_size if path.is_file() else 0 for path in (self._states, self._meta)
        ]
        self.places = min(sizes[0] // (2 * hidden), sizes[1] // 12)
        names = regular.read(self._names) if self._names.is_file() else b""
        names = names[: names.rfind(b"\n") + 1]
        try:
            texts = [stored.typed(tuple[str, bool], stored.parsed(n)) for n in names.splitlines()]
        except ValueError as error:
            hint = "Remove that folder and train again: the texts are read again."
            raise UsageError(f"The rows in {folder} are damaged: {error}", hint=hint) from None
        self.texts: list[tuple[str, bool]] = texts
        self._known = {name for name, _ in self.texts}
        whole = (2 * hidden * self.places, 12 * self.places, len(names))
        for path, size in zip((self._states, self._meta, self._names), whole, strict=True):
            if path.is_file():
                os.truncate(path, size)

    def known(self, name: str) -> bool:
        return name in self._known

    def add(self, name: str, held: bool, states: Array, ids: list[int], choices: list[int]) -> None:
        """The rows of one text or answer."""
        meta = np.array([ids, choices, [len(self.texts)] * len(ids)], np.int32).T
        self.texts.append((name, held))
        self._known.add(name)
        parts = (
            (self._names, (json.dumps([name, held]) + "\n").encode()),
            (self._states, states.astype(np.float16).tobytes()),
            (self._meta, meta.tobytes()),
        )
        for path, data in parts:
            with regular.appending(path) as file:
                file.write(data)
        self.places += len(ids)

    def load(self) -> Rows:
        """What is stored; at least one place must be."""
        shape = (self.places, self._hidden)
        states = np.memmap(self._states, np.float16, "r", shape=shape)
        meta = np.fromfile(self._meta, np.int32, 3 * self.places).reshape(-1, 3).T
        return Rows(states, meta)
