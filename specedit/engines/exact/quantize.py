"""Weights of 8, 6 or 4 bits and their layout in memory: panels of 16 outputs, with padding.

A product's inputs are padded to 64, its outputs to 16, half a head to 16, all with zeros.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from specedit.engines.exact.kernels.library import load
from specedit.engines.exact.weights import (
    BLOCK4,
    BLOCK6,
    INPUT_MULTIPLE,
    LANES,
    Geometry,
    group_size_of,
    up_to,
)
from specedit.errors import ModelError
from specedit.models.architecture import Architecture

if TYPE_CHECKING:
    from specedit.engines.exact.checkpoint import Checkpoint

Array = npt.NDArray[Any]
ZERO_POINT = 128  # of the kernels' quantized activations


@dataclass(frozen=True, slots=True)
class Quantized:
    """One product's weights as rows, with a scale for each output and group of inputs."""

    weight: Array  # int8, [outputs, inputs]
    scales: Array  # float32, [outputs, groups]
    group_size: int


def quantize(rows: Array) -> tuple[Array, Array]:
    """Float rows to int8 and one scale per row."""
    largest = np.maximum(np.abs(rows).max(-1), np.float32(1e-30))
    scales = (largest / np.float32(127.0)).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def bf16(rows: Array) -> Array:
    """Float rows as bf16, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def linear(rows: Array, group_size: int | None = None) -> Quantized:
    """Float rows to int8, each group of inputs with scales of its own."""
    inputs = rows.shape[1]
    step = group_size or inputs
    parts = [quantize(rows[:, at : at + step]) for at in range(0, inputs, step)]
    weight = parts[0][0] if len(parts) == 1 else np.concatenate([w for w, _ in parts], 1)
    return Quantized(weight, np.stack([s for _, s in parts], 1), up_to(step, INPUT_MULTIPLE))


def padded(array: Array, axis: int, size: int) -> Array:
    """Zeros after an axis, up to `size`."""
    if array.shape[axis] == size:
        return array
    width = [(0, 0)] * array.ndim
    width[axis] = (0, size - array.shape[axis])
    return np.pad(array, width)


def pad_heads(array: Array, axis: int, half: int, to: int) -> Array:
    """Each half of each head padded from `half` elements to `to`."""
    if half == to:
        return array
    shape = array.shape
    cut = array.reshape(*shape[:axis], -1, half, *shape[axis + 1 :])
    return padded(cut, axis + 1, to).reshape(*shape[:axis], -1, *shape[axis + 1 :])


def panels(of: Quantized) -> dict[str, Array]:
    """`panels`, `scales` and `offsets` of a product, as the kernels read them."""
    weight = padded(
        padded(of.weight, 0, up_to(of.weight.shape[0], LANES)),
        1,
        up_to(of.weight.shape[1], INPUT_MULTIPLE),
    )
    scales = padded(of.scales, 0, weight.shape[0])
    outputs, inputs = weight.shape
    groups = scales.shape[1]
    sums = np.stack(
        [
            weight[:, at : at + of.group_size].sum(1, dtype=np.int32)
            for at in range(0, inputs, of.group_size)
        ],
        1,
    )
    tiled = weight.reshape(outputs // LANES, LANES, inputs // 4, 4).transpose(0, 2, 1, 3)
    return {
        "panels": np.ascontiguousarray(tiled),
        "scales": _by_panel(scales, groups).astype(np.float32),
        "offsets": _by_panel(sums * np.int32(ZERO_POINT), groups),
    }


def _by_panel(numbers: Array, groups: int) -> Array:
    return np.ascontiguousarray(numbers.reshape(-1, LANES, groups).transpose(0, 2, 1))


def packed(rows: Array, bits: int, group_size: int | None = None) -> dict[str, Array]:
    """The same of float rows, with 4 or 6 bits: the kernels' own search (quantize.c)."""
    library = load()
    if isinstance(library, str):
        raise ModelError(f"Weights of {bits} bits need the exact engine's kernels: {library}.")
    rows = padded(
        padded(rows, 0, up_to(rows.shape[0], LANES)), 1, up_to(rows.shape[1], INPUT_MULTIPLE)
    )
    rows = np.ascontiguousarray(rows, np.float32)
    outputs, inputs = rows.shape
    step = min(group_size or inputs, inputs)
    shape = (outputs // LANES, -(-inputs // step), LANES)
    made = {
        "panels": np.empty(
            (outputs // LANES, inputs // INPUT_MULTIPLE, {4: BLOCK4, 6: BLOCK6}[bits]), np.uint8
        ),
        "scales": np.empty(shape, np.float32),
        "offsets": np.empty(shape, np.int32),
    }
    to = (array.ctypes.data for array in made.values())
    code = library.lib.specedit_quantize(rows.ctypes.data, outputs, inputs, step, bits, *to)
    assert not code, "the kernels refuse these sizes"
    return made


def interleaved(gate: Array, up: Array) -> Array:
    """Rows of gate and up as one product, whose panels alternate."""
    outputs = up_to(gate.shape[0], INPUT_MULTIPLE)
    a, b = (padded(rows, 0, outputs).reshape(-1, LANES, rows.shape[1]) for rows in (gate, up))
    return np.stack((a, b), 1).reshape(2 * outputs, -1)


def rope_frequencies(config: Architecture) -> Array:
    """Radians a position, in double: by decimal arithmetic, which is the same on every machine."""
    half = config.head_size // 2
    with localcontext() as context:
        context.prec = 40
        ln = Decimal(config.rope_base).ln()
        results = [(-ln * i / half).exp() for i in range(half)]
        if config.rope_factors:
            results = [s / Decimal(f) for s, f in zip(results, config.rope_factors, strict=True)]
    return np.array([float(s) for s in results], np.float64)


def vector(checkpoint: Checkpoint, name: str, sources: list[list[str]]) -> dict[str, Array]:
    """A tensor that is not a matrix, of the model's vectors one after another."""
    config, kind = checkpoint.config, name.rpartition(".")[2]
    to, half = Geometry.of(config), config.head_size // 2
    if kind == "speeds":
        return {name: rope_frequencies(config)}
    parts = [checkpoint.scaled(part).reshape(-1) for group in sources for part in group]
    values = np.concatenate(parts).astype(np.float32)
    if kind in ("norm", "inner_norm"):
        return {name: padded(values, 0, to.hidden)}
    return {name: pad_heads(values, 0, half, to.half)}


def matrix_rows(
    checkpoint: Checkpoint,
    name: str,
    parts: list[str],
    start: int,
    stop: int,
    four: Collection[str],
) -> dict[str, Array]:
    """Rows of a matrix of the model's file as they lie in the converted one."""
    config = checkpoint.config
    to, half = Geometry.of(config), config.head_size // 2
    kind = name.rpartition(".")[2]
    rows, *more = (checkpoint.scaled(part, start, stop, head=kind == "head") for part in parts)
    match kind:
        case "embedding":
            return {name: padded(bf16(rows), 1, to.hidden)}
        case "qkv":
            rows = pad_heads(rows, 0, half, to.half)
        case "out":
            rows = pad_heads(rows, 1, half, to.half)
        case "gate_up":
            rows = interleaved(rows, more[0])
    group_size = group_size_of(four) if kind == "down" else None
    if four:
        made = packed(rows, 4 if name in four else 6, group_size)
    else:
        made = panels(linear(rows, group_size))
    return {f"{name}.{part}": result for part, result in made.items()}
