"""Inputs for the fuzz tests: whole files with a few places changed, and JSON that is odd."""

import random
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

SECONDS = examples(200, derandomize=True, database=None)
DRAWN = settings(max_examples=2_000, derandomize=True, deadline=None, database=None)
MANY = 100_000
MEMORY = 400 << 20  # more than this no run of inputs may add

NUMBERS = (0, 1, 2, 3, 8, 9, 31, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 60, (1 << 64) - 1)
EDGES = st.sampled_from(NUMBERS) | st.integers(0, (1 << 64) - 1)
Change = Callable[[bytes], bytes]


def _overwrite(at: int, piece: bytes) -> Change:
    return lambda data: (
        data[: (p := at % (len(data) + 1))] + piece[: len(data) - p] + data[p + len(piece) :]
    )


def _insert(at: int, piece: bytes) -> Change:
    return lambda data: data[: (p := at % (len(data) + 1))] + piece + data[p:]


def _drop(at: int, count: int) -> Change:
    return lambda data: data[: (p := at % (len(data) + 1))] + data[p + count :]


def _cut(at: int) -> Change:
    return lambda data: data[: at % (len(data) + 1)]


def _copy(at: int, to: int, count: int) -> Change:
    return lambda data: _insert(to, data[at % (len(data) + 1) :][:count])(data)


PLACES = st.integers(0, 4095)
PIECES = st.one_of(
    EDGES.map(lambda n: struct.pack("<Q", n)),
    EDGES.map(lambda n: struct.pack("<I", n & 0xFFFFFFFF)),
    st.binary(min_size=1, max_size=12),
)
CHANGES = st.one_of(
    st.builds(_overwrite, PLACES, PIECES),
    st.builds(_insert, PLACES, PIECES),
    st.builds(_drop, PLACES, st.integers(1, 40)),
    st.builds(_cut, PLACES),
    st.builds(_copy, PLACES, PLACES, st.integers(1, 60)),
)


def mutated(*originals: bytes) -> st.SearchStrategy[bytes]:
    """One of the originals with up to four changes."""

    def apply(data: bytes, changes: list[Change]) -> bytes:
        for change in changes:
            data = change(data)
        return data

    return st.builds(apply, st.sampled_from(originals), st.lists(CHANGES, min_size=1, max_size=4))


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from([0, 1, -1, 2, 64, 1 << 31, 1 << 62, 0.5, -0.0, 1e-308, 1e308]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["default", "linear", "llama3", "yarn", "qwen2", "llama", "float32", "../x"]),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def drawn(strategy: st.SearchStrategy[Any]) -> list[Any]:
    """A few thousand different inputs, to begin from."""
    found: list[Any] = []

    @DRAWN
    @given(one=strategy)
    def each(one: Any) -> None:
        found.append(one)

    each()
    return found


def many(begin: list[bytes], check: Callable[[bytes], None], count: int = MANY) -> None:
    """`count` inputs: what one begins from, up to four times changed, spliced and cut.

    Plainly random, and the same each time: hypothesis takes three times as long to draw an input
    as the readers take to refuse it.
    """
    chance = random.Random(20)
    with flat_memory():
        for number in range(count):
            data = chance.choice(begin)
            for _ in range(chance.randrange(5)):
                data = _changed(chance, data, begin)
            try:
                check(data)
            except Exception as problem:
                raise AssertionError(f"input {number}: {data!r}") from problem


def _changed(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at, to = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
    number = chance.choice(NUMBERS) if chance.random() < 0.7 else chance.randrange(1 << 64)
    pieces = (struct.pack("<Q", number), struct.pack("<I", number & 0xFFFFFFFF), b"%d" % number)
    piece = chance.choice([*pieces, chance.randbytes(chance.randrange(1, 9))])
    other = chance.choice(others)
    return chance.choice(
        [
            data[:at] + piece + data[at + len(piece) :],
            data[:at] + piece + data[at:],
            data[:at] + data[at + chance.randrange(1, 40) :],
            data[:at],
            data[:at] + data[to : to + chance.randrange(1, 60)] + data[at:],
            data[:at] + other[chance.randrange(len(other) + 1) :],
            data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
            if at < len(data)
            else data,
        ]
    )


@contextmanager
def flat_memory() -> Iterator[None]:
    """Fails when the process grew: no input may make a heap of memory, freed again or not."""
    before = _peak()
    yield
    assert _peak() - before < MEMORY


def _peak() -> int:
    if sys.platform == "win32":  # no figure without a further package
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
