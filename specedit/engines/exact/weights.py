"""The converted weights: one versioned, checksummed file, mapped into memory.

Knows the file's layout and the model's numbers (`Config`). Does not know where weights come from
(`specedit.engines.exact.conversion` writes the file) or how they are multiplied.

Layout: magic, version, header length, SHA-256 of the header, the header as JSON, then tensors at
multiples of 4096 bytes, each with its own checksum.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch

MAGIC = b"specedit"
VERSION = 2
ALIGN = 4096
PREFIX = struct.Struct("<8sIQ32s")
DTYPES = {"int8": torch.int8, "float32": torch.float32, "bfloat16": torch.bfloat16}
WORDS_PER_ROW = 4093  # prime, so that a moved page changes the column sums


class Damaged(Exception):
    """The converted file is missing, older, or not what was written: build it again."""


@dataclass(frozen=True)
class Config:
    """The numbers of one model."""

    family: str  # qwen2 | qwen3 | llama
    layers: int
    hidden: int
    inner: int  # width of the gated layer
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    window: int
    epsilon: float
    rope_base: float
    head_norm: bool = False  # queries and keys are normalised per head (Qwen3)
    bias: bool = False  # queries, keys and values have a bias (Qwen2)
    rope_factors: tuple[float, ...] = ()  # each frequency is divided by its factor (Llama 3)

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return self.heads // self.kv_heads


def checksum(tensor: torch.Tensor) -> str:
    """A digest at the speed of memory: 64-bit column sums, then BLAKE2 over those."""
    raw = tensor.contiguous().view(-1).view(torch.uint8)
    whole = raw.numel() // 8 * 8
    words = raw[:whole].view(torch.int64)
    rows = words.numel() // WORDS_PER_ROW
    body = words[: rows * WORDS_PER_ROW].view(rows, WORDS_PER_ROW).sum(0)
    digest = hashlib.blake2b(struct.pack("<Q", raw.numel()), digest_size=16)
    for piece in (body, words[rows * WORDS_PER_ROW :], raw[whole:]):
        digest.update(piece.numpy().tobytes())
    return digest.hexdigest()


@dataclass
class Weights:
    """The mapped file. Tensors are views of it until they are packed."""

    config: Config
    source: str
    entries: dict[str, dict[str, Any]]
    data: mmap.mmap

    def tensor(self, name: str) -> torch.Tensor:
        entry = self.entries[name]
        dtype = DTYPES[entry["dtype"]]
        count = entry["nbytes"] // dtype.itemsize
        found = torch.frombuffer(self.data, dtype=dtype, count=count, offset=entry["offset"])
        if checksum(found) != entry["checksum"]:
            raise Damaged(f"the converted weights of {name} are damaged")
        return found.view(entry["shape"])

    def release(self, name: str) -> None:
        """Let the pages go: a packed tensor is never read from the file again."""
        entry = self.entries[name]
        if hasattr(self.data, "madvise"):
            self.data.madvise(mmap.MADV_DONTNEED, entry["offset"], entry["nbytes"])


def write(
    file: BinaryIO, config: Config, source: str, tensors: Iterable[tuple[str, torch.Tensor]]
) -> Iterable[str]:
    """Write the file, yielding the name of each tensor once it is down."""
    room = 1 << 20  # the header is written last, into room left for it
    at, entries = room, {}
    for name, tensor in tensors:
        raw = tensor.contiguous()
        file.seek(at)
        file.write(raw.view(-1).view(torch.uint8).numpy().data)
        size = raw.numel() * raw.element_size()
        entries[name] = {
            "dtype": str(raw.dtype).removeprefix("torch."),
            "shape": list(raw.shape),
            "offset": at,
            "nbytes": size,
            "checksum": checksum(raw),
        }
        at = -(-(at + size) // ALIGN) * ALIGN
        yield name
    file.truncate(at)
    header = json.dumps(
        {"config": asdict(config), "source": source, "size": at, "tensors": entries}
    ).encode()
    if PREFIX.size + len(header) > room:
        raise ValueError("too many tensors for the header")
    file.seek(0)
    file.write(PREFIX.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()))
    file.write(header)


def open_weights(path: Path, source: str) -> Weights:
    """Map a converted file, or say `Damaged`."""
    try:
        with path.open("rb") as file:
            prefix = file.read(PREFIX.size)
            magic, version, length, digest = PREFIX.unpack(prefix)
            if magic != MAGIC or version != VERSION:
                raise Damaged("another version wrote the converted file")
            header = file.read(length)
            if hashlib.sha256(header).digest() != digest:
                raise Damaged("the converted file's header is damaged")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, struct.error, ValueError) as error:
        raise Damaged(str(error)) from error
    known = json.loads(header)
    if known["size"] != len(data):
        raise Damaged("the converted file is cut off")
    if known["source"] != source:
        raise Damaged("the converted file was made from another model")
    config = dict(known["config"])
    config["rope_factors"] = tuple(config["rope_factors"])
    return Weights(Config(**config), source, known["tensors"], data)
