"""A subset of a model's output layer: its rows for some ids, gathered into memory of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from ctypes import c_float, c_int8, c_int32
from typing import Any

from specedit.engines.exact.geometry import LANES, Geometry, up_to
from specedit.engines.exact.kernels import calls
from specedit.models.numbers import Config

Gather = Callable[..., Any]  # `KernelPasses.output_rows`


class OutputSubset:
    """The rows of the ids in `ids`, in that order; at most `most` of them."""

    def __init__(self, config: Config, gather: Gather, most: int) -> None:
        self.ids: list[int] = []
        self.places: dict[int, int] = {}  # of each id
        self._gather = gather
        self._hidden = Geometry.of(config).hidden
        self._most = up_to(min(most, config.vocabulary), LANES)
        buffer = (c_int8 * (self._most * self._hidden + 64))()
        start = -ctypes.addressof(buffer) % 64  # panels are aligned as the model's own
        panels = (c_int8 * (self._most * self._hidden)).from_buffer(buffer, start)
        self._arrays = (panels, (c_float * self._most)(), (c_int32 * self._most)())

    def add(self, ids: Iterable[int]) -> None:
        """These ids too, up to the maximum."""
        new = [id for id in dict.fromkeys(ids) if id not in self.places]
        del new[self._most - len(self.ids) :]
        if new:
            self._gather(new, len(self.ids), self._most, *self._arrays)
            self.places.update(zip(new, range(len(self.ids), self._most), strict=False))
            self.ids += new

    def forget(self, count: int) -> None:
        """Remove all but the first `count`."""
        for id in self.ids[count:]:
            del self.places[id]
        del self.ids[count:]

    def linear(self) -> calls.CLinear:
        """The layer as the kernels take it."""
        at = (ctypes.addressof(part) for part in self._arrays)
        return calls.CLinear(*at, up_to(len(self.ids), LANES), self._hidden, self._hidden)
