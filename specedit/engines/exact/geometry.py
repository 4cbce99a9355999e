"""The widths that a model's rows have in memory, padding included. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.models.numbers import Config

LANES = 16  # outputs of a panel; half a head is a multiple of it
STEP = 64  # inputs of a product are a multiple of it
PIECE = 1792  # of the gated layer's inner width: digits and scales of one piece are its own
MOST_HALF = 64  # the kernels' sums of larger heads could overflow


def unsuitable(config: Config) -> str | None:
    """Why the kernels cannot run a model of these numbers, in words; None when they can."""
    size = config.head_size
    if size > 2 * MOST_HALF:
        return f"the exact engine takes heads of up to {2 * MOST_HALF}, and these have {size}"
    if size % 2:
        return f"the exact engine takes heads of an even size, and these have {size}"
    return None


def up_to(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@dataclass(frozen=True)
class Geometry:
    """Widths in memory."""

    hidden: int
    inner: int
    half: int  # of a head
    mixed: int  # all heads' values side by side
    qkv: int
    vocabulary: int  # outputs of the output layer

    @classmethod
    def of(cls, config: Config) -> Geometry:
        half = up_to(config.head_size // 2, LANES)
        return cls(
            hidden=up_to(config.hidden, STEP),
            inner=up_to(config.inner, STEP),
            half=half,
            mixed=up_to(config.heads * 2 * half, STEP),
            qkv=(config.heads + 2 * config.kv_heads) * 2 * half,
            vocabulary=up_to(config.vocabulary, LANES),
        )
