"""Draft heads and MTP layers on the kernels: states and ids in, next states and likeliest ids out.

The rows of the model's output layer for the ids that may be guessed are gathered once.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from ctypes import c_float, c_int32
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from specedit.engines.exact.kernels.library import CGuess, CHead, CLinear
from specedit.engines.exact.kernels.passes import KernelPasses, OutputSubset, linear_of
from specedit.models.head_file import Heads, HeadsKind

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

    def add(self, ids: Sequence[int], states: Sequence[Any] = ()) -> None:
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


MTP = HeadsKind("mtp", chained=True, gated=False, shared=True, most=1)
MTP_DEPTH = 3  # guesses after one state; likely ones are continued
USUAL_IDS = 1 << 14  # may be guessed in any text: vocabularies are learnt pair by pair
CONTEXT_IDS = 256  # of the answer that are read where none were guessed for long
FEW_IDS = 8  # so many are read together with the one after which an id is guessed


class MtpGuesser:
    """The MTP layer of a model: it predicts the id after the next one, from a state and the next
    id, and so on from the state that it makes.

    It attends to the answer alone, whose states the model's own passes give."""

    kind = MTP
    depth = MTP_DEPTH

    def __init__(self, passes: KernelPasses) -> None:
        assert passes.mtp is not None
        self._passes = passes.mtp
        self._size = 4 * passes.config.hidden
        self._cache = self._passes.new_cache()
        self._usual = range(min(USUAL_IDS, passes.config.vocabulary))
        self.begin()

    @cached_property
    def _outputs(self) -> OutputSubset:
        outputs = self._passes.outputs(len(self._usual) + MAX_GUESSED_IDS)
        outputs.add(self._usual)
        return outputs

    def begin(self) -> None:
        """Start another text."""
        self._text: list[int] = []  # ids that may be guessed besides usual ones
        self._restart()
        if "_outputs" in self.__dict__:
            self._outputs.forget(len(self._usual))

    def _restart(self) -> None:
        self._read = 0  # ids of the answer that the cache holds,
        self._ids: list[int] = []  # and those that follow, with the states before each
        self._states = bytearray()

    def add(self, ids: Sequence[int], states: Sequence[Any] = ()) -> None:
        """The text continues with these ids, each after one of the `states`, if these are known."""
        self._text += ids
        if not states:
            self._restart()
            return
        self._ids += ids
        self._states += b"".join(states)
        if len(self._ids) > CONTEXT_IDS:  # the text begins with the last ones
            self._read = 0
            del self._ids[:-CONTEXT_IDS], self._states[: -CONTEXT_IDS * self._size]

    def guess(self, step: int, states: Sequence[Any], ids: Sequence[int], most: int) -> list[Guess]:
        """The likeliest id: after the answer (`step` 0), else after one more state and id. By how
        much its logit exceeds the second gives its probability."""
        self._outputs.add(self._text)
        self._text.clear()
        read, before = [*ids], bytearray(states[0])
        if step == 0:
            read, before = self._ids, self._states
            self._ids, self._states = [], bytearray()
            self._cache.crop(self._read)
            self._read += len(read)
        if len(read) > FEW_IDS:
            self._passes.read(read[:-1], self._cache, before=before)
            read, before = read[-1:], before[-self._size :]
        if not read:
            return [Guess(states[0], [], [])]
        made, margins = bytearray(len(read) * self._size), array("f", bytes(4 * len(read)))
        chosen, _ = self._passes.choose(
            *(read, self._cache),
            rows=False,
            states=made,
            among=self._outputs,
            margins=margins,
            before=before,
        )
        chance = -math.log1p(math.exp(-margins[-1]))
        return [Guess(memoryview(made)[-self._size :], chosen[-1:], [chance])]
