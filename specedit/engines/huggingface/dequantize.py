"""GGUF's blocks as numbers, computed by torch on any device: a file's bytes go there as they are.

Layouts are those of ggml's `block_*` structures; `gguf.quants` is the reference of the tests.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Blocks = torch.Tensor  # uint8, a row for each block
MOST_NUMBERS = 1 << 26  # that are dequantised at a time: 256 MB in float32


def dequantize(raw: torch.Tensor, kind: str) -> torch.Tensor:
    """The float32 numbers of bytes, in one dimension."""
    if kind in PLAIN:
        return raw.view(PLAIN[kind]).float()
    size, convert = BLOCKS[kind]
    return convert(raw.view(-1, size)).reshape(-1)


def _half(blocks: Blocks, at: int) -> torch.Tensor:
    return blocks[:, at : at + 2].contiguous().view(torch.float16).float()


def _nibbles(packed: torch.Tensor) -> torch.Tensor:
    """The low halves of these bytes, then the high ones."""
    return torch.cat([packed & 15, packed >> 4], -1)


def _bits(packed: torch.Tensor, shifts: int, step: int, mask: int) -> torch.Tensor:
    """The bits of each byte, `step` at a time: those of all bytes at one shift lie together."""
    by = torch.arange(0, shifts * step, step, device=packed.device, dtype=torch.uint8)
    return (packed[:, None, :] >> by[:, None]) & mask


def _q8_0(blocks: Blocks) -> torch.Tensor:
    return _half(blocks, 0) * blocks[:, 2:].view(torch.int8)


def _q4_0(blocks: Blocks) -> torch.Tensor:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]).float() - 8)


def _q5_0(blocks: Blocks) -> torch.Tensor:
    by = torch.arange(8, device=blocks.device, dtype=torch.uint8)
    high = ((blocks[:, 2:6, None] >> by) & 1).reshape(-1, 32)
    return _half(blocks, 0) * ((_nibbles(blocks[:, 6:]) | high << 4).float() - 16)


def _scales_and_minima(blocks: Blocks) -> tuple[torch.Tensor, torch.Tensor]:
    """The eight scales and minima of 6 bits in the 12 bytes after the two halves."""
    low, middle, high = blocks[:, 4:16].reshape(-1, 3, 4).unbind(1)
    scales = torch.cat([low & 63, (high & 15) | (low >> 6) << 4], -1)
    minima = torch.cat([middle & 63, high >> 4 | (middle >> 6) << 4], -1)
    return _half(blocks, 0) * scales, _half(blocks, 2) * minima


def _q4_k(blocks: Blocks) -> torch.Tensor:
    scales, minima = _scales_and_minima(blocks)
    numbers = _bits(blocks[:, 16:].reshape(-1, 32), 2, 4, 15).view(-1, 8, 32)
    return scales[:, :, None] * numbers - minima[:, :, None]


def _q5_k(blocks: Blocks) -> torch.Tensor:
    scales, minima = _scales_and_minima(blocks)
    high = _bits(blocks[:, 16:48], 8, 1, 1)
    numbers = _bits(blocks[:, 48:].reshape(-1, 32), 2, 4, 15).view(-1, 8, 32) | high << 4
    return scales[:, :, None] * numbers - minima[:, :, None]


def _q6_k(blocks: Blocks) -> torch.Tensor:
    low = _bits(blocks[:, :128].reshape(-1, 64), 2, 4, 15).view(-1, 8, 32)
    high = _bits(blocks[:, 128:192].reshape(-1, 32), 4, 2, 3).view(-1, 8, 32)
    scales = _half(blocks, 208) * blocks[:, 192:208].view(torch.int8)
    numbers = (low | high << 4).float() - 32
    return scales[:, :, None] * numbers.view(-1, 16, 16)


PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
BLOCKS: dict[str, tuple[int, Callable[[Blocks], torch.Tensor]]] = {
    "Q4_0": (18, _q4_0),
    "Q5_0": (22, _q5_0),
    "Q8_0": (34, _q8_0),
    "Q4_K": (144, _q4_k),
    "Q5_K": (176, _q5_k),
    "Q6_K": (210, _q6_k),
}
