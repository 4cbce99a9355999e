"""The numbers of one model, as engines need them. Imports nothing: a start reads this."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """The numbers of one model."""

    family: str  # qwen2 | qwen3 | llama
    layers: int
    hidden: int
    inner: int  # width of the gated layer
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    window: int
    epsilon: float
    rope_base: float
    head_norm: bool = False  # queries and keys are normalised per head (Qwen3)
    bias: bool = False  # queries, keys and values have a bias (Qwen2)
    rope_factors: tuple[float, ...] = ()  # each frequency is divided by its factor (Llama 3)

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return self.heads // self.kv_heads
