"""Decoding with any engine, and drafters that say the answer among other things."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from specedit.decode import Chunk, Done, Draft, Drafter
from specedit.decode.cost import Curve
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Engine, Row, Sampling

CURVE = Curve.line(0.070, 0.006)


def answered(
    engine: Engine,
    prompt: Sequence[int],
    drafters: Sequence[Drafter] = (),
    *,
    curve: Curve = CURVE,
    widths: Widths | None = None,
    sampling: Sampling = GREEDY,
    limit: int = 40,
    end: int = -1,
    audit: bool = True,
    **more: Any,
) -> tuple[list[int], Done, list[Chunk]]:
    """The ids of an answer, how it ended, and its passes. `more`: what else `decode` takes."""
    what = {"ends": lambda token: token == end, "limit": limit, "sampling": sampling, **more}
    widths = widths or Widths(curve)
    events = list(decode(engine, prompt, drafters=drafters, widths=widths, audit=audit, **what))
    chunks = [event for event in events if isinstance(event, Chunk)]
    done = events[-1]
    assert isinstance(done, Done)
    tokens = [token for chunk in chunks for token in chunk.tokens]
    assert engine.length == len(prompt) - 1 + len(tokens), "the cache holds what was committed"
    return tokens, done, chunks


class Branching:
    """Proposes random trees; in some of them a beginning of the answer is one path."""

    name = "branching"

    def __init__(self, answer: Sequence[int], seed: int, vocabulary: int, most: int = 12) -> None:
        self._answer, self._numbers = list(answer), random.Random(seed)
        self._vocabulary, self._most = vocabulary, most
        self.rows: list[Row] = []

    def begin(self, prompt: Sequence[int]) -> None:
        self._at = 0

    def propose(self, most: int) -> Draft | None:
        numbers = self._numbers
        size = min(most, numbers.randrange(self._most + 1))
        if not size:
            return None
        ids: list[int] = []
        parents: list[int] = []
        right = {-1: self._at}  # ids of the tree that are the answer's, and where those go on
        for row in range(size):
            parent = numbers.randrange(-1, row)
            after = right.get(parent, -1)
            token = numbers.randrange(self._vocabulary)
            if 0 <= after < len(self._answer) and numbers.random() < 0.7:
                token = self._answer[after]
                right[row] = after + 1
            ids.append(token)
            parents.append(parent)
        chances = [numbers.choice((0.1, 0.6, 0.95, 0.999)) for _ in ids]
        return Draft(ids, chances, self.name, parents=parents)

    def commit(self, tokens: Sequence[int]) -> None:
        self._at += len(tokens)


class Seeing(Branching):
    """One that reads hidden rows, too."""

    name = "seeing"

    def see(self, rows: Sequence[Row]) -> None:
        self.rows.extend(bytes(row) for row in rows)


class Spending(Branching):
    """Chains and trees that cost time, as they say themselves."""

    name = "spending"
    cost = 0.0

    def __init__(
        self, answer: Sequence[int], seed: int, vocabulary: int, seconds: Iterator[float]
    ) -> None:
        super().__init__(answer, seed, vocabulary)
        self._seconds = seconds
        self._allowed = 0.0
        self.spent = 0.0

    def set_budget(
        self, seconds: float, once: float, each: float, drafts: Sequence[Draft] = ()
    ) -> None:
        self._allowed = seconds

    def propose(self, most: int) -> Draft | None:
        draft = super().propose(most)
        if draft is None:
            return None
        self.cost = next(self._seconds)
        took = min(self.cost, self._allowed)
        self.spent += took
        return Draft(draft.ids, draft.chances, self.name, parents=draft.parents, seconds=took)
