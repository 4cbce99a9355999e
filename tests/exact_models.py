"""Small random models for the exact engine's tests: saved as transformers saves them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specedit.models.files import ModelFiles

FAMILIES: dict[str, dict[str, Any]] = {
    "qwen2, grouped, tied": {"model_type": "qwen2", "tie_word_embeddings": True},
    "qwen2, multi-head, untied": {"model_type": "qwen2", "num_key_value_heads": 4},
    "qwen3, head norms": {"model_type": "qwen3", "head_dim": 32},
    "llama, no bias": {"model_type": "llama"},
    "llama, slow frequencies": {
        "model_type": "llama",
        "rope_parameters": {
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    },
}


def kernels_here() -> list[str]:
    """What can serve here: the variants of the library, plain C among them, and stock torch."""
    from specedit.engines.exact.kernels.library import Library, load

    found, names = load(), ["torch"]
    if isinstance(found, Library):
        while (name := found.lib.specedit_variant(len(names) - 1)) is not None:
            names.append(name.decode())
        names = [n for i, n in enumerate(names) if not i or found.lib.specedit_can(i - 1)]
    return names


@contextmanager
def kernel(name: str) -> Iterator[None]:
    """Engines that are opened in here take these kernels."""
    before = os.environ.get("SPECEDIT_KERNEL")
    os.environ["SPECEDIT_KERNEL"] = name
    try:
        yield
    finally:
        del os.environ["SPECEDIT_KERNEL"]
        if before is not None:
            os.environ["SPECEDIT_KERNEL"] = before


def model_of(family: str) -> Any:
    """A random model: odd sizes, so that no vector is full by luck."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    given = {
        "hidden_size": 88,
        "intermediate_size": 204,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 22,
        "vocab_size": 517,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": False,
        **FAMILIES[family],
    }
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**given))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(1.0 if "norm" in name else 0.0, 0.2)
    return model.eval()


def save(family: str, folder: Path) -> tuple[Any, ModelFiles]:
    """The model, and its files on disk."""
    model = model_of(family)
    model.save_pretrained(folder)
    return model, ModelFiles(name="small", path=folder, kind="folder")
