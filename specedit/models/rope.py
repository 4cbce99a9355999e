"""RoPE scaling: the factor by which each frequency is divided."""

from __future__ import annotations

import math

from specedit.errors import ModelError
from specedit.models.configuration import Fields

Factors = tuple[float, ...]  # one for each frequency; none: all 1
KNOWN = ("linear", "llama3")


def of_folder(rope: Fields | None, base: float, size: int, window: int) -> Factors:
    """What `rope_parameters` or the older `rope_scaling` of a config.json says."""
    kind = "default" if rope is None else rope.text("rope_type", rope.text("type", "default"))
    if rope is None or kind == "default":
        return ()
    if kind == "linear":
        return (rope.real("factor"),) * (size // 2)
    if kind == "llama3":
        trained = rope.whole("original_max_position_embeddings", window)
        names = ("factor", "low_freq_factor", "high_freq_factor")
        return llama3(base, size, trained, *map(rope.real, names))
    raise unknown(rope, kind, "--engine huggingface")


def of_gguf(rope: Fields, size: int) -> Factors:
    """What `FAMILY.rope.scaling.…` says; Llama 3's factors are a tensor and not looked at here."""
    kind = rope.text("type", "none")
    if kind == "none" or (kind == "linear" and not rope.has("factor")):
        return ()
    if kind == "linear":
        return (rope.real("factor"),) * (size // 2)
    raise unknown(rope, kind, "Name the folder or hub id with the safetensors of this model.")


def unknown(rope: Fields, kind: str, hint: str) -> ModelError:
    return ModelError(
        f"{rope.path}: RoPE scaling of the kind {kind} is not supported; {', '.join(KNOWN)} are",
        hint=hint,
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
