"""Forward passes of one model on the kernels, and what they need in memory that Python owns:
threads, KV caches, subsets of the output layer. Imports neither torch nor numpy."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import c_float, c_int8, c_int32, c_void_p
from typing import Any

from specedit.engines.exact.kernels.library import (
    CGuess,
    CHead,
    CLayer,
    CLinear,
    CPass,
    CSubset,
    CWeights,
    Library,
    Shape,
)
from specedit.engines.exact.weights import (
    BLOCK4,
    BLOCK6,
    INPUT_MULTIPLE,
    LANES,
    RECURRENT,
    Geometry,
    Weights,
    four_of,
    group_size_of,
    up_to,
)
from specedit.errors import ModelError
from specedit.models.head_file import Heads

LONG_PASS_S = 0.1  # seconds of a pass that is followed while it runs, and between two looks


class KernelPasses:
    """One model on the kernels. It keeps the file mapped that the kernels read."""

    def __init__(
        self, library: Library, weights: Weights, threads: int | Pool, *, close: bool
    ) -> None:
        self.config = weights.config
        self.name = library.name
        self.digest = weights.source  # of the model's own file: heads are bound to it
        version = library.lib.specedit_version().decode()
        # what logits depend on besides the ids
        self.identity = f"{weights.digest} {version} {library.name} {close}"
        self._library = library
        self._weights = weights
        lib = self.lib = library.lib
        self._pool = pool = threads if isinstance(threads, Pool) else Pool(lib, threads)
        self.choices = 0  # passes with choices so far
        self._seconds_per_id = LONG_PASS_S  # of the last pass
        self._busy = threading.Lock()  # passes share the model's buffers: one at a time
        self.model = lib.specedit_model_new(
            library.variant, shape_of(weights, close), weights_of(weights)
        )
        if not self.model:
            raise ModelError(
                "The kernels refuse the converted weights: they are damaged, or memory is lacking.",
                hint="specedit model verify MODEL deletes what is damaged: it is then made again.",
            )
        free_with(self, lib.specedit_model_free, self.model)
        # its passes take states, and are as another model's
        self.mtp = KernelPasses(library, weights.mtp, pool, close=close) if weights.mtp else None

    def use_threads(self, count: int) -> None:
        """Use so many threads from now on; no bit depends on it."""
        with self._busy:
            self._pool = Pool(self.lib, count)
            if self.mtp:
                self.mtp._pool = self._pool

    def new_cache(self) -> KernelCache:
        """An empty cache of this model."""
        return KernelCache(self)

    def go_back(self, cache: KernelCache, length: int) -> None:
        """Let a cache with states have fewer positions: no fewer than before its last choices."""
        with self._busy:
            handles = self.model, cache.handle, self._pool.handle
            check(self.lib.specedit_cache_crop(*handles, length))

    def read(
        self, ids: Sequence[int], cache: KernelCache, states: Any = None, before: Any = None
    ) -> None:
        """Feed ids after what the cache holds, without computing logits. `states`, any writable
        buffer, receives the rows after the last norm: `config.hidden` float32 for each id. An MTP
        layer takes such rows, those `before` each id."""
        for _ in self.read_in_steps(ids, cache, states, before):
            pass

    def read_in_steps(
        self, ids: Sequence[int], cache: KernelCache, states: Any = None, before: Any = None
    ) -> Iterator[float]:
        """As `read`; gives the share of the pass that is done, while a long one runs. Closed, it
        ends the pass, and the cache is as before."""
        yield from self._run(ids, cache, None, None, None, states, before=before)
        self._weights.release("embedding")  # 50 MB after 3,000 ids

    def choose(
        self,
        ids: Sequence[int],
        cache: KernelCache,
        *,
        rows: bool,
        parents: Sequence[int] | None = None,
        states: Any = None,
        among: OutputSubset | None = None,
        margins: array[float] | None = None,
        before: Any = None,
    ) -> tuple[list[int], list[memoryview] | None]:
        """Feed ids; the largest logit's id after each, and with `rows` all logits, as float32.

        `margins` receives by how much the largest logit of each exceeds the second, `states` the
        rows after the last norm, and `before` has rows, as in `read`. With `among`, choices and
        logits are of those ids alone. With `parents` the ids are a tree (`engines.base`).
        """
        width = len(ids)
        vocabulary = self.config.vocabulary if among is None else len(among.ids)
        choices = (c_int32 * width)()
        logits = (c_float * (width * vocabulary))() if rows else None
        self.choices += 1
        noted = len(cache.ids), self.choices
        for _ in self._run(ids, cache, choices, logits, parents, states, among, margins, before):
            pass
        cache.noted = noted
        chosen = list(choices) if among is None else [among.ids[place] for place in choices]
        if logits is None:
            return chosen, None
        raw, size = memoryview(logits).cast("B"), vocabulary * 4
        return chosen, [raw[at : at + size] for at in range(0, width * size, size)]

    def choose_each(
        self, ids: Sequence[int], caches: Sequence[KernelCache], states: Any = None
    ) -> list[int]:
        """Feed one id to each of these caches of several texts in one pass: the largest logit's id
        after each, bit for bit as in a pass of its own. `states` as in `read`.
        """
        width = len(ids)
        choices = (c_int32 * width)()
        starts = (c_int32 * width)(*(len(cache.ids) for cache in caches))
        batch = CPass(
            (c_int32 * width)(*ids), None, width, 0, choices, None, self._hidden(width, states)
        )
        batch.caches, batch.starts = (c_void_p * width)(*(cache.handle for cache in caches)), starts
        run = self.lib.specedit_run
        with self._busy:
            check(run(self.model, None, self._pool.handle, ctypes.byref(batch)))
        for id, cache in zip(ids, caches, strict=True):
            cache.ids.append(id)
        return list(choices)

    def guess(self, head: CHead, guess: CGuess) -> None:
        """One step of draft heads, into the buffers that `guess` names."""
        run = self.lib.specedit_guess_run
        with self._busy:
            pool = self._pool.handle
            check(run(self.model, pool, ctypes.byref(head), ctypes.byref(guess)))

    def outputs(self, most: int) -> OutputSubset:
        """A subset of the output layer for at most so many ids, for `choose`."""
        return OutputSubset(self, most)

    def output_rows(
        self, ids: Sequence[int], at: int, capacity: int, panels: Any, scales: Any, offsets: Any
    ) -> None:
        """The output layer's rows for these ids, into panels for `capacity` rows, from `at` on."""
        wanted = (c_int32 * len(ids))(*ids)
        take = self.lib.specedit_output_rows
        check(take(self.model, wanted, len(ids), at, capacity, panels, scales, offsets))

    def products(self, width: int) -> None:
        """A pass's integer products and nothing else, for measurements."""
        with self._busy:
            check(self.lib.specedit_products(self.model, self._pool.handle, width))

    def attention(self, cache: KernelCache, start: int, width: int) -> None:
        """A pass's attention after `start` positions and nothing else, for measurements."""
        with self._busy:
            pool = self._pool.handle
            check(self.lib.specedit_attention(self.model, cache.handle, pool, start, width))

    def _run(
        self,
        ids: Sequence[int],
        cache: KernelCache,
        choices: Any,
        logits: Any,
        parents: Sequence[int] | None = None,
        states: Any = None,
        among: OutputSubset | None = None,
        margins: array[float] | None = None,
        before: Any = None,
    ) -> Iterator[float]:
        width = len(ids)
        hidden = self._hidden(width, states)
        tree = None if parents is None else (c_int32 * width)(*parents)
        fed = (c_int32 * width)(*ids)
        subset = None  # every id
        if among is not None:
            subset = ctypes.pointer(CSubset(among.linear(), len(among.ids)))
        batch = CPass(fed, tree, width, len(cache.ids), choices, logits, hidden, subset)
        batch.states = self._hidden(width, before)
        if margins is not None:
            batch.margins = (c_float * width).from_buffer(margins)
        try:
            with self._busy:
                yield from self._in_steps(cache, batch)
        except (GeneratorExit, KeyboardInterrupt):  # the states may be those after the pass
            cache.restore(len(cache.ids))
            raise
        cache.noted = (0, -1)
        cache.ids.extend(ids)

    def _in_steps(self, cache: KernelCache, batch: CPass) -> Iterator[float]:
        """Run a pass. One that likely takes long runs in a thread of its own: no signal reaches
        Python in the middle of a call, and so this thread can be interrupted at any time."""
        batch.progress = progress = (c_int32 * 2)()
        started, codes = time.perf_counter(), []

        def run() -> None:
            arguments = (self.model, cache.handle, self._pool.handle, ctypes.byref(batch))
            codes.append(self.lib.specedit_run(*arguments))

        if self._seconds_per_id * batch.width < LONG_PASS_S:
            run()
        else:
            at_work = threading.Thread(target=run, daemon=True)
            at_work.start()
            try:
                while at_work.is_alive():
                    at_work.join(LONG_PASS_S)
                    yield progress[0] / 1000
            finally:
                progress[1] = 1
                at_work.join()
        check(codes[0])
        self._seconds_per_id = (time.perf_counter() - started) / batch.width

    def _hidden(self, width: int, states: Any) -> Any:
        """The buffer as a pass takes it; one that is too small is refused."""
        if states is None:
            return None
        return (c_float * (width * self.config.hidden)).from_buffer(states)


class Pool:
    """Threads that sleep between passes and end with this object."""

    def __init__(self, lib: ctypes.CDLL, threads: int) -> None:
        self.handle = lib.specedit_pool_new(threads)
        if not self.handle:
            raise MemoryError("there is not enough memory for threads")
        free_with(self, lib.specedit_pool_free, self.handle)


class KernelCache:
    """The KV cache of one text, in the kernels' own memory, and the ids it holds.

    A model with recurrent layers also has their states behind the last id, which cannot be cut.
    They are known again at the snapshots, and at each id of the last pass, if that had choices.
    """

    def __init__(self, passes: KernelPasses) -> None:
        self.ids: list[int] = []
        self.snapshots: dict[int, bytearray] = {}  # states by the number of ids before them
        self.noted = (0, -1)  # ids before the last pass with choices, and its number
        self._passes, self._lib = passes, passes.lib
        self.handle = self._lib.specedit_cache_new(passes.model)
        if not self.handle:
            raise MemoryError("there is not enough memory for a cache")
        free_with(self, self._lib.specedit_cache_free, self.handle)
        self.state_bytes = int(self._lib.specedit_cache_state_bytes(self.handle))

    def crop(self, length: int) -> int:
        """Forget everything past the first `length` positions, or, where the states are not known
        there, past the nearest before; returns how many are left."""
        length = min(length, len(self.ids))
        if self.state_bytes and length < len(self.ids):
            start, number = self.noted
            if start <= length and number == self._passes.choices:
                self._passes.go_back(self, length)
            else:
                self.restore(length)
                length = len(self.ids)
            self.snapshots = {at: kept for at, kept in self.snapshots.items() if at <= length}
        del self.ids[length:]
        return length

    def restore(self, length: int) -> None:
        """Of a model with states, go back to the last snapshot up to `length`."""
        if self.state_bytes:
            length = max((at for at in self.snapshots if at <= length), default=0)
            self._set_states(self.snapshots.get(length), length)
            del self.ids[length:]

    @property
    def bytes(self) -> int:
        """Memory held by keys, values and states."""
        snapshots = len(self.snapshots) * self.state_bytes
        return int(self._lib.specedit_cache_bytes(self.handle)) + snapshots

    def snapshot(self, limit: int) -> None:
        """Keep the states of now, and of all no more than `limit` bytes: the one goes first whose
        neighbours are nearest to each other."""
        if not self.state_bytes or self.state_bytes > limit or not self.ids:
            return
        if (length := len(self.ids)) not in self.snapshots:
            self.snapshots[length] = self._states()
        while len(self.snapshots) * self.state_bytes > limit:
            kept = [0, *sorted(self.snapshots)]
            gaps = [(kept[at + 1] - kept[at - 1], kept[at]) for at in range(1, len(kept) - 1)]
            del self.snapshots[min(gaps)[1] if gaps else kept[-1]]

    def _states(self) -> bytearray:
        kept = bytearray(self.state_bytes)
        at = (c_int8 * len(kept)).from_buffer(kept)
        check(self._lib.specedit_cache_state(self.handle, at, len(self.ids), True))
        return kept

    def _set_states(self, kept: bytearray | None, length: int) -> None:
        at = None if kept is None else (c_int8 * len(kept)).from_buffer(kept)
        check(self._lib.specedit_cache_state(self.handle, at, length, False))
        self.noted = (0, -1)

    def reserve(self, length: int) -> None:
        """Allocate memory for `length` positions."""
        check(self._lib.specedit_cache_reserve(self.handle, length))

    def keep(self, start: int, rows: Sequence[int]) -> None:
        """Of a tree fed after `start`, keep the rows of one path, in rising order."""
        path = (c_int32 * len(rows))(*rows)
        check(self._lib.specedit_cache_keep(self.handle, start, path, len(rows)))
        self.ids[start:] = [self.ids[start + row] for row in rows]

    def copy(self, other: KernelCache, length: int) -> None:
        """Begin as the first `length` positions of `other`, bit for bit; with states, as many as
        its nearest snapshot has."""
        if self.state_bytes:
            length = max((at for at in other.snapshots if at <= length), default=0)
            self.snapshots = {at: kept for at, kept in other.snapshots.items() if at <= length}
            self._set_states(self.snapshots.get(length), length)
        check(self._lib.specedit_cache_copy(self.handle, other.handle, length))
        self.ids[:] = other.ids[:length]

    def rows(self) -> bytearray:
        """The keys and values, and the states, as bytes for `fill`."""
        data = bytearray(len(self.ids) * self._lib.specedit_cache_row_bytes(self.handle))
        self._move(data, len(self.ids), out=True)
        return data + self._states() if self.state_bytes else data

    def fill(self, ids: Sequence[int], rows: bytearray) -> None:
        """Hold these ids as the cache did that gave these `rows`."""
        size = len(ids) * self._lib.specedit_cache_row_bytes(self.handle)
        if len(rows) != size + self.state_bytes:
            raise ValueError("these are not the rows of so many ids")
        if self.state_bytes:
            self._set_states(rows[size:], len(ids))
            del rows[size:]
        self._move(rows, len(ids), out=False)
        self.ids[:] = ids

    def _move(self, data: bytearray, length: int, *, out: bool) -> None:
        at = (c_int8 * len(data)).from_buffer(data)
        check(self._lib.specedit_cache_rows(self.handle, at, length, out))


def check(code: int) -> None:
    """Raise what a function of the library reports."""
    if code == 1:
        raise MemoryError("there is not enough memory for this pass")
    if code:
        raise ValueError("the kernels refuse this: an id, a position or a size is out of range")


def free_with(owner: object, free: Callable[[Any], None], handle: Any) -> None:
    """Free an owner's memory, but not at exit: a daemon thread may be in a pass."""
    weakref.finalize(owner, free, handle).atexit = False


class OutputSubset:
    """The rows of the ids in `ids`, in that order; at most `most` of them."""

    def __init__(self, passes: KernelPasses, most: int) -> None:
        self.ids: list[int] = []
        self.places: dict[int, int] = {}  # of each id
        self._passes = passes
        self._hidden = Geometry.of(passes.config).hidden
        self._most = up_to(min(most, passes.config.vocabulary), LANES)
        buffer = (c_int8 * (self._most * self._hidden + 64))()
        start = -ctypes.addressof(buffer) % 64  # panels are aligned as the model's own
        panels = (c_int8 * (self._most * self._hidden)).from_buffer(buffer, start)
        self._arrays = (panels, (c_float * self._most)(), (c_int32 * self._most)())

    def add(self, ids: Iterable[int]) -> None:
        """These ids too, up to the maximum."""
        new = [id for id in dict.fromkeys(ids) if id not in self.places]
        del new[self._most - len(self.ids) :]
        if new:
            self._passes.output_rows(new, len(self.ids), self._most, *self._arrays)
            self.places.update(zip(new, range(len(self.ids), self._most), strict=False))
            self.ids += new

    def forget(self, count: int) -> None:
        """Remove all but the first `count`."""
        for id in self.ids[count:]:
            del self.places[id]
        del self.ids[count:]

    def linear(self) -> CLinear:
        """The layer as the kernels take it."""
        at = (ctypes.addressof(part) for part in self._arrays)
        return CLinear(*at, up_to(len(self.ids), LANES), self._hidden, self._hidden, 8)


def shape_of(weights: Weights, close: bool) -> Shape:
    """A model's numbers; `close`: activations keep a residual."""
    config = weights.config
    widths = Geometry.of(config)
    return Shape(
        config.layers,
        widths.hidden,
        config.hidden,
        widths.inner,
        min(group_size_of(four_of(weights.entries)), widths.inner),
        config.heads,
        config.kv_heads,
        widths.half,
        config.head_size // 2,
        config.vocabulary,
        int(close),
        config.epsilon,
        int(config.output_gate),
        config.key_heads,
        config.value_heads,
        config.key_size,
        config.value_size,
        config.taps,
        int(config.tiled),
        config.experts,
        config.chosen,
        config.shared,
        int(config.unscaled),
    )


def weights_of(weights: Weights) -> CWeights:
    """Every tensor's address."""
    layers = (CLayer * weights.config.layers)(
        *(_layer(weights, index) for index in range(weights.config.layers))
    )
    return CWeights(
        layers,
        weights.address("embedding"),
        weights.address("norm"),
        linear_of(weights, "head"),
        weights.address("speeds"),
        weights.address("layer.0.id_norm"),
        weights.address("layer.0.before_norm"),
        linear_of(weights, "layer.0.fuse") if "layer.0.id_norm" in weights.entries else CLinear(),
    )


def linear_of(weights: Weights | Heads, name: str) -> CLinear:
    """A product's addresses and sizes."""
    panels, steps, *_, last = weights.entries[f"{name}.panels"]["shape"]
    groups = weights.entries[f"{name}.scales"]["shape"][1]
    bits = {BLOCK4: 4, BLOCK6: 6}.get(last, 8)
    inputs = steps * (4 if bits == 8 else INPUT_MULTIPLE)
    return CLinear(
        *(weights.address(f"{name}.{part}") for part in ("panels", "scales", "offsets")),
        panels * LANES,
        inputs,
        inputs if groups == 1 else group_size_of(four_of(weights.entries)),
        bits,
    )


def _layer(weights: Weights, index: int) -> CLayer:
    at = f"layer.{index}"
    return CLayer(
        weights.address(f"{at}.norm"),
        linear_of(weights, f"{at}.qkv"),
        weights.address(f"{at}.bias"),
        weights.address(f"{at}.query_norm"),
        weights.address(f"{at}.key_norm"),
        linear_of(weights, f"{at}.out"),
        weights.address(f"{at}.inner_norm"),
        linear_of(weights, f"{at}.gate_up"),
        linear_of(weights, f"{at}.down"),
        int(index in weights.config.unrotated),
        *(weights.address(f"{at}.{name}") for name in ("router", *RECURRENT)),
    )
