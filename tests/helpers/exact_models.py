"""Small random models for the exact engine's tests: saved as transformers saves them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from specedit.models import architecture
from specedit.models.store import ModelFiles

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
    "mistral, no window": {"model_type": "mistral", "sliding_window": None},
    "smollm3, layers without RoPE": {
        "model_type": "smollm3",
        "no_rope_layer_interval": 2,
        "pad_token_id": 0,
    },
    "granite, multipliers, tied": {
        "model_type": "granite",
        "tie_word_embeddings": True,
        "embedding_multiplier": 12.0,
        "residual_multiplier": 0.22,
        "attention_multiplier": 0.03,
        "logits_scaling": 8.0,
    },
    "granite, multipliers, untied": {
        "model_type": "granite",
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.5,
        "attention_multiplier": 0.15,
        "logits_scaling": 0.7,
    },
}


YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 64,
}
GRANITE = (  # a key of a GGUF file, and of a config.json
    ("embedding_scale", "embedding_multiplier"),
    ("residual_scale", "residual_multiplier"),
    ("attention.scale", "attention_multiplier"),
    ("logit_scale", "logits_scaling"),
)
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5}


def kernels_here() -> list[str]:
    """The library's variants that this processor has, the best first and plain C last."""
    from specedit.engines.exact.kernels.library import Library, load

    found, names = load(), list[str]()
    if isinstance(found, Library):
        while (name := found.lib.specedit_variant(len(names))) is not None:
            names.append(name.decode())
        names = [name for i, name in enumerate(names) if found.lib.specedit_can(i)]
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


def model_of(family: str, **more: Any) -> Any:
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
        **more,
    }
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**given))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(1.0 if "norm" in name else 0.0, 0.2)
    return model.eval()


def save(family: str, folder: Path, **more: Any) -> tuple[Any, ModelFiles]:
    """The model, and its files on disk."""
    model = model_of(family, **more)
    model.save_pretrained(folder)
    return model, ModelFiles(name="small", path=folder, kind="folder")


def save_gguf(model: Any, path: Path, metadata: Mapping[str, Any] | None = None) -> ModelFiles:
    """The model as others write it into a GGUF file: Llama's rotating rows in pairs."""
    import gguf

    config = model.config
    kind = {"mistral": "llama"}.get(config.model_type, config.model_type)
    writer = gguf.GGUFWriter(path, kind)
    numbers = {
        "block_count": config.num_hidden_layers,
        "embedding_length": config.hidden_size,
        "feed_forward_length": config.intermediate_size,
        "context_length": config.max_position_embeddings,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": getattr(config, "head_dim", 22),
        "attention.layer_norm_rms_epsilon": float(config.rms_norm_eps),
        "rope.freq_base": float(config.rope_parameters["rope_theta"]),
        **({ours: float(getattr(config, theirs)) for ours, theirs in GRANITE if kind == "granite"}),
        **(metadata or {}),
    }
    for key, value in numbers.items():
        if isinstance(value, str):
            writer.add_string(f"{kind}.{key}", value)
        elif isinstance(value, bool):
            writer.add_bool(f"{kind}.{key}", value)
        elif isinstance(value, float):
            writer.add_float32(f"{kind}.{key}", value)
        else:
            writer.add_uint32(f"{kind}.{key}", value)
    if config.rope_parameters["rope_type"] == "llama3":
        plain = 10000.0 ** (np.arange(0, config.head_dim, 2) / config.head_dim)
        turning = model.model.rotary_emb.inv_freq.numpy()
        writer.add_tensor("rope_freqs.weight", (1 / plain / turning).astype(np.float32))
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        ours = architecture.our_name(name)
        rows = tensor.float().numpy()
        if kind in architecture.INTERLEAVED and (".attn_q." in ours or ".attn_k." in ours):
            heads = rows.shape[0] // config.head_dim
            halves = rows.reshape(heads, 2, config.head_dim // 2, -1)
            rows = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(rows.shape)
        writer.add_tensor(ours, rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return ModelFiles(name="small", path=path, kind="gguf")
