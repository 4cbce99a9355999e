"""A tiny random model on the generic engine."""

import torch

from specedit.engines.huggingface.engine import HuggingFaceEngine

VOCABULARY = 64
_TINY: list[HuggingFaceEngine] = []


def tiny() -> HuggingFaceEngine:
    """A randomly initialised Llama, small enough to run in milliseconds; made once."""
    if not _TINY:
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
        )
        _TINY.append(HuggingFaceEngine(LlamaForCausalLM(config).double().eval()))
    return _TINY[0]
