"""Tiny random models of the families that the generic engine is tried with."""

from functools import cache
from typing import Any

import torch

from specedit.engines.huggingface.engine import HuggingFaceEngine

VOCABULARY = 97
NUMBERS: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 8192,
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None},
}
DELTA_NET: dict[str, Any] = {
    "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    "head_dim": 16,
    **{"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_conv_kernel_dim": 4},
    **{"linear_key_head_dim": 8, "linear_value_head_dim": 8},
}
EXPERTS: dict[str, Any] = {
    **{"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    **{"shared_expert_intermediate_size": 16, "decoder_sparse_step": 1},
}
SLIDING = {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"] * 2}
FAMILIES: dict[str, dict[str, Any]] = {
    "qwen2": {},
    "qwen3": {},
    "llama": {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    "mistral": {"sliding_window": None},
    "qwen3_5_text": DELTA_NET,
    "qwen3_5_moe_text": DELTA_NET | EXPERTS,
    "qwen3_moe": EXPERTS,
    "granitemoehybrid": {
        "layer_types": ["mamba", "attention"] * 2,
        **{"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1},
        **{"mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 8},
        **{"num_local_experts": 4, "num_experts_per_tok": 2, "shared_intermediate_size": 32},
    },
    "gemma4_text": {
        **SLIDING,
        **{"global_head_dim": 16, "num_global_key_value_heads": 1, "num_kv_shared_layers": 0},
        **{"vocab_size_per_layer_input": VOCABULARY, "hidden_size_per_layer_input": 8},
    },
    "gpt_oss": {**SLIDING, "num_local_experts": 4, "num_experts_per_tok": 2},
    "mellum": EXPERTS | SLIDING,
    "glm4_moe_lite": {
        **{"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8},
        **{"v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1},
        **{"moe_intermediate_size": 16, "topk_group": 1, "num_key_value_heads": 4},
    },
    "ministral3": {"sliding_window": None},
    "falcon_h1": {  # its layers have a cache of another kind
        **{"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8},
        **{"mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 1, "mamba_chunk_size": 8},
    },
}


def model_of(family: str) -> Any:
    """The model in float32, with weights large enough that its choices differ clearly."""
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(3)
    config = AutoConfig.for_model(family, **NUMBERS | FAMILIES[family])
    model = AutoModelForCausalLM.from_config(config).float().eval()
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.data.normal_(0, 0.15)
    return model


@cache
def tiny() -> HuggingFaceEngine:
    """An engine of a model that runs in milliseconds."""
    return HuggingFaceEngine(model_of("llama").double())
