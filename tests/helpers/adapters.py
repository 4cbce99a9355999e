"""Adapters of tiny models, as PEFT writes them, and what they make of the model's weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

Array = npt.NDArray[Any]
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
RANK, ALPHA = 3, 6


def layers_of(model: Any, targets: tuple[str, ...] = TARGETS) -> dict[str, Any]:
    """The linear layers with one of these names."""
    return {
        name: layer for name, layer in model.named_modules() if name.rpartition(".")[2] in targets
    }


def write_adapter(
    folder: Path, model: Any, ranks: dict[str, int] | None = None, **config: Any
) -> dict[str, tuple[Array, Array]]:
    """Random factors of each linear layer, which are returned; `ranks`: of layers that end so."""
    folder.mkdir(parents=True, exist_ok=True)
    random, factors, tensors = np.random.default_rng(5), {}, {}
    for name, layer in layers_of(model).items():
        rank = next((r for end, r in (ranks or {}).items() if name.endswith(end)), RANK)
        a = random.normal(0, 0.15, (rank, layer.in_features)).astype(np.float32)
        b = random.normal(0, 0.15, (layer.out_features, rank)).astype(np.float32)
        factors[name] = a, b
        tensors[f"base_model.model.{name}.lora_A.weight"] = a
        tensors[f"base_model.model.{name}.lora_B.weight"] = b
    save_file(tensors, folder / "adapter_model.safetensors")
    usual = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "bias": "none"}
    usual |= {"base_model_name_or_path": "own/small", "target_modules": list(TARGETS)}
    text = json.dumps(usual | {"task_type": "CAUSAL_LM", "lora_dropout": 0.0} | config)
    (folder / "adapter_config.json").write_text(text)
    return factors


def merge(model: Any, factors: dict[str, tuple[Array, Array]], scale: Any) -> None:
    """Add the factors to the model by hand; `scale`: of a layer, by its name."""
    import torch

    with torch.no_grad():
        for name, layer in layers_of(model).items():
            a, b = factors[name]
            layer.weight += torch.from_numpy(b.astype(np.float64) @ a * scale(name)).float()
