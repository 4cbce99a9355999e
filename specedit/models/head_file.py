"""Heads: small trained additions that guess the next ids of one model; their files and folders.

A file is safetensors with the tensors in the kernels' layout, int8 with a scale for each output. Of
the output layer only the ids are stored that may be guessed. Opening a file imports no numpy.

HOME/heads/DIGEST/KIND.safetensors    trained heads of the model with this digest
HOME/heads/DIGEST/unfinished/         what training continues from
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import UsageError
from specedit.files import regular, stored
from specedit.models.store import short

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

SHIPPED = Path(__file__).parent / "shipped_heads"
FORMAT = "specedit heads 1"
UNFINISHED = "unfinished"
ALIGN = 64  # a tensor begins at a multiple of it in memory, so its length is a multiple, too
BYTES = {"I8": 1, "I32": 4, "F32": 4}
WRONG = (TypeError, ValueError, AttributeError)  # values of other types than expected


@dataclass(frozen=True)
class HeadsKind:
    """The inputs of one kind of heads; every kind repeats one step from state to state."""

    name: str
    chained: bool  # each head takes the state of the one before, and the id chosen there
    gated: bool  # half of the inner row gates the other half
    shared: bool  # all depths share the weights of one step; each has its own bias
    most: int  # guesses after one state


KINDS = {
    "blockwise": HeadsKind("blockwise", False, False, False, 1),
    "medusa": HeadsKind("medusa", False, False, False, 10),
    "chained": HeadsKind("chained", True, True, True, 10),
}


@dataclass(frozen=True)
class HeadsSizes:
    """The dimensions of trained heads."""

    kind: str
    hidden: int
    inner: int  # inputs of the product back to a state, a multiple of 64
    depth: int  # ids ahead

    @property
    def of(self) -> HeadsKind:
        return KINDS[self.kind]

    @property
    def outputs(self) -> int:
        """Outputs of the first product of a step."""
        return 2 * self.inner if self.of.gated else self.inner

    @property
    def steps(self) -> int:
        """Sets of weights; biases are one a depth."""
        return 1 if self.of.shared else self.depth


class DamagedHeads(UsageError):
    """A file that is not a file of heads, or not what was written."""


@dataclass(frozen=True)
class About:
    """The header of a file of heads."""

    sizes: HeadsSizes
    model: str  # its name, for messages
    digest: str  # of the model's weights: heads fit one model only
    sharpness: tuple[float, ...]  # one a depth: logits times it give calibrated probabilities
    guessed: int  # ids that may be guessed
    accepted: tuple[float, ...] = ()  # by depth, on held-out files, where the one before held
    texts: int = 0  # files read,
    positions: int = 0  # places in them and in answers,
    answered: int = 0  # of which so many are in the model's own answers,
    rejected: int = 0  # of files of an earlier version
    steps: int = 0  # learnt in so many steps
    seconds: float = 0.0
    note: str = ""


def digest_of(entries: Mapping[str, Any], about: str, body: bytes | memoryview) -> str:
    digest = hashlib.sha256(json.dumps([dict(sorted(entries.items())), about]).encode())
    digest.update(body)
    return digest.hexdigest()


@dataclass(frozen=True)
class Heads:
    """An open file. It is mapped as long as this object lives."""

    path: Path
    about: About
    entries: dict[str, dict[str, Any]]
    data: mmap.mmap
    start: int  # of the tensors in the file
    base: int  # of the file in memory

    @property
    def ids(self) -> list[int]:
        """The ids that may be guessed."""
        begin = self.start + self.entries["ids"]["data_offsets"][0]
        return list(struct.unpack_from(f"<{self.about.guessed}i", self.data, begin))

    def address(self, name: str) -> int:
        """Where a tensor begins in memory."""
        return self.base + self.start + int(self.entries[name]["data_offsets"][0])

    def array(self, name: str) -> Array:
        """A tensor as it lies in the file."""
        import numpy as np

        entry = self.entries[name]
        begin, end = entry["data_offsets"]
        dtype = {"I8": np.int8, "I32": np.int32, "F32": np.float32}[entry["dtype"]]
        count = (end - begin) // BYTES[entry["dtype"]]
        return np.frombuffer(self.data, dtype, count, self.start + begin).reshape(entry["shape"])

    def weight(self, name: str) -> Array:
        """A product's weights as floats, padding included."""
        panels, scales = self.array(f"{name}.panels"), self.array(f"{name}.scales")
        rows = panels.transpose(0, 2, 1, 3).reshape(panels.shape[0] * 16, -1)
        return rows.astype("float32") * scales.reshape(-1, 1)


def open_heads(path: Path) -> Heads:
    """Map a file and check all of it: the kernels read the mapped memory without further checks."""
    hint = "Train the heads again (python -m training.heads), or remove them: specedit model list"
    try:
        with regular.reading(path) as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # an address needs it
    except (OSError, ValueError) as error:
        raise DamagedHeads(f"{path} cannot be read: {error}", hint=hint) from error
    try:
        return _opened(path, data)
    except (struct.error, ArithmeticError, LookupError, MemoryError, *WRONG) as error:
        message = f"{path} is damaged, or not a file of heads: {error}"
        raise DamagedHeads(message, hint=hint) from None


def _opened(path: Path, data: mmap.mmap) -> Heads:
    (length,) = struct.unpack_from("<Q", data)
    start = 8 + length
    if start > len(data) or start % ALIGN:
        raise ValueError("its header is cut off")
    entries = stored.parsed(data[8:start])
    metadata = entries.pop("__metadata__")
    if metadata["format"] != FORMAT:
        raise ValueError(f"its format is {metadata['format']!r}, and this is {FORMAT!r}")
    with memoryview(data) as body:
        if digest_of(entries, metadata["about"], body[start:]) != metadata["sha256"]:
            raise ValueError("its contents are not what was written")
    about = _about(stored.parsed(metadata["about"]))
    for name, (dtype, shape) in _expected(about).items():
        begin, end = entries[name]["data_offsets"]
        if (entries[name]["dtype"], tuple(entries[name]["shape"])) != (dtype, shape):
            raise ValueError(f"{name} has another shape")
        fits = begin >= 0 and end <= len(data) - start and not begin % ALIGN
        if not fits or end - begin != math.prod(shape) * BYTES[dtype]:
            raise ValueError(f"{name} is cut off")
    base = ctypes.addressof(ctypes.c_char.from_buffer(data))
    return Heads(path, about, entries, data, start, base)


def _about(values: Any) -> About:
    about = stored.typed(About, values)
    sizes = about.sizes
    if sizes.kind not in KINDS:
        raise ValueError(f"there is no kind of heads {sizes.kind!r}")
    if not 1 <= sizes.depth <= 64 or sizes.hidden < 1 or sizes.inner < 64 or sizes.inner % 64:
        raise ValueError("its dimensions are out of range")
    if len(about.sharpness) != sizes.depth or not all(s > 0 for s in about.sharpness):
        raise ValueError("its probabilities are not calibrated")
    return about


def _expected(about: About) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Every tensor that must be there, with its type and shape."""
    sizes = about.sizes
    expected: dict[str, tuple[str, tuple[int, ...]]] = {}
    hidden = -(-sizes.hidden // 64) * 64
    for step in range(sizes.steps):
        names = [("state", sizes.outputs, hidden), ("down", sizes.hidden, sizes.inner)]
        if sizes.of.chained:
            names.append(("id", sizes.outputs, hidden))
        for name, outputs, inputs in names:
            panels = -(-outputs // 16)
            expected[f"{step}.{name}.panels"] = "I8", (panels, inputs // 4, 16, 4)
            expected[f"{step}.{name}.scales"] = "F32", (panels, 1, 16)
            expected[f"{step}.{name}.offsets"] = "I32", (panels, 1, 16)
    for depth in range(sizes.depth):
        expected[f"{depth}.bias"] = "F32", (sizes.outputs,)
    expected["ids"] = "I32", (-(-about.guessed // 16) * 16,)
    return expected


@dataclass(frozen=True)
class HeadsFolder:
    """Everything of one model's heads."""

    store: Path
    digest: str

    @property
    def path(self) -> Path:
        return self.store / "heads" / short(self.digest)

    @property
    def unfinished(self) -> Path:
        return self.path / UNFINISHED

    def file(self, kind: str) -> Path:
        return self.path / f"{kind}.safetensors"

    def find(self, kind: str) -> Path | None:
        """The user's own heads of this kind, else those that came with specedit; a model with an
        adapter that has none takes those of the model alone, whose guesses are nearly as good."""
        folders = (self.store / "heads", SHIPPED)
        names = [short(digest) for digest in self._digests]
        paths = (folder / name / self.file(kind).name for name in names for folder in folders)
        return next((path for path in paths if path.is_file()), None)

    @property
    def _digests(self) -> list[str]:
        base = self.digest.partition("+")[0]
        return [self.digest, base] if base != self.digest else [base]

    def kinds(self) -> list[str]:
        """The kinds of this model's heads, those with the best guesses first."""
        return [kind for kind in reversed(KINDS) if self.find(kind)]

    def open(self, kind: str, model: str) -> Heads | None:
        """The heads of one kind; None where there are none."""
        path = self.find(kind)
        if path is None:
            return None
        heads = open_heads(path)
        if heads.about.digest not in self._digests:
            raise UsageError(
                f"{path} holds heads of {heads.about.model}, and the model is {model}.",
                hint=f"Heads fit one model. Others: python -m training.heads train --model {model}",
            )
        return heads


@dataclass(frozen=True)
class HeadsEntry:
    """Heads of one kind, or what their training continues from (`UNFINISHED`)."""

    path: Path
    kind: str
    about: About | None = None
    problem: str = ""  # what is wrong with the file
    shipped: bool = False

    @property
    def digest(self) -> str:
        """The first digits of the model's digest."""
        return self.path.parent.name


def entries(store: Path) -> Iterator[HeadsEntry]:
    """All heads: the user's own, then those that came with specedit."""
    for folder, shipped in ((store / "heads", False), (SHIPPED, True)):
        for path in sorted(folder.glob("*/*.safetensors")):
            try:
                yield HeadsEntry(path, path.stem, open_heads(path).about, shipped=shipped)
            except DamagedHeads as error:
                yield HeadsEntry(path, path.stem, None, error.message, shipped)
        for path in sorted(folder.glob(f"*/{UNFINISHED}")):
            yield HeadsEntry(path, UNFINISHED)
