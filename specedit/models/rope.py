"""Rotary scaling: the parameters that a model's files state, and the factor of each frequency.

Parameters have transformers' names. Frequency i is divided by factor i. Only transformers computes
YaRN, which scales cosines and sines too.
"""

from __future__ import annotations

import math
from typing import Any

from specedit.errors import ModelError
from specedit.models.configuration import Fields

KINDS = ("default", "linear", "llama3", "yarn")


def of_folder(fields: Fields | None, window: int) -> dict[str, Any]:
    """What `rope_parameters` or the older `rope_scaling` of a config.json says."""
    if fields is None:
        return {"rope_type": "default"}
    kind = fields.text("rope_type", fields.text("type", "default"))
    if kind not in KINDS:
        raise unknown(fields, kind)
    parameters: dict[str, Any] = {"rope_type": kind}
    if kind in ("linear", "llama3"):
        parameters["factor"] = fields.real("factor")
    if kind == "llama3":
        trained = "original_max_position_embeddings"
        parameters[trained] = fields.whole(trained, window)
        for key in ("low_freq_factor", "high_freq_factor"):
            parameters[key] = fields.real(key)
    return parameters


def of_gguf(fields: Fields, window: int) -> dict[str, Any]:
    """What `FAMILY.rope.scaling.…` says. Llama 3's factors are a tensor, which is not read here."""
    kind = fields.text("type", "none")
    if kind == "none" or (kind == "linear" and not fields.has("factor")):
        return {"rope_type": "default"}
    if kind == "linear":
        return {"rope_type": kind, "factor": fields.real("factor")}
    odd = [key for key in ("alpha", "yarn_log_multiplier", "yarn_ext_factor") if fields.has(key)]
    if kind != "yarn" or odd:
        raise unknown(fields, f"{kind} with {', '.join(odd)}" if odd else kind)
    factor = fields.real("factor")
    magnitude = 1.0 if factor <= 1 else 0.1 * math.log(factor) + 1
    strength = fields.real("attn_factor", 1.0) * fields.real("yarn_attn_factor", 1.0)
    return {
        "rope_type": kind,
        "factor": factor,
        "original_max_position_embeddings": fields.whole("original_context_length", window),
        "beta_fast": fields.real("yarn_beta_fast", 32.0),
        "beta_slow": fields.real("yarn_beta_slow", 1.0),
        "attention_factor": magnitude * strength,
    }


def unknown(fields: Fields, kind: str) -> ModelError:
    return ModelError(
        f"{fields.path}: rotary scaling of the kind {kind} is not known; "
        f"{', '.join(KINDS[1:])} are",
        hint="Name the folder or hub id with the safetensors of this model, or another model.",
    )


def factors(parameters: dict[str, Any], base: float, size: int) -> tuple[float, ...]:
    """The factor of each frequency; none: all are 1, or transformers computes them."""
    kind = parameters["rope_type"]
    if kind == "linear":
        return (parameters["factor"],) * (size // 2)
    if kind != "llama3":
        return ()
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    results = []
    for i in range(size // 2):  # fast frequencies stay, slow ones are divided by the whole factor
        rotations = parameters["original_max_position_embeddings"] / (
            2 * math.pi * base ** (2 * i / size)
        )
        if high == low:
            smooth = float(rotations > low)
        else:
            smooth = min(1.0, max(0.0, (rotations - low) / (high - low)))
        results.append(1.0 / ((1 - smooth) / parameters["factor"] + smooth))
    return tuple(results)
