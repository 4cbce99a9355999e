"""The KV caches of recent prompts: the longest common prefix with a new prompt is reused, and the
least recently used cache is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from specedit.engines.base import common

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine
    from specedit.engines.exact.kernels.passes import KernelCache

CACHE_BYTES = 1 << 30  # for the KV caches of recent prompts


class Prefixes:
    """The caches of one engine's recent prompts, within `limit` bytes."""

    def __init__(self, engine: ExactEngine, limit: int) -> None:
        self._engine = engine
        self._others: list[KernelCache] = []  # all but the engine's own, least recently used first
        self._prompts: WeakKeyDictionary[KernelCache, int] = WeakKeyDictionary()  # their lengths
        self._bytes_per_id = 0.0
        self.limit = limit
        self.hits = self.misses = 0

    @property
    def entries(self) -> int:
        return len(self._others) + bool(self._engine.length)

    @property
    def bytes(self) -> int:
        return self._engine.cache.bytes + sum(cache.bytes for cache in self._others)

    def choose(self, prompt: Sequence[int], *, fresh: bool = False) -> None:
        """Give the engine the cache with the longest common prefix, or an empty one."""
        best, length = self._engine.cache, 0
        for cache in () if fresh else (self._engine.cache, *self._others):
            if (shared := common(cache.ids, prompt)) > length:
                best, length = cache, shared
        self.hits, self.misses = self.hits + bool(length), self.misses + (not length)
        if length and 2 * length >= self._prompts.get(best, 0):
            self._install(best)
        elif self._engine.cache.ids:
            self._install(self._copied(best, length))
        self._prompts[self._engine.cache] = len(prompt)
        self._drop_past(self.limit - int(self._bytes_per_id * len(prompt)))

    def settle(self) -> None:
        """After a run: drop caches beyond the limit, the run's own last."""
        own = self._engine.cache
        if own.ids:
            self._bytes_per_id = own.bytes / len(own.ids)
        self._drop_past(self.limit - own.bytes)
        if own.bytes > self.limit:
            self._engine.swap(self._engine.new_cache())

    def _copied(self, cache: KernelCache, length: int) -> KernelCache:
        """A new cache with the common prefix. Taking the old one over would drop the rest of its
        prompt: a short file that begins like a long one would cost the long one."""
        copy = self._engine.new_cache()
        if length:
            copy.copy(cache, length)
        return copy

    def _install(self, cache: KernelCache) -> None:
        if cache is not self._engine.cache:
            self._others = [other for other in self._others if other is not cache]
            replaced = self._engine.swap(cache)
            if replaced.ids:
                self._others.append(replaced)

    def _drop_past(self, left: int) -> None:
        size = sum(cache.bytes for cache in self._others)
        while self._others and size > left:
            size -= self._others.pop(0).bytes
