"""Draft heads on the kernels: states and ids in, next states and likeliest ids out.

The rows of the model's output layer for the ids that heads may guess are gathered once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_float, c_int32
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from specedit.engines.exact.kernels.library import CGuess, CHead, CLinear
from specedit.engines.exact.kernels.passes import KernelPasses, OutputSubset, linear_of
from specedit.models.head_file import Heads

MAX_GUESSED_IDS = 2048  # most ids of the present text that may be guessed besides frequent ones


@dataclass(frozen=True, slots=True)
class Guess:
    """After one state: the next state, and ids with the logarithms of their probabilities."""

    state: memoryview
    ids: list[int]
    chances: list[float]


class Guesser:
    """Heads of one model, which must be theirs (`HeadsFolder.open`).

    They guess the ids that their file names, and those of the present text (`begin`, `add`).
    """

    def __init__(self, passes: KernelPasses, heads: Heads) -> None:
        self._passes = passes
        self._mapped = heads  # the weights' addresses point into it
        self.kind = heads.about.sizes.of
        self._hidden = passes.config.hidden
        self._frequent = heads.ids
        self._pending: list[int] = []  # ids whose rows no guess has needed yet
        self._heads = [_head(heads, depth) for depth in range(heads.about.sizes.depth)]

    @cached_property
    def _outputs(self) -> OutputSubset:
        """Gathered for the first guess (20 ms): a copied answer needs none."""
        outputs = self._passes.outputs(len(self._frequent) + MAX_GUESSED_IDS)
        outputs.add(self._frequent)
        return outputs

    @property
    def depth(self) -> int:
        """Number of trained steps."""
        return len(self._heads)

    def begin(self) -> None:
        """Start another text: forget the ids of the last one."""
        self._pending.clear()
        if "_outputs" in self.__dict__:
            self._outputs.forget(len(self._frequent))

    def add(self, ids: Iterable[int]) -> None:
        """Guess these ids too, up to the maximum."""
        self._pending += ids

    def _gather(self) -> None:
        self._outputs.add(self._pending)
        self._pending.clear()
        for head in self._heads:
            head.guessed = len(self._outputs.ids)
            head.output = self._outputs.linear()

    def guess(self, step: int, states: Sequence[Any], ids: Sequence[int], most: int) -> list[Guess]:
        """Apply `step` (from 0; beyond the last, the last) to each state and the id after it: at
        most `most` ids, the likeliest first. A state is a row of float32."""
        self._gather()
        width, hidden = len(states), self._hidden
        taken, made = (c_float * (width * hidden))(), (c_float * (width * hidden))()
        raw = memoryview(taken).cast("B")
        size = 4 * hidden
        for row, state in enumerate(states):
            raw[row * size : (row + 1) * size] = memoryview(state).cast("B")
        guesses, chances = (c_int32 * (width * most))(), (c_float * (width * most))()
        self._passes.guess(
            self._heads[min(step, len(self._heads) - 1)],
            CGuess(taken, (c_int32 * width)(*ids), width, most, made, guesses, chances),
        )
        rows, result = memoryview(made).cast("B"), []
        for row in range(width):
            here = slice(row * most, (row + 1) * most)
            places = [place for place in guesses[here] if place >= 0]
            result.append(
                Guess(
                    rows[row * size : (row + 1) * size],
                    [self._outputs.ids[place] for place in places],
                    chances[here][: len(places)],
                )
            )
        return result


def _head(heads: Heads, depth: int) -> CHead:
    sizes, none = heads.about.sizes, CLinear()
    step = min(depth, sizes.steps - 1)
    return CHead(
        linear_of(heads, f"{step}.state"),
        linear_of(heads, f"{step}.id") if sizes.of.chained else none,
        linear_of(heads, f"{step}.down"),
        none,  # set by `_gather`
        heads.address(f"{depth}.bias"),
        0,
        int(sizes.of.gated),
        heads.about.sharpness[depth],
    )
