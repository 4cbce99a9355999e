"""Conversion: a model's files to the exact engine's int8 file, once.

Weights become int8, symmetric, with one scale for each output row and group of inputs. The file is
written beside its final name and moved there whole, under a lock; a damaged or older one is built
again. It is read back once, whole; later opens check only its header.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.engines.exact.weights import VERSION, Damaged, open_weights, write
from specedit.errors import ModelError
from specedit.files import atomic
from specedit.files.lock import Lock
from specedit.models.store import ModelFiles, require_space

if TYPE_CHECKING:
    from specedit.engines.exact.checkpoint import Checkpoint
    from specedit.engines.exact.weights import Array

PART = 4096  # rows of the embedding read at a time


@dataclass(frozen=True)
class ConvertProgress:
    """`done` of `total` bytes are converted; `what` is shown to the user."""

    what: str
    done: int
    total: int


def source_of(files: ModelFiles) -> str:
    """What identifies the weights: the digest, or name, size and date where none is known."""
    if files.sha256:
        return files.sha256
    seen = hashlib.sha256()
    parts = sorted(files.path.glob("*.safetensors")) if files.kind == "folder" else [files.path]
    for part in parts:
        stat = part.stat()
        seen.update(f"{part.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}\n".encode())
    return seen.hexdigest()


def converted_path(files: ModelFiles, store: Path) -> Path:
    stem = "".join(c if c.isalnum() or c in "-._" else "-" for c in files.name)
    return store / "converted" / f"{stem}-{source_of(files)[:16]}-v{VERSION}.int8"


def is_converted(files: ModelFiles, store: Path) -> bool:
    """Whether the converted file is there, and was made from these files by this version."""
    return _usable(converted_path(files, store), source_of(files))


def convert(files: ModelFiles, store: Path, *, force: bool = False) -> Iterator[ConvertProgress]:
    """Make the converted file exist; yields nothing when it already does.

    `force` builds it again (its contents were damaged).
    """
    path, source = converted_path(files, store), source_of(files)
    if not force and _usable(path, source):
        return
    lock = Lock(store / "locks" / f"{path.name}.lock")
    while not lock.take():
        yield ConvertProgress(f"Waiting for another process to convert {files.name}", 0, 0)
        time.sleep(0.2)
    try:
        if force or not _usable(path, source):
            yield from _build(files, path, source)
    finally:
        lock.release()


def verify(store: Path, source: str) -> Iterator[tuple[Path, str]]:
    """Read all of each file converted from a model: the file, and "" or what is wrong with it.

    What is wrong is deleted: the next edit makes it again.
    """
    for path in sorted((store / "converted").glob(f"*-{source[:16]}-*.int8")):
        wrong = ""
        try:
            for _ in open_weights(path, source).verify():
                pass
        except Damaged as error:
            wrong = str(error)
            path.unlink(missing_ok=True)
        yield path, wrong


def _usable(path: Path, source: str) -> bool:
    try:
        open_weights(path, source)
    except Damaged:
        return False
    return True


def _build(files: ModelFiles, path: Path, source: str) -> Iterator[ConvertProgress]:
    from specedit.engines.exact.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(files)
    config = checkpoint.config
    per_layer = config.hidden * (
        config.head_size * (2 * config.heads + 2 * config.kv_heads) + 3 * config.inner
    )
    total = config.layers * per_layer + 3 * config.vocabulary * config.hidden
    path.parent.mkdir(parents=True, exist_ok=True)
    require_space(path.parent, total, f"the converted weights of {files.name}")
    what = f"Converting {files.name}"
    yield ConvertProgress(what, 0, total)
    for left in path.parent.glob(f"{path.stem}.*.part"):  # by a process that was killed: this one
        with contextlib.suppress(OSError):  # holds the lock, so it is not in use
            left.unlink()
    draft = path.with_suffix(f".{os.getpid()}.part")
    try:
        with atomic.drafted(path, draft=draft) as file:
            done = 0
            for _, size in write(file, config, source, _tensors(checkpoint)):
                done += size
                yield ConvertProgress(what, min(done, total), total)
            file.flush()
            for _ in open_weights(draft, source).verify():
                pass
    except (OSError, Damaged) as error:
        raise ModelError(
            f"the converted weights of {files.name} cannot be written to {path.parent}: {error}",
            hint="Free some space, or set SPECEDIT_HOME to a folder on another disk.",
        ) from error
    for old in path.parent.glob(path.name.rpartition("-v")[0] + "-v*.int8"):
        if old != path:
            with contextlib.suppress(OSError):
                old.unlink()
    yield ConvertProgress(what, total, total)


def _names(checkpoint: Checkpoint) -> Iterator[str]:
    config = checkpoint.config
    yield from ("embedding", "norm", "speeds", "head")
    for index in range(config.layers):
        at = f"layer.{index}"
        yield from (f"{at}.norm", f"{at}.inner_norm")
        if config.bias:
            yield f"{at}.bias"
        if config.head_norm:
            yield from (f"{at}.query_norm", f"{at}.key_norm")
        yield from (f"{at}.qkv", f"{at}.out", f"{at}.gate_up", f"{at}.down")


def _make(checkpoint: Checkpoint, name: str) -> list[tuple[str, Array]]:
    """The tensors of one name."""
    import numpy as np

    from specedit.engines.exact import quantize
    from specedit.engines.exact.geometry import GROUP_SIZE, STEP, Geometry

    config = checkpoint.config
    to, half = Geometry.of(config), config.head_size // 2
    blk, _, kind = name.replace("layer.", "blk.").rpartition(".")

    def matrix(*parts: str) -> Array:
        result = [checkpoint.matrix(f"{blk}.{part}.weight") for part in parts]
        return result[0] if len(result) == 1 else np.concatenate(result)

    def vector(*parts: str) -> Array:
        return np.concatenate([checkpoint.vector(part) for part in parts]).astype(np.float32)

    match kind:
        case "embedding":
            return [(name, _embedding(checkpoint, to.hidden))]
        case "speeds":
            return [(name, quantize.rope_frequencies(config))]
        case "norm":
            at = f"{blk}.attn_norm.weight" if blk else "output_norm.weight"
            return [(name, quantize.padded(vector(at), 0, to.hidden))]
        case "inner_norm":
            return [(name, quantize.padded(vector(f"{blk}.ffn_norm.weight"), 0, to.hidden))]
        case "bias":
            result = vector(*(f"{blk}.attn_{k}.bias" for k in "qkv"))
            return [(name, quantize.pad_heads(result, 0, half, to.half))]
        case "query_norm" | "key_norm":
            result = vector(f"{blk}.attn_{kind[0]}_norm.weight")
            return [(name, quantize.pad_heads(result, 0, half, to.half))]
        case "head":
            own = "output.weight" in checkpoint.tensors
            rows = checkpoint.matrix("output.weight" if own else "token_embd.weight")
            made = quantize.linear(rows)
        case "qkv":
            rows = quantize.pad_heads(matrix("attn_q", "attn_k", "attn_v"), 0, half, to.half)
            made = quantize.linear(rows)
        case "out":
            made = quantize.linear(quantize.pad_heads(matrix("attn_output"), 1, half, to.half))
        case "gate_up":
            gate, up = (quantize.linear(matrix(part)) for part in ("ffn_gate", "ffn_up"))
            made = quantize.interleaved(gate, up)
        case _:
            made = quantize.linear(matrix("ffn_down"), GROUP_SIZE)
            assert made.group_size % STEP == 0
    return [(f"{name}.{part}", result) for part, result in quantize.panels(made).items()]


def _embedding(checkpoint: Checkpoint, hidden: int) -> Array:
    """The table as bf16, rounded to the nearest, ties to even."""
    import numpy as np

    vocabulary = checkpoint.config.vocabulary
    table = np.zeros((vocabulary, hidden), np.uint16)
    for at in range(0, vocabulary, PART):
        rows = checkpoint.matrix("token_embd.weight", at, min(at + PART, vocabulary))
        bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
        table[at : at + PART, : rows.shape[1]] = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return table


def _tensors(checkpoint: Checkpoint) -> Iterator[tuple[str, Array]]:
    """All tensors in order; two names ahead, so that memory stays small."""
    names = list(_names(checkpoint))
    with ThreadPoolExecutor(2) as pool:
        ahead = [pool.submit(_make, checkpoint, name) for name in names[:2]]
        for index in range(len(names)):
            made = ahead.pop(0).result()
            if index + 2 < len(names):
                ahead.append(pool.submit(_make, checkpoint, names[index + 2]))
            yield from made
