"""The Engine seam: ids in, choices out, with a cache that can be cropped.

Knows token ids and positions. Does not know text, drafts or why something is asked.
Imports no torch: `decode`, the tests' scripted engine and the server's client read this file.

The three verbs, and the arithmetic everything above relies on:

* `begin(prompt)` makes the cache hold all of `prompt` **but its last id**, reusing the longest
  common prefix of what the cache already holds.
* `forward(ids)` feeds `ids` (the last committed id, then the draft) and returns the choice
  *after* each of them. The cache grows by `len(ids)`.
* `crop(length)` forgets everything past the first `length` positions.

So one pass of width w = 1 + draft returns w choices, and plain decoding is w = 1 throughout.

Where `EngineInfo.trees` says so, ids may be a tree: `forward(ids, parents)`, where `parents[i] < i`
is the index of the id that `ids[i]` stands behind, -1 for the first. Each id sees what the cache
held and its own ancestors. `keep(start, rows)` then says which of them were right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

Row = Any  # a hidden row: a buffer of float32 numbers, native order (numpy.frombuffer reads it)


COUPLED, REJECTION = "coupled", "rejection"


@dataclass(frozen=True)
class Sampling:
    """How a choice is made from logits. Temperature 0 is argmax (lowest id wins a tie).

    A sampled choice depends on (seed, position, logits) alone, so that what was predicted
    cannot change it. By the rule `rejection` only its distribution is kept (`decode.rejection`):
    more of a draft that was drawn itself is accepted, and the text depends on what was drafted.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    rule: str = COUPLED

    @property
    def rejects(self) -> bool:
        """Whether choices are made by rejection; without temperature there is nothing to draw."""
        return self.rule == REJECTION and self.temperature > 0


GREEDY = Sampling()


@dataclass(frozen=True)
class EngineInfo:
    """What serves: shown in reports and keyed into cost curves."""

    name: str  # "exact" | "huggingface" | "scripted"
    device: str  # "cpu" | "cuda" | "mps"
    threads: int
    window: int  # positions the model can attend to
    vocabulary: int
    exact: bool = False  # logits bit-equal at any chunking, checked on this machine
    trees: bool = False  # a pass may be a tree; else only chains
    hidden: int = 0  # numbers of a hidden row that `watch` gives out; 0: it cannot
    note: str = ""  # anything a person should know: "not exact here: ...", "bf16"


@dataclass(frozen=True)
class Prefill:
    """Progress of `begin`: `done` of `total` positions are in the cache, `reused` were before."""

    done: int
    total: int
    reused: int
    seconds: float


class Subset(Protocol):
    """Some ids of a vocabulary."""

    @property
    def ids(self) -> Sequence[int]: ...

    @property
    def places(self) -> Mapping[int, int]:
        """Where each of them stands in `ids`."""
        ...


@dataclass(frozen=True)
class Choices:
    """What the model puts after each id it was fed; `rows` only while auditing, `states` only while
    watched.

    `rows[i]` are the float32 little-endian logits that `ids[i]` was chosen from, `states[i]` is the
    hidden row behind them, after the final norm. Where the choice was `among` a part of the
    vocabulary, a row has the logits of that part alone, in its order.
    """

    ids: list[int]
    rows: Sequence[bytes] | None = None
    states: Sequence[Row] | None = None
    among: Subset | None = None


@runtime_checkable
class Engine(Protocol):
    """One model with one cache. Not thread-safe: whoever serves many has one engine thread."""

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
        """Without `parents` the ids are a chain, each behind the one before."""
        ...

    def crop(self, length: int) -> None: ...

    def keep(self, start: int, rows: Sequence[int]) -> None:
        """Of what the last pass put behind `start` positions, keep these rows: a path from the
        first, in order. The rest is forgotten, and what is kept moves together."""
        ...

    def watch(self, on: bool) -> None:
        """From now on passes give hidden rows out (or no longer); nothing where `hidden` is 0."""
        ...


@runtime_checkable
class Narrows(Protocol):
    """An engine whose greedy choices can be among some ids only, for less time."""

    def narrow(self, usual: Sequence[int]) -> None:
        """From now on among these ids (each once) and those that are read; with none, among all."""
        ...


def depths(parents: Sequence[int]) -> list[int]:
    """How far each id of a tree stands behind what the cache held, from 0."""
    found: list[int] = []
    for parent in parents:
        found.append(found[parent] + 1 if parent >= 0 else 0)
    return found


def common(ids: Sequence[int], others: Sequence[int]) -> int:
    """How many leading ids agree. By slices of lists: prompts are long, and Python is slow one by
    one (20,000 ids: a third of the time)."""
    mine, theirs = _list(ids), _list(others)
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


def _list(ids: Sequence[int]) -> list[int]:
    return ids if isinstance(ids, list) else list(ids)
