"""A file of heads: safetensors whose tensors lie as the kernels want them, bound to one model.

Knows the container and what must hold for it to be used; opening it reads no numpy and no torch.
Does not know where such files lie (`shelf`) nor how heads come about. Weights are int8 with a scale
for each output; ids that may be guessed are places of the model's own output layer, of which
nothing is kept.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.decode.drafters.heads_drafter import LoadedHeads
from specedit.engines.exact.guessing import Guesser, HeadWeights, Panels
from specedit.errors import UsageError
from specedit.files import atomic, regular, stored
from specedit.heads.kinds import KINDS, Sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from specedit.engines.exact.kernels.passes import KernelPasses

    Array = npt.NDArray[Any]

FORMAT = "specedit heads 1"
ALIGN = 64  # where a tensor begins in memory, so every tensor is a multiple of it long
WIDTHS = {"I8": 1, "I32": 4, "F32": 4}
AGAIN = "Make them again: specedit heads train"


class DamagedHeads(UsageError):
    """A file that is no file of heads, or not what was written."""


@dataclass(frozen=True)
class About:
    """What a file of heads says of itself."""

    sizes: Sizes
    model: str  # its name, for people
    digest: str  # its weights' digest: heads of another model guess nonsense
    sharpness: tuple[float, ...]  # one a depth: logits times it are calibrated
    guessed: int  # ids that may be guessed
    accepted: tuple[float, ...] = ()  # by depth, on held-out files, where the one before held
    texts: int = 0  # trained on so many files,
    positions: int = 0  # so many places in them,
    answered: int = 0  # of which the model's own answers are so many,
    rejected: int = 0  # and so many are drafts that it rejected;
    steps: int = 0  # and in so many steps
    seconds: float = 0.0
    note: str = ""


def write(path: Path, about: About, tensors: Mapping[str, Array]) -> None:
    """Write a file whole. `tensors`: of each step `N.state`, `N.id`, `N.down` as panels, scales
    and offsets, of each depth `N.bias`, and `ids`."""
    import numpy as np

    header: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        if len(raw) % ALIGN:
            raise ValueError(f"{name} is {len(raw)} bytes long, no multiple of {ALIGN}")
        kind = {"int8": "I8", "int32": "I32", "float32": "F32"}[array.dtype.name]
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [at, at + len(raw)],
        }
        parts.append(raw)
        at += len(raw)
    body = b"".join(parts)
    says = json.dumps({**vars(about), "sizes": vars(about.sizes)}, sort_keys=True)
    header["__metadata__"] = {
        "format": FORMAT,
        "about": says,
        "sha256": _digest(header, says, body),
    }
    said = json.dumps(header).encode()
    said += b" " * (-(8 + len(said)) % ALIGN)
    atomic.whole(path, struct.pack("<Q", len(said)) + said + body)


def _digest(entries: Mapping[str, Any], about: str, body: bytes | memoryview) -> str:
    found = hashlib.sha256(json.dumps([dict(sorted(entries.items())), about]).encode())
    found.update(body)
    return found.hexdigest()


@dataclass(frozen=True)
class Heads:
    """An open file; mapped as long as anything that came from here is in use."""

    path: Path
    about: About
    entries: dict[str, dict[str, Any]]
    data: mmap.mmap
    start: int  # of the tensors in the file
    base: int  # of the file in memory

    @property
    def ids(self) -> list[int]:
        """What may be guessed."""
        begin = self.start + self.entries["ids"]["data_offsets"][0]
        return list(struct.unpack_from(f"<{self.about.guessed}i", self.data, begin))

    def address(self, name: str) -> int:
        """Where a tensor begins."""
        return self.base + self.start + int(self.entries[name]["data_offsets"][0])

    def array(self, name: str) -> Array:
        """A tensor as it lies in the file."""
        import numpy as np

        entry = self.entries[name]
        begin, end = entry["data_offsets"]
        kind = {"I8": np.int8, "I32": np.int32, "F32": np.float32}[entry["dtype"]]
        count = (end - begin) // WIDTHS[entry["dtype"]]
        return np.frombuffer(self.data, kind, count, self.start + begin).reshape(entry["shape"])

    def weight(self, name: str) -> Array:
        """A product's weights as floats, padding and all."""
        tiled, scales = self.array(f"{name}.panels"), self.array(f"{name}.scales")
        rows = tiled.transpose(0, 2, 1, 3).reshape(tiled.shape[0] * 16, -1)
        return rows.astype("float32") * scales.reshape(-1, 1)

    def at_hand(self, passes: Any) -> LoadedHeads:
        """These heads ready to guess, on the passes of a model that is theirs."""
        of = self.about.sizes.of
        return LoadedHeads(self.guesser(passes), of.chained, of.most)

    def guesser(self, passes: KernelPasses) -> Guesser:
        """These heads on a model's kernels; the model must be theirs (`check`)."""
        sizes = self.about.sizes
        steps = []
        for depth in range(sizes.depth):
            step = min(depth, sizes.steps - 1)
            steps.append(
                HeadWeights(
                    self._panels(f"{step}.state"),
                    self._panels(f"{step}.id") if sizes.of.chained else None,
                    self._panels(f"{step}.down"),
                    self.address(f"{depth}.bias"),
                    sizes.of.gated,
                    self.about.sharpness[depth],
                )
            )
        return Guesser(passes, steps, self.ids, self)

    def _panels(self, name: str) -> Panels:
        panels, quads, lanes, four = self.entries[f"{name}.panels"]["shape"]
        weights, scales, offsets = (
            self.address(f"{name}.{part}") for part in ("panels", "scales", "offsets")
        )
        return Panels(weights, scales, offsets, panels * lanes, quads * four)


def check(heads: Heads, digest: str, model: str) -> Heads:
    """The same heads, if they are of this model; else an error that names both."""
    if heads.about.digest != digest:
        raise UsageError(
            f"{heads.path} holds heads of {heads.about.model}, and the model is {model}.",
            hint="Heads guess what one model will say, and no other. Train them for this one: "
            f"specedit heads train --model {model}",
        )
    return heads


def open_heads(path: Path) -> Heads:
    """Map a file and check all of it: what is mapped is read without another look."""
    try:
        with regular.reading(path) as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # an address needs it
    except (OSError, ValueError) as error:
        raise DamagedHeads(f"{path} cannot be read: {error}", hint=AGAIN) from error
    try:
        return _opened(path, data)
    except (
        *(struct.error, KeyError, TypeError, ValueError, AttributeError),
        *(IndexError, OverflowError, MemoryError),
    ) as error:
        raise DamagedHeads(f"{path} is damaged, or no file of heads: {error}", hint=AGAIN) from None


def _opened(path: Path, data: mmap.mmap) -> Heads:
    (length,) = struct.unpack_from("<Q", data)
    start = 8 + length
    if start > len(data) or start % ALIGN:
        raise ValueError("its header is cut off")
    entries = stored.parsed(data[8:start])
    said = entries.pop("__metadata__")
    if said["format"] != FORMAT:
        raise ValueError(f"it says {said['format']!r}, and this is {FORMAT!r}")
    with memoryview(data) as body:
        if _digest(entries, said["about"], body[start:]) != said["sha256"]:
            raise ValueError("its contents are not what was written")
    about = _about(stored.parsed(said["about"]))
    for name, shape in _shapes(about).items():
        _fits(name, entries[name], shape, len(data) - start)
    found = Heads(path, about, entries, data, start, 0)
    base = ctypes.addressof(ctypes.c_char.from_buffer(data))
    return Heads(found.path, about, entries, data, start, base)


def _about(values: Any) -> About:
    about = stored.typed(About, values)
    sizes = about.sizes
    if sizes.kind not in KINDS:
        raise ValueError(f"there is no kind of heads {sizes.kind!r}")
    if not 1 <= sizes.depth <= 64 or sizes.hidden < 1 or sizes.inner < 64 or sizes.inner % 64:
        raise ValueError("its numbers cannot be")
    if len(about.sharpness) != sizes.depth or not all(s > 0 for s in about.sharpness):
        raise ValueError("its chances are not calibrated")
    return about


def _shapes(about: About) -> dict[str, tuple[int, ...]]:
    """Every tensor that must be there."""
    sizes = about.sizes
    found: dict[str, tuple[int, ...]] = {}
    hidden = -(-sizes.hidden // 64) * 64
    for step in range(sizes.steps):
        names = [("state", sizes.outputs, hidden), ("down", sizes.hidden, sizes.inner)]
        if sizes.of.chained:
            names.append(("id", sizes.outputs, hidden))
        for name, outputs, inputs in names:
            count = -(-outputs // 16)
            found[f"{step}.{name}.panels"] = (count, inputs // 4, 16, 4)
            found[f"{step}.{name}.scales"] = found[f"{step}.{name}.offsets"] = (count, 1, 16)
    for depth in range(sizes.depth):
        found[f"{depth}.bias"] = (sizes.outputs,)
    found["ids"] = (-(-about.guessed // 16) * 16,)
    return found


def _fits(name: str, entry: dict[str, Any], shape: tuple[int, ...], room: int) -> None:
    begin, end = entry["data_offsets"]
    kind = (
        "I8" if name.endswith("panels") else "I32" if name.endswith(("offsets", "ids")) else "F32"
    )
    size = WIDTHS[kind]
    for side in shape:
        size *= side
    if tuple(entry["shape"]) != shape or entry["dtype"] != kind:
        raise ValueError(f"{name} has another shape")
    if not 0 <= begin <= end <= room or end - begin != size or begin % ALIGN:
        raise ValueError(f"{name} is cut off")
