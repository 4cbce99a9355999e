"""Drafts that branch: the arithmetic of a tree, and guarantee 1 with them on every engine."""

import itertools
import random

import pytest
from drafting import CURVE, Branching, Seeing, Spending, answered
from effort import FULL, examples
from exact_models import kernel, kernels_here, save
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from tiny_families import VOCABULARY, tiny

from specedit.decode import Draft
from specedit.decode.cost import Curve
from specedit.decode.tree import verified_ids
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Engine, Sampling
from specedit.engines.exact.engine import open_exact

FLAT = Curve.of([(1, 0.1), (512, 0.1)])
SAMPLED = Sampling(0.8, 0.9, seed=5)


@examples(120)
@given(
    answer=st.lists(st.integers(0, 5), max_size=60),
    seed=st.integers(0, 1000),
    limit=st.integers(1, 70),
    flat=st.booleans(),
    trees=st.booleans(),
)
def test_guarantee_1_any_tree_gives_the_same_text_and_logits(answer, seed, limit, flat, trees):
    engine = ScriptedEngine(answer, end=6, vocabulary=7, trees=trees)
    plain, ended, _ = answered(engine, [1, 2], limit=limit, end=6)
    drafter = Seeing(plain, seed, 7)
    curve = FLAT if flat else CURVE
    drafted, done, chunks = answered(engine, [1, 2], [drafter], curve=curve, limit=limit, end=6)
    assert (drafted, done) == (plain, ended)
    assert len(chunks) <= len(plain)
    alone = Seeing(plain, 0, 7, most=0)
    answered(engine, [1, 2], [alone], limit=limit, end=6)
    assert drafter.rows == alone.rows, "the rows that the committed ids were chosen from"
    assert len(drafter.rows) == len(plain)


def test_a_right_tree_settles_more_than_a_pass_each():
    answer = random.Random(0).choices(range(200), k=120)
    engine = ScriptedEngine(answer, vocabulary=257)
    drafter = Branching([*answer, 256], 3, 257, most=40)
    tokens, _, chunks = answered(engine, [1], [drafter], curve=FLAT, limit=500, end=256)
    assert tokens == [*answer, 256]
    assert len(chunks) < 0.6 * len(tokens)
    assert any(0 < chunk.accepted < chunk.proposed for chunk in chunks)
    assert all(chunk.accepted <= chunk.depth <= chunk.proposed for chunk in chunks)


@examples(25)
@given(
    prompt=st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=20),
    seed=st.integers(0, 50),
    sampling=st.sampled_from([GREEDY, SAMPLED]),
)
def test_guarantee_1_of_trees_the_generic_engine_takes_chains(prompt, seed, sampling):
    engine = tiny()
    assert not engine.info.trees
    plain, _, _ = answered(engine, prompt, sampling=sampling)
    drafter = Branching(plain, seed, VOCABULARY)
    drafted, _, chunks = answered(engine, prompt, [drafter], curve=FLAT, sampling=sampling)
    assert drafted == plain
    assert len(chunks) <= len(plain)


@pytest.fixture(scope="module", params=kernels_here() if FULL else kernels_here()[:1])
def exact(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("small")
    _, files = save("qwen2, grouped, tied", folder)
    with kernel(request.param):
        engine = open_exact(files, store=folder, precision="close")
    return engine


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_guarantee_1_trees_on_the_exact_engine(exact, seed, sampling):
    prompt = random.Random(seed).choices(range(517), k=20 + 200 * seed)
    exact.crop(0)
    plain, ended, _ = answered(exact, prompt, sampling=sampling)
    drafter = Branching(plain, seed, 517)
    exact.crop(0)
    drafted, done, chunks = answered(exact, prompt, [drafter], curve=FLAT, sampling=sampling)
    assert drafted == plain
    assert done == ended, "equal logits, bit for bit"
    assert len(chunks) < len(plain)


@examples(150)
@given(
    size=st.integers(1, 120),
    seed=st.integers(0, 1000),
    costs=st.lists(st.floats(0.0005, 0.3), min_size=1, max_size=5),
    knows=st.booleans(),
    count=st.integers(1, 3),
)
def test_guarantee_2_drafters_that_cost_time_stay_within_the_gate(size, seed, costs, knows, count):
    """1.05 times plain decoding and two passes, by a clock of their own."""
    answer = random.Random(seed).choices(range(50), k=size)
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    drafters = [
        Spending(answer if knows else [], seed + n, 51, itertools.cycle(costs))
        for n in range(count)
    ]
    for n, drafter in enumerate(drafters):
        drafter.name = f"spending {n}"
    tokens, _, chunks = answered(engine, [1], drafters, limit=500, end=50)
    assert tokens == [*answer, 50]
    seconds = sum(CURVE.seconds(chunk.width) for chunk in chunks)
    seconds += sum(drafter.spent for drafter in drafters)
    plain = len(tokens) * CURVE.seconds(1)
    assert seconds <= 1.05 * plain + 2 * CURVE.seconds(1)


def test_a_drafter_that_does_not_pay_is_asked_seldom():
    answer = random.Random(0).choices(range(50), k=400)
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    useless = Spending([], 1, 51, itertools.repeat(0.03))
    answered(engine, [1], [useless], limit=500, end=50)
    assert 0 < useless.spent < 0.04 * 400 * CURVE.seconds(1)


def test_of_a_tree_as_much_is_offered_as_pays():
    sure = Draft([1, 2, 3, 4], [0.9, 0.05, 0.9, 0.01], "a", parents=[-1, -1, 0, 1])
    chosen = Widths(Curve.line(0.05, 0.02)).choose([sure])
    assert chosen is not None
    assert chosen[1] == 3, "the unlikely id stands before a likely one, the last is left out"
    poor = Draft([1, 2, 3], [0.05, 0.05, 0.05], "a", parents=[-1, -1, -1])
    assert Widths(Curve.line(0.05, 0.02)).choose([poor]) == (poor, 0)
    cheap = Widths(Curve.line(0.07, 0.001)).choose([poor])
    assert cheap == (poor, 3)


def test_a_tree_that_is_a_chain_weighs_what_the_chain_does():
    chances = [0.9, 0.8, 0.95, 0.4, 0.6]
    chain = Draft([1] * 5, chances, "a")
    tree = Draft([1] * 5, chances, "a", parents=[-1, 0, 1, 2, 3])
    for curve in (CURVE, FLAT, Curve.line(0.01, 0.05)):
        assert Widths(curve).choose([chain])[1] == Widths(curve).choose([tree])[1]  # type: ignore[index]


def test_what_was_not_reached_was_not_tried():
    ids, parents = [7, 9, 8, 5, 6], [-1, -1, 0, 1, 3]
    assert verified_ids(ids, parents, [9, 5, 1]) == [(0, False), (1, True), (3, True), (4, False)]
    assert verified_ids(ids, parents, [4]) == [(0, False), (1, False)]
    assert verified_ids([1, 2, 3], None, [1, 5]) == [(0, True), (1, False)]
