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


_DELTA = {
    "num_hidden_layers": 4,
    "head_dim": 48,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.25,
        "mrope_section": [2, 2, 2],
    },
}
_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 68}
# Of 2026: gated delta nets, experts, or both
NEWER: dict[str, dict[str, Any]] = {
    "qwen3.5": {"model_type": "qwen3_5_text", **_DELTA},
    "qwen3.5, wide heads, tied": {
        "model_type": "qwen3_5_text",
        **_DELTA,
        "head_dim": 256,
        "tie_word_embeddings": True,
    },
    "qwen3.5, experts": {
        "model_type": "qwen3_5_moe_text",
        **_DELTA,
        **_EXPERTS,
        "shared_expert_intermediate_size": 68,
    },
    "qwen3, experts": {"model_type": "qwen3_moe", **_EXPERTS, "norm_topk_prob": True},
    "qwen3, experts, unscaled": {"model_type": "qwen3_moe", **_EXPERTS, "norm_topk_prob": False},
}
GGUF_KINDS = {
    "mistral": "llama",
    "qwen3_moe": "qwen3moe",
    "qwen3_5_text": "qwen35",
    "qwen3_5_moe_text": "qwen35moe",
}
GGUF_NUMBERS = (  # a key of a GGUF file, and of a config.json
    ("ssm.group_count", "linear_num_key_heads"),
    ("ssm.time_step_rank", "linear_num_value_heads"),
    ("ssm.state_size", "linear_key_head_dim"),
    ("ssm.conv_kernel", "linear_conv_kernel_dim"),
    ("expert_count", "num_experts"),
    ("expert_used_count", "num_experts_per_tok"),
    ("expert_feed_forward_length", "moe_intermediate_size"),
    ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
)


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
        **(FAMILIES | NEWER)[family],
        **more,
    }
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**given))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(1.0 if "norm" in name else 0.0, 0.2)
            if family in NEWER:
                _settle(name, weight, zero_centred=family.startswith("qwen3.5"))
    return model.eval()


def _settle(name: str, weight: Any, *, zero_centred: bool) -> None:
    """Weights that int8 holds exactly, so that results can be compared closely."""
    if zero_centred and "norm" in name and "linear_attn.norm" not in name:
        weight -= 1.0
    if weight.ndim > 1 and "embed" in name:
        weight.copy_(weight.bfloat16().float())
    if weight.ndim > 1 and not any(part in name for part in ("conv1d", "in_proj_a", "in_proj_b")):
        scale = weight.abs().amax(-1, keepdim=True) / 127
        weight.copy_((weight / scale).round() * scale)


def save(family: str, folder: Path, **more: Any) -> tuple[Any, ModelFiles]:
    """The model, and its files on disk."""
    model = model_of(family, **more)
    model.save_pretrained(folder)
    return model, ModelFiles(name="small", path=folder, kind="folder")


def mtp_of(model: Any) -> Any:
    """A random MTP layer for a model of Qwen3.5: a torch module of transformers' own parts, whose
    tensors have the names of the model's files after `mtp.`."""
    import torch

    class Mtp(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            config, inner = model.config, model.model
            norm, attending = type(inner.norm), config.layer_types.index("full_attention")
            self.fc = torch.nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)
            self.pre_fc_norm_embedding = norm(config.hidden_size, config.rms_norm_eps)
            self.pre_fc_norm_hidden = norm(config.hidden_size, config.rms_norm_eps)
            layer = type(inner.layers[attending])
            self.layers = torch.nn.ModuleList([layer(config, attending)])
            self.norm = norm(config.hidden_size, config.rms_norm_eps)

        def forward(self, states: Any, ids: Any) -> Any:
            """The states that it makes of the model's, each before one of the ids."""
            embedded = self.pre_fc_norm_embedding(model.model.embed_tokens(ids))
            x = self.fc(torch.cat((embedded, self.pre_fc_norm_hidden(states)), -1))
            positions = torch.arange(ids.shape[1])[None]
            angles = model.model.rotary_emb(x, positions)
            mask = torch.full((ids.shape[1],) * 2, -torch.inf).triu(1)[None, None]
            x = self.layers[0](x, position_embeddings=angles, attention_mask=mask)
            return self.norm(x)

    torch.manual_seed(2)
    mtp = Mtp()
    with torch.no_grad():
        for name, weight in mtp.named_parameters():
            weight.normal_(1.0 if "norm" in name else 0.0, 0.2)
            _settle(name, weight, zero_centred=True)
    return mtp.eval()


def save_mtp(mtp: Any, folder: Path) -> None:
    """Add the layer to a model's folder."""
    import json

    from safetensors.torch import save_file

    tensors = {f"mtp.{name}": weight for name, weight in mtp.state_dict().items()}
    save_file(tensors, folder / "mtp.safetensors")
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mtp_num_hidden_layers": 1}))


def save_gguf(
    model: Any, path: Path, metadata: Mapping[str, Any] | None = None, mtp: Any = None
) -> ModelFiles:
    """The model as others write it into a GGUF file: Llama's rotating rows in pairs."""
    import gguf

    config = model.config
    kind = GGUF_KINDS.get(config.model_type, config.model_type)
    writer = gguf.GGUFWriter(path, kind)
    numbers = {
        "block_count": config.num_hidden_layers + bool(mtp),
        **({"nextn_predict_layers": 1} if mtp else {}),
        "embedding_length": config.hidden_size,
        "feed_forward_length": getattr(config, "intermediate_size", 64),
        "context_length": config.max_position_embeddings,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": getattr(config, "head_dim", 22),
        "attention.layer_norm_rms_epsilon": float(config.rms_norm_eps),
        "rope.freq_base": float(config.rope_parameters["rope_theta"]),
        **({ours: float(getattr(config, theirs)) for ours, theirs in GRANITE if kind == "granite"}),
        **{
            ours: getattr(config, theirs)
            for ours, theirs in GGUF_NUMBERS
            if hasattr(config, theirs)
        },
        **(metadata or {}),
    }
    if turned := config.rope_parameters.get("partial_rotary_factor"):
        numbers["rope.dimension_count"] = int(turned * config.head_dim)
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
    ahead = {f"mtp.{name}": weight for name, weight in mtp.state_dict().items()} if mtp else {}
    for name, tensor in (model.state_dict() | ahead).items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        ours = architecture.our_name(name)
        rows = tensor.float().numpy()
        if kind in architecture.EXACT_ONLY:
            for own, part in newer_tensors(config, ours, rows):
                writer.add_tensor(own, np.ascontiguousarray(part))
            continue
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


def newer_tensors(config: Any, name: str, rows: Any) -> Iterator[tuple[str, Any]]:
    """A tensor as llama.cpp's converter writes it: experts stacked, norms around 1, value heads
    tiled, and its names."""
    stem, _, part = name.rpartition(".")
    if part in ("gate_up_proj", "down_proj"):  # model.layers.N.mlp.experts.…
        ahead = name.startswith("mtp.")
        block = f"blk.{config.num_hidden_layers if ahead else name.split('.')[2]}"
        halves = np.split(rows, 2, 1) if part == "gate_up_proj" else [rows]
        names = ("gate", "up") if part == "gate_up_proj" else ("down",)
        for own, half in zip(names, halves, strict=True):
            yield f"{block}.ffn_{own}_exps.weight", half
        return
    if "linear" in str(getattr(config, "layer_types", "")):
        rows = hybrid_rows(config, stem.rpartition(".")[2], rows)
        name = name.replace(".ffn_norm.", ".post_attention_norm.").replace("ssm_a.weight", "ssm_a")
        own = "nextn." if stem.rpartition(".")[2] in architecture.MTP else ""
        name = name.replace("mtp.", f"blk.{config.num_hidden_layers}.{own}")
    yield name, rows[0] if name.endswith("inp_shexp.weight") else rows


def hybrid_rows(config: Any, part: str, rows: Any) -> Any:
    keys, values = config.linear_num_key_heads, config.linear_num_value_heads
    size, start = config.linear_value_head_dim, 2 * keys * config.linear_key_head_dim

    def tiled(of: Any, size: int) -> Any:
        grid = of.reshape(keys, values // keys, size, *of.shape[1:])
        return grid.swapaxes(0, 1).reshape(of.shape)

    match part:
        case "attn_norm" | "ffn_norm" | "output_norm" | "attn_q_norm" | "attn_k_norm":
            return rows + 1
        case "enorm" | "hnorm" | "shared_head_norm":
            return rows + 1
        case "ssm_a":
            return tiled(-np.exp(rows), 1)
        case "ssm_dt" | "ssm_alpha" | "ssm_beta":
            return tiled(rows, 1)
        case "attn_gate":
            return tiled(rows, size)
        case "attn_qkv" | "ssm_conv1d":
            rows = rows.reshape(len(rows), -1)
            return np.concatenate((rows[:start], tiled(rows[start:], size)))
        case "ssm_out":
            return tiled(rows.T, size).T
        case _:
            return rows
