"""Both engines read one account of a model: names, shapes, rotation, scaled frequencies."""

import json
import random
from typing import Any

import numpy as np
import pytest
import torch
from exact_models import FAMILIES, LINEAR, YARN, model_of, save, save_gguf

from specedit.engines.exact.checkpoint import open_checkpoint, unsupported
from specedit.engines.exact.engine import open_exact
from specedit.engines.huggingface.loading import build
from specedit.errors import ModelError
from specedit.models import architecture
from specedit.models.resolve import check_usable
from specedit.models.store import ModelFiles

IDS = random.Random(7).choices(range(517), k=180)
GGUF_YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}


def logits(model: Any) -> np.ndarray:
    with torch.inference_mode():
        found: np.ndarray = model.eval()(torch.tensor([IDS])).logits[0].numpy()
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_gguf_file_computes_what_the_folder_computes(family, tmp_path):
    every_fourth = {"num_hidden_layers": 5, "no_rope_layer_interval": 4}  # as GGUF files have it
    model = model_of(family, **(every_fourth if family.startswith("smollm3") else {}))
    files = save_gguf(model, tmp_path / "small.gguf")
    found = logits(build(files.path, torch.float32))
    assert np.allclose(found, logits(model), atol=2e-4)


@pytest.mark.parametrize("family", ["qwen2, grouped, tied", "qwen3, head norms", "llama, no bias"])
@pytest.mark.parametrize(
    ("turning", "metadata"),
    [(YARN, GGUF_YARN), (LINEAR, {"rope.scaling.type": "linear", "rope.scaling.factor": 2.5})],
    ids=["YaRN", "linear"],
)
def test_scaled_frequencies_of_a_gguf_file_run_right_on_the_generic_engine(
    family, turning, metadata, tmp_path
):
    model = model_of(family, rope_parameters=turning)
    files = save_gguf(model, tmp_path / "small.gguf", metadata)
    built = build(files.path, torch.float32)
    expected = logits(model)
    assert np.allclose(logits(built), expected, atol=2e-4)
    plain = save_gguf(model, tmp_path / "plain.gguf")
    assert not np.allclose(logits(build(plain.path, torch.float32)), expected, atol=2e-2)


def test_the_exact_engine_runs_linear_scaling_and_refuses_yarn_by_name(tmp_path):
    _, yarn = save("qwen2, grouped, tied", tmp_path / "yarn", rope_parameters=YARN)
    assert "YaRN" in (unsupported(yarn) or "")
    with pytest.raises(ModelError, match="YaRN"):
        open_checkpoint(yarn)
    model, linear = save("qwen2, grouped, tied", tmp_path / "linear", rope_parameters=LINEAR)
    engine = open_exact(linear, store=tmp_path, precision="close")
    list(engine.begin(IDS[:2], audit=True))
    rows = engine.forward(IDS[1:]).rows or []
    found = np.stack([np.frombuffer(row, np.float32) for row in rows])
    expected = logits(model)[1:]
    assert np.abs(found - expected).mean() / np.abs(expected).mean() < 0.05


INTERLEAVED = [name for name in FAMILIES if name.split(",")[0] in architecture.INTERLEAVED]


@pytest.mark.parametrize("family", INTERLEAVED)
def test_both_kinds_of_file_give_the_exact_engine_the_same_rows(family, tmp_path):
    model, folder = save(family, tmp_path / "folder")
    one = open_checkpoint(folder)
    other = open_checkpoint(save_gguf(model, tmp_path / "small.gguf"))
    assert one.config.rope_factors == pytest.approx(other.config.rope_factors, rel=1e-5)
    for name in ("embedding_scale", "residual_scale", "attention_scale", "logit_scale"):
        assert getattr(one.config, name) == pytest.approx(getattr(other.config, name))
    for name in one.tensors:
        assert np.array_equal(one.matrix(name).ravel(), other.matrix(name).ravel()), name


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"rope.scaling.type": "longrope"}, "scaling of the kind longrope is not known"),
        ({**GGUF_YARN, "rope.scaling.yarn_log_multiplier": 0.1}, "yarn with yarn_log_multiplier"),
        ({"rope.scaling.type": 7}, "rope.scaling.type is 7"),
        ({"rope.dimension_count": 12}, "rope.dimension_count is 12 where 22, all of a head"),
        ({"attention.head_count": 3}, "3 heads of 22 over 2 key heads"),
        ({"attention.head_count": 2, "attention.head_count_kv": 2}, r"attn_q.* shape \(88, 88\)"),
        ({"block_count": 3}, r"no tensor blk\.2\."),
        ({"block_count": 1}, r"a llama model has no tensor blk\.1\."),
        ({"block_count": 4_000_000_000}, "a whole number from 1 to 1,000"),
        ({"block_count": "two"}, "block_count is 'two'"),
        ({"embedding_length": 0}, "embedding_length is 0"),
        ({"attention.layer_norm_rms_epsilon": 0.0}, "a number above 0"),
        ({"rope.freq_base": float("nan")}, "a number above 0"),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_a_gguf_file_that_does_not_fit_together_is_refused_by_name(metadata, said, tmp_path):
    files = save_gguf(model_of("llama, no bias"), tmp_path / "odd.gguf", metadata)
    with pytest.raises(ModelError, match=said) as caught:
        build(files.path, torch.float32)
    assert "odd.gguf" in caught.value.message
    assert unsupported(files) == caught.value.message


def test_granite_without_rope_is_refused(tmp_path):
    model = model_of("granite, multipliers, tied")
    files = save_gguf(model, tmp_path / "odd.gguf", {"rope.scaling.finetuned": False})
    assert "rotary scaling of the kind none" in (unsupported(files) or "")


DENSE = {
    "model_type": "granitemoehybrid",
    "layer_types": ["attention", "attention"],
    "num_local_experts": 0,
    "shared_intermediate_size": 204,
    "position_embedding_type": "rope",
    "mamba_n_heads": 4,
    "mamba_expand": 2,
}


def test_a_hybrid_family_without_recurrent_layers_runs_on_the_exact_engine(tmp_path):
    model, files = save("granite, multipliers, tied", tmp_path / "dense", **DENSE)
    check_usable(files)
    engine = open_exact(files, store=tmp_path, precision="close")
    list(engine.begin(IDS[:2], audit=True))
    rows = engine.forward(IDS[1:]).rows or []
    found, expected = np.stack([np.frombuffer(row, "f4") for row in rows]), logits(model)[1:]
    assert np.abs(found - expected).mean() / np.abs(expected).mean() < 0.05


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer_types": ["attention", "mamba"]}, "'granitemoehybrid'"),
        ({"model_type": "gemma4_text"}, "'gemma4_text'"),
        ({"model_type": "gpt_oss"}, "'gpt_oss'"),
        ({"model_type": "mellum"}, "'mellum'"),
        (
            {"model_type": "mistral", "layer_types": None, "sliding_window": 512},
            "has a sliding window",
        ),
        ({"model_type": "ministral", "layer_types": ["sliding_attention"]}, "has a sliding window"),
        ({"num_local_experts": 8}, "has experts"),
        ({"position_embedding_type": None}, "has no RoPE"),
    ],
    ids=["hybrid", "Gemma 4", "gpt-oss", "Mellum 2", "Mistral", "Ministral", "experts", "no RoPE"],
)
def test_a_folder_that_cannot_be_run_exactly_says_what_works_instead(changes, said, tmp_path):
    config = {**DENSE, "max_position_embeddings": 2048, **changes}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=said) as caught:
        check_usable(ModelFiles("odd", tmp_path, "folder"))
        architecture.of_folder(tmp_path)
    assert "--engine huggingface" in caught.value.hint
