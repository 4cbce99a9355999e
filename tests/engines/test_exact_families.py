"""The exact engine computes what transformers computes, up to int8; its logits are bit-equal."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from effort import FULL, ends, examples, some
from exact_models import FAMILIES, kernel, kernels_here, save, save_gguf
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from specedit.engines.base import Sampling
from specedit.engines.exact import engine as exact_engine
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.models.store import ModelFiles

IDS = random.Random(2).choices(range(517), k=290)
SAMPLED = Sampling(temperature=0.8, top_p=0.9, seed=5)


KERNELS = kernels_here()


@pytest.fixture(scope="module", params=some(FAMILIES, 2))
def small(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[object, ModelFiles, Path]:
    """A small model in transformers, its files, and a store."""
    folder = tmp_path_factory.mktemp("model")
    return *save(request.param, folder), folder


# By default the best variant: `test_every_variant_gives_the_bits_of_plain_c` compares the others.
ENGINES = [
    *((name, "int8") for name in (KERNELS if FULL else KERNELS[:1])),
    *((name, "int4") for name in KERNELS[:1]),
]


@pytest.fixture(scope="module", params=ENGINES, ids=" ".join)
def pair(
    request: pytest.FixtureRequest, small: tuple[object, ModelFiles, Path]
) -> tuple[object, ExactEngine]:
    """The model, and the exact engine over the same weights on each kind of kernels."""
    model, files, store = small
    name, weights = request.param
    with kernel(name):
        return model, open_exact(files, store=store, precision="close", weights=weights)


@pytest.fixture
def engine(pair: tuple[object, ExactEngine]) -> ExactEngine:
    """The exact engine."""
    assert pair[1].info.exact
    return pair[1]


def logits(engine: ExactEngine, widths: list[int], ids: list[int] = IDS) -> np.ndarray:
    """Logits after every id but the first, fed in passes of these widths, again and again."""
    for _ in engine.begin(ids[:2], audit=True):
        pass
    rows: list[bytes] = []
    while engine.length < len(ids):
        at = engine.length
        width = widths[len(rows) % len(widths)]
        found = engine.forward(ids[at : at + width])
        assert found.rows is not None
        rows.extend(found.rows)
        for row, choice in zip(found.rows, found.ids, strict=True):
            assert int(np.frombuffer(row, np.float32).argmax()) == choice
    return np.stack([np.frombuffer(row, np.float32) for row in rows])


def needs_8_bits(engine: ExactEngine) -> None:
    if "int4" in engine.info.note:
        pytest.skip("random weights lose too much with 4 bits (test_convert.py compares those)")


def test_it_computes_the_model(pair):
    model, engine = pair
    needs_8_bits(engine)
    engine.crop(0)
    ids = IDS[:200]
    with torch.inference_mode():
        expected = model(torch.tensor([ids])).logits[0, 1:].numpy()  # type: ignore[operator]
    found = logits(engine, [37], ids)
    error = np.abs(found - expected).mean() / np.abs(expected).mean()
    assert error < 0.05
    assert (found.argmax(-1) == expected.argmax(-1)).mean() > 0.9


@examples(3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    widths=st.lists(st.sampled_from([1, 2, 3, 5, 8, 13, 16, 33, 64, 129, 256, 290]), min_size=1),
    threads=st.sampled_from([1, 2, 3]),
)
def test_logits_are_bit_equal_at_any_chunking(engine, widths, threads):
    engine.passes.use_threads(2)
    engine.crop(0)
    expected = logits(engine, [len(IDS)])
    engine.passes.use_threads(threads)
    engine.crop(0)
    found = logits(engine, widths)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("precision", "weights"), ends([("balanced", "int8"), ("balanced", "int4"), ("close", "int4")])
)
def test_every_variant_gives_the_bits_of_plain_c(small, precision, weights):
    _, files, store = small
    found = {}
    for name in KERNELS:
        with kernel(name):
            engine = open_exact(files, store=store, precision=precision, weights=weights)
        assert engine.info.note.endswith(name)
        found[name] = logits(engine, [1, 40, 7, 130], IDS[:180]).tobytes()
    assert len(set(found.values())) <= 1, "not the same: " + ", ".join(found)


def test_a_crop_leaves_no_trace(engine):
    engine.crop(0)
    expected = logits(engine, [64], IDS[:290])
    engine.crop(0)
    for _ in engine.begin(IDS[:280], audit=True):
        pass
    engine.forward([1, 2, 3, 4, 5])
    engine.crop(255)
    found = engine.forward(IDS[255:290]).rows
    assert found == [row.tobytes() for row in expected[254:]]


def test_a_reused_prefix_changes_nothing(engine):
    engine.crop(0)
    list(engine.begin(IDS[:270], audit=True))
    fresh = engine.forward(IDS[269:280]).rows
    list(engine.begin([*IDS[:131], 7, 7, 7], audit=True))
    *_, last = engine.begin(IDS[:270], audit=True)
    assert (last.reused, last.done, last.total) == (131, 269, 269)
    assert engine.forward(IDS[269:280]).rows == fresh


def test_a_swapped_cache_is_kept_whole(engine):
    engine.crop(0)
    list(engine.begin(IDS[:100], audit=True))
    first = engine.swap(engine.new_cache())
    assert engine.length == 0 and first.ids == IDS[:99] and first.bytes > 0
    list(engine.begin(IDS[100:200], audit=True))
    engine.swap(first)
    *_, last = engine.begin(IDS[:100], audit=True)
    assert last.reused == 99


def test_an_abandoned_begin_leaves_a_valid_shorter_cache(engine, monkeypatch):
    monkeypatch.setattr(exact_engine, "PREFILL", 128)
    engine.crop(0)
    steps = engine.begin(IDS)
    next(steps)
    next(steps)
    assert 0 < engine.length < len(IDS) - 1
    assert engine.cache.ids == IDS[: engine.length]


@pytest.mark.parametrize("widths", [[1], [40], [7, 1, 13]], ids=["plain", "wide", "mixed"])
def test_sampled_choices_do_not_depend_on_the_chunking(engine, widths):
    def choices(widths: list[int]) -> list[int]:
        engine.crop(0)
        list(engine.begin(IDS[:2], SAMPLED))
        found: list[int] = []
        while engine.length < 60:
            at, width = engine.length, widths[len(found) % len(widths)]
            found += engine.forward(IDS[at : min(at + width, 60)]).ids
        return found

    assert choices(widths) == choices([59])


@pytest.mark.parametrize("before", ends([3, 70, 505, 511, 512, 600]), ids=str)
def test_a_row_of_a_tree_has_the_bits_of_its_own_path(small, before):
    _, files, store = small
    numbers = random.Random(before)
    ids = [numbers.randrange(517) for _ in range(before)]
    tree = [numbers.randrange(517) for _ in range(24)]
    parents = [-1] + [numbers.randrange(-1, row) for row in range(1, 24)]
    for name in KERNELS:
        if name == "reference":
            continue
        with kernel(name):
            passes = open_exact(files, store=store).passes
        cache = passes.new_cache()
        passes.read(ids, cache)
        choices, rows = passes.choose(tree, cache, rows=True, parents=parents)
        assert rows is not None
        for row in (0, 11, 23):
            path = [row]
            while parents[path[0]] >= 0:
                path.insert(0, parents[path[0]])
            alone = passes.new_cache()
            passes.read(ids, alone)
            last, expected = passes.choose([tree[at] for at in path], alone, rows=True)
            assert expected is not None
            assert (choices[row], rows[row]) == (last[-1], expected[-1])
        after, _ = passes.choose([5], alone, rows=False)
        cache.keep(before, path)
        assert cache.ids == alone.ids[:-1]
        assert passes.choose([5], cache, rows=False)[0] == after


TEXTS_OF = (1, 40, 500, 511, 512, 513, 30, 2, *range(3, 20))


def test_rows_of_texts_of_their_own_have_the_bits_of_each_alone(pair):
    passes = pair[1].passes
    numbers = random.Random(4)
    texts = [[numbers.randrange(517) for _ in range(length)] for length in TEXTS_OF]
    for count in ends((1, 7, len(texts))):
        together = [passes.new_cache() for _ in texts[:count]]
        alone = [passes.new_cache() for _ in together]
        for text, *both in zip(texts[:count], together, alone, strict=True):
            for cache in both:
                passes.read(text, cache)
        fed = [text[0] for text in texts[:count]]
        for _ in range(3):
            seen = np.zeros((2, count, passes.config.hidden), "f4")
            found = passes.choose_each(fed, together, seen[0])
            for row, cache in enumerate(alone):
                state = seen[1, row : row + 1]
                last, _ = passes.choose([fed[row]], cache, rows=False, states=state)
                assert found[row] == last[0]
            assert seen[0].tobytes() == seen[1].tobytes()
            assert [cache.ids for cache in together] == [cache.ids for cache in alone]
            fed = found


@pytest.mark.skipif(not KERNELS, reason="no kernels were built here")
def test_texts_of_their_own_need_caches_of_their_own(small):
    _, files, store = small
    passes = open_exact(files, store=store).passes
    one, other = passes.new_cache(), passes.new_cache()
    for ids, caches in (([1, 2], [one, one]), ([1, 517], [one, other]), ([-1], [one])):
        with pytest.raises(ValueError, match="refuse"):
            passes.choose_each(ids, caches)
    with pytest.raises(ValueError, match="small"):
        passes.choose_each([1, 2], [one, other], bytearray(4))
    assert one.ids == other.ids == []


@pytest.mark.skipif(not KERNELS, reason="no kernels were built here")
def test_guarantee_7_converting_and_a_pass_need_no_torch(tmp_path):
    model, files = save("llama, slow frequencies", tmp_path / "folder")
    made = save_gguf(model, tmp_path / "small.gguf")
    code = (
        "import sys; from pathlib import Path;"
        "sys.modules.update(torch=None, transformers=None, safetensors=None);"
        "from specedit.engines.exact.engine import open_exact;"
        "from specedit.models.store import ModelFiles;"
        "engine = open_exact(ModelFiles('small', Path(sys.argv[1]), sys.argv[2]),"
        "store=Path(sys.argv[3])); list(engine.begin([1, 2, 3], audit=True));"
        "print(*engine.forward([3, 4]).ids)"
    )
    found = []
    for one in (files, made):
        run = [sys.executable, "-c", code, str(one.path), one.kind, str(tmp_path / "store")]
        found.append(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert found[0] == found[1] and len(found[0].split()) == 2


def states(engine: ExactEngine, ids: list[int], widths: list[int], *, read: bool) -> np.ndarray:
    """The rows behind the last norm of all ids, from reading them or from choosing after them."""
    cache, found = engine.new_cache(), np.zeros((len(ids), engine.passes.config.hidden), "f4")
    for index in range(len(ids)):
        at = len(cache.ids)
        part = ids[at : at + widths[index % len(widths)]]
        if not part:
            break
        if read:
            engine.passes.read(part, cache, states=found[at : at + len(part)])
        else:
            engine.passes.choose(part, cache, rows=False, states=found[at : at + len(part)])
    return found


def test_a_pass_shows_the_rows_that_the_output_layer_takes(pair):
    model, engine = pair
    needs_8_bits(engine)
    ids = IDS[:120]
    with torch.inference_mode():
        expected = model.model(torch.tensor([ids])).last_hidden_state[0].numpy()  # type: ignore[attr-defined]
    found = states(engine, ids, [120], read=False)
    assert np.abs(found - expected).mean() < 0.05 * np.abs(expected).mean()


def test_rows_are_bit_equal_read_or_chosen_at_any_chunking(engine):
    whole = states(engine, IDS, [len(IDS)], read=True)
    assert states(engine, IDS, [1, 7, 64], read=True).tobytes() == whole.tobytes()
    assert states(engine, IDS, [33, 2, 128], read=False).tobytes() == whole.tobytes()


def test_a_watched_engine_gives_the_rows_of_its_passes(pair):
    _, engine = pair
    expected = states(engine, IDS[:40], [40], read=True)
    for _ in engine.begin(IDS[:31]):
        pass
    assert engine.forward(IDS[30:32]).states is None
    engine.crop(30)
    engine.watch(True)
    found = engine.forward(IDS[30:40]).states
    engine.watch(False)
    assert found is not None and len(found) == 10 and engine.info.hidden == expected.shape[1]
    rows = np.stack([np.frombuffer(row, "f4") for row in found])
    assert np.allclose(rows, expected[30:], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("widths", [[1], [2, 7], [30]])
def test_the_choice_at_one_position_is_the_second_best(engine, widths):
    ids, at = IDS[:30], 17
    for _ in engine.begin(ids[:2], Sampling(second_at=at), audit=True):
        pass
    for width in (widths * 30)[:30]:
        first = engine.length
        if first >= len(ids):
            break
        found = engine.forward(ids[first : first + width])
        assert found.rows is not None and found.margins is not None
        for position, row, choice, margin in zip(
            range(first + 1, 31), found.rows, found.ids, found.margins, strict=False
        ):
            best, second = np.argsort(-np.frombuffer(row, np.float32), kind="stable")[:2]
            assert choice == (second if position == at else best)
            assert (margin < 0) == (position == at) or margin == 0
