"""Passes on the kernels: a converted file, a pool of threads, and caches. No torch, no numpy.

Knows the call interface and whose memory is whose. Does not know arithmetic or choices' reasons.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_float, c_int32, c_void_p
from typing import Any

from specedit.engines.exact.geometry import PIECE, STEP, Geometry, up_to
from specedit.engines.exact.kernels import calls
from specedit.engines.exact.kernels.library import Library
from specedit.engines.exact.outputs import Outputs
from specedit.engines.exact.reading import Reading
from specedit.engines.exact.weights import Weights
from specedit.errors import ModelError
from specedit.models.numbers import Config


class KernelPasses:
    """One model on the kernels. What it points to in the mapped file lives as long as it does."""

    def __init__(self, library: Library, weights: Weights, threads: int, *, close: bool) -> None:
        self.config = weights.config
        self.name = library.name
        self.digest = weights.source  # whose weights these are: heads are bound to it
        self._library = library
        self._weights = weights
        lib = library.lib
        self._pool = Pool(lib, threads)
        self._busy = threading.Lock()  # a pass works in the model's own memory: one at a time
        layers = (calls.CLayer * self.config.layers)(
            *(_layer(weights, f"layer.{index}") for index in range(self.config.layers))
        )
        shape = _shape(self.config, close)
        given = calls.CWeights(
            layers,
            weights.address("embedding"),
            weights.address("norm"),
            _linear(weights, "head"),
            weights.address("speeds"),
        )
        self._model = lib.specedit_model_new(library.variant, shape, given)
        if not self._model:
            raise ModelError(
                "The kernels do not take this model's weights, or there is not enough memory.",
                hint="specedit model verify says whether they are damaged.",
            )
        _freed_with(self, lib.specedit_model_free, self._model)

    def use_threads(self, count: int) -> None:
        """Work on so many threads from now on; no bit depends on it."""
        with self._busy:
            self._pool = Pool(self._library.lib, count)

    def new_cache(self) -> KernelCache:
        """An empty cache of this model."""
        return KernelCache(self._library.lib, self._model)

    def read(self, ids: Sequence[int], cache: KernelCache, states: Any = None) -> None:
        """Feed ids behind what the cache holds; nobody asks what comes after them.

        `states` takes the rows behind the last norm, `config.hidden` float32 for each id: any
        buffer that can be written to.
        """
        self._run(ids, cache, None, None, None, states)

    def choose(
        self,
        ids: Sequence[int],
        cache: KernelCache,
        *,
        rows: bool,
        parents: Sequence[int] | None = None,
        states: Any = None,
        among: Outputs | None = None,
    ) -> tuple[list[int], list[memoryview] | None]:
        """Feed ids; the largest logit's id after each, and with `rows` all logits, as float32.

        `states` takes the rows that the output layer took, `config.hidden` float32 for each id.
        With `among` only those outputs count, and logits are theirs.

        With `parents` the ids are a tree: id i stands behind id parents[i], or, where that is -1,
        behind what the cache held. `KernelCache.keep` then says which of them were right.
        """
        width = len(ids)
        vocabulary = self.config.vocabulary if among is None else len(among.ids)
        choices = (c_int32 * width)()
        logits = (c_float * (width * vocabulary))() if rows else None
        self._run(ids, cache, choices, logits, parents, states, among)
        chosen = list(choices) if among is None else [among.ids[place] for place in choices]
        if logits is None:
            return chosen, None
        raw, size = memoryview(logits).cast("B"), vocabulary * 4
        return chosen, [raw[at : at + size] for at in range(0, width * size, size)]

    def choose_each(
        self, ids: Sequence[int], caches: Sequence[KernelCache], states: Any = None
    ) -> list[int]:
        """Feed one id behind each of these caches, which are of texts of their own, in one pass:
        the largest logit's id after each, bit for bit as if it had been fed alone.

        `states` takes the rows that the output layer took.
        """
        width = len(ids)
        choices = (c_int32 * width)()
        starts = (c_int32 * width)(*(len(cache.ids) for cache in caches))
        given = calls.CPass(
            (c_int32 * width)(*ids), None, width, 0, choices, None, self._hidden(width, states)
        )
        given.apart, given.starts = (c_void_p * width)(*(cache.handle for cache in caches)), starts
        run = self._library.lib.specedit_run
        with self._busy:
            _check(run(self._model, None, self._pool.handle, ctypes.byref(given)))
        for id, cache in zip(ids, caches, strict=True):
            cache.ids.append(id)
        return list(choices)

    def guess(self, head: calls.CHead, guess: calls.CGuess) -> None:
        """One step of a head (`engines.exact.guessing`), into the buffers that `guess` names."""
        run = self._library.lib.specedit_guess_run
        with self._busy:
            pool = self._pool.handle
            _check(run(self._model, pool, ctypes.byref(head), ctypes.byref(guess)))

    def outputs(self, most: int) -> Outputs:
        """A part of the output layer with room for so many ids, for `choose`."""
        return Outputs(self.config, self.output_rows, most)

    def output_rows(
        self, ids: Sequence[int], at: int, capacity: int, panels: Any, scales: Any, offsets: Any
    ) -> None:
        """The output layer's rows for these ids, into panels for `capacity` rows, from `at` on."""
        wanted = (c_int32 * len(ids))(*ids)
        take = self._library.lib.specedit_output_rows
        _check(take(self._model, wanted, len(ids), at, capacity, panels, scales, offsets))

    def products(self, width: int) -> None:
        """A pass's integer products and nothing else, for measurements."""
        with self._busy:
            _check(self._library.lib.specedit_products(self._model, self._pool.handle, width))

    def attention(self, cache: KernelCache, start: int, width: int) -> None:
        """A pass's attention behind `start` positions and nothing else, for measurements."""
        lib = self._library.lib
        with self._busy:
            pool = self._pool.handle
            _check(lib.specedit_attention(self._model, cache.handle, pool, start, width))

    def _run(
        self,
        ids: Sequence[int],
        cache: KernelCache,
        choices: Any,
        logits: Any,
        parents: Sequence[int] | None = None,
        states: Any = None,
        among: Outputs | None = None,
    ) -> None:
        width = len(ids)
        hidden = self._hidden(width, states)
        tree = None if parents is None else (c_int32 * width)(*parents)
        fed = (c_int32 * width)(*ids)
        told = None  # the output layer is the model's own
        if among is not None:
            told = ctypes.pointer(calls.COutputs(among.linear(), len(among.ids)))
        given = calls.CPass(fed, tree, width, len(cache.ids), choices, logits, hidden, told)
        run = self._library.lib.specedit_run
        with self._busy:
            _check(run(self._model, cache.handle, self._pool.handle, ctypes.byref(given)))
        cache.ids.extend(ids)

    def _hidden(self, width: int, states: Any) -> Any:
        """A buffer as a pass takes it; one that is too small is refused here."""
        if states is None:
            return None
        return (c_float * (width * self.config.hidden)).from_buffer(states)


class Pool:
    """Threads that sleep between passes, and end with this object."""

    def __init__(self, lib: ctypes.CDLL, threads: int) -> None:
        self.handle = lib.specedit_pool_new(threads)
        if not self.handle:
            raise MemoryError("there is not enough memory for threads")
        _freed_with(self, lib.specedit_pool_free, self.handle)


class KernelCache(Reading):
    """Keys and values of what a model has read, in the kernels' own memory."""

    def __init__(self, lib: ctypes.CDLL, model: Any) -> None:
        super().__init__()
        self._lib = lib
        self.handle = lib.specedit_cache_new(model)
        if not self.handle:
            raise MemoryError("there is not enough memory for a cache")
        _freed_with(self, lib.specedit_cache_free, self.handle)

    @property
    def bytes(self) -> int:
        """Memory held by keys and values."""
        return int(self._lib.specedit_cache_bytes(self.handle))

    def reserve(self, length: int) -> None:
        """Make room for `length` positions."""
        _check(self._lib.specedit_cache_reserve(self.handle, length))

    def keep(self, start: int, rows: Sequence[int]) -> None:
        """Of a tree fed behind `start`, keep these rows (a path, rising), forget the others."""
        kept = (c_int32 * len(rows))(*rows)
        _check(self._lib.specedit_cache_keep(self.handle, start, kept, len(rows)))
        self.ids[start:] = [self.ids[start + row] for row in rows]

    def copy(self, other: KernelCache, length: int) -> None:
        """Begin as the first `length` positions of `other`, bit for bit."""
        _check(self._lib.specedit_cache_copy(self.handle, other.handle, length))
        self.ids[:] = other.ids[:length]


def _check(code: int) -> None:
    if code == 1:
        raise MemoryError("there is not enough memory for this pass")
    if code:
        raise ValueError("the kernels refuse this: an id, a position or a size is out of range")


def _freed_with(owner: object, free: Callable[[Any], None], handle: Any) -> None:
    """Free what the library made when its owner is gone, but not at exit.

    The system takes it all back then, and a daemon thread may still be in a pass.
    """
    weakref.finalize(owner, free, handle).atexit = False


def _shape(config: Config, close: bool) -> calls.Shape:
    to = Geometry.of(config)
    return calls.Shape(
        config.layers,
        to.hidden,
        config.hidden,
        to.inner,
        min(PIECE, to.inner),
        config.heads,
        config.kv_heads,
        to.half,
        config.head_size // 2,
        config.vocabulary,
        int(close),
        config.epsilon,
    )


def _linear(weights: Weights, name: str) -> calls.CLinear:
    panels, _, inputs = _sides(weights, f"{name}.panels")
    pieces = weights.entries[f"{name}.scales"]["shape"][1]
    piece = inputs if pieces == 1 else up_to(PIECE, STEP)
    return calls.CLinear(
        *(weights.address(f"{name}.{part}") for part in ("panels", "scales", "offsets")),
        panels * 16,
        inputs,
        piece,
    )


def _sides(weights: Weights, name: str) -> tuple[int, int, int]:
    panels, quads, lanes, four = weights.entries[name]["shape"]
    return panels, lanes, quads * four


def _layer(weights: Weights, at: str) -> calls.CLayer:
    return calls.CLayer(
        weights.address(f"{at}.norm"),
        _linear(weights, f"{at}.qkv"),
        weights.address(f"{at}.bias"),
        weights.address(f"{at}.query_norm"),
        weights.address(f"{at}.key_norm"),
        _linear(weights, f"{at}.out"),
        weights.address(f"{at}.inner_norm"),
        _linear(weights, f"{at}.gate_up"),
        _linear(weights, f"{at}.down"),
    )
