"""Attention whose bits do not depend on what else is in the pass.

Floating-point sums round, so their order must be fixed. Every call of the attention kernel has one
shape per model: a block of `positions` consecutive positions (aligned to multiples of it) times
the query heads that share a key head, at most 32 rows, against keys in tiles of 512. A position
always sits in the same row of the same block; rows without a token are computed and dropped.
Keys past a row's position weigh exp(-inf) = 0 exactly, so further tiles change nothing.

The kernel is torch's fused CPU attention called directly: it splits queries at 32 rows and keys at
512 columns, works each (block, key head) on one thread, and keeps scores in the processor's cache,
so nothing of the size width x context x heads is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from specedit.engines.exact.weights import Config

ROWS = 32
TILE = 512


def block_positions(config: Config) -> int:
    """Positions per block: a power of two, with their grouped heads at most 32 rows."""
    positions = 1
    while 2 * positions * config.group <= ROWS:
        positions *= 2
    return positions


class Mask:
    """All masks of a model as views of one small buffer.

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

    def view(self, first: int, blocks: int, keys: int) -> torch.Tensor:
        """Masks of `blocks` blocks in reverse order, the earliest starting at position `first`."""
        last = first + (blocks - 1) * self.positions
        if last > self.edge or self.buffer.shape[1] < self.edge + keys + self.positions:
            self.edge = -(-(last + 1) // TILE) * TILE
            rows = torch.arange(self.positions * self.group)[:, None] // self.group
            columns = torch.arange(self.edge + keys + TILE)[None]
            self.buffer = torch.where(columns <= rows + self.edge, 0.0, float("-inf"))
        width = self.buffer.shape[1]
        return self.buffer.as_strided(
            (blocks, 1, self.buffer.shape[0], keys),
            (self.positions, 0, width, 1),
            self.edge - last,
        )


@dataclass(frozen=True)
class Blocks:
    """How the rows of one pass lie in blocks."""

    count: int
    take: torch.Tensor  # for each place of each block (reverse order), the row that sits there
    give: torch.Tensor  # for each row, its place
    mask: torch.Tensor
    keys: int


def blocks_of(mask: Mask, start: int, width: int) -> Blocks:
    """The blocks of a pass over positions `start` to `start + width`."""
    size = mask.positions
    first, end = start // size, -(-(start + width) // size)
    count = end - first
    places = torch.arange(end - 1, first - 1, -1)[:, None] * size + torch.arange(size)[None]
    take = (places.reshape(-1) - start).clamp_(0, width - 1)
    at = torch.arange(start, start + width)
    give = (end - 1 - at // size) * size + at % size
    keys = -(-(start + width) // TILE) * TILE
    return Blocks(count, take, give, mask.view(first * size, count, keys), keys)


def attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, blocks: Blocks, config: Config
) -> torch.Tensor:
    """Queries [width, heads, size] over a layer's cache: mixed values [width, heads x size]."""
    count, kv, group, size = blocks.count, config.kv_heads, config.group, config.head_size
    per = blocks.take.numel() // count
    laid = queries.index_select(0, blocks.take).view(count, per, kv, group, size)
    laid = laid.transpose(1, 2).reshape(count, kv, per * group, size)
    out = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        laid,
        keys[:, : blocks.keys].expand(count, kv, blocks.keys, size),
        values[:, : blocks.keys].expand(count, kv, blocks.keys, size),
        0.0,
        False,
        attn_mask=blocks.mask,
        scale=size**-0.5,
    )[0]
    mixed: torch.Tensor = out.view(count, kv, per, group, size).transpose(1, 2)
    return mixed.reshape(count * per, kv * group * size).index_select(0, blocks.give)
