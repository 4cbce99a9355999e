"""Attention in fixed shapes, for processors without bf16 products.

Floating-point sums round, so their order must be fixed. The attention kernel always sees blocks of
`positions` consecutive positions (aligned to multiples of it) times the query heads that share a
key head, at most 16 rows; and for a block that ends at position p it always sees the keys up to p,
rounded up to a multiple of 128. So every number of a kernel call follows from the position alone:
a position sits in the same row of the same block against the same keys in every pass. Rows without
a token are computed and dropped; keys past a row's position weigh exp(-inf) = 0.

The kernel is torch's fused CPU attention called directly. It takes keys 512 at a time, works each
(block, key head) on one thread, and keeps scores in the processor's cache, so nothing of the size
width x context x heads is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from specedit.engines.exact.cache import STEP, TILE
from specedit.models.numbers import Config

ROWS = 16  # 12 rows: a width-64 pass as fast as with 24, a width-1 pass in 0.55 of the time
KERNEL = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


def block_positions(config: Config) -> int:
    """Positions per block: a power of two, with their grouped heads at most 16 rows."""
    positions = 1
    while 2 * positions * config.group <= ROWS:
        positions *= 2
    return positions


@dataclass(frozen=True)
class Span:
    """Blocks of one pass that see equally many keys, in reverse order."""

    take: torch.Tensor  # for each (block, key head, position, query head), its row of queries
    give: torch.Tensor  # for each row of queries, its place among those
    mask: torch.Tensor  # [blocks, 1, rows of a block, keys]


class BlockAttention:
    """How passes lie in blocks, and all masks as views of one small buffer.

    Row r of a block that starts at position p may see keys up to p + r // group. The buffer's row
    r is 0 up to column `r // group + edge` and -inf after it, so the mask of a block is a window
    of it. The window moves left as the block moves right; blocks are kept in reverse order, for
    which the stride is positive.
    """

    dtype = torch.float32

    def __init__(self, config: Config) -> None:
        self.positions = block_positions(config)
        self.kv_heads = config.kv_heads
        self.group = config.group
        self.edge = 0
        self.buffer = torch.empty(0, 0)

    def spans(self, start: int, width: int) -> list[Span]:
        """The blocks of a pass over positions `start` to `start + width`."""
        found, at = [], start
        while at < start + width:
            keys = (at // STEP + 1) * STEP
            end = min(start + width, keys)
            first, last = at // self.positions, (end - 1) // self.positions
            take, give = self._places(at, end, first, last)
            mask = self._mask(first * self.positions, last - first + 1, keys)
            found.append(Span(take + (at - start) * self.kv_heads * self.group, give, mask))
            at = end
        return found

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, spans: list[Span]
    ) -> torch.Tensor:
        """Queries [width x heads, size] over a layer's cache: mixed values of the same shape."""
        parts = [_attend(queries, keys, values, span) for span in spans]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _places(
        self, at: int, end: int, first: int, last: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the query heads of positions `at` to `end` sit in blocks `last` to `first`."""
        size, kv, group = self.positions, self.kv_heads, self.group
        block = torch.arange(last, first - 1, -1).view(-1, 1, 1, 1) * size
        row = (block + torch.arange(size).view(1, 1, size, 1)).clamp_(at, end - 1) - at
        head = torch.arange(kv * group).view(kv, 1, group)
        take = (row * (kv * group) + head).view(-1)
        position = torch.arange(at, end)[:, None]
        corner = (last - position // size) * kv * size + position % size
        head = torch.arange(kv * group)[None]
        give = (corner + head // group * size) * group + head % group
        return take, give.view(-1)

    def _mask(self, first: int, blocks: int, keys: int) -> torch.Tensor:
        last = first + (blocks - 1) * self.positions
        if last >= self.edge:
            self.edge = (last // TILE + 1) * TILE
            rows = torch.arange(self.positions * self.group)[:, None] // self.group
            columns = torch.arange(2 * self.edge + TILE)[None]
            self.buffer = torch.where(columns <= rows + self.edge, 0.0, float("-inf"))
        height, width = self.buffer.shape
        return self.buffer.as_strided(
            (blocks, 1, height, keys), (self.positions, 0, width, 1), self.edge - last
        )


def _attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, span: Span
) -> torch.Tensor:
    count, _, rows, reach = span.mask.shape
    kv, _, size = keys.shape
    mixed: torch.Tensor = KERNEL(
        queries.index_select(0, span.take).view(count, kv, rows, size),
        keys[:, :reach].expand(count, kv, reach, size),
        values[:, :reach].expand(count, kv, reach, size),
        0.0,
        False,
        attn_mask=span.mask,
        scale=size**-0.5,
    )[0]
    return mixed.reshape(-1, size).index_select(0, span.give)
