"""What a model has read: ids, and keys and values for each of them.

Knows how to grow and be cropped. A cache is cheap to swap by reference, so that a server can keep
one per file.
"""

from __future__ import annotations

import torch

from specedit.engines.exact.reading import Reading
from specedit.models.numbers import Config

STEP = 128  # attention sees keys in whole steps: how many follows from the position alone
TILE = 512  # the cache grows by this; a multiple of STEP


class Cache(Reading):
    """Keys and values per layer, in whole tiles, zero where nothing was written."""

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.capacity = 0
        self.keys = [
            torch.zeros(config.kv_heads, 0, config.head_size, dtype=dtype)
            for _ in range(config.layers)
        ]
        self.values = [tensor.clone() for tensor in self.keys]

    @property
    def bytes(self) -> int:
        """Memory held by keys and values."""
        return sum(t.numel() * t.element_size() for t in (*self.keys, *self.values))

    def reserve(self, length: int) -> None:
        """Make room for `length` positions. Grows by an eighth at least, layer by layer."""
        if length <= self.capacity:
            return
        capacity = -(-max(length, self.capacity * 9 // 8) // TILE) * TILE
        for tensors in (self.keys, self.values):
            for layer, old in enumerate(tensors):
                grown = torch.zeros(old.shape[0], capacity, old.shape[2], dtype=old.dtype)
                grown[:, : self.capacity] = old
                tensors[layer] = grown
        self.capacity = capacity

    def copy(self, other: Cache, length: int) -> None:
        """Begin as the first `length` positions of `other`, bit for bit."""
        self.reserve(length)
        for mine, theirs in ((self.keys, other.keys), (self.values, other.values)):
            for to, of in zip(mine, theirs, strict=True):
                to[:, :length] = of[:, :length]
        self.ids[:] = other.ids[:length]
