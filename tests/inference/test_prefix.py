"""Which cache a prompt meets, and which one goes when the budget is spent."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine

from specedit.engines.base import common
from specedit.inference.model import Prefixes


@dataclass(eq=False)
class Cache:
    ids: list[int] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return 10 * len(self.ids)

    def copy(self, other: Cache, length: int) -> None:
        self.ids[:] = other.ids[:length]


class Swapping(ScriptedEngine):
    """A scripted engine with the exact engine's way to change caches."""

    def __init__(self) -> None:
        super().__init__([1, 2, 3])
        self.cache = Cache()

    def new_cache(self) -> Cache:
        return Cache()

    def swap(self, cache: Cache) -> Cache:
        old, self.cache = self.cache, cache
        self.crop(0)
        for _ in self.begin([*cache.ids, 0]):
            pass
        return old


def read(prefixes: Prefixes, engine: Swapping, prompt: list[int], *, fresh: bool = False) -> int:
    """One run; how many positions it reused."""
    prefixes.choose(prompt, fresh=fresh)
    reused = common(engine.cache.ids, prompt)
    engine.cache.ids[:] = prompt
    prefixes.settle()
    return reused


A, B, C = ([n, *range(100 * n, 100 * n + 99)] for n in (1, 2, 3))


@pytest.fixture
def engine() -> Swapping:
    return Swapping()


def test_two_files_keep_their_caches(engine):
    prefixes = Prefixes(engine, 10_000)
    assert [read(prefixes, engine, p) for p in (A, B, A, B)] == [0, 0, 100, 100]
    assert (prefixes.hits, prefixes.misses, prefixes.entries) == (2, 2, 2)
    assert prefixes.bytes == 2_000


def test_a_second_instruction_reuses_the_file(engine):
    prefixes = Prefixes(engine, 10_000)
    read(prefixes, engine, [*A, 7, 8, 9])
    assert read(prefixes, engine, [*A, 5, 6]) == 100


def test_the_least_recently_used_goes(engine):
    prefixes = Prefixes(engine, 2_000)
    for p in (A, B, A, C):
        read(prefixes, engine, p)
    assert prefixes.bytes <= 2_000
    assert read(prefixes, engine, A) == 100
    assert read(prefixes, engine, B) == 0


def test_a_shared_beginning_is_copied_and_costs_no_file_its_cache(engine):
    prefixes = Prefixes(engine, 10_000)
    head = list(range(20))
    read(prefixes, engine, head + A)
    assert read(prefixes, engine, head + B) == 20
    assert read(prefixes, engine, head + A[:15]) == 35  # a short file that begins as a long one
    assert read(prefixes, engine, head + A) == 120


def test_a_fresh_run_reuses_nothing_and_costs_nothing(engine):
    prefixes = Prefixes(engine, 10_000)
    read(prefixes, engine, A)
    assert read(prefixes, engine, A, fresh=True) == 0
    assert read(prefixes, engine, A) == 100


lists = st.lists(st.integers(0, 2), max_size=30)


prompts = st.lists(st.sampled_from([A, B, C, A[:50], [*A, 1], [*B, 2, 3]]), max_size=12)


@given(prompts, st.sampled_from((0, 500, 1_500, 2_500, 10**6)))
def test_the_budget_holds_after_every_run(given, limit):
    engine = Swapping()
    prefixes = Prefixes(engine, limit)
    for prompt in given:
        read(prefixes, engine, list(prompt))
        assert prefixes.bytes <= limit
