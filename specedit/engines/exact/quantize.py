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
    MTP_NORMS,
    RECURRENT,
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


def in_panels(rows: Array) -> Array:
    """Rows of a product with zeros up to whole panels."""
    rows = padded(rows, 0, up_to(rows.shape[0], LANES))
    return padded(rows, 1, up_to(rows.shape[1], INPUT_MULTIPLE))


def pad_heads(array: Array, axis: int, half: int, to: int) -> Array:
    """Each half of each head padded from `half` elements to `to`."""
    if half == to:
        return array
    shape = array.shape
    cut = array.reshape(*shape[:axis], -1, half, *shape[axis + 1 :])
    return padded(cut, axis + 1, to).reshape(*shape[:axis], -1, *shape[axis + 1 :])


def panels(of: Quantized) -> dict[str, Array]:
    """`panels`, `scales` and `offsets` of a product, as the kernels read them."""
    weight = in_panels(of.weight)
    scales = padded(of.scales, 0, weight.shape[0])
    outputs, inputs = weight.shape
    groups = scales.shape[1]
    starts = range(0, inputs, of.group_size)
    grouped = (weight[:, at : at + of.group_size] for at in starts)
    sums = np.stack([group.sum(1, dtype=np.int32) for group in grouped], 1)
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
    rows = np.ascontiguousarray(in_panels(rows), np.float32)
    outputs, inputs = rows.shape
    step = min(group_size or inputs, inputs)
    shape = (outputs // LANES, -(-inputs // step), LANES)
    blocks = outputs // LANES, inputs // INPUT_MULTIPLE, BLOCK4 if bits == 4 else BLOCK6
    made = {
        "panels": np.empty(blocks, np.uint8),
        "scales": np.empty(shape, np.float32),
        "offsets": np.empty(shape, np.int32),
    }
    to = (array.ctypes.data for array in made.values())
    about = (library.variant, rows.ctypes.data, outputs, inputs, step, bits)
    code = library.lib.specedit_quantize(*about, *to)
    assert not code, "the kernels refuse these sizes"
    return made


def interleaved(gate: Array, up: Array) -> Array:
    """Rows of gate and up as one product, whose panels alternate."""
    outputs = up_to(gate.shape[0], INPUT_MULTIPLE)
    a, b = (padded(rows, 0, outputs).reshape(-1, LANES, rows.shape[1]) for rows in (gate, up))
    return np.stack((a, b), 1).reshape(2 * outputs, -1)


def rope_frequencies(config: Architecture) -> Array:
    """Radians a position, in double: by decimal arithmetic, which is the same on every machine."""
    half = (config.rotated or config.head_size) // 2
    with localcontext() as context:
        context.prec = 40
        ln = Decimal(config.rope_base).ln()
        results = [(-ln * i / half).exp() for i in range(half)]
        if config.rope_factors:
            results = [s / Decimal(f) for s, f in zip(results, config.rope_factors, strict=True)]
    rest = config.head_size // 2 - half  # numbers that are not turned
    return np.array([float(s) for s in results] + [0.0] * rest, np.float64)


def paired(rows: Array, config: Architecture, heads_apart: int = 1) -> Array:
    """Rows of heads in the order that RoPE turns here: number i together with number half + i.
    Of a model that turns the first numbers alone, those of the first half come first in each half.
    Of `heads_apart` heads the first is one with queries or keys."""
    size, turned = config.head_size, config.rotated // 2
    if not turned or 2 * turned == size:
        return rows
    rest = range(2 * turned, size)
    split = size // 2 - turned
    order = [*range(turned), *rest[:split], *range(turned, 2 * turned), *rest[split:]]
    heads = rows.reshape(-1, heads_apart, size, *rows.shape[1:]).copy()
    heads[:, 0] = heads[:, 0][:, order]
    return heads.reshape(rows.shape)


def projection(rows: Array, hidden: int) -> Array:
    """Rows of a product that stays in float32, as panels of outputs."""
    rows = padded(padded(rows, 0, up_to(len(rows), LANES)), 1, hidden)
    return np.ascontiguousarray(rows.reshape(-1, LANES, hidden).transpose(0, 2, 1))


def vector(checkpoint: Checkpoint, name: str, sources: list[list[str]]) -> dict[str, Array]:
    """A tensor that is not a matrix, of the model's vectors one after another."""
    config, kind = checkpoint.config, name.rpartition(".")[2]
    to, half = Geometry.of(config), config.head_size // 2
    if kind == "speeds":
        return {name: rope_frequencies(config)}
    parts = [checkpoint.scaled(part) for group in sources for part in group]
    if kind in ("router", "projection"):
        rows = [part if part.ndim > 1 else part[None] for part in parts]
        return {name: projection(np.concatenate(rows).astype(np.float32), to.hidden)}
    if kind == "convolution":
        return {name: np.ascontiguousarray(parts[0].reshape(config.channels, -1).T, np.float32)}
    values = np.concatenate([part.reshape(-1) for part in parts]).astype(np.float32)
    if kind in RECURRENT:
        return {name: values}
    if kind in ("norm", "inner_norm", *MTP_NORMS):
        return {name: padded(values, 0, to.hidden)}
    if kind in ("query_norm", "key_norm"):
        values = paired(values, config)
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
        case "qkv" if ".attn_qkv." not in parts[0] and ".attn_gate." not in parts[0]:
            if ".attn_v." not in parts[0]:
                apart = 2 if config.output_gate and ".attn_q." in parts[0] else 1
                rows = paired(rows, config, apart)
            rows = pad_heads(rows, 0, half, to.half)
        case "out" if ".attn_output." in parts[0]:
            rows = pad_heads(rows, 1, half, to.half)
        case "fuse":  # two rows side by side, each with its padding
            halves = rows.reshape(-1, 2, config.hidden)
            rows = padded(halves, 2, to.hidden).reshape(-1, 2 * to.hidden)
        case "gate_up":
            rows = interleaved(rows, more[0])
    group_size = group_size_of(four) if kind == "down" else None
    if four:
        made = packed(rows, 4 if name in four else 6, group_size)
    else:
        made = panels(linear(rows, group_size))
    return {f"{name}.{part}": result for part, result in made.items()}
