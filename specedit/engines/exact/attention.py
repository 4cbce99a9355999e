"""Attention whose bits do not depend on what else is in the pass: two ways, one seam.

Floating-point sums round, so a position's sums must be the same ones in every pass. `rows` relies
on kernels in which they are, where the self-check has found it so; `blocks` works anywhere, by
giving its kernel the same shapes in every pass.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch

from specedit.models.numbers import Config


class Attention(Protocol):
    """One model's attention over a cache of `dtype`."""

    def __init__(self, config: Config) -> None: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def spans(self, start: int, width: int) -> list[Any]:
        """How a pass over positions `start` to `start + width` is worked; good for every layer."""
        ...

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, spans: list[Any]
    ) -> torch.Tensor:
        """Queries [width x heads, size] over a layer's cache: mixed values of the same shape."""
        ...
