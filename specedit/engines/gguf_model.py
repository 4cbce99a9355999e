"""A transformers model from a GGUF file: our reader's tensors under transformers' names.

transformers itself reads GGUF more slowly, and only with a further package. Families, names and
shapes that `specedit.models.architecture` does not know are refused before weights are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from specedit.models import architecture
from specedit.models.architecture import Architecture
from specedit.models.gguf import Gguf, open_gguf


def build(path: Path, dtype: torch.dtype) -> Any:
    """The model of a GGUF file, dequantised to `dtype`, on the CPU."""
    from transformers import AutoConfig, AutoModelForCausalLM

    gguf = open_gguf(path, arrays=False)
    found = architecture.of_gguf(gguf)
    tied = "output.weight" not in gguf.tensors
    config = AutoConfig.for_model(found.family, **_numbers(found), tie_word_embeddings=tied)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    state = dict(_state(gguf, found, dtype))
    if tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, strict=True, assign=True)
    model.tie_weights()
    _fill_buffers(model, found)
    return model


def _numbers(found: Architecture) -> dict[str, Any]:
    numbers = {
        "hidden_size": found.hidden,
        "intermediate_size": found.inner,
        "num_hidden_layers": found.layers,
        "num_attention_heads": found.heads,
        "num_key_value_heads": found.kv_heads,
        "head_dim": found.head_size,
        "vocab_size": found.vocabulary,
        "max_position_embeddings": found.window,
        "rms_norm_eps": found.epsilon,
        "rope_parameters": {"rope_type": "default", "rope_theta": found.rope_base},
    }
    if found.family == "qwen2":  # it always has the bias
        return numbers
    return {**numbers, "attention_bias": found.bias}


def _state(gguf: Gguf, found: Architecture, dtype: torch.dtype) -> Iterator[tuple[str, Any]]:
    for name, info in gguf.tensors.items():
        if name == architecture.ROPE_FACTORS:
            continue
        taken = architecture.rows(gguf, found, name).reshape(info.shape)
        if not taken.flags.writeable:  # a view of the file
            taken = taken.copy()
        tensor = torch.from_numpy(taken).to(dtype)
        gguf.release(name)
        yield architecture.their_name(name), tensor
    if found.bias and found.family != "qwen2":  # transformers wants one behind attention, too
        for layer in range(found.layers):
            yield f"model.layers.{layer}.self_attn.o_proj.bias", torch.zeros(found.hidden).to(dtype)


def _fill_buffers(model: Any, found: Architecture) -> None:
    """RoPE tables are computed, not stored; on the meta device they are still empty.

    Scaled frequencies are put in as they are, whatever the scaling is called: every model with
    them computes cosines of `inv_freq` times the position, and multiplies by `attention_scaling`.
    """
    for module in model.modules():
        if hasattr(module, "inv_freq") and module.inv_freq.is_meta:
            fresh = type(module)(module.config)
            if found.rope_factors:
                fresh.inv_freq /= torch.tensor(found.rope_factors)
            for name, _ in fresh.named_buffers(recurse=False):
                module.register_buffer(name, fresh.inv_freq.clone(), persistent=False)
            module.attention_scaling = found.rope_magnitude
