"""A model folder is read, never run: no code of its own, no pickle, nothing made up."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from exact_models import save
from safetensors.torch import load_file, save_file

from specedit.engines.exact.engine import open_exact
from specedit.engines.huggingface.loading import errors_of, open_huggingface
from specedit.errors import ModelError
from specedit.models import resolve
from specedit.models.store import ModelFiles

CODE = """
from pathlib import Path
Path({marker!r}).touch()
from transformers import LlamaConfig as Strange, LlamaForCausalLM as StrangeForCausalLM
"""


class Touch:
    """What a pickle of it does when it is opened."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save("llama, no bias", folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "small"))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "touched"


def pickled(path: Path, marker: Path) -> None:
    path.write_bytes(pickle.dumps(Touch(marker)))
    pickle.loads(path.read_bytes())
    assert marker.exists()  # it would work
    marker.unlink()


def change(path: Path, **more: Any) -> None:
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**known, **more}), "utf-8")


def opened(folder: Path) -> object:
    return open_huggingface(ModelFiles("small", folder, "folder"), device="cpu")


def every_way(folder: Path, store: Path) -> list[Callable[[], object]]:
    files = ModelFiles("small", folder, "folder")
    return [
        lambda: opened(folder),
        lambda: open_exact(files, store=store),
        lambda: resolve.resolve(str(folder), home=store),
    ]


def test_a_pickle_beside_the_weights_is_never_opened(folder, marker):
    pickled(folder / "pytorch_model.bin", marker)
    change(folder / "pytorch_model.bin.index.json", weight_map={"a": "pytorch_model.bin"})
    opened(folder)
    assert not marker.exists()


def test_a_pickle_beside_a_dummy_is_never_opened(folder, marker, tmp_path):
    pickled(folder / "pytorch_model.bin", marker)
    (folder / "model.safetensors").rename(folder / "dummy.safetensors")
    save_file({"dummy": torch.zeros(1)}, folder / "dummy.safetensors")
    for way in every_way(folder, tmp_path)[:2]:
        with pytest.raises(ModelError, match="small"):
            way()
    assert not marker.exists()


def test_a_pickle_called_safetensors_is_never_opened(folder, marker, tmp_path):
    pickled(folder / "model.safetensors", marker)
    for way in every_way(folder, tmp_path)[:2]:
        with pytest.raises(ModelError, match=r"model\.safetensors is a damaged safetensors file"):
            way()
    assert not marker.exists()


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "../outside.safetensors", "sub/a.safetensors", "gone.safetensors"]
)
def test_an_index_names_only_safetensors_beside_it(name, folder, marker, tmp_path):
    pickled(folder / "pytorch_model.bin", marker)
    shutil.copy(folder / "model.safetensors", tmp_path / "outside.safetensors")
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    change(folder / "model.safetensors.index.json", weight_map={"model.norm.weight": name})
    with pytest.raises(ModelError, match=r"index\.json"):
        opened(folder)
    assert not marker.exists()


@pytest.mark.parametrize("family", ["strange", "llama"])
def test_code_in_a_folder_never_runs_and_nobody_is_asked(family, folder, marker, tmp_path):
    (folder / "modeling_strange.py").write_text(CODE.format(marker=str(marker)), "utf-8")
    mapped = {
        "AutoConfig": "modeling_strange.Strange",
        "AutoModelForCausalLM": "modeling_strange.StrangeForCausalLM",
    }
    change(folder / "config.json", auto_map=mapped, model_type=family)
    for way in every_way(folder, tmp_path):
        with pytest.raises(ModelError, match=r"code of its own \(auto_map\)") as caught:
            way()
        assert "never run" in caught.value.hint
    assert not marker.exists()


@pytest.mark.tools
def test_the_folder_that_is_refused_would_have_run(folder, marker):
    # The attack above is real: told to trust it, transformers runs the folder's code.
    (folder / "modeling_strange.py").write_text(CODE.format(marker=str(marker)), "utf-8")
    change(folder / "config.json", auto_map={"AutoConfig": "modeling_strange.Strange"})
    code = (
        "import sys; from transformers import AutoConfig; "
        "AutoConfig.from_pretrained(sys.argv[1], trust_remote_code=True)"
    )
    env = {**os.environ, "HF_HOME": str(folder.parent / "home")}
    subprocess.run([sys.executable, "-c", code, folder], env=env, capture_output=True, check=False)
    assert marker.exists()


def test_an_adapter_is_refused(folder, marker, tmp_path):
    pickled(folder / "adapter_model.bin", marker)
    change(folder / "adapter_config.json", base_model_name_or_path="someone/else", peft_type="LORA")
    for way in every_way(folder, tmp_path):
        with pytest.raises(ModelError, match="adapter"):
            way()
    assert not marker.exists()


def test_a_file_does_not_choose_how_attention_is_computed(folder, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(
        "transformers.modeling_utils.load_and_register_attn_kernel",
        lambda name, *_, **__: asked.append(name),
        raising=False,
    )
    change(folder / "config.json", attn_implementation="someone/kernel")
    opened(folder)
    assert not asked


def test_a_weight_that_is_missing_is_not_made_up(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"lacks 1 of .*layers\.1\.mlp\.up_proj"):
        opened(folder)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"hidden_size": 1 << 20}, "describes a model of"),
        ({"vocab_size": 1 << 40}, "describes a model of"),
        ({"num_hidden_layers": 10**9}, "no model has so many"),
        ({"text_config": {"num_hidden_layers": 10**9}}, "no model has so many"),
        ({"head_dim": -3}, "cannot be loaded"),
        ({"hidden_act": "no such"}, "cannot be loaded"),
        ({"model_type": "no such"}, "cannot be loaded"),
        ({"num_attention_heads": "many"}, "cannot be loaded"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "cannot be loaded"),
    ],
    ids=str,
)
def test_a_configuration_that_does_not_fit_is_an_error_not_a_heap_of_memory(config, said, folder):
    change(folder / "config.json", **config)
    with pytest.raises(ModelError, match=said) as caught:
        opened(folder)
    assert str(folder) in caught.value.message


def test_a_window_ends_where_the_frequencies_would_change(tmp_path):
    turning = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "original_max_position_embeddings": 128,
        "short_factor": [1.0] * 11,
        "long_factor": [4.0] * 11,
        "factor": 16.0,
    }
    _, files = save("llama, no bias", tmp_path / "long", rope_parameters=turning)
    assert open_huggingface(files, device="cpu").info.window == 128


def test_an_output_layer_that_is_missing_is_not_the_embedding(folder, tmp_path):
    tensors = load_file(folder / "model.safetensors")
    del tensors["lm_head.weight"]
    save_file(tensors, folder / "model.safetensors")
    change(folder / "config.json", tie_word_embeddings=False)
    with pytest.raises(ModelError, match=r"has no tensor lm_head\.weight"):
        open_exact(ModelFiles("small", folder, "folder"), store=tmp_path / "store")


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(204, 88, dtype=torch.float64), "has type F64; the exact engine reads"),
        (torch.zeros(2, 2), r"has the shape \(2, 2\), not"),
        (None, "has no tensor model"),
        (torch.full((204, 88), float("nan")), "not a number"),
    ],
    ids=["type", "shape", "missing", "NaN"],
)
def test_a_wrong_tensor_has_the_name_that_its_file_gives_it(tensor, message, folder, tmp_path):
    name, tensors = "model.layers.1.mlp.up_proj.weight", load_file(folder / "model.safetensors")
    if tensor is None:
        del tensors[name]
    else:
        tensors[name] = tensor
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=message) as refused:
        open_exact(ModelFiles("small", folder, "folder"), store=tmp_path / "store")
    assert name in refused.value.message


def test_weights_of_4_bits_are_not_left_out_silently(folder, tmp_path, inside):
    (tmp_path / "a.py").write_text("x = 1\n")
    options = ("--server", "off", "--model", str(folder), "--engine", "huggingface")
    done = inside("edit", "Write a poem", str(tmp_path / "a.py"), *options, "--weights", "int4")
    assert done.returncode == 2 and b"--weights int4 needs the exact engine" in done.stderr


def test_too_little_memory_is_not_called_a_damaged_file(folder):
    with (
        pytest.raises(ModelError, match="MemoryError") as refused,
        errors_of(ModelFiles("small", folder, "folder")),
    ):
        raise MemoryError
    assert refused.value.hint == "Close other programs, or use a smaller --model."
