"""Attention whose bits do not depend on what else is in the pass.

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

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from specedit.engines.exact.weights import Config

ROWS = 16  # 12 rows: a width-64 pass as fast as with 24, a width-1 pass in 0.55 of the time
STEP = 128
TILE = 512  # the cache grows by this; a multiple of STEP


def block_positions(config: Config) -> int:
    """Positions per block: a power of two, with their grouped heads at most 16 rows."""
    positions = 1
    while 2 * positions * config.group <= ROWS:
        positions *= 2
    return positions


@dataclass(frozen=True)
class Span:
    """Blocks of one pass that see equally many keys."""

    start: int  # rows of the pass: start to stop
    stop: int
    take: torch.Tensor  # for each place of each block (in reverse order), the row that sits there
    give: torch.Tensor  # for each row, its place
    mask: torch.Tensor
    keys: int


class Layout:
    """How passes lie in blocks, and all masks as views of one small buffer.

    Row r of a block that starts at position p may see keys up to p + r // group. The buffer's row
    r is 0 up to column `r // group + edge` and -inf after it, so the mask of a block is a window
    of it. The window moves left as the block moves right; blocks are kept in reverse order, for
    which the stride is positive.
    """

    def __init__(self, config: Config) -> None:
        self.positions = block_positions(config)
        self.group = config.group
        self.edge = 0
        self.buffer = torch.empty(0, 0)

    def spans(self, start: int, width: int) -> Iterator[Span]:
        """The blocks of a pass over positions `start` to `start + width`."""
        size, at = self.positions, start
        while at < start + width:
            keys = (at // STEP + 1) * STEP
            end = min(start + width, keys)
            first, last = at // size, (end - 1) // size
            places = torch.arange(last, first - 1, -1)[:, None] * size + torch.arange(size)[None]
            take = places.view(-1).clamp_(at, end - 1).sub_(start)
            rows = torch.arange(at, end)
            give = (last - rows // size) * size + rows % size
            mask = self._mask(first * size, last - first + 1, keys)
            yield Span(at - start, end - start, take, give, mask, keys)
            at = end

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


def attend(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    spans: list[Span],
    config: Config,
) -> torch.Tensor:
    """Queries [width, heads, size] over a layer's cache: mixed values [width, heads x size]."""
    parts = [_attend(queries, keys, values, span, config) for span in spans]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, span: Span, config: Config
) -> torch.Tensor:
    kv, group, size = config.kv_heads, config.group, config.head_size
    count = span.mask.shape[0]
    per = span.take.numel() // count
    laid = queries.index_select(0, span.take).view(count, per, kv, group, size)
    laid = laid.transpose(1, 2).reshape(count, kv, per * group, size)
    out = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        laid,
        keys[:, : span.keys].expand(count, kv, span.keys, size),
        values[:, : span.keys].expand(count, kv, span.keys, size),
        0.0,
        False,
        attn_mask=span.mask,
        scale=size**-0.5,
    )[0]
    mixed: torch.Tensor = out.view(count, kv, per, group, size).transpose(1, 2)
    return mixed.reshape(count * per, kv * group * size).index_select(0, span.give)
