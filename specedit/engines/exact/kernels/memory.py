"""What the kernels allocate and Python owns: threads and KV caches."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Sequence
from ctypes import c_float, c_int8, c_int32
from typing import Any

from specedit.engines.base import common
from specedit.engines.exact.geometry import LANES, Geometry, up_to
from specedit.engines.exact.kernels import calls
from specedit.models.architecture import Architecture


class Pool:
    """Threads that sleep between passes and end with this object."""

    def __init__(self, lib: ctypes.CDLL, threads: int) -> None:
        self.handle = lib.specedit_pool_new(threads)
        if not self.handle:
            raise MemoryError("there is not enough memory for threads")
        free_with(self, lib.specedit_pool_free, self.handle)


class KernelCache:
    """The KV cache of one text, in the kernels' own memory, and the ids it holds."""

    def __init__(self, lib: ctypes.CDLL, model: Any) -> None:
        self.ids: list[int] = []
        self._lib = lib
        self.handle = lib.specedit_cache_new(model)
        if not self.handle:
            raise MemoryError("there is not enough memory for a cache")
        free_with(self, lib.specedit_cache_free, self.handle)

    def crop(self, length: int) -> None:
        """Forget everything past the first `length` positions."""
        del self.ids[length:]

    def common(self, ids: Sequence[int]) -> int:
        """How many leading ids are already here."""
        return common(self.ids, ids)

    @property
    def bytes(self) -> int:
        """Memory held by keys and values."""
        return int(self._lib.specedit_cache_bytes(self.handle))

    def reserve(self, length: int) -> None:
        """Allocate memory for `length` positions."""
        check(self._lib.specedit_cache_reserve(self.handle, length))

    def keep(self, start: int, rows: Sequence[int]) -> None:
        """Of a tree fed behind `start`, keep the rows of one path, in rising order."""
        path = (c_int32 * len(rows))(*rows)
        check(self._lib.specedit_cache_keep(self.handle, start, path, len(rows)))
        self.ids[start:] = [self.ids[start + row] for row in rows]

    def copy(self, other: KernelCache, length: int) -> None:
        """Begin as the first `length` positions of `other`, bit for bit."""
        check(self._lib.specedit_cache_copy(self.handle, other.handle, length))
        self.ids[:] = other.ids[:length]


def check(code: int) -> None:
    """Raise what a function of the library reports."""
    if code == 1:
        raise MemoryError("there is not enough memory for this pass")
    if code:
        raise ValueError("the kernels refuse this: an id, a position or a size is out of range")


def free_with(owner: object, free: Callable[[Any], None], handle: Any) -> None:
    """Free what the library allocated when its owner is collected, but not at exit.

    A daemon thread may still be in a pass then, and the system frees everything.
    """
    weakref.finalize(owner, free, handle).atexit = False


Gather = Callable[..., Any]  # `KernelPasses.output_rows`


class OutputSubset:
    """The rows of the ids in `ids`, in that order; at most `most` of them."""

    def __init__(self, config: Architecture, gather: Gather, most: int) -> None:
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
