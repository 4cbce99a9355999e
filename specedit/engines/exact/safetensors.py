"""A safetensors file: rows of a tensor as float32, by numpy alone.

bf16, which numpy lacks, is widened to float32.
"""

from __future__ import annotations

import json
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.files import regular

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


@dataclass(frozen=True)
class Tensor:
    """A tensor's place in its file."""

    data: mmap.mmap
    type: str
    shape: tuple[int, ...]
    offset: int

    @property
    def rows(self) -> int:
        return self.shape[0] if len(self.shape) > 1 else 1

    def read(self, start: int, stop: int | None) -> Array:
        """Rows as float32; a vector is read whole."""
        shape = self.shape if len(self.shape) > 1 else (1, *self.shape)
        width = int(np.prod(shape[1:], dtype=np.int64))
        stop = shape[0] if stop is None else stop
        dtype = np.dtype(TYPES[self.type])
        found = np.frombuffer(
            self.data, dtype, (stop - start) * width, self.offset + start * width * dtype.itemsize
        )
        if self.type == "BF16":
            found = (found.astype(np.uint32) << 16).view(np.float32)
        whole = found.astype(np.float32, copy=False).reshape(stop - start, *shape[1:])
        return whole if len(self.shape) > 1 else whole.reshape(-1)


def open_safetensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file; ValueError where it is damaged."""
    with regular.reading(path) as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        (length,) = struct.unpack_from("<Q", data)
        known: dict[str, Any] = json.loads(data[8 : 8 + length])
        known.pop("__metadata__", None)
        return {name: _tensor(data, 8 + length, entry) for name, entry in known.items()}
    except (struct.error, KeyError, TypeError, UnicodeDecodeError, OverflowError) as error:
        raise ValueError(f"its header is not readable ({error})") from error


def _tensor(data: mmap.mmap, base: int, entry: dict[str, Any]) -> Tensor:
    begin, end = entry["data_offsets"]
    shape = tuple(int(side) for side in entry["shape"])
    if entry["dtype"] in TYPES:
        wanted = int(np.prod(shape, dtype=np.int64)) * np.dtype(TYPES[entry["dtype"]]).itemsize
        if end - begin != wanted:
            raise ValueError("a tensor's size is not its shape's")
    if base + end > len(data) or begin < 0:
        raise ValueError("it is cut off")
    return Tensor(data, entry["dtype"], shape, base + begin)
