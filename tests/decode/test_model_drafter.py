"""Drafts of a small model: what it says, what it costs, and when it is asked."""

import random
from pathlib import Path
from typing import Any

import pytest
from drafting import CURVE, Branching, answered
from effort import ends, examples
from exact_models import save
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from test_trees import FLAT, SAMPLED

from specedit.decode import drafters
from specedit.decode.drafters import SmallModel
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.drafters.model_drafter import (
    CandidatesDrafter,
    ModelDrafter,
    Next,
    candidate_tree,
)
from specedit.engines.base import GREEDY
from specedit.engines.exact.engine import open_exact
from specedit.errors import UsageError

KINDS = {"model": ModelDrafter, "candidates": CandidatesDrafter}


class Mistaken(ScriptedEngine):
    """Knows the answer, and is wrong about every so many ids of it."""

    every = 1 << 30

    def _choice(self, said: Any) -> int:
        choice = super()._choice(said)
        wrong = said.right and not said.length % self.every
        return (choice + 1) % 50 if wrong else choice


def small(answer: list[int], *, sure: float = 0.9, every: int = 1 << 30) -> SmallModel:
    engine = Mistaken(answer, end=50, vocabulary=51, sure=sure)
    engine.every = every
    return SmallModel(engine)


@examples(60)
@given(
    answer=st.lists(st.integers(0, 49), max_size=40),
    other=st.lists(st.integers(0, 49), max_size=40),
    like=st.booleans(),
    name=st.sampled_from(list(KINDS)),
    sure=st.sampled_from([0.3, 0.9, 0.999]),
    limit=st.integers(1, 60),
    flat=st.booleans(),
)
def test_guarantee_1_a_small_model_changes_no_text(answer, other, like, name, sure, limit, flat):
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    plain, ended, _ = answered(engine, [1, 2], limit=limit, end=50)
    drafter = KINDS[name](small(answer if like else other, sure=sure), GREEDY, eager=True)
    more = Branching(plain, 1, 51)
    drafted, done, chunks = answered(
        engine, [1, 2], [drafter, more], curve=FLAT if flat else CURVE, limit=limit, end=50
    )
    assert (drafted, done) == (plain, ended)
    assert len(chunks) <= len(plain)


@pytest.mark.parametrize("name", KINDS)
def test_a_small_model_that_is_mostly_right_settles_several_ids_a_pass(name):
    answer = random.Random(1).choices(range(50), k=200)
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    drafter = KINDS[name](small(answer, every=9), GREEDY, eager=True)
    tokens, _, chunks = answered(engine, [1], [drafter], limit=300, end=50)
    assert tokens == [*answer, 50]
    assert len(chunks) < 0.4 * len(tokens)
    assert {chunk.source for chunk in chunks} <= {name, "free"}


def test_it_does_not_read_a_prompt_whose_answer_is_copied():
    calls: list[int] = []

    class Begun(ScriptedEngine):
        def begin(self, prompt, sampling=GREEDY, *, audit=False):  # type: ignore[no-untyped-def]
            calls.append(len(prompt))
            return super().begin(prompt, sampling, audit=audit)

    answer = random.Random(4).choices(range(50), k=400)
    model = SmallModel(Begun(answer, end=50, vocabulary=51, sure=0.9, delay_s=0.001))
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    made = drafters.build(["auto"], prediction=[*answer, 50], codec=None, small=model, trees=True)
    assert [drafter.name for drafter in made] == ["prediction", "lookup", "candidates"]
    tokens, _, _ = answered(engine, list(range(49)), made, limit=500, end=50)
    assert tokens == [*answer, 50]
    assert calls == [], "nobody needed it"


def test_auto_is_what_it_was_where_there_is_no_draft_model():
    answer = random.Random(5).choices(range(50), k=300)
    guess = [token if n % 40 else (token + 1) % 50 for n, token in enumerate(answer)]
    found = []
    for names in (["auto"], ["prediction", "lookup"]):
        made = drafters.build(names, prediction=guess, codec=None, trees=True)
        _, _, chunks = answered(
            ScriptedEngine(answer, end=50, vocabulary=51), [1], made, limit=500, end=50
        )
        found.append([(one.source, one.proposed, one.accepted) for one in chunks])
    assert found[0] == found[1]


def test_a_draft_model_must_be_named_for_what_needs_one():
    with pytest.raises(UsageError, match="needs a draft model"):
        drafters.build(["model"], prediction=None, codec=None)
    with pytest.raises(UsageError, match="combines auto with drafters"):
        drafters.build(["auto", "lookup"], prediction=None, codec=None)


def test_ids_that_the_target_does_not_know_are_not_offered():
    model = SmallModel(ScriptedEngine([3, 60, 4], end=50, vocabulary=64, sure=0.9), vocabulary=51)
    drafter = ModelDrafter(model, GREEDY, eager=True)
    drafter.begin([1])
    drafter.set_budget(10.0, 0.05, 0.001)
    draft = drafter.propose(10)
    assert draft is not None
    assert list(draft.ids) == [3]


def test_the_likelier_stand_before_the_others_and_parents_before_children():
    chain = [
        Next(7, 0.6, ((8, 0.3), (9, 0.05))),
        Next(1, 0.9, ((2, 0.06), (3, 0.01))),
        Next(4, 0.5, ((5, 0.4),)),
    ]
    ids, chances, parents = candidate_tree(chain, 100, 1000)
    assert parents is not None
    ways: list[float] = []
    for chance, parent in zip(chances, parents, strict=True):
        ways.append(chance * (ways[parent] if parent >= 0 else 1.0))
    assert ways == sorted(ways, reverse=True)
    assert all(parent < at for at, parent in enumerate(parents))
    assert sorted(ids) == [1, 2, 4, 5, 7, 8, 9]
    assert ids[:2] == [7, 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


BOTH = [(name, sampling) for name in KINDS for sampling in (GREEDY, SAMPLED)]


@pytest.mark.parametrize(("name", "sampling"), ends(BOTH))
def test_a_real_model_that_drafts_for_itself_is_always_right(folder, name, sampling):
    """And at a temperature it draws with the target's own noise."""
    _, files = save("qwen2, grouped, tied", folder / name)
    target, draft = (open_exact(files, store=folder, precision="close") for _ in range(2))
    prompt = random.Random(6).choices(range(517), k=30)
    plain, ended, _ = answered(target, prompt, sampling=sampling)
    drafter = KINDS[name](SmallModel(draft), sampling, eager=True)
    drafted, done, chunks = answered(target, prompt, [drafter], sampling=sampling)
    assert (drafted, done) == (plain, ended)
    tried = [chunk for chunk in chunks if chunk.proposed]
    assert tried
    if name == "model":
        assert all(chunk.accepted == chunk.proposed for chunk in tried)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_small_model_is_fed_fits_its_window(name):
    answer = [*range(10)] * 20
    model = SmallModel(ScriptedEngine(answer, end=50, vocabulary=51, sure=0.999, window=60))
    lookup = LookupDrafter()
    drafter = KINDS[name](model, GREEDY, eager=True, lookup=lookup)
    for each in (lookup, drafter):
        each.begin([7])
        each.commit(answer[:20])
    for token in answer[20:60]:
        drafter.set_budget(1e9, 1.0, 0.0)
        drafter.propose(16)
        for each in (lookup, drafter):
            each.commit([token])
