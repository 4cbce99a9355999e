"""A sampled answer that begins as an earlier one and differs from all earlier ones."""

from collections import Counter
from collections.abc import Sequence

import pytest
from drafting import answered
from test_rejection import DRAWS, LENGTH, TableEngine, expected, far

from specedit.decode import Drafter
from specedit.decode.drafters.prediction_drafter import PredictionDrafter
from specedit.engines.base import GREEDY, Sampling

WARM = Sampling(0.9)
PROMPT = [0, 0, 1]


def answer(
    sampling: Sampling,
    unlike: Sequence[Sequence[int]] = (),
    drafters: Sequence[Drafter] = (),
    prompt: Sequence[int] = PROMPT,
) -> tuple[int, ...]:
    more = {"sampling": sampling, "limit": LENGTH, "unlike": unlike, "audit": False}
    engine = TableEngine(1)
    ids = tuple(answered(engine, prompt, drafters, **more)[0])
    assert engine.ids == [*prompt, *ids[:-1]], "the cache holds what was committed"
    return ids


@pytest.mark.parametrize("seed", range(40))
def test_an_answer_is_unlike_all_earlier_ones(seed):
    earlier: list[tuple[int, ...]] = []
    for number in range(6):
        new = answer(Sampling(0.9, 0.95, 100 * seed + number), earlier)
        assert new not in earlier
        earlier.insert(0, new)


def test_it_begins_as_the_newest_earlier_one():
    first = answer(WARM)
    begun = [answer(Sampling(0.9, seed=seed), [first]) for seed in range(200)]
    alike = Counter(sum(a == b for a, b in zip(first, ids, strict=True)) for ids in begun)
    assert set(alike) == set(range(LENGTH)), "each place is one where it may differ"


def test_it_is_a_sample_on_condition_that_it_differs(monkeypatch):
    first = answer(WARM)
    found = Counter(answer(Sampling(0.9, seed=seed), [first]) for seed in range(DRAWS))
    chances = dict(expected(WARM))
    left = 1 - chances.pop(first)
    conditional = {ids: chance / left for ids, chance in chances.items()}
    monkeypatch.setattr("test_rejection.expected", lambda _: conditional)
    assert far(found, WARM) < 4


def test_drafts_do_not_change_it():
    first = answer(WARM)
    for seed in range(30):
        sampling = Sampling(0.9, seed=seed)
        drafter = PredictionDrafter(first)
        assert answer(sampling, [first], [drafter]) == answer(sampling, [first])


def test_what_is_not_sampled_is_plain_decoding():
    plain = answer(GREEDY)
    assert answer(GREEDY, [plain]) == plain


def test_where_the_model_has_no_choice_it_is_an_ordinary_answer():
    narrow = Sampling(0.9, top_p=1e-6)
    assert answer(narrow, [answer(narrow)]) == answer(narrow)


def test_an_earlier_answer_longer_than_the_limit_and_an_empty_one():
    first = answer(WARM)
    assert len(answer(WARM, [(*first, 1, 2), ()])) == LENGTH
