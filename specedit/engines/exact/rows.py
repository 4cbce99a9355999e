"""Attention in bf16 products of any shape, for processors that have them.

A product's row must not depend on how many rows stand beside it. Here that is a property of
oneDNN's bf16 kernels, not of the shapes, so it is checked, never assumed: the self-check compares
passes of many widths, at all lengths up to the window, before this attention is used.

What follows from the position alone is kept so: a position's row of scores has the keys up to its
own, rounded up to a multiple of 128. Scores are bf16, the softmax and every sum are float32. Scores
of at most ROWS rows exist at a time, whatever the pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from specedit.engines.exact.cache import STEP
from specedit.models.numbers import Config

ROWS = 384  # of one key head at a time: 0.9 of the time of 192 rows at width 256


@dataclass(frozen=True)
class Stretch:
    """Positions of one pass that see equally many keys."""

    first: int  # rows of one key head's queries
    last: int
    reach: int
    hidden: torch.Tensor  # for each row, which of the last STEP keys lie behind its position


class RowAttention:
    """Every key head's queries as rows of plain products."""

    dtype = torch.bfloat16

    def __init__(self, config: Config) -> None:
        self.kv_heads, self.group, self.size = config.kv_heads, config.group, config.head_size
        self.block = max(1, ROWS // config.group)  # positions
        self.keys = torch.arange(STEP)

    def spans(self, start: int, width: int) -> list[Stretch]:
        """The stretches of a pass over positions `start` to `start + width`."""
        found, at, group = [], start, self.group
        while at < start + width:
            reach = (at // STEP + 1) * STEP
            end = min(start + width, reach, at + self.block)
            places = torch.arange(at, end) - (reach - STEP)
            hidden = (self.keys > places[:, None]).repeat_interleave(group, 0)
            found.append(Stretch((at - start) * group, (end - start) * group, reach, hidden))
            at = end
        return found

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, spans: list[Stretch]
    ) -> torch.Tensor:
        """Queries [width x heads, size] over a layer's cache: mixed values of the same shape."""
        kv, group, size = self.kv_heads, self.group, self.size
        width = queries.shape[0] // (kv * group)
        scaled = (queries * size**-0.5).to(self.dtype)
        asked = scaled.view(width, kv, group, size).transpose(0, 1).reshape(kv, -1, size)
        mixed = torch.empty_like(asked)
        for span in spans:
            here = slice(span.first, span.last)
            for head in range(kv):
                scores = torch.mm(asked[head, here], keys[head, : span.reach].t())
                scores[:, -STEP:].masked_fill_(span.hidden, float("-inf"))
                torch.softmax(scores, -1, out=scores)
                torch.mm(scores, values[head, : span.reach], out=mixed[head, here])
        back = mixed.view(kv, width, group, size).transpose(0, 1)
        return torch.empty(back.shape).copy_(back).view(-1, size)
