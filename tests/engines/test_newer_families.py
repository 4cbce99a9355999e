"""Gated delta nets and mixtures of experts: what transformers computes, at any chunking, after any
rejected draft, from any snapshot."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from effort import FULL, some
from exact_models import NEWER, kernel, kernels_here, save, save_gguf
from exact_reference import logits as reference_logits
from safetensors.torch import load_file, save_file

from specedit.engines.exact import engine as exact_engine
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.errors import ModelError
from specedit.models.store import ModelFiles

IDS = random.Random(2).choices(range(517), k=190)
KERNELS = kernels_here()
pytestmark = pytest.mark.skipif(not KERNELS, reason="no kernels were built here")


@pytest.fixture(scope="module", params=NEWER)
def small(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[object, ModelFiles, Path]:
    """A small model in transformers, its folder, and a store."""
    folder = tmp_path_factory.mktemp("model")
    return *save(request.param, folder), folder


@pytest.fixture(scope="module")
def engine(small: tuple[object, ModelFiles, Path]) -> ExactEngine:
    return open_exact(small[1], store=small[2], precision="close", weights="int8")


@pytest.fixture(scope="module")
def expected(engine: ExactEngine) -> np.ndarray:
    """Logits after every id but the first, in one pass."""
    return after(engine, [len(IDS)])


def after(engine: ExactEngine, widths: list[int], ids: list[int] = IDS) -> np.ndarray:
    """Logits after every id but the first, fed in passes of these widths, again and again."""
    engine.crop(0)
    list(engine.begin(ids[:2], audit=True))
    rows: list[bytes] = []
    for index in range(len(ids)):
        at = engine.length
        if at == len(ids):
            break
        rows += engine.forward(ids[at : at + widths[index % len(widths)]]).rows or ()
    return np.stack([np.frombuffer(row, np.float32) for row in rows])


def difference(found: np.ndarray, other: np.ndarray) -> float:
    """Of most rows: a router's choice between equals may differ in a few."""
    return float(np.median(np.abs(found - other).mean(-1)) / np.abs(other).mean())


def test_it_computes_the_model(small, expected):
    with torch.inference_mode():
        theirs = small[0](torch.tensor([IDS]), use_cache=False).logits[0, 1:].numpy()
    assert difference(expected, theirs) < 0.05
    assert (expected.argmax(-1) == theirs.argmax(-1)).mean() > 0.9


@pytest.mark.parametrize("weights", some(["int8", "int4"], 2))
def test_every_variant_gives_the_bits_of_plain_c_and_the_numbers_of_numpy(small, weights):
    found = {}
    for name in KERNELS:
        with kernel(name):
            engine = open_exact(small[1], store=small[2], precision="close", weights=weights)
        found[name] = after(engine, [1, 20, 7], IDS[:60])
    assert len({rows.tobytes() for rows in found.values()}) == 1, ", ".join(found)
    rows = reference_logits(engine.passes._weights, IDS[:60])[1:]
    # attention quantizes values, which other layers do not
    assert difference(found[KERNELS[0]], rows) < (0.01 if engine.keeps_states else 0.04)


def test_a_gguf_file_has_the_logits_of_the_folder(small, expected, tmp_path):
    if getattr(small[0].config, "norm_topk_prob", True) is False:
        pytest.skip("in GGUF files the weights of experts add up to 1")
    files = save_gguf(small[0], tmp_path / "small.gguf")
    engine = open_exact(files, store=tmp_path, precision="close", weights="int8")
    assert difference(after(engine, [60]), expected) < 1e-3


def test_logits_are_bit_equal_at_any_chunking(engine, expected):
    numbers = random.Random(5)
    for round in range(200 if FULL else 30):
        engine.passes.use_threads(1 + round % 3)
        start = numbers.randrange(1, len(IDS) - 40)
        if round % 20 == 0:
            start = 1
        widths = [numbers.choice((1, 2, 3, 5, 8, 13, 33, 64, 190)) for _ in range(4)]
        list(engine.begin(IDS[: start + 1], audit=True))
        rows: list[bytes] = []
        while engine.length < min(start + 40, len(IDS)):
            at = engine.length
            rows += engine.forward(IDS[at : at + widths[len(rows) % 4]]).rows or ()
        assert b"".join(rows) == expected[start - 1 : start - 1 + len(rows)].tobytes()


def test_rejected_drafts_leave_no_trace(engine, expected):
    numbers = random.Random(6)
    list(engine.begin(IDS[:2], audit=True))
    while engine.length < len(IDS) - 20:
        at, kept = engine.length, numbers.randrange(1, 20)  # the middle of wide passes is kept
        wrong = [numbers.randrange(517) for _ in range(numbers.randrange(25))]
        engine.forward([*IDS[at : at + kept], *wrong])
        engine.crop(at + kept)
        if numbers.randrange(3) == 0:  # twice, and to the start of the pass
            engine.crop(at + numbers.randrange(kept))
        assert engine.cache.ids == IDS[: engine.length]
    at = engine.length
    rows = engine.forward(IDS[at:]).rows or []
    assert b"".join(rows) == expected[at - 1 :].tobytes()


@pytest.mark.parametrize("limit", [0, 1, 3], ids="{} snapshots".format)
def test_prompts_that_begin_alike_have_the_bits_of_new_ones(engine, expected, limit, monkeypatch):
    monkeypatch.setattr(exact_engine, "PREFILL", 32)
    size = engine.cache.state_bytes
    monkeypatch.setattr(exact_engine, "SNAPSHOT_BYTES", limit * size)
    engine.crop(0)
    numbers = random.Random(7)
    for _ in range(25):
        start = numbers.randrange(1, len(IDS) - 8)
        if numbers.randrange(3) == 0:  # another text between, in a cache of its own
            before = engine.swap(engine.new_cache())
            list(engine.begin(IDS[9:60]))
            engine.forward([1, 2, 3])
            engine.swap(before)
        if numbers.randrange(3) == 0:
            copy = engine.new_cache()
            copy.copy(engine.cache, numbers.randrange(len(engine.cache.ids) + 1))
            engine.swap(copy)
        engine.mark([numbers.randrange(start + 1)])
        list(engine.begin(IDS[: start + 1], audit=True))
        assert len(engine.cache.snapshots) * size <= limit * size
        rows = engine.forward([*IDS[start : start + 6], 1, 2]).rows or []
        assert b"".join(rows[:6]) == expected[start - 1 : start + 5].tobytes()
    engine.mark(())


def test_snapshots_are_used_and_counted(engine, monkeypatch):
    if not engine.keeps_states:
        pytest.skip("it has keys and values alone")
    assert not engine.info.trees
    monkeypatch.setattr(exact_engine, "PREFILL", 64)
    engine.swap(engine.new_cache())
    engine.mark([100])
    list(engine.begin(IDS))
    assert sorted(engine.cache.snapshots) == [64, 100, 128, 189]
    assert engine.cache.bytes > 6 * engine.cache.state_bytes > 0
    first = [next(iter(engine.begin([*IDS[:at], 5, 5, 5]))).reused for at in (150, 127, 101, 99, 9)]
    assert first == [128, 100, 100, 64, 0]
    engine.mark(())


def test_a_stored_beginning_has_the_bits_of_one_that_was_read(small, expected, tmp_path):
    for _ in range(2):
        engine = open_exact(small[1], store=small[2], precision="close", weights="int8")
        engine.read_fixed(IDS[:70])
        *_, last = engine.begin(IDS[:91], audit=True)
        assert last.reused == 70
        rows = engine.forward(IDS[90:]).rows or []
        assert b"".join(rows) == expected[89:].tobytes()


def test_passes_that_a_state_does_not_allow_are_refused(engine):
    if not engine.keeps_states:
        pytest.skip("it has keys and values alone")
    engine.crop(0)
    list(engine.begin(IDS[:9]))
    for call in (
        lambda: engine.passes.choose_each([1, 2], [engine.new_cache(), engine.new_cache()]),
        lambda: engine.forward([1, 2, 3], [-1, 0, 0]),
        lambda: engine.cache.fill([1, 2], bytearray(7)),
    ):
        with pytest.raises(ValueError, match=r"refuse|not the rows"):
            call()
    assert engine.length == 8


# -- what cannot be: refused by name, before weights are read ---------------


@pytest.mark.parametrize(
    ("family", "changes", "said"),
    [
        ("qwen3, experts", {"num_local_experts": 10_000}, "num_local_experts is 10000 where"),
        ("qwen3, experts", {"num_experts_per_tok": 7}, "num_experts_per_tok is 7 where"),
        ("qwen3, experts", {"mlp_only_layers": [1]}, "layers without experts"),
        ("qwen3, experts", {"decoder_sparse_step": 2}, "layers without experts"),
        ("qwen3.5, experts", {"shared_expert_intermediate_size": 99}, "99 where 68, as of the"),
        ("qwen3.5", {"full_attention_interval": 0}, "full_attention_interval is 0 where"),
        ("qwen3.5", {"layer_types": ["linear_attention", "mamba"] * 2}, "layer_types is"),
        ("qwen3.5", {"linear_value_head_dim": 96}, "multiple of 64, and this has 64 and 96"),
        ("qwen3.5", {"linear_num_value_heads": 3}, "3 recurrent heads do not share 2 key heads"),
        (
            "qwen3.5",
            dict.fromkeys(("linear_value_head_dim", "linear_key_head_dim"), 1024)
            | {"linear_num_value_heads": 128},
            r"one state of its recurrent layers has 1,[\d,]+ bytes",
        ),
    ],
    ids=str,
)
def test_numbers_that_cannot_be_are_refused_by_name(family, changes, said, tmp_path):
    _, files = save(family, tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    for file in tmp_path.glob("*.safetensors"):
        file.write_bytes(b"")  # it is refused before these are looked at
    with pytest.raises(ModelError, match=said):
        open_exact(files, store=tmp_path)


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ("layers.1.mlp.gate.weight", r"no tensor model\.layers\.1\.mlp\.gate\.weight"),
        ("layers.0.mlp.experts.2.up_proj.weight", r"up_proj.* has the shape \(0, 68, 88\)"),
        ("layers.0.mlp.experts.2.down_proj.weight", r"down_proj.* has the shape \(0, 88, 68\)"),
    ],
    ids=["router", "an expert", "another's part"],
)
def test_weights_that_lack_a_part_are_refused_by_name(lacks, said, tmp_path):
    _, files = save("qwen3, experts", tmp_path)
    path = tmp_path / "model.safetensors"
    weights = load_file(path)
    del weights[f"model.{lacks}"]
    save_file(weights, path)
    with pytest.raises(ModelError, match=said):
        open_exact(files, store=tmp_path)


def test_experts_of_different_sizes_are_refused_by_name(tmp_path):
    _, files = save("qwen3, experts", tmp_path)
    path = tmp_path / "model.safetensors"
    weights = load_file(path)
    name = "model.layers.1.mlp.experts.3.gate_proj.weight"
    weights[name] = weights[name][:60].contiguous()
    save_file(weights, path)
    with pytest.raises(ModelError, match=r"expert \d of .*gate_proj.* has the shape"):
        open_exact(files, store=tmp_path)


def test_what_is_not_of_the_text_is_skipped(tmp_path):
    _, files = save("qwen3.5", tmp_path / "folder")
    path = tmp_path / "folder" / "model.safetensors"
    weights = {
        name.replace("model.", "model.language_model."): weight
        for name, weight in load_file(path).items()
    }
    weights |= {"mtp.fc.weight": torch.ones(2, 2), "model.visual.merger.weight": torch.ones(3)}
    save_file(weights, path)
    config = tmp_path / "folder" / "config.json"
    text = json.loads(config.read_text())
    about = {"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"]}
    config.write_text(json.dumps({**about, "text_config": text, "vision_config": {}}))
    other = save("qwen3.5", tmp_path / "text")[1]
    found = [after(open_exact(one, store=tmp_path / "a"), [9], IDS[:20]) for one in (files, other)]
    assert found[0].tobytes() == found[1].tobytes()


def test_a_layer_of_a_gguf_file_that_guesses_ahead_is_skipped(tmp_path):
    model, _ = save("qwen3.5", tmp_path / "folder")
    plain = save_gguf(model, tmp_path / "plain.gguf")
    ahead = save_gguf(model, tmp_path / "ahead.gguf", {"nextn_predict_layers": 1, "block_count": 5})
    found = [
        after(open_exact(one, store=tmp_path / one.path.stem), [9], IDS[:20])
        for one in (plain, ahead)
    ]
    assert found[0].tobytes() == found[1].tobytes()


def test_a_prompt_whose_reading_is_stopped_leaves_no_trace(engine, expected, monkeypatch):
    monkeypatch.setattr(exact_engine, "PREFILL", 48)
    engine.crop(0)
    for count in range(1, 9):
        engine.passes._seconds_per_id = 1.0  # as if passes took long: they can be stopped
        steps = engine.begin(IDS, audit=True)
        for _ in range(count):
            next(steps, None)
        steps.close()
        assert engine.cache.ids == IDS[: engine.length]
        at = engine.length
        rows = engine.forward(IDS[at : at + 9]).rows or []
        kept = expected[max(at - 1, 0) : at + 8]
        assert b"".join(rows[-len(kept) :]) == kept.tobytes()
        engine.crop(max(at - 20, 0))
