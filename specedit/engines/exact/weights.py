"""The converted weights: the sizes of tensors in memory, padding included, and one versioned file
that is mapped as it is. Opening it imports no numpy.

Layout: magic, version, header length, SHA-256 of the header, the header as JSON, then tensors at
multiples of 4096 bytes, each with its own checksum. The header is checked whenever the file is
opened, what it says of the tensors by `verify`.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import math
import mmap
import struct
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from specedit.files import regular
from specedit.models.architecture import HYBRID, MAX_EXPERTS, Architecture

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

LANES = 16  # outputs of a panel; half a head is a multiple of it
INPUT_MULTIPLE = 64  # inputs of a product are a multiple of it
BLOCK4, BLOCK6 = 576, 832  # bytes of INPUT_MULTIPLE inputs of a panel of 4 and of 6 bits
GROUP_SIZE = 1792  # inputs of `down` that are quantized together,
GROUP_SIZE4 = 896  # and in a file with matrices of 4 bits: half makes up for their error
# bytes of a number
DTYPES = {"int8": 1, "uint8": 1, "uint16": 2, "int32": 4, "float32": 4, "float64": 8}
LIMITS = {  # of specedit.h, as they concern a model's numbers
    "layers": 256,
    "hidden": 1 << 16,
    "inner": 1 << 20,
    "heads": 512,
    "kv_heads": 512,
    "head_size": 256,
    "vocabulary": 1 << 22,
    "window": 1 << 24,
}


MORE_LIMITS = {  # the same of numbers that may be 0
    **dict.fromkeys(("key_heads", "value_heads"), 1024),
    **dict.fromkeys(("key_size", "value_size"), 1024),
    "taps": 16,
    "experts": MAX_EXPERTS,
    "chosen": 64,
    **dict.fromkeys(("shared", "mtp"), 1),
    "rotated": 256,
}
# Of the caches of recent prompts (`inference.model`): one state may not fill more
MAX_STATE_BYTES = 1 << 30
MTP_NORMS = ("id_norm", "before_norm", "last_norm")
RECURRENT = ("convolution", "projection", "decay", "shift", "state_norm")  # of a gated delta net


def blocks(config: Architecture) -> list[str]:
    """What the names of each layer's tensors begin with."""
    return [*(f"layer.{layer}" for layer in range(config.layers)), *["mtp"] * config.mtp]


def state_bytes(config: Architecture) -> int:
    """Of the states of all recurrent layers behind one position."""
    state = config.value_heads * config.key_size * config.value_size
    return 4 * len(config.recurrent) * (state + (config.taps - 1) * config.channels)


def unsuitable(config: Architecture) -> str | None:
    """Why the kernels cannot run a model of these numbers, in words; None when they can."""
    for name, most in LIMITS.items():
        if not 1 <= getattr(config, name) <= most:
            return (
                f"the exact engine takes {name} of 1 to {most}, and this is {getattr(config, name)}"
            )
    for name, most in MORE_LIMITS.items():
        if not 0 <= getattr(config, name) <= most:
            return (
                f"the exact engine takes {name} up to {most}, and this is {getattr(config, name)}"
            )
    if config.recurrent:
        if (
            config.key_size % 64
            or config.value_size % 64
            or not config.key_size * config.value_size
        ):
            sizes = f"{config.key_size} and {config.value_size}"
            return (
                f"the exact engine takes recurrent heads of a multiple of 64, and this has {sizes}"
            )
        if config.value_heads % max(config.key_heads, 1) or not config.value_heads:
            return f"{config.value_heads} recurrent heads do not share {config.key_heads} key heads"
        if (size := state_bytes(config)) > MAX_STATE_BYTES:
            return (
                f"one state of its recurrent layers has {size:,} bytes, and the caches of prompts "
                f"have {MAX_STATE_BYTES:,}"
            )
    if config.chosen > config.experts:
        return f"an id chooses {config.chosen} of {config.experts} experts"
    if config.heads % config.kv_heads:
        return f"{config.heads} heads do not share {config.kv_heads} key heads"
    if config.rope_magnitude != 1.0:
        return "the exact engine does not run YaRN scaling of RoPE"
    if config.head_size % 2:
        return f"the exact engine takes heads of an even size, and these have {config.head_size}"
    return None


def group_size_of(four: Collection[str]) -> int:
    """Of `down` in a file whose matrices `four` have 4 bits."""
    return GROUP_SIZE4 if four else GROUP_SIZE


def up_to(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@dataclass(frozen=True, slots=True)
class Geometry:
    """Widths in memory."""

    hidden: int
    inner: int
    half: int  # of a head
    attended: int  # all heads' outputs side by side
    qkv: int  # of attention
    vocabulary: int  # outputs of the output layer

    @classmethod
    def of(cls, config: Architecture) -> Geometry:
        half = up_to(config.head_size // 2, LANES)
        return cls(
            hidden=up_to(config.hidden, INPUT_MULTIPLE),
            inner=up_to(config.inner, INPUT_MULTIPLE),
            half=half,
            attended=up_to(config.heads * 2 * half, INPUT_MULTIPLE),
            qkv=((2 if config.output_gate else 1) * config.heads + 2 * config.kv_heads) * 2 * half,
            vocabulary=up_to(config.vocabulary, LANES),
        )

    def tensors(
        self, config: Architecture, four: Collection[str] = ()
    ) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type and shape of every tensor of a converted file. Its matrices have 8 bits, or `four`
        have 4 and the others 6."""
        floats, group_size = "float32", group_size_of(four)
        results: dict[str, tuple[str, tuple[int, ...]]] = {
            "embedding": ("uint16", (config.vocabulary, self.hidden)),
            "norm": (floats, (self.hidden,)),
            "speeds": ("float64", (config.head_size // 2,)),
        }

        def linear(name: str, outputs: int, inputs: int, groups: int = 1) -> None:
            panels = up_to(outputs, LANES) // LANES
            eight = ("int8", (panels, inputs // 4, LANES, 4))
            packed = (
                "uint8",
                (panels, inputs // INPUT_MULTIPLE, BLOCK4 if name in four else BLOCK6),
            )
            results[f"{name}.panels"] = packed if four else eight
            results[f"{name}.scales"] = (floats, (panels, groups, LANES))
            results[f"{name}.offsets"] = ("int32", (panels, groups, LANES))

        linear("head", config.vocabulary, self.hidden)
        for layer, at in enumerate(blocks(config)):
            qkv, attended = self.qkv, self.attended
            results[f"{at}.norm"] = results[f"{at}.inner_norm"] = (floats, (self.hidden,))
            if layer in config.recurrent:
                attended = config.value_heads * config.value_size
                qkv = config.channels + attended
                shapes = (
                    *((config.taps, config.channels), self.projected(2 * config.value_heads)),
                    *((config.value_heads,), (config.value_heads,), (config.value_size,)),
                )
                names = (f"{at}.{name}" for name in RECURRENT)
                results |= {n: (floats, shape) for n, shape in zip(names, shapes, strict=True)}
            elif config.bias:
                results[f"{at}.bias"] = (floats, (self.qkv,))
            if config.head_norm and layer not in config.recurrent:
                for kind in ("query_norm", "key_norm"):
                    results[f"{at}.{kind}"] = (floats, (2 * self.half,))
            linear(f"{at}.qkv", qkv, self.hidden)
            linear(f"{at}.out", config.hidden, attended)
            if each := config.experts + config.shared:
                results[f"{at}.router"] = (floats, self.projected(each))
            linear(f"{at}.gate_up", max(each, 1) * 2 * self.inner, self.hidden)
            down = max(each, 1) * up_to(config.hidden, LANES)
            linear(f"{at}.down", down, self.inner, -(-self.inner // group_size))
        if config.mtp:
            linear("mtp.fuse", config.hidden, 2 * self.hidden)
            results |= {f"mtp.{name}": (floats, (self.hidden,)) for name in MTP_NORMS}
        return results

    def projected(self, outputs: int) -> tuple[int, ...]:
        """The shape of a product that stays in float32: panels of outputs."""
        return (up_to(outputs, LANES) // LANES, self.hidden, LANES)


POSITIONS = 4096  # of a file of 200 lines, its prompt and its answer
PROGRAM = 250_000_000  # bytes of Python, the buffers of passes and everything else


def bytes_of(tensors: Mapping[str, tuple[str, tuple[int, ...]]]) -> int:
    return sum(math.prod(shape) * DTYPES[dtype] for dtype, shape in tensors.values())


def needed_memory(config: Architecture, weights: int) -> int:
    """Bytes in memory while a large file is edited. Of the embedding, only the rows of ids that
    occur are read."""
    per_head = 6 * up_to(config.head_size // 2, LANES) + 8
    attending = config.layers + config.mtp - len(config.recurrent)
    # states: two in use, and a snapshot for each 512 positions
    states = (2 + POSITIONS // 512) * state_bytes(config)
    cache = POSITIONS * attending * config.kv_heads * per_head + min(states, MAX_STATE_BYTES)
    return weights - 2 * config.vocabulary * up_to(config.hidden, INPUT_MULTIPLE) + cache + PROGRAM


MAGIC = b"specedit"
FORMAT_VERSION = 3
ALIGN = 4096
POPULATE_READ = 22  # MADV_POPULATE_READ, which mmap does not name
PREFIX = struct.Struct("<8sIQ32s")
HEADER_ROOM = 1 << 20  # bytes before the tensors; the header is written there last
WORDS_PER_ROW = 4093  # prime, so that a moved page changes the column sums
VERIFIED_BLOCK_BYTES = 2048 * 8 * WORDS_PER_ROW  # bytes that are verified at a time

UNREADABLE = (
    *(OSError, struct.error, RecursionError),
    *(ValueError, TypeError, KeyError, AttributeError),  # of JSON that is not what was written
)


class Damaged(Exception):
    """The converted file is missing, older, or not what was written: build it again."""


class Checksum:
    """A digest at the speed of memory: 64-bit column sums, then BLAKE2 over those."""

    def __init__(self) -> None:
        import numpy as np

        self._size = 0
        self._sums = np.zeros(WORDS_PER_ROW, np.int64)
        self._rest = np.zeros(0, np.uint8)  # bytes that do not fill a row yet

    def add(self, block: Array) -> None:
        """Continue with the bytes of an array."""
        import numpy as np

        raw = np.ascontiguousarray(block).reshape(-1).view(np.uint8)
        self._size += raw.size
        row = 8 * WORDS_PER_ROW
        if self._rest.size:
            lacking = row - self._rest.size
            self._rest, raw = np.concatenate((self._rest, raw[:lacking])), raw[lacking:]
            if self._rest.size < row:
                return
            self._sums += self._rest.view(np.int64)
        whole = raw.size // row * row
        self._sums += raw[:whole].view(np.int64).reshape(-1, WORDS_PER_ROW).sum(0)
        self._rest = raw[whole:].copy()

    def hexdigest(self) -> str:
        digest = hashlib.blake2b(struct.pack("<Q", self._size), digest_size=16)
        digest.update(self._sums.tobytes())
        digest.update(self._rest.tobytes())
        return digest.hexdigest()


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
        return regular.address(self.data)

    @cached_property
    def digest(self) -> str:
        """Of the configuration and of all tensors, by their checksums."""
        checksums = {name: entry["checksum"] for name, entry in sorted(self.entries.items())}
        return hashlib.sha256(f"{self.config} {checksums}".encode()).hexdigest()

    def address(self, name: str) -> int | None:
        """Where a tensor begins; None where the model has none of this name."""
        entry = self.entries.get(name)
        return None if entry is None else self.base + int(entry["offset"])

    @cached_property
    def mtp(self) -> Weights | None:
        """The MTP layer as a model of one layer, if there is one."""
        if not self.config.mtp:
            return None
        sizes = ("key_heads", "value_heads", "key_size", "value_size", "taps", "mtp")
        none: dict[str, Any] = dict.fromkeys(sizes, 0)
        config = replace(self.config, layers=1, recurrent=(), **none)
        entries = {name: entry for name, entry in self.entries.items() if "layer." not in name}
        for name in [name for name in entries if name.startswith("mtp.")]:
            entries[name.replace("mtp", "layer.0")] = entries.pop(name)
        entries["norm"] = entries.pop("layer.0.last_norm")
        return replace(self, config=config, entries=entries)

    def map_pages(self) -> None:
        """Map, in a thread, what every pass reads: otherwise the first pass takes 24,000 page
        faults (0.1 s). Without Linux 5.14 nothing happens."""
        if sys.platform == "linux":
            threading.Thread(target=self._map_pages, daemon=True).start()

    def _map_pages(self) -> None:
        advise = ctypes.CDLL(None).madvise  # the one of mmap holds Python's lock
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for name, entry in self.entries.items():
            if name != "embedding":  # of which a pass reads a few rows
                advise(self.base + entry["offset"], entry["nbytes"], POPULATE_READ)

    def use_huge_pages(self) -> None:
        """Ask Linux to map 2 MB at a time, which a processor reads faster; not of the embedding, of
        which a pass reads a few rows."""
        if hasattr(mmap, "MADV_HUGEPAGE"):
            rows = self.entries["embedding"]
            with contextlib.suppress(OSError):  # a kernel without them
                self.data.madvise(mmap.MADV_HUGEPAGE)
                self.data.madvise(mmap.MADV_NOHUGEPAGE, rows["offset"], rows["nbytes"])

    def release(self, name: str) -> None:
        """Let the pages of a tensor go: the system maps 16 pages around each that is read."""
        regular.release(self.data, self.entries[name]["offset"], self.entries[name]["nbytes"])

    def array(self, name: str) -> Array:
        """A tensor as it lies in the file: a view, which must not be written to."""
        import numpy as np

        entry = self.entries[name]
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        return np.frombuffer(self.data, dtype, math.prod(shape), entry["offset"]).reshape(shape)

    def verify(self) -> Iterator[str]:
        """Read everything; yields the name of each tensor, or says `Damaged`."""
        for name, entry in self.entries.items():
            if _read_checksum(self.data, entry) != entry["checksum"]:
                raise Damaged(f"the converted weights of {name} are damaged")
            yield name


def _read_checksum(data: mmap.mmap, entry: dict[str, Any]) -> str:
    """The checksum of a tensor's bytes in a mapping, which do not stay resident."""
    import numpy as np

    result, start = Checksum(), int(entry["offset"])
    for at in range(start, start + entry["nbytes"], VERIFIED_BLOCK_BYTES):
        size = min(VERIFIED_BLOCK_BYTES, start + entry["nbytes"] - at)
        result.add(np.frombuffer(data, np.uint8, size, at))
        regular.release(data, at, size)
    return result.hexdigest()


class Writer:
    """Writes a converted file in blocks. Every tensor has its place from the start, so that any
    order will do, and a file that another process left unfinished is continued."""

    def __init__(
        self, file: BinaryIO, config: Architecture, source: str, four: Collection[str] = ()
    ) -> None:
        self._file, self._config, self._source = file, config.folded(), source
        self._places: dict[str, dict[str, Any]] = {}
        at = HEADER_ROOM
        for name, (dtype, shape) in Geometry.of(config).tensors(config, four).items():
            nbytes = math.prod(shape) * DTYPES[dtype]
            place = {"dtype": dtype, "shape": list(shape), "offset": at, "nbytes": nbytes}
            self._places[name] = place
            at = -(-(at + nbytes) // ALIGN) * ALIGN
        self._size = at
        self.total = sum(place["nbytes"] for place in self._places.values())
        self._parts: dict[str, tuple[int, Checksum]] = {}  # bytes written of unfinished tensors
        self.entries = self._finished_before()

    def _finished_before(self) -> dict[str, dict[str, Any]]:
        """The tensors that the unfinished file has whole."""
        with contextlib.suppress(Damaged, *UNREADABLE):
            known = _header(self._file)
            if known["source"] == self._source and _config(known["config"]) == self._config:
                data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
                return {
                    name: place | {"checksum": known["tensors"][name]["checksum"]}
                    for name, place in self._places.items()
                    if name in known["tensors"]
                    and place["offset"] + place["nbytes"] <= len(data)
                    and _read_checksum(data, place) == known["tensors"][name]["checksum"]
                }
        return {}

    def has(self, name: str) -> bool:
        """Whether a tensor, or all parts of a matrix, are whole."""
        parts = (part for part in self._places if part == name or part.startswith(f"{name}."))
        return all(part in self.entries for part in parts)

    def add(self, name: str, block: Array) -> int:
        """Write the next block of a tensor; returns its bytes."""
        import numpy as np

        raw, place = np.ascontiguousarray(block), self._places[name]
        done, sums = self._parts.pop(name, (0, Checksum()))
        if raw.dtype.name != place["dtype"] or done + raw.nbytes > place["nbytes"]:
            raise ValueError(f"{name} has type {raw.dtype.name} or too many numbers")
        self._file.seek(place["offset"] + done)
        self._file.write(raw.data)
        sums.add(raw)
        if done + raw.nbytes == place["nbytes"]:
            self.entries[name] = place | {"checksum": sums.hexdigest()}
        else:
            self._parts[name] = (done + raw.nbytes, sums)
        return raw.nbytes

    def save(self) -> None:
        """Write the header: what is whole so far stays when this process ends."""
        tensors = {name: self.entries[name] for name in self._places if name in self.entries}
        about = {"config": asdict(self._config), "source": self._source, "size": self._size}
        header = json.dumps(about | {"tensors": tensors}).encode()
        if PREFIX.size + len(header) > HEADER_ROOM:
            raise ValueError("too many tensors for the header")
        digest = hashlib.sha256(header).digest()
        self._file.seek(0)
        self._file.write(PREFIX.pack(MAGIC, FORMAT_VERSION, len(header), digest) + header)
        self._file.flush()

    def finish(self) -> None:
        """Write the last header, and read everything back from the disk, or say `Damaged`."""
        self._file.truncate(self._size)
        self.save()
        regular.forget(self._file)  # what was written is in small pages, what is read in huge ones
        # closed with the last view of it: after Ctrl-C, the traceback still holds one
        data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        written = Weights(self._config, self._source, self.entries, data)
        written.use_huge_pages()
        for _ in written.verify():
            pass


def open_weights(path: Path, source: str) -> Weights:
    """Map a converted file, or say `Damaged`.

    Every tensor lies in the file and has the type and shape that the model's numbers ask for: the
    kernels are given addresses, and read as far as those numbers say.
    """
    try:
        with regular.reading(path) as file:
            known = _header(file)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if known["size"] != len(data):
            raise Damaged("the converted file is cut off")
        if known["source"] != source:
            raise Damaged("the converted file was made from another model")
        config = _config(known["config"])
        _check_tensors(config, known["tensors"], len(data))
        if (path.suffix == ".int4") != bool(four_of(known["tensors"])):
            raise Damaged(f"the converted file's weights are not {path.suffix[1:]}")
    except UNREADABLE as error:
        raise Damaged(f"the converted file cannot be read: {error}") from error
    weights = Weights(config, source, known["tensors"], data)
    weights.use_huge_pages()
    return weights


def stated_source(path: Path) -> str:
    """What a converted file says that it was made from."""
    try:
        with regular.reading(path) as file:
            return str(_header(file)["source"])
    except UNREADABLE as error:
        raise Damaged(f"the converted file cannot be read: {error}") from error


def _header(file: BinaryIO) -> dict[str, Any]:
    """The header, as it was written."""
    file.seek(0)
    magic, version, length, digest = PREFIX.unpack(file.read(PREFIX.size))
    if magic != MAGIC or version != FORMAT_VERSION:
        raise Damaged("another version wrote the converted file")
    header = file.read(min(length, HEADER_ROOM))
    if hashlib.sha256(header).digest() != digest:
        raise Damaged("the converted file's header is damaged")
    known: dict[str, Any] = json.loads(header)
    return known


def _config(numbers: dict[str, Any]) -> Architecture:
    if "mtp" not in numbers and numbers["family"] in HYBRID:
        raise ValueError("it was made before MTP layers were kept")
    lists = {name: tuple(value) for name, value in numbers.items() if isinstance(value, list)}
    config = Architecture(**{**numbers, **lists})
    for name in (*LIMITS, *MORE_LIMITS):
        if type(getattr(config, name)) is not int:
            raise ValueError(f"{name} is not an integer")
    if not math.isfinite(config.epsilon) or (reason := unsuitable(config)):
        raise ValueError(reason or "epsilon is not a number")
    return config


def four_of(entries: dict[str, dict[str, Any]]) -> set[str]:
    """The matrices that have 4 bits."""
    panels = {name: entry for name, entry in entries.items() if name.endswith(".panels")}
    return {name[:-7] for name, entry in panels.items() if entry["shape"][-1] == BLOCK4}


def _check_tensors(config: Architecture, entries: dict[str, dict[str, Any]], size: int) -> None:
    expected = Geometry.of(config).tensors(config, four_of(entries))
    if entries.keys() != expected.keys():
        raise ValueError("it does not have the model's tensors")
    for name, (dtype, shape) in expected.items():
        entry = entries[name]
        offset, nbytes = entry["offset"], math.prod(shape) * DTYPES[dtype]
        if (entry["dtype"], entry["shape"], entry["nbytes"]) != (dtype, list(shape), nbytes):
            raise ValueError(f"{name} is not {dtype} of {shape}")
        if type(offset) is not int or offset % ALIGN or not HEADER_ROOM <= offset <= size - nbytes:
            raise ValueError(f"{name} does not lie in the file")
