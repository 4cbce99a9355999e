"""A part of the output layer: the same logits as all of it gives, of fewer ids."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from exact_models import kernel, kernels_here, save

from specedit.decode import Draft
from specedit.decode.drafters.model_drafter import SmallModel
from specedit.engines.base import GREEDY, Sampling
from specedit.engines.exact.engine import ExactEngine, open_exact

KERNELS = kernels_here()
IDS = [(7 * i * i + 3 * i) % 190 for i in range(40)]

pytestmark = pytest.mark.skipif(not KERNELS, reason="no kernels were built here")


@pytest.fixture(scope="module", params=KERNELS)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExactEngine]:
    folder = tmp_path_factory.mktemp("model")
    with kernel(request.param):
        yield open_exact(save("qwen2, multi-head, untied", folder)[1], store=folder)


def begun(engine: ExactEngine, usual: list[int], sampling: Sampling = GREEDY) -> None:
    engine.crop(0)
    engine.narrow(usual)
    for _ in engine.begin(IDS[:20], sampling, audit=True):
        pass


@pytest.mark.parametrize("seed", range(4))
def test_choices_are_the_likeliest_of_the_part_with_the_logits_of_all(engine, seed):
    chance = random.Random(seed)
    fed = IDS[19 : 19 + chance.randint(1, 20)]
    parents = [-1, *(chance.randrange(i) for i in range(1, len(fed)))]
    engine.passes.use_threads(chance.randint(1, 3))
    begun(engine, [])
    rows = engine.forward(fed, parents).rows
    assert rows is not None
    begun(engine, sorted(chance.sample(range(190), chance.choice([1, 16, 17, 100]))))
    narrow = engine.forward(fed, parents)
    assert narrow.rows is not None and narrow.among is not None
    ids = list(narrow.among.ids)
    assert set(ids) >= set(IDS[:20]) | set(fed), "what was read may be said"
    for row, whole, chosen in zip(narrow.rows, rows, narrow.ids, strict=True):
        among = np.frombuffer(whole, np.float32)[ids]
        assert np.frombuffer(row, np.float32).tobytes() == among.tobytes()
        assert among[narrow.among.places[chosen]] == among.max()


def test_what_an_earlier_text_brought_is_forgotten(engine):
    begun(engine, [1, 2, 3])
    engine.forward([150])
    for _ in engine.begin([5, 6, 7], audit=True):
        pass
    among = engine.forward([7]).among
    assert among is not None
    assert 150 not in among.places and {1, 2, 3, 5, 6, 7} <= set(among.places)


def test_a_sampled_choice_is_among_all(engine):
    begun(engine, [1, 2, 3], Sampling(0.8, seed=1))
    one = engine.forward([IDS[19]])
    begun(engine, [], Sampling(0.8, seed=1))
    assert one.among is None
    assert one.ids == engine.forward([IDS[19]]).ids


def test_a_draft_model_says_usual_ids_and_those_that_it_read(engine):
    usual = tuple(range(0, 60, 3))
    small = SmallModel(engine, frequent=usual)
    small.begin(GREEDY)
    ids = IDS[:20]
    for _ in range(8):
        (said,) = small.after(ids, 4)
        for id, chance in ((said.token, said.chance), *said.others):
            assert id in {*usual, *ids} and 0 < chance <= 1
        ids = [*ids, said.token]
    guided = small.after(IDS[:20], 2, Draft([500, 3], [0.5, 0.5], "guide", parents=[-1, -1]))
    assert guided[0].token in {*usual, *IDS[:20], 500}, "what others guess was read, too"
    small.begin(Sampling(0.8, seed=1, rule="rejection"))
    (said,) = small.after(IDS[:20], 2)
    assert said.sampled_from is not None and len(said.sampled_from) == engine.info.vocabulary
