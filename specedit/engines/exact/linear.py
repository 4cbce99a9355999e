"""Integer products: int8 weights by uint8 activations, accumulated without rounding.

Knows how a row becomes digits and how digits become a product. Integer accumulation does not
round, so a row's product is bit-equal whatever other rows stand beside it.

An activation row is one digit (symmetric int8, stored as uint8 with zero point 128) or two: the
second digit holds the remainder of the first at 1/254 of its scale. Two digits are extra rows of
one product, so that narrow passes read the weights once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

PRODUCT = torch.ops.onednn.qlinear_pointwise.default
ZERO = 128
REMAINDER = 254.0  # the second digit's steps per step of the first


@dataclass(frozen=True)
class Linear:
    """Packed int8 weights with one scale per output."""

    packed: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor
    inputs: int
    two: bool

    def __call__(self, digits: torch.Tensor) -> torch.Tensor:
        """Raw products of each row of digits: the caller multiplies by the row's scale."""
        product: torch.Tensor = PRODUCT(
            digits,
            1.0,
            ZERO,
            self.packed,
            self.scales,
            self.zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return product


def pack(weight: torch.Tensor, scales: torch.Tensor, *, two: bool) -> Linear:
    """Weights [out, in] into the layout the processor likes."""
    packed = torch.ops.onednn.qlinear_prepack(weight, None)
    zeros = torch.zeros(scales.numel(), dtype=torch.int64)
    return Linear(packed, scales.clone(), zeros, weight.shape[1], two)


def digits(rows: torch.Tensor, two: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Digits of float rows and each row's scale. Destroys `rows`.

    With two digits the result has twice the rows: first digits, then second digits.
    """
    scale = rows.abs().amax(-1, keepdim=True).mul_(1.0 / 127.0)
    rows.div_(scale).add_(ZERO + 0.5)  # a row of zeros gives any digits, and a scale of 0
    if not two:
        return _bytes(rows), scale
    count = rows.shape[0]
    out = torch.empty((2 * count, rows.shape[1]), dtype=torch.uint8)
    out[:count] = rows.to(torch.int16)
    rows.frac_().mul_(REMAINDER).add_(ZERO + 0.5 - REMAINDER / 2)
    out[count:] = rows.to(torch.int16)
    return out, scale


def _bytes(rows: torch.Tensor) -> torch.Tensor:
    """Positive floats rounded down; by way of int16, which torch vectorises (43 us, not 153)."""
    return rows.to(torch.int16).to(torch.uint8)


def product(linear: Linear, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """rows @ weights, up to the factor per row that stands beside it. Destroys `rows`."""
    taken, scale = digits(rows, linear.two)
    return combined(linear, taken), scale


def combined(linear: Linear, taken: torch.Tensor) -> torch.Tensor:
    """The raw product of digits, the second digits' share added."""
    found = linear(taken)
    if not linear.two:
        return found
    count = found.shape[0] // 2
    return found[:count].add_(found[count:], alpha=1.0 / REMAINDER)
