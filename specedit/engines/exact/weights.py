"""The converted weights: one versioned file that is mapped as it is. Opening it imports no numpy.

Layout: magic, version, header length, SHA-256 of the header, the header as JSON, then tensors at
multiples of 4096 bytes, each with its own checksum. The header is checked whenever the file is
opened, what it says of the tensors by `verify`.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import mmap
import struct
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from specedit.engines.exact.geometry import LIMITS, Geometry, unsuitable
from specedit.files import regular
from specedit.models.architecture import Architecture

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

MAGIC = b"specedit"
VERSION = 3
ALIGN = 4096
PREFIX = struct.Struct("<8sIQ32s")
DTYPES = {"int8": 1, "uint16": 2, "int32": 4, "float32": 4, "float64": 8}  # bytes of a number
HEADER_ROOM = 1 << 20  # bytes before the tensors; the header is written there last
WORDS_PER_ROW = 4093  # prime, so that a moved page changes the column sums

UNREADABLE = (
    *(OSError, struct.error, RecursionError),
    *(ValueError, TypeError, KeyError, AttributeError),  # of JSON that is not what was written
)


class Damaged(Exception):
    """The converted file is missing, older, or not what was written: build it again."""


def checksum(array: Array) -> str:
    """A digest at the speed of memory: 64-bit column sums, then BLAKE2 over those."""
    import numpy as np

    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = raw.size // 8 * 8
    words = raw[:whole].view(np.int64)
    rows = words.size // WORDS_PER_ROW
    body = words[: rows * WORDS_PER_ROW].reshape(rows, WORDS_PER_ROW).sum(0)
    digest = hashlib.blake2b(struct.pack("<Q", raw.size), digest_size=16)
    for piece in (body, words[rows * WORDS_PER_ROW :], raw[whole:]):
        digest.update(piece.tobytes())
    return digest.hexdigest()


class _Buffer(ctypes.Structure):
    """Python's own Py_buffer: how the address of a mapping is learned."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Weights:
    """The mapped file. It stays mapped while anything that came from here is in use."""

    config: Architecture
    source: str
    entries: dict[str, dict[str, Any]]
    data: mmap.mmap

    @cached_property
    def base(self) -> int:
        """Where the mapping begins."""
        result = _Buffer()
        ctypes.pythonapi.PyObject_GetBuffer(
            ctypes.py_object(self.data), ctypes.byref(result), ctypes.c_int(0)
        )
        address = int(result.buf or 0)
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(result))
        return address

    def address(self, name: str) -> int | None:
        """Where a tensor begins; None where the model has none of this name."""
        entry = self.entries.get(name)
        return None if entry is None else self.base + int(entry["offset"])

    def array(self, name: str) -> Array:
        """A tensor as it lies in the file: a view, which must not be written to."""
        import numpy as np

        entry = self.entries[name]
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        return np.frombuffer(self.data, dtype, math.prod(shape), entry["offset"]).reshape(shape)

    def verify(self) -> Iterator[str]:
        """Read everything; yields the name of each tensor, or says `Damaged`."""
        for name, entry in self.entries.items():
            if checksum(self.array(name)) != entry["checksum"]:
                raise Damaged(f"the converted weights of {name} are damaged")
            yield name


def write(
    file: BinaryIO, config: Architecture, source: str, tensors: Iterable[tuple[str, Array]]
) -> Iterable[tuple[str, int]]:
    """Write the file, yielding the name and size of each tensor once it is down."""
    import numpy as np

    at, entries = HEADER_ROOM, {}
    for name, array in tensors:
        raw = np.ascontiguousarray(array)
        if raw.dtype.name not in DTYPES:
            raise ValueError(f"{name} has type {raw.dtype.name}")
        file.seek(at)
        file.write(raw.data)
        entries[name] = {
            "dtype": raw.dtype.name,
            "shape": list(raw.shape),
            "offset": at,
            "nbytes": raw.nbytes,
            "checksum": checksum(raw),
        }
        at = -(-(at + raw.nbytes) // ALIGN) * ALIGN
        yield name, raw.nbytes
    file.truncate(at)
    header = json.dumps(
        {"config": asdict(config), "source": source, "size": at, "tensors": entries}
    ).encode()
    if PREFIX.size + len(header) > HEADER_ROOM:
        raise ValueError("too many tensors for the header")
    file.seek(0)
    file.write(PREFIX.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()))
    file.write(header)


def open_weights(path: Path, source: str) -> Weights:
    """Map a converted file, or say `Damaged`.

    Every tensor lies in the file and has the type and shape that the model's numbers ask for: the
    kernels are given addresses, and read as far as those numbers say.
    """
    try:
        with regular.reading(path) as file:
            magic, version, length, digest = PREFIX.unpack(file.read(PREFIX.size))
            if magic != MAGIC or version != VERSION:
                raise Damaged("another version wrote the converted file")
            header = file.read(min(length, HEADER_ROOM))
            if hashlib.sha256(header).digest() != digest:
                raise Damaged("the converted file's header is damaged")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        known = json.loads(header)
        if known["size"] != len(data):
            raise Damaged("the converted file is cut off")
        if known["source"] != source:
            raise Damaged("the converted file was made from another model")
        config = _config(known["config"])
        _check_tensors(config, known["tensors"], len(data))
    except UNREADABLE as error:
        raise Damaged(f"the converted file cannot be read: {error}") from error
    return Weights(config, source, known["tensors"], data)


def _config(numbers: dict[str, Any]) -> Architecture:
    config = Architecture(**{**numbers, "rope_factors": tuple(numbers["rope_factors"])})
    for name in LIMITS:
        if type(getattr(config, name)) is not int:
            raise ValueError(f"{name} is not an integer")
    if not math.isfinite(config.epsilon) or (reason := unsuitable(config)):
        raise ValueError(reason or "epsilon is not a number")
    return config


def _check_tensors(config: Architecture, entries: dict[str, dict[str, Any]], size: int) -> None:
    expected = Geometry.of(config).tensors(config)
    if entries.keys() != expected.keys():
        raise ValueError("it does not have the model's tensors")
    for name, (dtype, shape) in expected.items():
        entry = entries[name]
        offset, nbytes = entry["offset"], math.prod(shape) * DTYPES[dtype]
        if (entry["dtype"], entry["shape"], entry["nbytes"]) != (dtype, list(shape), nbytes):
            raise ValueError(f"{name} is not {dtype} of {shape}")
        if type(offset) is not int or offset % ALIGN or not HEADER_ROOM <= offset <= size - nbytes:
            raise ValueError(f"{name} does not lie in the file")
