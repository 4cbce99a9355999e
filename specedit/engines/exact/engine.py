"""The Engine of exact logits: begin, forward, crop over passes and a cache.

Choices and auditing are done here; the arithmetic is in `kernels.passes`.

The store keeps the KV cache of the constant text that prompts begin with (`FixedPrefixes`), bit
for bit as a pass computes it: reading that text takes as long as a short file. The files hold
nothing of a user's text.
"""

from __future__ import annotations

import hashlib
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling, common, depths
from specedit.engines.cores import default_threads
from specedit.engines.exact.conversion import (
    convert,
    converted_path,
    is_converted,
    kind_of,
    source_of,
    unwritable,
)
from specedit.engines.exact.kernels.library import NO_KERNELS, load, why_not
from specedit.engines.exact.kernels.passes import KernelCache, KernelPasses, OutputSubset
from specedit.engines.exact.weights import Damaged, needed_memory, open_weights
from specedit.errors import UsageError
from specedit.files import atomic, regular, stored
from specedit.models.catalogue import require_memory
from specedit.models.store import ModelFiles, short

SNAPSHOT_BYTES = 1 << 29  # of the states that a cache keeps, where the model has any
PREFILL = 512  # positions per prefill pass: 0.96 of the time of 256 at 3,000 positions
# Most ids of what is read that a narrowed choice may be among, besides frequent ones
MAX_NARROWED_IDS = 8192


class ExactEngine:
    """One model with one cache at a time; `swap` exchanges it."""

    def __init__(
        self, passes: KernelPasses, info: EngineInfo, fixed: FixedPrefixes | None = None
    ) -> None:
        self.passes = passes
        self.cache = passes.new_cache()
        self.info = info
        self._fixed = fixed
        self._sampling = GREEDY
        self._audit = False
        self._watching = False
        self._frequent: Sequence[int] = ()  # ids of the subset that stay from text to text
        self._subset: OutputSubset | None = None  # of the output layer
        self._narrow = False
        self._marks: Sequence[int] = ()
        # Of the last pass over a prompt, for an MTP layer: states, and the id after each
        self.tail: tuple[Sequence[int], bytearray] = (), bytearray()

    @property
    def length(self) -> int:
        return len(self.cache.ids)

    def new_cache(self) -> KernelCache:
        """An empty cache of this model, for `swap`."""
        return self.passes.new_cache()

    def swap(self, cache: KernelCache) -> KernelCache:
        """Use `cache` from now on; returns the previous one."""
        old, self.cache = self.cache, cache
        return old

    def read_fixed(self, ids: Sequence[int]) -> None:
        """Begin a text with ids that are the same in every run, which the store keeps."""
        if self._fixed is not None and common(self.cache.ids, ids) < len(ids):
            self.cache.crop(0)
            self._fixed.read(ids, self.cache)
            self.cache.snapshot(SNAPSHOT_BYTES)

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        self._sampling, self._audit = sampling, audit
        started = time.perf_counter()
        wanted = list(prompt[:-1])
        self._fits(len(prompt))
        if (subset := self._among) is not None:
            subset.forget(len(self._frequent))
            subset.add(prompt)
        reused = self.cache.crop(common(self.cache.ids, wanted))
        yield Prefill(reused, len(wanted), reused, time.perf_counter() - started)
        self.cache.reserve(len(wanted))
        self.tail = (), bytearray()
        while (at := self.length) < len(wanted):
            chunk, states = self._next(wanted), None
            if self._watching and self.passes.mtp and at + len(chunk) == len(wanted):
                states = bytearray(4 * self.info.hidden * len(chunk))
                self.tail = prompt[at + 1 :], states
            for share in self.passes.read_in_steps(chunk, self.cache, states):
                done = at + int(share * len(chunk))
                yield Prefill(done, len(wanted), reused, time.perf_counter() - started)
            self.cache.snapshot(SNAPSHOT_BYTES)
            yield Prefill(self.length, len(wanted), reused, time.perf_counter() - started)

    def _next(self, wanted: list[int]) -> list[int]:
        """The ids of the next pass that the cache lacks. One of a model with states ends where the
        next prompt may differ: its text ends there, or a multiple of so many ids."""
        at, stop = self.length, min(self.length + PREFILL, len(wanted))
        if self.keeps_states:
            stops = [stop - stop % PREFILL, *(mark for mark in self._marks if mark < stop)]
            stop = min((other for other in stops if other > at), default=stop)
        return wanted[at:stop]

    @property
    def keeps_states(self) -> bool:
        """Whether the model has states that cannot be cut: prompts continue at snapshots."""
        return self.cache.state_bytes > 0

    def mark(self, positions: Sequence[int]) -> None:
        """Positions up to which the prompts that come next may be equal."""
        self._marks = positions

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        self._fits(self.length + len(ids))
        first = self.length + 1  # the position of a choice after the first id
        sampled = self._sampling.temperature > 0
        offsets = range(len(ids)) if parents is None else depths(parents)
        positions = [first + offset for offset in offsets]
        second = self._sampling.takes_second(positions)
        size = self.info.hidden
        hidden = bytearray(len(ids) * size * 4) if self._watching else None
        if (subset := self._among) is not None:
            subset.add(ids)
        chosen, logits = self.passes.choose(
            ids,
            self.cache,
            rows=self._audit or sampled or second,
            parents=parents,
            states=hidden,
            among=subset,
            margins=(margins := array("f", bytes(4 * len(ids)))),
        )
        if sampled:
            from specedit.engines.sampling import choose

            chosen = [
                choose(row, self._sampling, position)
                for row, position in zip(logits or (), positions, strict=True)
            ]
        if second:
            from specedit.engines.sampling import second_best

            for at, (row, position) in enumerate(zip(logits or (), positions, strict=True)):
                if position == self._sampling.second_at:
                    chosen[at] = second_best(row)
                    margins[at] = -margins[at]
        rows = [bytes(row) for row in logits or ()] if self._audit else None
        states = None
        if hidden is not None:
            whole = memoryview(hidden).cast("f")
            states = [whole[at : at + size] for at in range(0, len(whole), size)]
        return Choices(chosen, rows, states, None if sampled else margins, subset)

    def weigh(self, ids: Sequence[int], wanted: Sequence[Sequence[int]]) -> list[list[float]]:
        import numpy as np

        self._fits(self.length + len(ids))
        rows = self.passes.choose(ids, self.cache, rows=True)[1] or []
        results = []
        for row, among in zip(rows[-len(wanted) :], wanted, strict=True):
            logits = np.frombuffer(row, np.float32).astype(np.float64)
            top = logits.max()
            total = top + np.log(np.exp(logits - top).sum())
            results.append((logits[list(among)] - total).tolist())
        return results

    def crop(self, length: int) -> None:
        wanted = self.cache.ids[:length]
        self.cache.crop(length)
        while self.length < len(wanted):  # its states are not known there
            self.passes.read(self._next(wanted), self.cache)
            self.cache.snapshot(SNAPSHOT_BYTES)

    def keep(self, start: int, rows: Sequence[int]) -> None:
        if list(rows) == list(range(len(rows))):
            self.crop(start + len(rows))
        else:
            self.cache.keep(start, rows)

    def watch(self, on: bool) -> None:
        self._watching = on and self.info.hidden > 0

    def narrow(self, frequent: Sequence[int]) -> None:
        self._narrow = bool(frequent)
        if frequent and frequent != self._frequent:
            self._frequent = frequent
            self._subset = self.passes.outputs(len(frequent) + MAX_NARROWED_IDS)
            self._subset.add(frequent)

    @property
    def _among(self) -> OutputSubset | None:
        """The subset of the output layer that choices are among; None: all of it."""
        greedy = self._sampling.temperature <= 0 and self._sampling.second_at is None
        return self._subset if self._narrow and greedy else None

    def _fits(self, length: int) -> None:
        if length > self.info.window:
            raise UsageError(
                f"{length:,} tokens do not fit the model's window of {self.info.window:,}.",
                hint="Edit a smaller file, or use a model with a longer window.",
            )


MIN_PREFIX_IDS = 16  # ids that are worth a file
# Of one file: 500 ids have 12 MB in a model of 1.5B, 100 in one of 14B
MAX_PREFIX_BYTES = 256_000_000
MAX_PREFIX_FILES = 8  # of one model; every run begins with one of three (`edit.prompt.CONSTANT`)
DIGEST = hashlib.sha256().digest_size


class FixedPrefixes:
    """The kept prefixes of one model."""

    def __init__(self, folder: Path, passes: KernelPasses) -> None:
        self._folder = folder
        self._passes = passes
        self._prefix = f"prefix-{short(passes.digest)}-"

    def read(self, ids: Sequence[int], cache: KernelCache) -> None:
        """Feed these ids to an empty cache, or fill it as a run before did."""
        if len(ids) < MIN_PREFIX_IDS:
            return
        # The name holds the digest of the model's file, so that `model remove` deletes it.
        name = self._passes.identity.encode() + array("i", ids).tobytes()
        path = self._folder / f"{self._prefix}{hashlib.sha256(name).hexdigest()[:16]}.kv"
        try:
            data = bytearray(regular.read(path, MAX_PREFIX_BYTES))
            digest, rows = data[:DIGEST], data[DIGEST:]
            if hashlib.sha256(rows).digest() != digest:
                raise ValueError("it is not what was written")
            cache.fill(ids, rows)
            return
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            stored.note_unreadable(path, error)
        self._passes.read(ids, cache)
        rows = cache.rows()
        with suppress(OSError):  # a store that cannot be written: every run computes
            self._make_space()
            atomic.whole(path, hashlib.sha256(rows).digest() + rows)

    def _make_space(self) -> None:
        """Delete the oldest files, so that one more may be kept."""
        files = self._folder.glob(f"{self._prefix}{'?' * 16}.kv")  # not those with an adapter
        newest_first = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first[MAX_PREFIX_FILES - 1 :]:
            path.unlink(missing_ok=True)


def available(
    files: ModelFiles | None = None, store: Path | None = None, weights: str = "auto"
) -> str | None:
    """Why the exact engine cannot run here (or not this model), in words; None when it can: a model
    that was converted to `store` can, so its own header need not be read (0.4 s)."""
    if (reason := why_not()) is not None or files is None:
        return reason
    if store is not None and is_converted(files, store, weights):
        return None
    from specedit.engines.exact.checkpoint import unsupported

    return unsupported(files)


def open_exact(
    files: ModelFiles,
    *,
    store: Path,
    threads: int | None = None,
    precision: str = "balanced",
    weights: str = "auto",
) -> ExactEngine:
    """An engine over the converted weights of `files`, which are made where they are missing."""
    library = load()
    if isinstance(library, str):
        raise UsageError(f"The exact engine cannot run here: {library}.", hint=NO_KERNELS)
    path, source = converted_path(files, store, weights), source_of(files)
    convert(files, store, weights)
    try:
        mapped = open_weights(path, source)
    except Damaged as error:  # deleted meanwhile, or not enough memory to map it
        raise unwritable(files, path, error) from error
    threads = threads or default_threads().number
    config = mapped.config
    size = sum(entry["nbytes"] for entry in mapped.entries.values())
    kind = kind_of(files, weights)
    scarce = require_memory(files.name, needed_memory(config, size), kind == "int4")
    about = f"{kind}, {precision}, {library.name}"
    fitted = kind == "int4" and weights == "auto"
    why = "int8 takes more than three quarters of this machine's memory" if fitted else ""
    info = EngineInfo(
        name="exact",
        device="cpu",
        threads=threads,
        window=config.window,
        vocabulary=config.vocabulary,
        exact=True,
        trees=not config.recurrent,
        hidden=config.hidden,
        note="; ".join(filter(None, (about, why, library.note, scarce))),
        weights=kind,
    )
    passes = KernelPasses(library, mapped, threads, close=precision == "close")
    if not scarce:
        mapped.map_pages()
    return ExactEngine(passes, info, FixedPrefixes(path.parent, passes))
