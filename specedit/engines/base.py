"""The engine interface: ids in, choices out, with a cache that can be cropped. Imports no torch.

Its three methods, and the arithmetic that callers rely on:

* `begin(prompt)` makes the cache hold all of `prompt` **but its last id**, reusing the longest
  common prefix of what the cache already holds, or less where a recurrent state is not known there.
* `forward(ids)` feeds `ids` (the last committed id, then the draft) and returns the choice
  *after* each of them. The cache grows by `len(ids)`.
* `crop(length)` forgets everything past the first `length` positions.

So one pass of width w = 1 + draft returns w choices, and plain decoding is w = 1 throughout.

Where `EngineInfo.trees` says so, ids may be a tree: `forward(ids, parents)`, where `parents[i] < i`
is the index of the id that `ids[i]` follows, -1 for the first. Each id sees what the cache held and
its own ancestors. `keep(start, rows)` then keeps the accepted path.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

Row = Any  # a hidden row: a buffer of float32 numbers, native order (numpy.frombuffer reads it)


COUPLED, REJECTION = "coupled", "rejection"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a choice is made from logits. Temperature 0 is argmax (lowest id wins a tie).

    A sampled choice depends on (seed, position, logits) alone, never on the prediction. The rule
    `rejection` keeps only its distribution (`engines.sampling`): more of a sampled draft is
    accepted, and the text depends on the draft.

    With temperature 0 the choice at the position `second_at` is the second best (the lowest id wins
    a tie): another text that begins as the first one does.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    rule: str = COUPLED
    second_at: int | None = None

    @property
    def rejects(self) -> bool:
        """Whether choices are made by rejection sampling, which needs a temperature."""
        return self.rule == REJECTION and self.temperature > 0

    def takes_second(self, positions: Container[int]) -> bool:
        """Whether the choice at one of these positions is the second best."""
        second = self.second_at
        return self.temperature <= 0 and second is not None and second in positions


GREEDY = Sampling()


@dataclass(frozen=True, slots=True)
class SampledIds:
    """Consecutive ids that a draft model sampled, each with the distribution that it came from."""

    ids: Sequence[int]
    distributions: Sequence[Any]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """An engine's properties: shown in reports, and part of the key of cost curves."""

    name: str  # "exact" | "huggingface"
    device: str  # "cpu" | "cuda" | "mps"
    threads: int
    window: int  # positions the model can attend to
    vocabulary: int
    exact: bool = False  # logits are bit-equal at any chunking
    trees: bool = False  # a pass may be a tree; else only chains
    hidden: int = 0  # numbers of a hidden row that `watch` gives out; 0: it cannot
    note: str = ""  # for the report: "bf16", "generic engine: ..."
    weights: str = ""  # "int8", "int4"


@dataclass(frozen=True, slots=True)
class Prefill:
    """Progress of `begin`: `done` of `total` positions are in the cache, `reused` from before."""

    done: int
    total: int
    reused: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Choices:
    """The model's choice after each id it was fed; `rows` only with `audit`, `states` only while
    watched.

    `rows[i]` are the float32 little-endian logits that `ids[i]` was chosen from, `states[i]` is the
    hidden row they were computed from, after the final norm. Where the choice was `among` a subset
    of the vocabulary, a row has the logits of that subset alone, in its order.
    """

    ids: list[int]
    rows: Sequence[bytes] | None = None
    states: Sequence[Row] | None = None
    # By how much each choice's logit exceeds that of the best other id.
    margins: Sequence[float] | None = None
    among: Any = None  # an `exact.kernels.passes.OutputSubset`


@runtime_checkable
class Engine(Protocol):
    """One model with one cache. Not thread-safe: a server has one engine thread."""

    @property
    def info(self) -> EngineInfo: ...

    @property
    def length(self) -> int:
        """Positions the cache holds."""
        ...

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        """Prefill in chunks; exhaust it before `forward`. Abandoned, it leaves a shorter cache."""
        ...

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        """Without `parents` the ids are a chain, each after the one before."""
        ...

    def crop(self, length: int) -> None: ...

    def keep(self, start: int, rows: Sequence[int]) -> None:
        """Of the rows that the last pass put after `start` positions, keep those of one path, in
        rising order, and forget the others."""
        ...

    def watch(self, on: bool) -> None:
        """Whether passes return hidden rows from now on; no effect where `hidden` is 0."""
        ...


def depths(parents: Sequence[int]) -> list[int]:
    """Each id's position in a tree beyond what the cache held, from 0."""
    results: list[int] = []
    for parent in parents:
        results.append(results[parent] + 1 if parent >= 0 else 0)
    return results


def common(ids: Sequence[object], others: Sequence[object]) -> int:
    """How many leading ids agree: by slices, a third of a loop's time."""
    mine = ids if isinstance(ids, list) else list(ids)
    theirs = others if isinstance(others, list) else list(others)
    low, high = 0, min(len(mine), len(theirs))
    if mine[:high] == theirs[:high]:
        return high
    while high - low > 1:  # the first `low` agree, the first `high` do not
        middle = (low + high) // 2
        if mine[low:middle] == theirs[low:middle]:
            low = middle
        else:
            high = middle
    return low


def appeared(prediction: Sequence[int], completion: Sequence[int]) -> int:
    """How many of the prediction's ids appear in the completion, in order: the longest common
    subsequence. A shared beginning and end cost nothing; the middle is one row of bits per
    distinct id of the shorter side, walked once over the longer."""
    start, most = common(prediction, completion), min(len(prediction), len(completion))
    end = 0
    while end < most - start and prediction[-1 - end] == completion[-1 - end]:
        end += 1
    middle = (prediction[start : len(prediction) - end], completion[start : len(completion) - end])
    short, long = sorted(middle, key=len)
    # Crochemore and others, 2001: a zero bit per matched position of `short`
    positions: dict[int, int] = {}
    in_long = set(long)
    for at, token in enumerate(short):
        if token in in_long:
            positions[token] = positions.get(token, 0) | (1 << at)
    every = (1 << len(short)) - 1
    row = every
    for token in long:
        if bits := positions.get(token):
            hit = row & bits
            row = ((row + hit) | (row - hit)) & every
    return start + end + len(short) - row.bit_count()
