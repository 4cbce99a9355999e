"""Rotary scaling: how much slower each frequency turns than the base says, and how strong.

What it gives holds for every engine: frequency i is divided by factor i, cosines and sines are
multiplied by the magnitude.
"""

from __future__ import annotations

import math

from specedit.errors import ModelError
from specedit.models.configuration import Fields

Scaling = tuple[tuple[float, ...], float]  # a factor for each frequency (none: all 1), magnitude
PLAIN: Scaling = ((), 1.0)
KNOWN = ("linear", "llama3", "yarn")


def of_folder(rope: Fields | None, base: float, size: int, window: int) -> Scaling:
    """What `rope_parameters` or the older `rope_scaling` of a config.json says."""
    if rope is None:
        return PLAIN
    kind = rope.text("rope_type", rope.text("type", "default"))
    if kind == "default":
        return PLAIN
    if kind == "linear":
        return (rope.real("factor"),) * (size // 2), 1.0
    trained = rope.whole("original_max_position_embeddings", window)
    if kind == "llama3":
        factors = llama3(
            base,
            size,
            trained,
            rope.real("factor"),
            rope.real("low_freq_factor"),
            rope.real("high_freq_factor"),
        )
        return factors, 1.0
    if kind == "yarn":
        factor = rope.real("factor", window / trained)
        fast, slow = rope.real("beta_fast", 32.0), rope.real("beta_slow", 1.0)
        both = rope.has("mscale") and rope.has("mscale_all_dim")
        scaled = [
            _magnitude(factor, rope.real(key)) for key in ("mscale", "mscale_all_dim") if both
        ]
        usual = scaled[0] / scaled[1] if both else _magnitude(factor)
        return (
            yarn(base, size, trained, factor, fast, slow, rope.truth("truncate", True)),
            rope.real("attention_factor", usual),
        )
    raise unknown(rope, kind)


def of_gguf(rope: Fields, base: float, size: int, window: int) -> Scaling:
    """What `FAMILY.rope.scaling.…` says; Llama 3's factors are a tensor and not looked at here."""
    kind = rope.text("type", "none")
    if kind == "none" or (kind == "linear" and not rope.has("factor")):
        return PLAIN
    if kind == "linear":
        return (rope.real("factor"),) * (size // 2), 1.0
    if kind == "yarn":
        odd = [key for key in ("alpha", "yarn_log_multiplier", "yarn_ext_factor") if rope.has(key)]
        if odd:
            raise unknown(rope, f"yarn with {', '.join(odd)}")
        factor = rope.real("factor")
        trained = rope.whole("original_context_length", window)
        fast, slow = rope.real("yarn_beta_fast", 32.0), rope.real("yarn_beta_slow", 1.0)
        strength = rope.real("attn_factor", 1.0) * rope.real("yarn_attn_factor", 1.0)
        return yarn(base, size, trained, factor, fast, slow), _magnitude(factor) * strength
    raise unknown(rope, kind)


def unknown(rope: Fields, kind: str) -> ModelError:
    return ModelError(
        f"{rope.path}: rotary scaling of the kind {kind} is not known; {', '.join(KNOWN)} are",
        hint="Name the folder or hub id with the safetensors of this model, or another model.",
    )


def llama3(
    base: float, size: int, trained: int, factor: float, low: float, high: float
) -> tuple[float, ...]:
    """Llama 3.1 and later: fast frequencies stay, slow ones turn `factor` slower."""
    factors = []
    for i in range(size // 2):
        turns = trained / (2 * math.pi * base ** (2 * i / size))  # within the trained length
        if high == low:
            smooth = float(turns > low)
        else:
            smooth = min(1.0, max(0.0, (turns - low) / (high - low)))
        factors.append(1.0 / ((1 - smooth) / factor + smooth))
    return tuple(factors)


def yarn(
    base: float,
    size: int,
    trained: int,
    factor: float,
    fast: float,
    slow: float,
    truncate: bool = True,
) -> tuple[float, ...]:
    """YaRN: a ramp over the frequencies' places, from `fast` turns within the trained length
    (which stay) to `slow` turns (which turn `factor` slower)."""

    def place(turns: float) -> float:
        return size * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    if base == 1:
        raise ModelError("rotary frequencies with the base 1 are all equal: no model has them")
    first, last = place(fast), place(slow)
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, size - 1)
    length = (last - first) or 0.001
    slower = [min(1.0, max(0.0, (i - first) / length)) for i in range(size // 2)]
    return tuple(1.0 / (share / factor + 1 - share) for share in slower)


def _magnitude(factor: float, strength: float = 1.0) -> float:
    """YaRN's correction of attention's spread."""
    return 1.0 if factor <= 1 else 0.1 * strength * math.log(factor) + 1.0
