"""A transformers model from a GGUF file: our reader's tensors under transformers' names.

transformers reads GGUF itself only with a further package installed, and slower. Knows the names
of the Qwen2, Qwen3 and Llama families; everything else is refused before weights are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from specedit.errors import ModelError
from specedit.models.gguf import Gguf, open_gguf

OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
INNER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
FAMILIES = ("qwen2", "qwen3", "llama")


def build(path: Path, dtype: torch.dtype) -> Any:
    """The model of a GGUF file, dequantised to `dtype`, on the CPU."""
    from transformers import AutoConfig, AutoModelForCausalLM

    gguf = open_gguf(path)
    family = str(gguf.metadata.get("general.architecture"))
    if family not in FAMILIES:
        raise ModelError(f"{path}: a GGUF of the family {family!r}; {', '.join(FAMILIES)} are read")
    config = AutoConfig.for_model(family, **_numbers(gguf, family))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    state = dict(_state(gguf, family, dtype))
    if config.tie_word_embeddings:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, strict=True, assign=True)
    model.tie_weights()
    _fill_buffers(model)
    return model


def _numbers(gguf: Gguf, family: str) -> dict[str, Any]:
    def number(key: str, default: Any = None) -> Any:
        return gguf.metadata.get(f"{family}.{key}", default)

    hidden, heads = number("embedding_length"), number("attention.head_count")
    numbers = {
        "hidden_size": hidden,
        "intermediate_size": number("feed_forward_length"),
        "num_hidden_layers": number("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": number("attention.head_count_kv", heads),
        "head_dim": number("attention.key_length", hidden // heads),
        "vocab_size": gguf.tensors["token_embd.weight"].shape[0],
        "max_position_embeddings": number("context_length"),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in gguf.tensors,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": number("rope.freq_base", 10000.0),
        },
    }
    if family == "qwen2":
        del numbers["head_dim"]
    return numbers


def _state(gguf: Gguf, family: str, dtype: torch.dtype) -> Iterator[tuple[str, torch.Tensor]]:
    heads = gguf.metadata.get(f"{family}.attention.head_count", 1)
    kv_heads = gguf.metadata.get(f"{family}.attention.head_count_kv", heads)
    for name, info in gguf.tensors.items():
        target = _name(name)
        if target is None:
            continue
        flat = len(info.shape) == 1
        found = gguf.vector(name) if flat else gguf.rows(name)
        if not found.flags.writeable:  # a view of the file
            found = found.copy()
        tensor = torch.from_numpy(found).to(dtype)
        if family == "llama" and not flat and (".attn_q." in name or ".attn_k." in name):
            tensor = _unrotate(tensor, kv_heads if ".attn_k." in name else heads)
        gguf.release(name)
        yield target, tensor


def _name(name: str) -> str | None:
    if name in OUTER:
        return OUTER[name]
    if not name.startswith("blk."):
        return None  # rope factors and the like are not weights
    _, layer, part, kind = name.split(".")
    return f"model.layers.{layer}.{INNER[part]}.{kind}"


def _unrotate(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """GGUF pairs a Llama head's rotating rows (0, 1), transformers pairs (0, half)."""
    half = weight.shape[0] // heads // 2
    rows = weight.reshape(heads, half, 2, weight.shape[1])
    return rows.transpose(1, 2).reshape(weight.shape).contiguous()


def _fill_buffers(model: Any) -> None:
    """Rotary tables are computed, not stored; on the meta device they are still empty."""
    for module in model.modules():
        if hasattr(module, "inv_freq") and module.inv_freq.is_meta:
            fresh = type(module)(module.config)
            for name, buffer in fresh.named_buffers(recurse=False):
                module.register_buffer(name, buffer, persistent=False)
            module.original_inv_freq = fresh.inv_freq
