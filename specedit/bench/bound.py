"""What this machine could do at best: every token once through the int8 product, at its peak.

Nothing that answers can be faster than reading the prompt and the answer once; attention,
normalisation and everything else are left out, so no engine reaches this.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine
    from specedit.models.files import ModelFiles

ROUNDS = 4
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


def peak(engine: ExactEngine, work: Work) -> float:
    """Operations per second of the model's int8 products in a wide pass, the best of a few."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        engine.passes.products(ROWS)
        best = min(best, time.perf_counter() - started)
    return 2 * ROWS * (work.layers + work.output) / best
