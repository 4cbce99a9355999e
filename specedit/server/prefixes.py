"""The KV caches of recent prompts: the longest common prefix is reused, the least recently used
cache is dropped.

An engine without `swap` keeps its one cache, and nothing here has an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

from specedit.engines.base import Engine, common


class KeptCache(Protocol):
    """An engine's KV cache, held by reference."""

    @property
    def ids(self) -> Sequence[int]: ...

    @property
    def bytes(self) -> int: ...

    def copy(self, other: Any, length: int) -> None: ...


@runtime_checkable
class Swaps(Protocol):
    """An engine whose cache can be taken out and another put in."""

    @property
    def cache(self) -> KeptCache: ...

    def new_cache(self) -> KeptCache: ...

    def swap(self, cache: KeptCache) -> KeptCache: ...


class Prefixes:
    """The caches of one engine's recent prompts, within `limit` bytes."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self._any = engine
        self._engine = cast(Swaps, engine) if isinstance(engine, Swaps) else None
        self._resting: list[
            KeptCache
        ] = []  # least recently used first; the engine's own is not here
        self._prompts: dict[int, int] = {}  # of each cache, by id(): its prompt's length
        self._per_id = 0.0  # bytes an id takes, once known
        self.limit = limit
        self.hits = self.misses = 0

    @property
    def entries(self) -> int:
        return len(self._resting) + (1 if self._any.length else 0)

    @property
    def bytes(self) -> int:
        own = self._engine.cache.bytes if self._engine else 0
        return own + sum(cache.bytes for cache in self._resting)

    def choose(self, prompt: Sequence[int], *, fresh: bool = False) -> None:
        """Give the engine the cache that serves `prompt` best, or an empty one."""
        if self._engine is None:
            return
        best, length = self._engine.cache, 0
        for cache in () if fresh else (self._engine.cache, *self._resting):
            if (shared := common(cache.ids, prompt)) > length:
                best, length = cache, shared
        self.hits, self.misses = self.hits + bool(length), self.misses + (not length)
        if length and 2 * length >= self._prompts.get(id(best), 0):
            self._install(best)
        elif self._engine.cache.ids:
            self._install(self._begun(best, length))
        self._prompts[id(self._engine.cache)] = len(prompt)
        self._drop_past(self.limit - int(self._per_id * len(prompt)))

    def settle(self) -> None:
        """After a run: whatever is past the budget goes, the run's own cache last."""
        if self._engine is None:
            return
        own = self._engine.cache
        if own.ids:
            self._per_id = own.bytes / len(own.ids)
        self._drop_past(self.limit - own.bytes)
        if own.bytes > self.limit:
            self._engine.swap(self._engine.new_cache())

    def _begun(self, cache: KeptCache, length: int) -> KeptCache:
        """A new cache with what the prompt shares. Taking the old one over would lose the rest of
        its prompt: a short file that begins as a long one does would cost the long one."""
        assert self._engine is not None
        begun = self._engine.new_cache()
        if length:
            begun.copy(cache, length)
        return begun

    def _install(self, cache: KeptCache) -> None:
        assert self._engine is not None
        if cache is self._engine.cache:
            return
        self._resting = [held for held in self._resting if held is not cache]
        out = self._engine.swap(cache)
        if out.ids:
            self._resting.append(out)
        self._forget()

    def _drop_past(self, left: int) -> None:
        held = sum(cache.bytes for cache in self._resting)
        while self._resting and held > left:
            held -= self._resting.pop(0).bytes
        self._forget()

    def _forget(self) -> None:
        assert self._engine is not None
        kept = {id(cache) for cache in (self._engine.cache, *self._resting)}
        self._prompts = {n: length for n, length in self._prompts.items() if n in kept}
