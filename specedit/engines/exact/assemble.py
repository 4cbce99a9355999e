"""A converted file and a machine become a Model: weights mapped and packed, attention chosen."""

from __future__ import annotations

from pathlib import Path

import torch

from specedit.engines.exact.attention import Attention
from specedit.engines.exact.blocks import BlockAttention
from specedit.engines.exact.check import attention_verdict
from specedit.engines.exact.machine import bf16_products
from specedit.engines.exact.model import Model
from specedit.engines.exact.rows import RowAttention
from specedit.engines.exact.weights import Weights, open_weights
from specedit.models.numbers import Config


def load(path: Path, source: str, store: Path, *, close: bool) -> Model:
    """Map a converted file and pack its weights; `Damaged` when it is not what was written."""
    return assemble(open_weights(path, source), store, close=close)


def assemble(weights: Weights, store: Path, *, close: bool) -> Model:
    """Pack mapped weights for torch."""
    with torch.inference_mode():
        return Model(weights, attention(weights.config, store), close=close)


def attention(config: Config, store: Path) -> Attention:
    """The faster way where the self-check finds it exact (once per machine), else the safe one."""
    if bf16_products() and not attention_verdict(RowAttention, config, store):
        return RowAttention(config)
    return BlockAttention(config)
