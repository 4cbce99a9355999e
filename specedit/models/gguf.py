"""GGUF files: metadata, and tensors as float32 rows.

The block arithmetic is the `gguf` package's; the container is read here because a truncated or
foreign file must be a `ModelError`, not a stack trace, and because skipping the tokenizer's 300,000
strings makes opening a file fast.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from specedit.errors import ModelError
from specedit.files import regular
from specedit.models.store import parts_of

MAGIC = b"GGUF"
VERSIONS = (2, 3)
# GGML type number -> (name, elements per block, bytes per block)
READABLE = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    6: ("Q5_0", 32, 22),
    8: ("Q8_0", 32, 34),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    30: ("BF16", 1, 2),
}
# metadata value type -> struct format; 8 is a string, 9 an array
SCALARS = {**dict(enumerate("BbHhIif?")), 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
DIMENSIONS = 4  # of a tensor, as GGML has it
FIRST_READ_BYTES = 1 << 23  # bytes that are read first; the header of most files has fewer
MAX_HEADER_BYTES = 1 << 26  # bytes; 262,144 tokens and their merges take 20 million
ITEMS = 1 << 22  # of one array; the largest vocabulary has 262,144, and 600,000 merges
LETTERS = 1 << 24  # of one string
REFETCH = "The file is not complete: remove it and fetch it again (specedit model pull)."


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where a tensor lies. `shape` is row-major: (rows, columns)."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int  # from the start of the file
    part: int = 0  # of a model in several files

    @property
    def type_name(self) -> str:
        return READABLE[self.type][0]

    @property
    def row_bytes(self) -> int:
        _, block, size = READABLE[self.type]
        return self.shape[-1] // block * size

    @property
    def rows(self) -> int:
        return math.prod(self.shape[:-1])

    @property
    def nbytes(self) -> int:
        return self.rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class Gguf:
    """An open GGUF file, or all files of a model that is split."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]
    files: tuple[regular.LargeFile, ...] = field(repr=False)

    def rows(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[np.float32]:
        """Rows `start` to `stop` of a tensor as float32."""
        from gguf import GGMLQuantizationType, quants

        info = self.tensors[name]
        stop = info.rows if stop is None else stop
        at, size = info.offset + start * info.row_bytes, (stop - start) * info.row_bytes
        raw = np.frombuffer(read(self.files[info.part], at, size), np.uint8)
        raw = raw.reshape(stop - start, info.row_bytes)
        if info.type_name == "F32":
            return raw.view(np.float32)
        if info.type_name == "F16":
            return raw.view(np.float16).astype(np.float32)
        if info.type_name == "BF16":
            return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        out = quants.dequantize(raw, GGMLQuantizationType(info.type))
        return out.astype(np.float32, copy=False)


def open_gguf(path: Path, *, arrays: bool = True, whole: int = 0) -> Gguf:
    """Read the header of a GGUF file, and of the other files of a model that is split;
    `arrays=False` leaves long metadata arrays out. `whole`: the bytes of a file that is not yet
    complete."""
    paths = [path] if whole else parts_of(path)
    first, *others = (_open_one(part, arrays, whole) for part in paths)
    for index, other in enumerate(others, 1):
        again = not first.tensors.keys().isdisjoint(other.tensors)
        if again or other.metadata.get("split.no") != index:
            message = f"{other.path} is not part {index + 1} of the model in {paths[0].name}."
            raise ModelError(message, hint=REFETCH)
        infos = {name: replace(info, part=index) for name, info in other.tensors.items()}
        first = replace(first, tensors=first.tensors | infos, files=first.files + other.files)
    count = first.metadata.get("split.tensors.count", len(first.tensors))
    if first.metadata.get("split.count", 0) not in (0, len(paths)) or count != len(first.tensors):
        raise ModelError(
            f"{path} is one of several files of a model, and the others do not belong to it.",
            hint="Keep them in one folder under the names they were published with.",
        )
    return first


def _open_one(path: Path, arrays: bool, whole: int = 0) -> Gguf:
    file = opened(path, whole)
    if file.size < 24:
        raise ModelError(f"{path} is not a GGUF file: it is too short.", hint=REFETCH)
    size = FIRST_READ_BYTES
    while True:
        data = read(file, 0, min(size, file.size))
        try:
            return Gguf(path, *_header(path, data, file.size, arrays), (file,))
        except (struct.error, ValueError, IndexError) as error:
            most = min(file.size, MAX_HEADER_BYTES)
            if size < most and isinstance(error, struct.error | _PastTheEnd):
                size *= 2
                continue
            reason = "it is cut off" if isinstance(error, struct.error) else error
            message = f"{path} has a damaged GGUF header ({reason})."
            raise ModelError(message, hint=REFETCH) from error


def opened(path: Path, whole: int = 0) -> regular.LargeFile:
    """A model's file, to read parts of."""
    try:
        if not path.is_file():
            raise ModelError(f"{path} cannot be read: it is missing or not a regular file.")
        return regular.LargeFile(path, whole)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error}.") from error


def read(file: regular.LargeFile, start: int, size: int) -> bytearray:
    """Bytes of a model's file; an error where another program has modified it."""
    try:
        return file.read(start, size)
    except OSError as error:
        raise ModelError(
            f"{file.path} cannot be read: {error.strerror or error}.",
            hint="Wait until the other program has finished, and run it again.",
        ) from error


class _PastTheEnd(ValueError):
    """The header goes on after the bytes that are read."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} runs past the end")


def _header(
    path: Path, data: bytearray, size: int, arrays: bool
) -> tuple[dict[str, Any], dict[str, TensorInfo]]:
    if data[:4] != MAGIC:
        raise ModelError(f"{path} is not a GGUF file.", hint="Name a .gguf file or a model folder.")
    version, count, entries = struct.unpack_from("<IQQ", data, 4)
    if version not in VERSIONS:
        raise ModelError(
            f"{path} is GGUF version {version}; versions 2 and 3 (little-endian) can be read."
        )
    at = 24
    metadata: dict[str, Any] = {}
    for _ in range(entries):
        key, at = _string(data, at)
        if key in metadata:
            raise ValueError(f"the key {key[:60]!r} is there twice")
        (kind,) = struct.unpack_from("<I", data, at)
        value, at = _value(data, at + 4, kind, arrays)
        metadata[key] = value
        _within(at)
    infos: list[tuple[str, tuple[int, ...], int, int]] = []
    for _ in range(count):
        name, at = _string(data, at)
        (dims,) = struct.unpack_from("<I", data, at)
        if not 1 <= dims <= DIMENSIONS:
            raise ValueError(f"tensor {name[:60]!r} has {dims} dimensions")
        *shape, kind, offset = struct.unpack_from(f"<{dims}QIQ", data, at + 4)
        at += 4 + 8 * dims + 12
        infos.append((name, tuple(reversed(shape)), kind, offset))
        _within(at)
    align = metadata.get("general.alignment", 32)
    if type(align) is not int or not 1 <= align <= 1 << 20:
        raise ValueError(f"general.alignment is {str(align)[:60]}")
    return metadata, _tensors(path, size, -(-at // align) * align, infos)


def _tensors(
    path: Path, size: int, start: int, infos: list[tuple[str, tuple[int, ...], int, int]]
) -> dict[str, TensorInfo]:
    """The tensors, each with bytes of its own within the file."""
    tensors: dict[str, TensorInfo] = {}
    for name, dimensions, kind, offset in infos:
        if name in tensors:
            raise ValueError(f"tensor {name[:60]!r} is there twice")
        if kind not in READABLE:
            from gguf import GGMLQuantizationType as Known

            type_name = Known(kind).name if kind in Known._value2member_map_ else f"number {kind}"
            raise ModelError(
                f"{path}: tensor {name} has type {type_name}, which cannot be read.",
                hint="Types that can be read: " + ", ".join(n for n, _, _ in READABLE.values()),
            )
        info = TensorInfo(name, dimensions, kind, start + offset)
        if dimensions[-1] % READABLE[kind][1] or 0 in dimensions:
            raise ModelError(f"{path}: tensor {name} has an impossible shape {dimensions}.")
        if (past := info.offset + info.nbytes - size) > 0:
            what = f"tensor {name} ends {past} bytes past the end of the file"
            raise ModelError(f"{path} is cut off: {what}.", hint=REFETCH)
        tensors[name] = info
    end = 0
    for info in sorted(tensors.values(), key=lambda info: info.offset):
        if info.offset < end:
            raise ValueError(f"tensor {info.name[:60]!r} lies upon another")
        end = info.offset + info.nbytes
    return tensors


def _within(at: int) -> None:
    """An error for an endless header: it is read into memory."""
    if at > MAX_HEADER_BYTES:
        raise ValueError(f"it is longer than {MAX_HEADER_BYTES:,} bytes")


def _string(data: bytearray, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + length
    if end > len(data):
        raise _PastTheEnd("a string")
    if length > LETTERS:
        raise ValueError(f"a string claims {length:,} bytes")
    return data[at + 8 : end].decode("utf-8"), end


def _value(data: bytearray, at: int, kind: int, arrays: bool) -> tuple[Any, int]:
    if kind == STRING:
        return _string(data, at)
    if kind != ARRAY:
        if kind not in SCALARS:
            raise ValueError(f"unknown metadata type {kind}")
        form = "<" + SCALARS[kind]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    item, length = struct.unpack_from("<IQ", data, at)
    at += 12
    if length > ITEMS:
        raise ValueError(f"an array claims {length:,} items")
    if item == STRING:
        strings = []
        for piece, end in _strings(data, at, length):
            at = end
            if arrays:
                strings.append(piece.decode("utf-8", errors="surrogateescape"))
        return strings if arrays else None, at
    if item in SCALARS:
        form = "<" + str(length) + SCALARS[item]
        values = struct.unpack_from(form, data, at) if arrays else ()
        at += struct.calcsize(form)
        if at > len(data):
            raise _PastTheEnd("an array")
        return list(values) if arrays else None, at
    raise ValueError(f"unknown array type {item}")


def _strings(data: bytearray, at: int, count: int) -> Iterator[tuple[bytearray, int]]:
    unpack, size = struct.Struct("<Q").unpack_from, len(data)
    for _ in range(count):
        start = at + 8
        at = start + unpack(data, at)[0]
        if at > size:
            raise _PastTheEnd("a string")
        yield data[start:at], at
