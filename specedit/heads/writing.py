"""The model writes many answers at once: one pass, a row for each of them.

Such rows share the reading of the weights, which is most of what a narrow pass costs: a pass of 64
takes about twice the time of a pass of one. Every answer is the one that plain decoding gives, and
the rows that heads learn from come with it. Knows prompts, passes and rows. Does not know what is
asked for nor why.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from specedit.engines.exact.engine import PREFILL

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

Asked = TypeVar("Asked")


class WritingAnswer(Generic[Asked]):
    """One answer under way: what followed each id that was fed, and the row behind that id."""

    def __init__(self, asked: Asked, prompt: list[int], cache: Any) -> None:
        self.asked = asked
        self.cache = cache
        self.last = self._first = prompt[-1]
        self._said: list[tuple[int, Array]] = []

    def say(self, id: int, row: Array) -> None:
        """One more id; in one step, so that an interrupted run never has an id without its row."""
        self._said.append((id, row))
        self.last = id

    def __len__(self) -> int:
        return len(self._said)

    @property
    def choices(self) -> list[int]:
        return [id for id, _ in self._said]

    def rows(self) -> tuple[Array, list[int], list[int]]:
        """As `reading.rows_of` gives them."""
        choices = self.choices
        return np.stack([row for _, row in self._said]), [self._first, *choices[:-1]], choices


class AnswerWriter(Generic[Asked]):
    """Answers under way, at temperature 0, each until the model ends it or `most` ids are there."""

    def __init__(self, passes: Any, ends: Collection[int], most: int) -> None:
        self.under_way: list[WritingAnswer[Asked]] = []
        self._passes, self._ends, self._most = passes, ends, most

    def begin(self, asked: Asked, prompt: list[int]) -> None:
        """Read one more prompt; its answer is written with the others from the next pass on."""
        cache = self._passes.new_cache()
        before = prompt[:-1]
        for at in range(0, len(before), PREFILL):
            self._passes.read(before[at : at + PREFILL], cache)
        self.under_way.append(WritingAnswer(asked, prompt, cache))

    def step(self) -> list[WritingAnswer[Asked]]:
        """One id for every answer under way; those that are done with it."""
        if not (count := len(self.under_way)):
            return []
        states = np.empty((count, self._passes.config.hidden), np.float32)
        last = [one.last for one in self.under_way]
        chosen = self._passes.choose_each(last, [one.cache for one in self.under_way], states)
        done: list[WritingAnswer[Asked]] = []
        left: list[WritingAnswer[Asked]] = []
        for one, id, row in zip(self.under_way, chosen, states, strict=True):
            one.say(id, row)
            ended = id in self._ends or len(one) == self._most
            (done if ended else left).append(one)
        self.under_way = left
        return done
