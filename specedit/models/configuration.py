"""The facts in a model's files: JSON of a folder, numbers with a type and a limit, the headers
of safetensors files.

A file may hold anything; what is not of the kind that belongs there is a `ModelError` that names
the file and the key. A header is compared with its file before any library reads it. Nothing in a
folder runs: one that needs code of its own is refused, weights in another form (pickles) are left
alone.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import ModelError
from specedit.files import regular, stored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIN_REAL = 1e-12  # of a real number; the largest is as far from 1
MOST_BYTES = 64 << 20  # of a JSON file; the largest vocabularies take 35 MB


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty when there is no such file."""
    if not path.is_file():
        return {}
    result = parse_json(path, read_text(path))
    if not isinstance(result, dict):
        raise ModelError(f"{path} cannot be read: it is not a JSON object")
    return result


def read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ModelError(f"{path} cannot be read: it is not UTF-8 text") from problem


def read_bytes(path: Path) -> bytes:
    """All of a file that is neither weights nor endless."""
    try:
        if not path.is_file():
            raise ModelError(f"{path} cannot be read: it is not a file")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ModelError(f"{path} cannot be read: {size:,} bytes are too many for its kind")
        return regular.read(path)
    except OSError as problem:
        raise ModelError(f"{path} cannot be read: {problem.strerror or problem}") from problem


def parse_json(path: Path, text: str) -> Any:
    try:
        return stored.parsed(text)
    except ValueError as problem:
        raise ModelError(f"{path} cannot be read: {problem}") from problem


@dataclass(frozen=True, slots=True)
class Fields:
    """Keys of one file, asked for by type. `prefix` stands before every key."""

    path: Path
    known: Mapping[str, Any]
    prefix: str = ""

    def has(self, key: str) -> bool:
        return self.known.get(self.prefix + key) is not None

    def whole(self, key: str, default: int | None = None, *, most: int = 1 << 24) -> int:
        """A whole number from 1 to `most`."""
        value, wanted = self._value(key, default), f"a whole number from 1 to {most:,}"
        return int(self._fit(key, value, wanted, type(value) is int and 1 <= value <= most))

    def real(self, key: str, default: float | None = None) -> float:
        """A number above 0, neither tiny nor huge."""
        value = self._value(key, default)
        fits = type(value) in (int, float) and MIN_REAL <= value <= 1 / MIN_REAL
        return float(self._fit(key, value, "a number above 0", fits))

    def text(self, key: str, default: str | None = None) -> str:
        value = self._value(key, default)
        return str(self._fit(key, value, "a text", isinstance(value, str)))

    def truth(self, key: str, default: bool) -> bool:
        value = self._value(key, default)
        return bool(self._fit(key, value, "true or false", isinstance(value, bool)))

    def texts(self, key: str) -> list[str]:
        """A list of texts; empty when there is none."""
        value = self._value(key, ())
        fits = isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
        return list(self._fit(key, value, "a list of texts", fits))

    def _fit(self, key: str, value: Any, wanted: str, fits: bool) -> Any:
        if not fits:
            raise self.wrong(key, wanted)
        return value

    def inside(self, key: str) -> Fields | None:
        """The object of that key, if there is one."""
        if not self.has(key):
            return None
        result = self.known[self.prefix + key]
        if not isinstance(result, dict):
            raise self.wrong(key, "an object")
        return Fields(self.path, result)

    def wrong(self, key: str, wanted: str) -> ModelError:
        result = repr(self.known.get(self.prefix + key))
        shown = result if len(result) <= 60 else result[:57] + "..."
        return ModelError(
            f"{self.path}: {self.prefix}{key} is {shown} where {wanted} belongs",
            hint="The file is damaged or of another kind: fetch the model again, or name another.",
        )

    def _value(self, key: str, default: Any) -> Any:
        result = self.known.get(self.prefix + key)
        if result is None and default is None:
            raise ModelError(f"{self.path} lacks {self.prefix}{key}.")
        return default if result is None else result


MAX_HEADER_BYTES = 100_000_000  # bytes, as the format has it
BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
}
NUMPY_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1"}  # numpy lacks bf16
CODE = (
    "A model that brings its own code is never run. Use one whose class transformers has: the "
    "same model's folder without auto_map, or a GGUF file of it."
)


@dataclass(frozen=True, slots=True)
class Header:
    """One tensor as the header of its file describes it."""

    file: Path
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    offset: int  # from the start of the file
    pieces: tuple[Header, ...] = ()  # of all experts, which it has one after the other


def check_folder(folder: Path) -> dict[str, Any]:
    """The folder's configuration; refuses what would run code or open a pickle."""
    path = folder / "config.json"
    if (folder / "adapter_config.json").exists():
        message = f"{folder} holds an adapter (adapter_config.json), which names another model"
        raise ModelError(message, hint="Name that model in --model, and this folder in --adapter.")
    if not path.is_file():
        raise ModelError(f"{folder} has no config.json", hint="Name another folder.")
    config = read_json(path)
    for part in (config, *(inner for inner in config.values() if isinstance(inner, dict))):
        if "auto_map" in part:
            raise ModelError(f"{path} asks for code of its own (auto_map)", hint=CODE)
    for index in sorted(folder.glob("*.index.json")):
        _check_index(folder, index)
    return config


def _check_index(folder: Path, index: Path) -> None:
    """Every file that an index names is a safetensors file of this very folder."""
    shards = Fields(index, read_json(index)).inside("weight_map")
    if not index.name.endswith(".safetensors.index.json"):
        return  # of weights in another form, which are never opened
    for name in {str(name) for name in (shards.known.values() if shards else ())}:
        if not name.endswith(".safetensors") or Path(name).name != name or "\\" in name:
            raise ModelError(
                f"{index} names {name[:80]!r}, which is not a safetensors file next to it"
            )
        if not (folder / name).is_file():
            raise ModelError(f"{folder} has no {name}, which {index.name} names")


def headers(folder: Path, parts: Sequence[Path] | None = None) -> dict[str, Header]:
    """All tensors of the folder's safetensors files, or of some of them."""
    results: dict[str, Header] = {}
    files = sorted(folder.glob("*.safetensors")) if parts is None else parts
    if not files and parts is None:
        raise ModelError(
            f"{folder} has no safetensors file, which this kind of weights is converted from.",
            hint="Use --weights auto, or fetch them again with the kind that you want: specedit "
            f"model remove {folder.name}, then pull, with SPECEDIT_WEIGHTS=int8 or int4.",
        )
    for file in files:
        for name, header in header_of(file).items():
            if name in results:
                raise ModelError(f"{folder} has the tensor {name} twice, once in {file.name}")
            results[name] = header
    return results


def rows_of(
    header: Header, file: regular.LargeFile | None = None, start: int = 0, stop: int | None = None
) -> npt.NDArray[np.float32]:
    """Rows of a tensor of one of NUMPY_TYPES as float32; a vector is read whole."""
    import numpy as np

    from specedit.models.gguf import opened, read

    shape = header.shape if len(header.shape) > 1 else (1, *header.shape)
    width, dtype = shape[-1], np.dtype(NUMPY_TYPES[header.dtype])
    count = (math.prod(shape[:-1]) if stop is None else stop) - start
    at = header.offset + start * width * dtype.itemsize
    data = read(file or opened(header.file), at, count * width * dtype.itemsize)
    raw = np.frombuffer(data, dtype)
    if header.dtype == "BF16":
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    rows = raw.astype(np.float32, copy=False).reshape(count, width)
    return rows if len(header.shape) > 1 else rows.reshape(-1)


def header_of(path: Path) -> dict[str, Header]:
    """The tensors of one file; its bytes are exactly theirs."""
    try:
        size = path.stat().st_size
        with regular.reading(path) as file:
            prefix = file.read(8)
            if len(prefix) < 8:
                raise _damaged(path, "it is too short")
            (length,) = struct.unpack("<Q", prefix)
            if length > min(MAX_HEADER_BYTES, size - 8):
                raise _damaged(path, f"its header claims {length:,} bytes")
            text = file.read(length).decode("utf-8")
    except UnicodeDecodeError:
        raise _damaged(path, "its header is not text") from None
    except OSError as problem:
        raise ModelError(f"{path} cannot be read: {problem.strerror or problem}") from problem
    known = parse_json(path, text)
    if not isinstance(known, dict):
        raise _damaged(path, "its header is not a JSON object")
    about = known.pop("__metadata__", {})
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise _damaged(path, "its __metadata__ is not an object of texts")
    results = {name: _tensor(path, name, entry, 8 + length) for name, entry in known.items()}
    end = 8 + length
    for header in sorted(results.values(), key=lambda header: (header.offset, header.nbytes)):
        if header.offset != end:
            raise _damaged(path, "its tensors overlap or leave gaps")
        end += header.nbytes
    if end != size:
        raise _damaged(path, f"it holds {size - 8 - length:,} bytes of {end - 8 - length:,}")
    return results


def _tensor(path: Path, name: str, entry: Any, base: int) -> Header:
    about: dict[str, Any] = entry if isinstance(entry, dict) else {}
    shape: Any = about.get("shape")
    dtype: Any = about.get("dtype")
    offsets: Any = about.get("data_offsets")
    if not (_sizes(shape) and _sizes(offsets) and len(offsets) == 2):
        raise _damaged(path, f"of {name[:80]!r} it says {json.dumps(entry)[:120]}")
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ModelError(
            f"{path}: tensor {name[:80]!r} has type {str(dtype)[:40]}, which is unknown"
        )
    bits = math.prod(shape) * BITS[dtype]
    if bits % 8 or bits // 8 != offsets[1] - offsets[0]:
        raise _damaged(path, f"tensor {name[:80]!r} has not the size of its shape")
    return Header(path, tuple(shape), dtype, bits // 8, base + offsets[0])


def _sizes(value: Any) -> bool:
    """Whether it is a short list of whole numbers, none below 0."""
    is_short = isinstance(value, list) and len(value) <= 8
    return is_short and all(type(number) is int and 0 <= number < 1 << 62 for number in value)


def _damaged(path: Path, why: str) -> ModelError:
    message = f"{path} is a damaged safetensors file: {why}."
    return ModelError(message, hint="Check it with specedit model verify, or pull the model again.")
