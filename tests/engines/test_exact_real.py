"""The promise on real weights: any split of the same tokens gives the same bits."""

import hashlib
import random
from pathlib import Path

import pytest
from exact_models import kernel, kernels_here

from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.models.resolve import local

pytestmark = pytest.mark.real
WIDTHS = (1, 2, 3, 7, 8, 16, 33, 64, 127, 128, 129, 256, 300, 512)


QUICK = [name for name in kernels_here() if name != "reference"]


MODES = ["balanced", "close", "int4"]


def opened(real_home: Path, mode: str, model: str = "qwen2.5-coder-0.5b") -> ExactEngine:
    files = local(model, home=real_home)
    if files is None:
        pytest.skip(f"{model} is not in the store")
    if mode == "int4":
        return open_exact(files, store=real_home, weights="int4")
    return open_exact(files, store=real_home, precision=mode, weights="int8")


@pytest.fixture(params=MODES)
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
def test_any_split_gives_the_same_bits(engine, length, splits):
    ids = random.Random(1).choices(range(150_000), k=length)
    engine.swap(engine.new_cache())
    list(engine.begin(ids[:2], audit=True))
    rows = engine.forward(ids[1:]).rows
    assert rows is not None
    expected = [hashlib.sha256(row).hexdigest() for row in rows][299:]
    for seed in range(splits):
        assert digests(engine, ids, seed) == expected, f"seed {seed}"


@pytest.mark.skipif(len(QUICK) < 2, reason="there are no two variants here")
@pytest.mark.parametrize("mode", MODES)
def test_every_variant_gives_the_same_bits(real_home, mode):
    ids = [random.Random(3).randrange(150_000) for _ in range(150)]
    found = {}
    for name in QUICK:
        with kernel(name):
            engine = opened(real_home, mode)
        list(engine.begin(ids[:100], audit=True))
        rows = [*(engine.forward(ids[99:140]).rows or ()), *(engine.forward(ids[140:]).rows or ())]
        found[name] = hashlib.sha256(b"".join(rows)).hexdigest()
    assert len(set(found.values())) == 1, found


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", ["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"])
def test_a_long_walk_with_trees_meets_the_bits_of_a_plain_one(real_home, model, mode, name):
    """The plain walk is the first variant's, one pass of 64 after the other, on one thread."""
    ids = random.Random(5).choices(range(150_000), k=1500)
    with kernel(QUICK[-1]):
        plain = opened(real_home, mode, model).passes
    with kernel(name):
        passes = opened(real_home, mode, model).passes
    plain.use_threads(1)
    cache, expected = plain.new_cache(), []
    for at in range(0, len(ids), 64):
        expected += digested(plain.choose(ids[at : at + 64], cache, rows=True)[1])
    for seed in range(3):
        numbers, cache = random.Random(seed), passes.new_cache()
        passes.use_threads(numbers.choice((1, 2, 3)))
        while (at := len(cache.ids)) < len(ids):
            if numbers.random() < 0.2:
                cache.crop(at := numbers.randrange(max(0, at - 200), at + 1))
            wanted = ids[at : at + numbers.choice(WIDTHS)]
            if numbers.random() < 0.5:
                found = digested(passes.choose(wanted, cache, rows=True)[1])
            else:
                tree, parents, path = candidate_tree(wanted[:40], numbers)
                rows = digested(passes.choose(tree, cache, rows=True, parents=parents)[1])
                cache.keep(at, path)
                found = [rows[row] for row in path]
            assert found == expected[at : at + len(found)], f"seed {seed}, at {at}"


def digested(rows: list[memoryview] | None) -> list[bytes]:
    assert rows is not None
    return [hashlib.sha256(row).digest() for row in rows]


def candidate_tree(
    wanted: list[int], numbers: random.Random
) -> tuple[list[int], list[int], list[int]]:
    """A tree in which `wanted` is one path among wrong ones: ids, parents, and that path's rows."""
    ids: list[int] = []
    parents: list[int] = []
    path: list[int] = []
    for right in wanted:
        for _ in range(numbers.choice((0, 0, 1, 3))):
            parents.append(numbers.randrange(-1, len(ids)))
            ids.append(numbers.randrange(150_000))
        parents.append(path[-1] if path else -1)
        path.append(len(ids))
        ids.append(right)
    return ids, parents, path
