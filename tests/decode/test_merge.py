"""Several drafts in one pass: what their chances become, who is asked, and guarantees 1 and 2."""

import itertools
import random
from collections.abc import Sequence

import pytest
from drafting import CURVE, Branching, Spending, answered
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import ScriptedEngine
from test_model_drafter import Mistaken

from specedit.decode import Draft, drafters
from specedit.decode.drafters import SmallModel
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.tree import MERGED, combined, main_part, merge_drafts
from specedit.decode.width import Widths
from specedit.engines.base import Choices


def chain(ids: Sequence[int], chances: Sequence[float], source: str) -> Draft:
    return Draft(ids, chances, source)


def ways(draft: Draft) -> dict[tuple[int, ...], float]:
    """The chance of every id's whole way."""
    assert draft.parents is not None
    found: dict[tuple[int, ...], float] = {(): 1.0}
    paths: list[tuple[int, ...]] = []
    for id, chance, parent in zip(draft.ids, draft.chances, draft.parents, strict=True):
        before = paths[parent] if parent >= 0 else ()
        paths.append((*before, id))
        found[paths[-1]] = found[before] * chance
    return found


@examples(100)
@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.floats(0.0, 1.0), max_size=4).filter(
            lambda claim: sum(claim.values()) <= 1.0
        ),
        max_size=4,
    )
)
def test_whatever_is_claimed_of_a_place_sums_to_one_at_most(claims):
    found = combined(claims)
    assert set(found) == {id for claim in claims for id in claim}
    assert sum(found.values()) <= 1.0 + 1e-9
    assert all(chance >= 0.0 for chance in found.values())


def test_one_tree_holds_what_each_of_them_says():
    copied = chain([1, 2, 3], [0.6, 0.9, 0.9], "prediction")
    guessed = Draft([1, 5, 6], [0.5, 0.4, 0.8], "chained", parents=[-1, -1, 1])
    one = merge_drafts([copied, guessed], [copied.chances, guessed.chances], 100)
    assert one.source == MERGED
    found = ways(one)
    assert set(found) - {()} == {(1,), (1, 2), (1, 2, 3), (5,), (5, 6)}
    assert found[1,] == pytest.approx(0.6)
    assert found[5,] == pytest.approx(0.4 * 0.4)
    order = [found[way] for way in found if way]
    assert order == sorted(order, reverse=True), "the likelier first, parents before their children"
    assert [one.proposers[list(one.ids).index(id)] for id in (1, 2, 5)] == [(0, 1), (0,), (1,)]


def test_what_a_model_says_of_a_place_is_trusted_first():
    copied = chain([1, 2], [0.7, 0.9], "prediction")
    model = Draft([5, 6], [0.8, 0.1], "candidates", parents=[-1, -1], from_model=True)
    found = ways(merge_drafts([copied, model], [copied.chances, model.chances], 100))
    assert found[5,] == pytest.approx(0.8)
    assert found[1,] == pytest.approx(0.07), "else it would crowd out what the model says"
    unheard = ways(merge_drafts([copied], [copied.chances], 100))
    assert unheard[1,] == pytest.approx(0.7)


def test_a_pass_is_credited_to_the_draft_with_the_most_accepted_ids():
    copied = chain([1, 2], [0.6, 0.9], "prediction")
    guessed = Draft([5, 6], [0.4, 0.8], "chained", parents=[-1, 0])
    one = merge_drafts([copied, guessed], [copied.chances, guessed.chances], 100)
    at = {id: row for row, id in enumerate(one.ids)}
    assert main_part(one, 4, [at[5], at[6]]).source == "chained"
    assert main_part(one, 4, [at[1]]).source == "prediction"
    assert main_part(one, 1, []).source == "prediction"
    assert main_part(copied, 2, []) is copied


@examples(100)
@given(
    answer=st.lists(st.integers(0, 5), max_size=60),
    seeds=st.lists(st.integers(0, 1000), min_size=2, max_size=3),
    limit=st.integers(1, 70),
    trees=st.booleans(),
)
def test_guarantee_1_drafts_of_several_together_change_no_text(answer, seeds, limit, trees):
    engine = ScriptedEngine(answer, end=6, vocabulary=7, trees=trees)
    plain, ended, _ = answered(engine, [1, 2], limit=limit, end=6)
    several = [Spending(plain, seed, 7, itertools.repeat(0.001)) for seed in seeds]
    for n, drafter in enumerate(several):
        drafter.name = f"spending {n}"
    free = Branching(plain, seeds[0] + 1, 7)
    drafted, done, chunks = answered(engine, [1, 2], [free, *several], limit=limit, end=6)
    assert (drafted, done) == (plain, ended)
    assert len(chunks) <= len(plain)
    assert MERGED not in {chunk.source for chunk in chunks}


@examples(100)
@given(
    size=st.integers(1, 120),
    seed=st.integers(0, 1000),
    costs=st.lists(st.floats(0.0005, 0.3), min_size=1, max_size=5),
    knows=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_guarantee_2_free_and_costly_drafts_together_stay_within_the_gate(size, seed, costs, knows):
    """Some know the answer, some are useless; each believes in itself."""
    answer = random.Random(seed).choices(range(50), k=size)
    engine = ScriptedEngine(answer, end=50, vocabulary=51)
    free = Branching(answer if knows[0] else [], seed, 51)
    costly = [
        Spending(answer if known else [], seed + n, 51, itertools.cycle(costs))
        for n, known in enumerate(knows[1:], 1)
    ]
    for n, drafter in enumerate(costly):
        drafter.name = f"spending {n}"
    tokens, _, chunks = answered(engine, [1], [free, *costly], limit=500, end=50)
    assert tokens == [*answer, 50]
    seconds = sum(CURVE.seconds(chunk.width) for chunk in chunks)
    seconds += sum(drafter.spent for drafter in costly)
    assert seconds <= 1.05 * len(tokens) * CURVE.seconds(1) + 2 * CURVE.seconds(1)


def test_what_is_likely_already_is_not_asked_for():
    widths = Widths(CURVE)
    sure = chain([1] * 9, [0.99] * 9, "prediction")
    doubtful = chain([1] * 9, [0.5] * 9, "prediction")
    assert widths.budget_for("candidates", 0.02, [sure]) == 0.0
    assert widths.budget_for("candidates", 0.02, [doubtful]) > 0.0
    assert widths.budget_for("candidates", 0.02, []) > 0.0


class Counted(Mistaken):
    """Counts its passes."""

    passes = 0

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        self.passes += 1
        return super().forward(ids, parents)


def counted(answer: list[int], every: int = 1 << 30) -> tuple[SmallModel, Counted]:
    engine = Counted(answer, end=50, vocabulary=51, sure=0.95)
    engine.every = every
    return SmallModel(engine), engine


@pytest.mark.parametrize("trees", [True, False], ids=["trees", "chains only"])
def test_a_small_model_checks_what_others_say_in_one_pass(trees):
    answer = list(range(20))
    engine = Counted(answer, end=50, vocabulary=51, sure=0.95, trees=trees)
    small = SmallModel(engine)
    alone = small.after([30, 31], 2)
    assert [one.token for one in alone] == [0]
    before = engine.passes
    said = small.after(
        [30, 31], 2, Draft([0, 9, 1, 2, 7], [0.5] * 5, "guide", parents=[-1, -1, 0, 2, 3])
    )
    assert engine.passes == before + 1
    assert [one.token for one in said] == [0, 1, 2, 3], "as far as the guide is right, and one more"
    assert 7 in [id for id, _ in said[-1].others], "what the guide says there is weighed, too"
    further = small.after([30, 31, 0, 1, 2, 3], 1)
    assert [one.token for one in further] == [4], "its cache is what it followed"


def test_a_guided_small_model_drafts_with_fewer_passes():
    answer = random.Random(7).choices(range(50), k=150)
    passes = []
    for names in (["candidates"], ["lookup", "candidates"]):
        small, engine = counted([*answer, *answer])
        target = ScriptedEngine([*answer, *answer], end=50, vocabulary=51)
        made = drafters.build(names, prediction=None, codec=None, small=small, trees=True)
        tokens, _, _ = answered(target, [1], made, limit=400, end=50)
        assert tokens == [*answer, *answer, 50]
        passes.append(engine.passes)
    assert passes[1] < 0.8 * passes[0], "the second half has been said before"


def test_lookup_says_what_would_follow_ids_that_nobody_committed():
    drafter = LookupDrafter()
    drafter.begin([5, 6, 7, 8, 9, 10, 1])
    before = drafter.propose(4)
    found = drafter.continue_from([5, 6, 7, 8, 9, 10, 1, 6, 7, 8], 2)
    assert found is not None
    assert list(found.ids) == [9, 10]
    assert drafter.propose(4) == before, "asking changes nothing"
