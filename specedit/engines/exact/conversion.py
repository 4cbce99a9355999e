"""Conversion: a model's files to a file of the exact engine, once for each kind of weights.

The file is written next to its final name and moved there whole, under a lock; a damaged or older
one is built again, and one that a killed process left unfinished is continued. It is read back
once, whole; later opens check only its header.

A model whose files are much larger than its converted weights is converted while it is fetched
(`convert_fetched`): each file is converted and deleted before the next but one. A GGUF file is
kept, and converted tensor by tensor while it is fetched (`convert_arriving`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from specedit.engines.cores import logical_cores
from specedit.engines.exact.kernels.library import why_not
from specedit.engines.exact.weights import (
    FORMAT_VERSION,
    INPUT_MULTIPLE,
    LANES,
    MTP_NORMS,
    RECURRENT,
    Damaged,
    Geometry,
    Weights,
    Writer,
    blocks,
    bytes_of,
    four_of,
    needed_memory,
    open_weights,
    stated_source,
)
from specedit.errors import ModelError
from specedit.files import atomic
from specedit.files.regular import Lock
from specedit.models import catalogue
from specedit.models.adapter import with_adapter
from specedit.models.architecture import Architecture, our_headers
from specedit.models.configuration import header_of
from specedit.models.store import (
    FetchProgress,
    ModelFiles,
    Report,
    Shards,
    parts_of,
    require_space,
    short,
    sized,
    unreported,
)

if TYPE_CHECKING:
    from specedit.engines.exact.checkpoint import Checkpoint
    from specedit.engines.exact.quantize import Array

# Of a GGUF file, int8 takes at most so many times its bytes in memory, and so many more.
INT8_TIMES, INT8_MORE = 2, 1 << 30
FOUR = ("Q4_0", "Q4_K")  # types of tensors that have 4 bits already
MATRICES = ("qkv", "out", "gate_up", "down")
OUTER_MATRICES = ("embedding", "head", "fuse")
NUMBERS_PER_BLOCK = 1 << 20  # numbers of a matrix that a core converts at a time, in some 20 MB
STOP_SECONDS = 0.3  # that an interrupted download waits for the blocks that are being converted
WAIT_SECONDS = 0.2  # between two looks at how much of a file has arrived
BLOCKS_AHEAD = 2  # blocks that wait for a core or are written, while each core makes one


def source_of(files: ModelFiles) -> str:
    """The identity of the weights: the digest, or name, size and date where none is known."""
    if files.sha256:
        return files.digest
    seen = hashlib.sha256()
    parts = sorted(files.path.glob("*.safetensors")) if files.kind == "folder" else [files.path]
    for part in parts:
        stat = part.stat()
        seen.update(os.fsencode(f"{part.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}\n"))
    return replace(files, sha256=seen.hexdigest()).digest


def kind_of(files: ModelFiles, weights: str) -> str:
    """The kind that the setting means: `auto` is int8 unless memory is too small for it."""
    if weights != "auto":
        return weights
    try:
        if files.kind == "gguf":  # reading its header takes 0.4 s
            size = sum(part.stat().st_size for part in parts_of(files.path))
            if INT8_TIMES * size + INT8_MORE <= _share():
                return "int8"
        return _kind_for(_configuration(files))
    except (ModelError, OSError):  # the conversion says what is wrong
        return "int8"


def _kind_for(config: Architecture) -> str:
    """What `auto` means for a model of these numbers."""
    needed = needed_memory(config, bytes_of(Geometry.of(config).tensors(config)))
    return "int8" if needed <= _share() else "int4"


def _share() -> float:
    """Bytes of memory that a model's int8 weights may take."""
    return catalogue.SHARE * catalogue.this_machine(1).memory or float("inf")


@cache
def _configuration(files: ModelFiles) -> Architecture:
    from specedit.engines.exact.checkpoint import configuration_of

    return configuration_of(files)


def converted_path(files: ModelFiles, store: Path, weights: str = "auto") -> Path:
    names = (files.name, files.adapter.name) if files.adapter else (files.name,)
    stem = "+".join(re.sub(r"[^\w.-]", "-", name[:60]) for name in names)
    name = f"{stem}-{short(source_of(files))}-v{FORMAT_VERSION}.{kind_of(files, weights)}"
    return store / "converted" / name


def is_converted(files: ModelFiles, store: Path, weights: str = "auto") -> bool:
    """Whether the converted file is there, and was made from these files by this version."""
    return _usable(converted_path(files, store, weights), source_of(files))


def convert(
    files: ModelFiles, store: Path, weights: str = "auto", report: Report = unreported
) -> None:
    """Make the converted file exist."""
    path, source = converted_path(files, store, weights), source_of(files)
    if _usable(path, source):
        return
    lock = Lock(store / "locks" / f"{path.name}.lock")
    note = f"Waiting for another process to convert {files.name}"
    try:
        while not lock.take(WAIT_SECONDS):
            report(FetchProgress(files.name, "convert", 0, 0, note=note))
        if not _usable(path, source):
            _build(files, path, source, report)
    except (OSError, Damaged) as error:
        raise unwritable(files, path, error) from error
    finally:
        lock.release()


def unwritable(files: ModelFiles, path: Path, error: OSError | Damaged) -> ModelError:
    """The error for converted weights that cannot be written or read back."""
    hint = "Free some space and run it again, or set SPECEDIT_HOME to a folder on another disk."
    if getattr(error, "filename", None):  # it cannot be opened, locked or replaced
        hint = "Delete it if it is in the way, or set SPECEDIT_HOME to a folder you can write to."
    message = f"the converted weights of {files.name} cannot be written to {path.parent}: {error}"
    return ModelError(message, hint=hint)


def verify(store: Path, source: str) -> Iterator[tuple[Path, str]]:
    """Read all of each file converted from a model, with or without an adapter: the file, and ""
    or what is wrong with it, which is deleted: the next edit makes it again."""
    for path in sorted((store / "converted").glob(f"*-{source[:16]}-*.int[48]")):
        wrong = ""
        try:
            for _ in _open_any(path).verify():
                pass
        except Damaged as error:
            wrong = str(error)
            path.unlink(missing_ok=True)
        yield path, wrong


def kinds_of(store: Path, source: str) -> Iterator[str]:
    """What a model was converted to: kind, adapter, bytes, and what has 4 bits."""
    for path in sorted((store / "converted").glob(f"*-{source[:16]}-*v{FORMAT_VERSION}.int[48]")):
        with contextlib.suppress(Damaged):
            entries = _open_any(path).entries
            four = len(four_of(entries))
            matrices = sum(name.endswith(".panels") for name in entries)
            share = f" ({four} of {matrices} matrices, the others 6 bits)" if four else ""
            adapter = _names_in(path).partition("+")[2]
            merged = f" with {adapter}" if adapter else ""
            yield f"{path.suffix[1:]}{merged} {sized(path.stat().st_size)}{share}"


def with_adapters(store: Path) -> Iterator[tuple[str, list[Path]]]:
    """The names of model and adapter of converted files that have one, with these files."""
    paths = sorted((store / "converted").glob("*+*.int[48]"), key=_names_in)
    yield from ((names, list(same)) for names, same in groupby(paths, key=_names_in))


def _names_in(path: Path) -> str:
    """The names of model and adapter in a converted file's own name: `model+adapter`."""
    return re.sub(r"(-[0-9a-f]{16}){1,2}-v[0-9]+\.int[48]$", "", path.name)


def _open_any(path: Path) -> Weights:
    """A converted file of whatever model its name says."""
    source = stated_source(path)
    if f"-{short(source)}-v" not in path.name:
        raise Damaged("the converted file was made from another model")
    return open_weights(path, source)


def converted_elsewhere(store: Path, sources: Collection[str]) -> list[Path]:
    """The files that were converted from other models than these."""
    known = [source[:16] for source in sources if source]
    files = (store / "converted").glob("*.int[48]")
    return [path for path in files if not any(f"-{digest}" in path.name for digest in known)]


def _usable(path: Path, source: str) -> bool:
    try:
        open_weights(path, source)
    except Damaged:
        return False
    return True


def _build(files: ModelFiles, path: Path, source: str, report: Report) -> None:
    from specedit.engines.exact.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(files)
    if path.is_dir():  # otherwise this is only noticed at the end
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    with atomic.drafted(path, draft=draft_of(path)) as file:
        writer = _filled(file, files, checkpoint, path, source, report)
        writer.finish()
    for old in path.parent.glob(f"{path.name.rpartition('-v')[0]}-v*{path.suffix}*"):
        if old != path:
            with contextlib.suppress(OSError):
                old.unlink()
    report(FetchProgress(files.name, "convert", writer.total, writer.total))


def _filled(
    file: BinaryIO,
    files: ModelFiles,
    checkpoint: Checkpoint,
    path: Path,
    source: str,
    report: Report,
) -> Writer:
    """A writer of `file` with all that the checkpoint has, if memory and disk allow it."""
    four = four_bits(checkpoint, path)
    writer = Writer(file, checkpoint.config, source, four)
    catalogue.require_memory(files.name, needed_memory(checkpoint.config, writer.total), bool(four))
    done = sum(entry["nbytes"] for entry in writer.entries.values())
    require_space(path.parent, writer.total - done, f"the converted weights of {files.name}")
    report(FetchProgress(files.name, "convert", done, writer.total))
    for size in fill(writer, checkpoint, four):
        done += size
        report(FetchProgress(files.name, "convert", done, writer.total))
    return writer


def draft_of(path: Path) -> Path:
    """The file that becomes a converted one when it is whole."""
    return path.with_name(f"{path.name}.part")


def four_bits(checkpoint: Checkpoint, path: Path) -> frozenset[str]:
    """The matrices that get 4 bits in a file of int4, the others 6: those that have no more in the
    model's file. Where all have more, all but the output layer and half of those of `down`."""
    if ".int4" not in path.suffixes:
        return frozenset()
    layers, types = checkpoint.config.layers, checkpoint.tensors
    inner = {f"{block}.{kind}" for block in blocks(checkpoint.config) for kind in MATRICES}
    results = {
        name
        for name in ("head", *inner)
        if all(types.get(p) in FOUR for group in _sources(checkpoint, name) for p in group)
    }
    if results & inner:
        return frozenset(results)
    eighth = layers // 8
    for index in range(layers):
        more = not eighth <= index < layers - eighth or (index - eighth) % 3 == 2
        results |= {f"layer.{index}.{kind}" for kind in MATRICES if kind != "down" or not more}
    return frozenset(results)


def fill(writer: Writer, checkpoint: Checkpoint, four: Collection[str] = ()) -> Iterator[int]:
    """Convert what the writer lacks and the checkpoint has; yields the bytes of each block. Some
    blocks are made ahead, so that memory does not depend on the model's size."""
    cores = logical_cores()
    with ThreadPoolExecutor(cores) as pool:
        ahead: deque[tuple[str, Future[dict[str, Array]]]] = deque()
        for name, sources in lacking(writer, checkpoint).items():
            if any(part not in checkpoint.tensors for group in sources for part in group):
                continue
            for make in _blocks(checkpoint, name, sources, four):
                ahead.append((name, pool.submit(make)))
                if len(ahead) >= cores + BLOCKS_AHEAD:
                    yield _add(writer, *ahead.popleft())
        while ahead:
            yield _add(writer, *ahead.popleft())


def lacking(writer: Writer, checkpoint: Checkpoint) -> dict[str, list[list[str]]]:
    """The tensors that the writer lacks, with the checkpoint's tensors that each is made of."""
    config = checkpoint.config
    names = ["embedding", "norm", "speeds", "head"]
    attending = ["bias"] if config.bias else []
    attending += ["query_norm", "key_norm"] if config.head_norm else []
    for index, block in enumerate(blocks(config)):
        inner = ["norm", *(RECURRENT if index in config.recurrent else attending), "inner_norm"]
        inner += ["router"] if config.experts else []
        inner += [*MTP_NORMS, "fuse"] if block == "mtp" else []
        names += [f"{block}.{name}" for name in (*inner, *MATRICES)]
    return {name: _sources(checkpoint, name) for name in names if not writer.has(name)}


def _add(writer: Writer, name: str, block: Future[dict[str, Array]]) -> int:
    before = len(writer.entries)
    size = sum(writer.add(part, rows) for part, rows in block.result().items())
    if name.startswith(("layer.", "mtp.")) and len(writer.entries) > before:
        writer.save()
    return size


def _sources(checkpoint: Checkpoint, name: str) -> list[list[str]]:
    """The checkpoint's tensors, one after another; those of a group are read side by side."""
    blk, _, kind = name.replace("layer.", "blk.").rpartition(".")
    recurrent = blk.startswith("blk") and int(blk[4:]) in checkpoint.config.recurrent
    mixed = ("exps", *(["shexp"] if checkpoint.config.shared else []))
    ffn = [f"_{each}" for each in mixed] if checkpoint.config.experts else [""]
    groups = {
        "embedding": [["token_embd"]],
        "head": [["token_embd" if checkpoint.tied else "output"]],
        "speeds": [],
        "norm": [[f"{blk}.attn_norm" if blk else "output_norm"]],
        "inner_norm": [[f"{blk}.ffn_norm"]],
        "query_norm": [[f"{blk}.attn_q_norm"]],
        "key_norm": [[f"{blk}.attn_k_norm"]],
        "out": [[f"{blk}.ssm_out" if recurrent else f"{blk}.attn_output"]],
        "gate_up": [[f"{blk}.ffn_gate{each}", f"{blk}.ffn_up{each}"] for each in ffn],
        "down": [[f"{blk}.ffn_down{each}"] for each in ffn],
        "router": [[f"{blk}.ffn_gate_inp{each.removeprefix('_exps')}"] for each in ffn],
        "convolution": [[f"{blk}.ssm_conv1d"]],
        "projection": [[f"{blk}.ssm_alpha"], [f"{blk}.ssm_beta"]],
        "decay": [[f"{blk}.ssm_a"]],
        "shift": [[f"{blk}.ssm_dt"]],
        "state_norm": [[f"{blk}.ssm_norm"]],
        "fuse": [["mtp.eh_proj"]],
        "id_norm": [["mtp.enorm"]],
        "before_norm": [["mtp.hnorm"]],
        "last_norm": [["mtp.shared_head_norm"]],
    }.get(kind, [[f"{blk}.attn_{part}"] for part in (("qkv", "gate") if recurrent else "qkv")])
    ending = "bias" if kind in ("bias", "shift") else "weight"
    return [[f"{part}.{ending}" for part in group] for group in groups]


def _blocks(
    checkpoint: Checkpoint, name: str, sources: list[list[str]], four: Collection[str]
) -> Iterator[Callable[[], dict[str, Array]]]:
    """A function for each block of a tensor; every block of a matrix but the last fills panels."""
    from specedit.engines.exact import quantize

    config = checkpoint.config
    kind = name.rpartition(".")[2]
    if kind not in (*OUTER_MATRICES, *MATRICES):
        yield partial(quantize.vector, checkpoint, name, sources)
        return
    heads = 2 * config.head_size if config.output_gate else config.head_size
    multiple = {"qkv": math.lcm(heads, LANES), "gate_up": INPUT_MULTIPLE}.get(kind, LANES)
    for group in sources:
        shape = config.shape(group[0])
        assert shape is not None
        *each, height, width = shape  # of all experts, or of one matrix
        step = max(NUMBERS_PER_BLOCK // (width * len(group) * multiple), 1) * multiple
        for first in range(0, height * math.prod(each), height):
            for start in range(first, first + height, step):
                stop = min(start + step, first + height)
                yield partial(quantize.matrix_rows, checkpoint, name, group, start, stop, four)


def convert_fetched(store: Path, weights: str, report: Report, shards: Shards) -> None:
    """Convert the files of a folder while it is fetched, and delete them."""
    files = shards.files
    path, source = converted_path(files, store, weights), source_of(files)
    draft = draft_of(path)
    if (reason := why_not()) is not None:
        message = f"{files.name} is converted while it is fetched, and {reason}"
        raise ModelError(message, hint="Name its hub id instead: all its files are then kept.")
    try:
        open_weights(path, source)
    except Damaged:
        if not draft.exists():
            shards.forget()
    else:
        for shard in shards.present():
            shards.drop(shard)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        needed = _converted(shards, draft, source, report)
    except (OSError, Damaged) as error:
        raise unwritable(files, path, error) from error
    if shards.last:
        if needed:
            draft.unlink()
            shards.forget()
            raise ModelError(f"{files.name} lacks {sorted(needed)[0]}", hint="Pull it again.")
        draft.replace(path)
    for shard in shards.present():
        if needed.isdisjoint(our_headers(header_of(shard))):
            shards.drop(shard)


def _converted(shards: Shards, draft: Path, source: str, report: Report) -> set[str]:
    """Convert what can be converted; returns the model's tensors that are still needed."""
    from specedit.engines.exact.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(shards.files, shards.present())
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "r+b") as file:
        writer = _filled(file, shards.files, checkpoint, draft, source, report)
        writer.save()
        groups = lacking(writer, checkpoint).values()
        needed = {part for sources in groups for group in sources for part in group}
        if shards.last and not needed:
            writer.finish()
            os.fsync(file.fileno())
    return needed


@contextlib.contextmanager
def convert_arriving(
    store: Path, weights: str, adapter: str, report: Report, files: ModelFiles, whole: int
) -> Iterator[Callable[[], None]]:
    """Convert a GGUF file of `whole` bytes in a thread while it is fetched. What is made of it is
    dropped unless the function is called that the context gives."""
    work = _Arriving(files, whole)
    thread = threading.Thread(target=work.run, args=(store, weights, adapter), daemon=True)
    thread.start()

    def keep() -> None:
        while thread.is_alive():
            report(FetchProgress(files.name, "convert", work.done, work.total))
            thread.join(WAIT_SECONDS)
        if work.complete:
            work.draft.replace(work.path)

    try:
        yield keep
    finally:
        work.stopped = True
        thread.join(STOP_SECONDS)
        work.drop()


class _Arriving:
    """The conversion of a file while it is fetched; `convert` reports what is wrong with it."""

    def __init__(self, files: ModelFiles, whole: int) -> None:
        self.files, self.whole = files, whole
        self.path = self.draft = Path()
        self.done = self.total = 0
        self.stopped = self.complete = False

    def run(self, store: Path, weights: str, adapter: str) -> None:
        try:
            files = with_adapter(self.files, adapter)
            checkpoint = self._opened(files)
            if checkpoint is None:
                return
            kind = weights if weights != "auto" else _kind_for(checkpoint.config)
            self.path, source = converted_path(files, store, kind), source_of(files)
            if not _usable(self.path, source):
                self.draft = self.path.with_name(f"{self.path.name}.arriving")
                self.complete = self._filled(checkpoint, source)
        except Exception:  # bytes whose digest is not known yet may be anything
            self.complete = False
        if not self.complete:
            self.drop()

    def drop(self) -> None:
        if self.draft.name:
            with contextlib.suppress(OSError):
                self.draft.unlink(missing_ok=True)

    def _arrived(self) -> int:
        return self.files.path.stat().st_size if self.files.path.exists() else 0

    def _opened(self, files: ModelFiles) -> Checkpoint | None:
        """The checkpoint, when its header has arrived; None where that does not come."""
        from specedit.engines.exact.checkpoint import open_checkpoint
        from specedit.models import gguf

        wanted = min(gguf.FIRST_READ_BYTES, self.whole)
        while not self.stopped:
            arrived = self._arrived()
            if arrived < wanted:
                time.sleep(WAIT_SECONDS)
                continue
            try:
                return open_checkpoint(files, whole=self.whole)
            except ModelError:  # its header is longer than what has arrived, or it is not a model
                if arrived >= min(gguf.MAX_HEADER_BYTES, self.whole):
                    raise
                wanted = min(2 * arrived, self.whole)
        return None

    def _filled(self, checkpoint: Checkpoint, source: str) -> bool:
        """Write what can be converted so far, until it is all."""
        four = four_bits(checkpoint, self.path)
        self.draft.parent.mkdir(parents=True, exist_ok=True)
        self.draft.unlink(missing_ok=True)  # of a process that was killed: of unknown bytes
        with self.draft.open("x+b") as file:
            writer = Writer(file, checkpoint.config, source, four)
            self.total = writer.total
            needed = needed_memory(checkpoint.config, writer.total)
            catalogue.require_memory(self.files.name, needed, bool(four))
            require_space(
                self.path.parent, self.total + self.whole - self._arrived(), self.files.name
            )
            while not self.stopped:
                before = self.done
                for size in fill(writer, checkpoint.arrived(self._arrived()), four):
                    self.done += size
                    if self.stopped:
                        return False
                if not lacking(writer, checkpoint):
                    writer.finish()
                    os.fsync(file.fileno())
                    return True
                if self.done == before:
                    time.sleep(WAIT_SECONDS)
        return False
