"""The promise on real weights: any split of the same tokens gives the same bits."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest
from exact_models import kernel, kernels_here

from specedit.engines.exact import open_exact
from specedit.engines.exact.engine import ExactEngine
from specedit.models.resolve import local

pytestmark = pytest.mark.real
WIDTHS = (1, 2, 3, 7, 8, 16, 33, 64, 127, 128, 129, 256, 300, 512)


QUICK = [name for name in kernels_here() if name not in ("torch", "reference")]


def opened(real_home: Path, precision: str) -> ExactEngine:
    files = local("qwen2.5-coder-0.5b", home=real_home)
    assert files is not None
    return open_exact(files, store=real_home, precision=precision)


@pytest.fixture(params=["balanced", "close"])
def engine(request: pytest.FixtureRequest, real_home: Path) -> ExactEngine:
    return opened(real_home, request.param)


def digests(engine: ExactEngine, ids: list[int], seed: int) -> list[str]:
    """A digest per position: random widths, random crops, random prefixes reused, some threads."""
    numbers = random.Random(seed)
    engine.passes.use_threads(numbers.choice((1, 2, 3)))
    engine.swap(engine.new_cache())
    list(engine.begin(ids[: numbers.choice((2, 90, 257))], audit=True))
    found: dict[int, str] = {}
    while engine.length < len(ids):
        if numbers.random() < 0.25:
            engine.crop(numbers.randrange(max(1, engine.length - 300), engine.length + 1))
        if numbers.random() < 0.1:
            list(engine.begin(ids[: numbers.randrange(2, engine.length + 2)], audit=True))
        at = engine.length
        rows = engine.forward(ids[at : at + numbers.choice(WIDTHS)]).rows
        assert rows is not None
        for index, row in enumerate(rows, at):
            digest = hashlib.sha256(row).hexdigest()
            assert found.setdefault(index, digest) == digest
    return [found[index] for index in range(300, len(ids))]


@pytest.mark.parametrize(
    ("length", "splits"),
    [(700, 3), pytest.param(2500, 12, marks=pytest.mark.long)],
    ids=["short", "long"],
)
def test_any_split_gives_the_same_bits(engine: ExactEngine, length: int, splits: int) -> None:
    ids = random.Random(1).choices(range(150_000), k=length)
    engine.swap(engine.new_cache())
    list(engine.begin(ids[:2], audit=True))
    rows = engine.forward(ids[1:]).rows
    assert rows is not None
    expected = [hashlib.sha256(row).hexdigest() for row in rows][299:]
    for seed in range(splits):
        assert digests(engine, ids, seed) == expected, f"seed {seed}"


@pytest.mark.skipif(len(QUICK) < 2, reason="there are no two variants here")
@pytest.mark.parametrize("precision", ["balanced", "close"])
def test_every_variant_gives_the_same_bits(real_home: Path, precision: str) -> None:
    ids = [random.Random(3).randrange(150_000) for _ in range(150)]
    found = {}
    for name in QUICK:
        with kernel(name):
            engine = opened(real_home, precision)
        list(engine.begin(ids[:100], audit=True))
        rows = [*(engine.forward(ids[99:140]).rows or ()), *(engine.forward(ids[140:]).rows or ())]
        found[name] = hashlib.sha256(b"".join(rows)).hexdigest()
    assert len(set(found.values())) == 1, found
