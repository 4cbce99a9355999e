"""What this machine could do at best: every token once through the int8 product, at its peak.

Nothing that answers can be faster than reading the prompt and the answer once; attention,
normalisation and everything else are left out, so no engine reaches this.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specedit.models.files import ModelFiles

SECONDS = 1.0
ROWS = 256


@dataclass(frozen=True)
class Work:
    """Weights that a token meets: in every layer, and in the output layer."""

    layers: int
    output: int

    def operations(self, prompt: int, answer: int) -> int:
        """Multiplications and additions: prompt tokens need no output layer."""
        return 2 * ((prompt + answer) * self.layers + answer * self.output)


@dataclass(frozen=True)
class Bound:
    """The least seconds of an edit on this machine."""

    work: Work
    peak: float  # operations per second

    def seconds(self, prompt: int, answer: int) -> float:
        return self.work.operations(prompt, answer) / self.peak


def better(first: Bound | None, again: Bound | None) -> Bound | None:
    """The higher peak: something else may have held a core for the second that one took."""
    found = [bound for bound in (first, again) if bound is not None]
    return max(found, key=lambda bound: bound.peak, default=None)


def work_of(files: ModelFiles) -> Work | None:
    """From a GGUF file's own shapes; None for other kinds."""
    if files.kind != "gguf":
        return None
    from specedit.models.gguf import open_gguf

    gguf = open_gguf(files.path)
    shapes = {name: info.shape for name, info in gguf.tensors.items()}
    layers = sum(_count(s) for n, s in shapes.items() if n.startswith("blk.") and len(s) == 2)
    head = shapes.get("output.weight", shapes["token_embd.weight"])
    return Work(layers, _count(head))


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for side in shape:
        total *= side
    return total


def peak(threads: int, rows: int = ROWS, seconds: float = SECONDS) -> float | None:
    """Operations per second of the int8 product, the best of many; None where there is none."""
    from specedit.engines import exact

    if exact.available() is not None:
        return None
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return max(_rate(torch, inner, outer, rows, seconds / 2) for inner, outer in SHAPES)
    finally:
        torch.set_num_threads(before)


SHAPES = ((1536, 8960), (8960, 1536))


def _rate(torch: Any, inner: int, outer: int, rows: int, seconds: float) -> float:
    from specedit.engines.exact.linear import pack

    weight = torch.randint(-127, 128, (outer, inner), dtype=torch.int8)
    linear = pack(weight, torch.ones(outer), two=False)
    fed = torch.randint(0, 255, (rows, inner), dtype=torch.uint8)
    linear(fed)
    best = float("inf")
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        started = time.perf_counter()
        linear(fed)
        best = min(best, time.perf_counter() - started)
    return 2 * rows * inner * outer / best
