"""Some outputs of a model's own output layer, gathered: what may be said is one of these ids.

Knows the call interface and whose memory is whose. Does not know why these ids, nor what asks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from ctypes import c_float, c_int8, c_int32
from typing import Any

from specedit.engines.exact.geometry import LANES, Geometry, up_to
from specedit.engines.exact.kernels import calls
from specedit.models.numbers import Config

Gather = Callable[..., Any]  # `KernelPasses.output_rows`


class Outputs:
    """The rows of the ids in `ids`, in that order, with room for `most`."""

    def __init__(self, config: Config, gather: Gather, most: int) -> None:
        self.ids: list[int] = []
        self.places: dict[int, int] = {}  # of each id
        self._gather = gather
        self._hidden = Geometry.of(config).hidden
        self._most = up_to(min(most, config.vocabulary), LANES)
        room = (c_int8 * (self._most * self._hidden + 64))()
        start = -ctypes.addressof(room) % 64  # rows of panels lie as the model's own do
        panels = (c_int8 * (self._most * self._hidden)).from_buffer(room, start)
        self._kept = (panels, (c_float * self._most)(), (c_int32 * self._most)())

    def add(self, ids: Iterable[int]) -> None:
        """These ids too, as far as there is room."""
        new = [id for id in dict.fromkeys(ids) if id not in self.places]
        del new[self._most - len(self.ids) :]
        if new:
            self._gather(new, len(self.ids), self._most, *self._kept)
            self.places.update(zip(new, range(len(self.ids), self._most), strict=False))
            self.ids += new

    def forget(self, kept: int) -> None:
        """All but the first `kept` of them."""
        for id in self.ids[kept:]:
            del self.places[id]
        del self.ids[kept:]

    def linear(self) -> calls.CLinear:
        """The layer as it is now."""
        at = (ctypes.addressof(part) for part in self._kept)
        return calls.CLinear(*at, up_to(len(self.ids), LANES), self._hidden, self._hidden)
