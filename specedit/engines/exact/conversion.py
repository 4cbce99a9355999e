"""Conversion: a model's files to the exact engine's int8 file, once.

Knows how weights become int8 (symmetric, one scale per output row) and where the converted file
lies. The file is written beside its final name and moved there whole, under a lock; what is
damaged or older is built again. Ends with the self-check of exactness, once per machine and torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

from specedit.engines.exact.assemble import load
from specedit.engines.exact.check import check, verdict
from specedit.engines.exact.checkpoint import Checkpoint, open_checkpoint
from specedit.engines.exact.weights import VERSION, Damaged, open_weights, write
from specedit.files import atomic
from specedit.files.lock import Lock
from specedit.models.files import ModelFiles
from specedit.models.store import require_space

HEAD_PARTS = 8  # the output layer is cut so that a part's logits stay in the processor's cache
INNER_PIECE = 1792  # of the gated layer's inner width: digits, scales and weights are cut there
PART = 4096  # rows of the embedding read at a time


@dataclass(frozen=True)
class ConvertProgress:
    """`done` of `total` bytes are converted; `what` is a phrase for a person."""

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


def convert(
    files: ModelFiles, store: Path, precision: str = "balanced", *, force: bool = False
) -> Iterator[ConvertProgress]:
    """Make the converted file exist; yields nothing when it already does.

    Both precisions read the same file. `force` builds it again (its contents were damaged).
    """
    path, source = converted_path(files, store), source_of(files)
    if not force and _usable(path, source) and verdict(store, path.name) is not None:
        return
    lock = Lock(store / "locks" / f"{path.name}.lock")
    while not lock.take():
        yield ConvertProgress(f"Waiting for another process to convert {files.name}", 0, 0)
        time.sleep(0.2)
    try:
        if force or not _usable(path, source):
            yield from _build(files, path, source)
        if verdict(store, path.name) is None:
            yield ConvertProgress("Checking that every pass is exact here", 0, 0)
            check(load(path, source, store, close=False), store, path.name)
    finally:
        lock.release()


def _usable(path: Path, source: str) -> bool:
    try:
        open_weights(path, source)
    except Damaged:
        return False
    return True


def _build(files: ModelFiles, path: Path, source: str) -> Iterator[ConvertProgress]:
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
    with atomic.drafted(path, draft=path.with_suffix(".part")) as file:
        done = 0
        tensors = list(_names(checkpoint))
        sizes: dict[str, int] = {}

        def counted() -> Iterator[tuple[str, torch.Tensor]]:
            for name, tensor in _tensors(checkpoint, tensors):
                sizes[name] = tensor.numel() * tensor.element_size()
                yield name, tensor

        for name in write(file, config, source, counted()):
            done += sizes[name]
            yield ConvertProgress(what, min(done, total), total)
    for old in path.parent.glob(path.name.rpartition("-v")[0] + "-v*.int8"):
        if old != path:
            with contextlib.suppress(OSError):
                old.unlink()
    yield ConvertProgress(what, total, total)


def quantise(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Float rows to int8 and one scale per row."""
    scales = rows.abs().amax(-1).clamp_(min=1e-30).div_(127.0)
    return rows.div(scales[:, None]).round_().to(torch.int8), scales


# A job is a name and the tensors it makes; jobs run two at a time, in order.
Job = tuple[str, list[tuple[str, int, int | None]]]


def _names(checkpoint: Checkpoint) -> Iterator[Job]:
    config = checkpoint.config
    yield "embedding", []
    yield "norm", [("output_norm.weight", 0, None)]
    head = "output.weight" if "output.weight" in checkpoint.tensors else "token_embd.weight"
    step = -(-config.vocabulary // HEAD_PARTS // 16) * 16
    for part, start in enumerate(range(0, config.vocabulary, step)):
        yield f"head.{part}", [(head, start, min(start + step, config.vocabulary))]
    for index in range(config.layers):
        at, blk = f"layer.{index}", f"blk.{index}"
        yield f"{at}.norm", [(f"{blk}.attn_norm.weight", 0, None)]
        yield f"{at}.inner_norm", [(f"{blk}.ffn_norm.weight", 0, None)]
        if config.bias:
            yield f"{at}.bias", [(f"{blk}.attn_{k}.bias", 0, None) for k in "qkv"]
        if config.head_norm:
            yield f"{at}.head_norms", [(f"{blk}.attn_{k}_norm.weight", 0, None) for k in "qk"]
        yield f"{at}.qkv", [(f"{blk}.attn_{k}.weight", 0, None) for k in "qkv"]
        yield f"{at}.out", [(f"{blk}.attn_output.weight", 0, None)]
        for piece, start in enumerate(range(0, config.inner, INNER_PIECE)):
            stop = min(start + INNER_PIECE, config.inner)
            both: list[tuple[str, int, int | None]] = [
                (f"{blk}.ffn_{k}.weight", start, stop) for k in ("gate", "up")
            ]
            yield f"{at}.gate_up.{piece}", both
        yield f"{at}.down", [(f"{blk}.ffn_down.weight", 0, None)]


def _make(checkpoint: Checkpoint, job: Job) -> list[tuple[str, torch.Tensor]]:
    name, pieces = job
    config = checkpoint.config
    if name == "embedding":
        table = torch.empty(config.vocabulary, config.hidden, dtype=torch.bfloat16)
        for at in range(0, config.vocabulary, PART):
            table[at : at + PART] = checkpoint.matrix(
                "token_embd.weight", at, min(at + PART, config.vocabulary)
            )
        return [(name, table)]
    if name.endswith(("norm", "bias")):
        return [(name, torch.cat([checkpoint.vector(p) for p, _, _ in pieces]))]
    if name.endswith("head_norms"):
        query, key = (checkpoint.vector(p) for p, _, _ in pieces)
        return [(name, torch.stack([query] * config.heads + [key] * config.kv_heads))]
    whole = torch.cat([checkpoint.matrix(*piece) for piece in pieces])
    for piece, _, _ in pieces:
        checkpoint.release(piece)
    if not name.endswith(".down"):
        return _quantised(name, whole)
    parts = enumerate(torch.split(whole, INNER_PIECE, -1))
    return [made for index, part in parts for made in _quantised(f"{name}.{index}", part)]


def _quantised(name: str, rows: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    weight, scales = quantise(rows)
    return [(f"{name}.weight", weight), (f"{name}.scales", scales)]


def _tensors(checkpoint: Checkpoint, jobs: list[Job]) -> Iterator[tuple[str, torch.Tensor]]:
    """All tensors in order; two jobs ahead, so that memory stays small."""
    with ThreadPoolExecutor(2) as pool:
        ahead = [pool.submit(_make, checkpoint, job) for job in jobs[:2]]
        for index in range(len(jobs)):
            made = ahead.pop(0).result()
            if index + 2 < len(jobs):
                ahead.append(pool.submit(_make, checkpoint, jobs[index + 2]))
            yield from made
