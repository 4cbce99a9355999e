"""The KV caches of recent prompts: the longest common prefix is reused, the least recently used
cache is dropped.

An engine without `swap` keeps its one cache, and nothing here has an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from specedit.engines.base import Engine, common

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine
    from specedit.engines.exact.kernels.memory import KernelCache


class Prefixes:
    """The caches of one engine's recent prompts, within `limit` bytes."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self._any = engine
        self._engine = cast("ExactEngine", engine) if hasattr(engine, "swap") else None
        self._others: list[KernelCache] = []  # all but the engine's own, least recently used first
        self._prompts: dict[int, int] = {}  # id() of a cache -> length of its prompt
        self._bytes_per_id = 0.0
        self.limit = limit
        self.hits = self.misses = 0

    @property
    def entries(self) -> int:
        return len(self._others) + (1 if self._any.length else 0)

    @property
    def bytes(self) -> int:
        own = self._engine.cache.bytes if self._engine else 0
        return own + sum(cache.bytes for cache in self._others)

    def choose(self, prompt: Sequence[int], *, fresh: bool = False) -> None:
        """Give the engine the cache with the longest common prefix, or an empty one."""
        if self._engine is None:
            return
        best, length = self._engine.cache, 0
        for cache in () if fresh else (self._engine.cache, *self._others):
            if (shared := common(cache.ids, prompt)) > length:
                best, length = cache, shared
        self.hits, self.misses = self.hits + bool(length), self.misses + (not length)
        if length and 2 * length >= self._prompts.get(id(best), 0):
            self._install(best)
        elif self._engine.cache.ids:
            self._install(self._copied(best, length))
        self._prompts[id(self._engine.cache)] = len(prompt)
        self._drop_past(self.limit - int(self._bytes_per_id * len(prompt)))

    def settle(self) -> None:
        """After a run: drop caches beyond the limit, the run's own last."""
        if self._engine is None:
            return
        own = self._engine.cache
        if own.ids:
            self._bytes_per_id = own.bytes / len(own.ids)
        self._drop_past(self.limit - own.bytes)
        if own.bytes > self.limit:
            self._engine.swap(self._engine.new_cache())

    def _copied(self, cache: KernelCache, length: int) -> KernelCache:
        """A new cache with the common prefix. Taking the old one over would drop the rest of its
        prompt: a short file that begins like a long one would cost the long one."""
        assert self._engine is not None
        copy = self._engine.new_cache()
        if length:
            copy.copy(cache, length)
        return copy

    def _install(self, cache: KernelCache) -> None:
        assert self._engine is not None
        if cache is self._engine.cache:
            return
        self._others = [other for other in self._others if other is not cache]
        replaced = self._engine.swap(cache)
        if replaced.ids:
            self._others.append(replaced)
        self._forget_prompts()

    def _drop_past(self, left: int) -> None:
        size = sum(cache.bytes for cache in self._others)
        while self._others and size > left:
            size -= self._others.pop(0).bytes
        self._forget_prompts()

    def _forget_prompts(self) -> None:
        assert self._engine is not None
        caches = {id(cache) for cache in (self._engine.cache, *self._others)}
        self._prompts = {n: length for n, length in self._prompts.items() if n in caches}
