"""Rows that a model made of texts, on disk: what heads learn from, read once and kept.

A folder of shards, each two arrays: the rows behind the last norm as float16, and of each place its
id, the model's own choice behind it and the text it is of. Knows places and texts as numbers. Does
not know what the texts are, nor who reads them. A shard counts once both its arrays are there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.errors import UsageError
from specedit.files import atomic, stored

if TYPE_CHECKING:
    from specedit.heads.file import Array

IDS, CHOICES, TEXTS = range(3)
INDEX = "rows.json"


@dataclass(frozen=True)
class Rows:
    """All places of some shards behind each other. Rows stay in their files until asked for."""

    states: tuple[Array, ...]  # float16, [places, hidden] each
    meta: Array  # int32, [3, places]: ids, choices, texts
    starts: Array  # of each shard, its first place

    def __len__(self) -> int:
        return int(self.meta.shape[1])

    @property
    def hidden(self) -> int:
        return int(self.states[0].shape[1])

    @property
    def texts(self) -> int:
        return len(np.unique(self.meta[TEXTS]))

    @classmethod
    def of(cls, states: Sequence[Array], metas: Sequence[Array]) -> Rows:
        sizes = [meta.shape[1] for meta in metas]
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        return cls(tuple(states), np.concatenate(list(metas), 1), starts)

    def only(self, which: Array) -> Rows:
        """Those of the texts that `which` says, by place; a text is taken whole or not at all."""
        states, metas = [], []
        for shard, rows in enumerate(self.states):
            begin = int(self.starts[shard])
            here = which[begin : begin + len(rows)]
            if here.all():
                states.append(rows)
            elif here.any():
                states.append(np.asarray(rows[here]))
            else:
                continue
            metas.append(self.meta[:, begin : begin + len(rows)][:, here])
        if not states:
            return Rows.of([np.empty((0, self.hidden), np.float16)], [np.empty((3, 0), np.int32)])
        return Rows.of(states, metas)

    def take(self, places: Array) -> Array:
        """The rows at these places, as float32."""
        shards = np.searchsorted(self.starts, places, "right") - 1
        found = np.empty((len(places), self.hidden), np.float32)
        for shard in np.unique(shards):
            here = np.flatnonzero(shards == shard)
            found[here] = self.states[shard][places[here] - self.starts[shard]]
        return found

    def anchors(self, depth: int) -> Array:
        """Places with at least `depth` places of the same text behind them."""
        texts = self.meta[TEXTS]
        count = len(self) - depth
        if count <= 0:
            return np.empty(0, np.int64)
        return np.flatnonzero(texts[:count] == texts[depth:]).astype(np.int64)

    def agrees(self) -> Array:
        """Of each place, whether the next id in the text is the model's own choice."""
        found = np.zeros(len(self), bool)
        found[:-1] = self.meta[IDS][1:] == self.meta[CHOICES][:-1]
        return found


def together(parts: Sequence[Rows]) -> Rows:
    """Several, one behind the other; their texts stay different ones."""
    states = [rows for part in parts for rows in part.states]
    metas, above = [], 0
    for part in parts:
        meta = part.meta.copy()
        meta[TEXTS] += above
        above = int(meta[TEXTS].max(initial=above)) + 1
        metas.append(meta)
    found = Rows.of(states, [np.empty((3, len(rows)), np.int32) for rows in states])
    return Rows(found.states, np.concatenate(metas, 1), found.starts)


def shards(folder: Path) -> list[int]:
    """The numbers of whole shards, rising."""
    return sorted(int(path.name.split("-")[1][:5]) for path in folder.glob("meta-?????.npy"))


def add(folder: Path, states: Array, meta: Array) -> None:
    """One shard more."""
    number = (shards(folder) or [-1])[-1] + 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("rows", states.astype(np.float16)), ("meta", meta.astype(np.int32))):
        with atomic.drafted(folder / f"{name}-{number:05}.npy") as file:
            np.save(file, array)


def load(folder: Path) -> Rows | None:
    """What was read so far; None where nothing was."""
    numbers = shards(folder)
    if not numbers:
        return None
    try:
        states = [np.load(folder / f"rows-{n:05}.npy", mmap_mode="r") for n in numbers]
        metas = [np.load(folder / f"meta-{n:05}.npy") for n in numbers]
        for rows, meta in zip(states, metas, strict=True):
            if meta.ndim != 2 or meta.shape[0] != 3 or rows.shape[0] != meta.shape[1]:
                raise ValueError("a shard's arrays do not fit each other")
        return Rows.of(states, metas)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"The rows kept in {folder} are damaged: {error}",
            hint="Remove that folder, and train again: the texts are read anew.",
        ) from error


@dataclass(frozen=True)
class RowsIndex:
    """What the shards were read from: name and whether it is held out, of each text by number."""

    texts: tuple[tuple[str, bool], ...]
    answers: int


def read_index(folder: Path) -> dict[str, Any]:
    """What the shards were read from; {} where the file is missing or unreadable."""
    index = stored.read(folder / INDEX, RowsIndex)
    return {"texts": list(index.texts), "answers": index.answers} if index else {}


def write_index(folder: Path, index: dict[str, Any]) -> None:
    atomic.whole(folder / INDEX, (json.dumps(index) + "\n").encode())
