"""Adapters: merged before weights are rounded, by either engine; what does not fit is refused."""

import json
import shutil
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapters import ALPHA, RANK, TARGETS, layers_of, merge, write_adapter
from exact_models import kernels_here, model_of, save, save_gguf
from safetensors.numpy import load_file, save_file

from specedit.engines.exact import conversion
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.engine import open_exact
from specedit.errors import ModelError
from specedit.models.adapter import identity, merged, with_adapter
from specedit.models.head_file import HeadsFolder
from specedit.models.store import ModelFiles
from specedit.server.runtime import identity as server_identity
from specedit.settings import Settings

IDS = list(range(40, 60))
FACTORS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
exact = pytest.mark.skipif(not kernels_here(), reason="no kernels were built here")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ModelFiles]:
    return save("qwen2, grouped, tied", tmp_path_factory.mktemp("model"))


@pytest.fixture
def adapter(small: tuple[Any, ModelFiles], tmp_path: Path) -> Path:
    write_adapter(tmp_path / "mine", small[0])
    return tmp_path / "mine"


def logits(files: ModelFiles, store: Path, weights: str = "int8") -> Any:
    engine = open_exact(files, store=store, weights=weights)
    list(engine.begin(IDS[:2], audit=True))
    rows = engine.forward(IDS[1:]).rows
    assert rows is not None
    return np.stack([np.frombuffer(row, np.float32) for row in rows])


def their_logits(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(torch.tensor([IDS])).logits[0, 1:].float().numpy()


def plain(name: str) -> float:
    return ALPHA / RANK


SCALES: dict[str, tuple[dict[str, Any], Callable[[str], float]]] = {
    "alpha over rank": ({}, plain),
    "over its root": ({"use_rslora": True}, lambda name: ALPHA / RANK**0.5),
    "patterns": (
        {
            "rank_pattern": {"q_proj": 2, "layers.1.mlp.up_proj": 5},
            "alpha_pattern": {"mlp.down_proj": 30},
        },
        lambda name: 10.0 if name.endswith("down_proj") else ALPHA / ranked(name),
    ),
}


def ranked(name: str) -> int:
    return 2 if name.endswith("q_proj") else 5 if name.endswith("1.mlp.up_proj") else RANK


@exact
@pytest.mark.parametrize("scaling", SCALES)
@pytest.mark.parametrize("family", ["qwen2, grouped, tied", "llama, no bias"])
def test_both_engines_compute_the_model_with_the_adapter_in_its_weights(family, scaling, tmp_path):
    import torch

    from specedit.engines.huggingface.loading import load

    config, scale = SCALES[scaling]
    model = model_of(family)
    ranks = {name: ranked(name) for name in layers_of(model)} if "rank_pattern" in config else None
    factors = write_adapter(tmp_path / "adapter", model, ranks, **config)
    gguf = save_gguf(model, tmp_path / "model.gguf", {"rope.dimension_count": 22})
    model.save_pretrained(tmp_path / "plain")
    before = their_logits(model)
    merge(model, factors, scale)
    model.save_pretrained(tmp_path / "merged")
    expected = logits(ModelFiles("merged", tmp_path / "merged", "folder"), tmp_path / "store")
    for files in (ModelFiles("plain", tmp_path / "plain", "folder"), gguf):
        files = with_adapter(files, str(tmp_path / "adapter"))
        own = logits(files, tmp_path / "store")
        # int8 of the same sums, of which a few differ in the last bit of a float32
        assert np.abs(own - expected).max() < 0.02 * np.abs(expected - before).max()
        generic = load(files, torch.float32)
        assert np.allclose(their_logits(generic), their_logits(model), atol=1e-3)


@exact
def test_with_and_without_an_adapter_everything_lies_side_by_side(small, adapter, tmp_path):
    _, files = small
    own, store = with_adapter(files, str(adapter)), tmp_path / "store"
    expected = {each.digest: logits(each, store) for each in (files, own)}
    other = shutil.copytree(adapter, tmp_path / "other")
    change(other, {"lora_alpha": ALPHA + 1})
    expected[identity(str(other))] = logits(with_adapter(files, str(other)), store)
    assert len({rows.tobytes() for rows in expected.values()}) == 3
    for each in (files, own):
        convert(each, store, report=lambda step: pytest.fail(str(step)))
        assert (logits(each, store) == expected[each.digest]).all()
    digests = {open_exact(each, store=store).passes.digest for each in (files, own)}
    assert digests == {source_of(files), source_of(own)}
    assert len({HeadsFolder(store, digest).path for digest in digests}) == 2
    kinds = " ".join(conversion.kinds_of(store, source_of(files)))
    assert "int8 with mine " in kinds and "int8 with other " in kinds and kinds.count("int8") == 3
    assert [wrong for _, wrong in conversion.verify(store, source_of(files))] == ["", "", ""]
    assert not conversion.converted_elsewhere(store, [source_of(files)])
    # the file still says what it is when its adapter is gone
    path = converted_path(own, store)
    shutil.rmtree(adapter)
    assert "+mine-" in path.name
    with pytest.raises(ModelError, match="there is no adapter_config"):
        with_adapter(files, str(adapter))
    other_path = converted_path(with_adapter(files, str(other)), store)
    shutil.copyfile(path, other_path)
    checked = dict(conversion.verify(store, source_of(files)))
    assert checked.pop(other_path) == "the converted file was made from another model"
    assert set(checked.values()) == {""} and not other_path.exists()


@exact
def test_factors_in_int8_are_near_to_what_they_were(small, adapter, tmp_path):
    _, files = small
    wanted = logits(with_adapter(files, str(adapter)), tmp_path / "store")
    tensors = {}
    for name, values in load_file(adapter / FACTORS).items():
        scales = np.abs(values).max(int("lora_A" in name), keepdims=True) / 127
        tensors[name] = np.rint(values / scales).astype(np.int8)
        tensors[name.replace("weight", "scales")] = scales.reshape(-1)
    save_file(tensors, adapter / FACTORS)
    made = logits(with_adapter(files, str(adapter)), tmp_path / "store")
    without = logits(files, tmp_path / "store")
    assert 0 < np.abs(made - wanted).max() < 0.1 * np.abs(without - wanted).max()


def test_a_server_has_the_adapter_of_these_very_files(adapter):
    settings = Settings(adapter=str(adapter))
    known = [server_identity(Settings()), server_identity(settings)]
    change(adapter, {"lora_alpha": ALPHA + 1})
    known.append(server_identity(settings))
    assert len({each["adapter"] for each in known}) == 3
    shutil.rmtree(adapter)
    for gone in (str(adapter), "~nobody-is-called-so/x"):
        with pytest.raises(ModelError, match="is not an adapter"):
            server_identity(Settings(adapter=gone))


def change(folder: Path, config: dict[str, Any]) -> None:
    known = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(known | config))


def tensors(edit: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def harm(folder: Path) -> None:
        known = load_file(folder / FACTORS)
        edit(known)
        save_file(known, folder / FACTORS)

    return harm


def config(**values: Any) -> Callable[[Path], None]:
    return lambda folder: change(folder, values)


A, B = (f"base_model.model.model.layers.0.self_attn.q_proj.lora_{part}.weight" for part in "AB")


def cut(folder: Path) -> None:
    (folder / FACTORS).write_bytes((folder / FACTORS).read_bytes()[:-100])


def endless(folder: Path) -> None:
    raw = (folder / FACTORS).read_bytes()
    (folder / FACTORS).write_bytes(struct.pack("<Q", 1 << 60) + raw[8:])


def pickled(folder: Path) -> None:
    (folder / FACTORS).rename(folder / "adapter_model.bin")


def many_ranks(known: dict[str, Any]) -> None:
    known[A], known[B] = np.zeros((10_000, 88), np.float32), np.zeros((88, 10_000), np.float32)


HARM = {
    "a truncated file": (cut, "damaged safetensors file"),
    "an endless header": (endless, "damaged safetensors file"),
    "a pickle": (pickled, "is a pickle, which is never loaded"),
    "another base by name": (config(base_model_name_or_path="a/B-3B"), "was trained for a/B-3B"),
    "another base by digest": (
        config(specedit={"base": "small", "base_sha256": "ab" * 32}),
        "was trained for small",
    ),
    "other factors": (config(specedit={"sha256": "ab" * 32}), "is damaged: SHA-256"),
    "a rank of 10,000": (config(r=10_000), "r is 10000 where a whole number from 1 to 128"),
    "10,000 rows": (tensors(many_ranks), "has the shape (10000, 88), not (3, 88)"),
    "another rank": (config(r=4), "has the shape (3, 204), not (4, 204)"),
    "a shape": (
        tensors(lambda t: t.update({B: t[B][:-1].copy()})),
        "has the shape (87, 3), not (88, 3)",
    ),
    "no B": (tensors(lambda t: t.pop(B)), "lora_B of model.layers.0.self_attn.q_proj is nothing"),
    "a target without factors": (
        config(target_modules=[*TARGETS, "lm_head"]),
        "no factors of lm_head",
    ),
    "an unknown layer": (
        tensors(lambda t: t.update({A.replace("0", "7"): t[A], B.replace("0", "7"): t[B]})),
        "no linear layer model.layers.7.self_attn.q_proj",
    ),
    "the output layer": (
        tensors(lambda t: t.update({A.replace(A[17:-14], "lm_head"): t[A]})),
        "lora_B of lm_head is nothing",
    ),
    "an embedding": (
        tensors(lambda t: t.update({"base_model.model.model.embed_tokens.lora_embedding_A": t[A]})),
        "has the tensor base_model.model.model.embed_tokens.lora_embedding_A",
    ),
    "not a number": (tensors(lambda t: t[A].fill(np.nan)), "infinite or not a number"),
    "an overflow": (tensors(lambda t: (t[A].fill(1e30), t[B].fill(1e30))), "infinite or not"),
    "int8 without scales": (
        tensors(lambda t: t.update({A: t[A].astype(np.int8)})),
        "is I8, or lacks scales",
    ),
    "another kind": (config(peft_type="LOHA"), "it is of the kind LOHA"),
    "biases": (config(bias="all"), "it trains biases"),
    "DoRA": (config(use_dora=True), "it has use_dora"),
    "whole layers": (config(modules_to_save=["lm_head"]), "it has modules_to_save"),
    "a changed base": (config(init_lora_weights="pissa_niter_4"), "init_lora_weights is pissa"),
    "a key of the future": (config(use_new=1), "it has use_new"),
    "no alpha": (config(lora_alpha=None), "lora_alpha is None where a number above 0"),
    "an alpha that is a text": (config(lora_alpha="6"), "lora_alpha is '6'"),
    "a regular expression": (config(rank_pattern={"^.*q_proj": 3}), "names of layers"),
}


@exact
@pytest.mark.parametrize("harm", HARM)
def test_what_does_not_fit_is_refused_by_name(harm, small, adapter, tmp_path):
    _, files = small
    do, message = HARM[harm]
    do(adapter)
    files = replace(files, name="own/small", sha256="cd" * 32)
    with pytest.raises(ModelError) as exact_error:
        convert(with_adapter(files, str(adapter)), tmp_path / "store")
    assert message in exact_error.value.message.replace("\n", " ")
    assert not list((tmp_path / "store").rglob("*.int8"))
    with pytest.raises(ModelError) as generic_error:
        state = model_of("qwen2, grouped, tied").state_dict()
        dict(merged(state.items(), state, with_adapter(files, str(adapter)).adapter))
    assert generic_error.value.message == exact_error.value.message
