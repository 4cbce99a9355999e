"""What the exact engine computes, in numpy and float64, from the converted file alone."""

import numpy as np
import numpy.typing as npt

from specedit.engines.exact.weights import BLOCK6, LANES, Geometry, Weights, four_of, group_size_of

Floats = npt.NDArray[np.float64]


def matrix(weights: Weights, name: str) -> Floats:
    """A product's weights [outputs, inputs], padding included."""
    panels, scales = weights.array(f"{name}.panels"), weights.array(f"{name}.scales")
    if panels.dtype == np.uint8:
        panels = expanded(panels)
    rows = panels.transpose(0, 2, 1, 3).reshape(len(panels) * LANES, -1).astype(np.float64)
    scales = scales.transpose(0, 2, 1).reshape(len(rows), -1)
    group_size = rows.shape[1] if scales.shape[1] == 1 else group_size_of(four_of(weights.entries))
    return rows * np.repeat(scales, group_size, 1)[:, : rows.shape[1]]


def expanded(panels: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
    """Panels of 4 or 6 bits as panels of 8: [panel, 4 inputs, output, input]."""
    if panels.shape[-1] == BLOCK6:
        blocks = panels.reshape(len(panels), -1, 13, 64).astype(np.int32)
        by = blocks[:, :, 0].reshape(*blocks.shape[:2], 4, 1, LANES, 1)
        lower = blocks[:, :, 1:9].reshape(*blocks.shape[:2], 4, 2, 1, LANES, 4)
        lower = np.concatenate((lower & 15, lower >> 4), 4).reshape(
            *blocks.shape[:2], 4, 4, LANES, 4
        )
        upper = blocks[:, :, 9:].reshape(*blocks.shape[:2], 4, 1, LANES, 4)
        upper = upper >> np.array([0, 2, 4, 6]).reshape(4, 1, 1) & 3
        values = ((lower + 16 * upper - 32) * (by + 1) + 32) >> 6
        assert np.abs(values).max() <= 127
        return values.astype(np.int8).reshape(len(panels), -1, LANES, 4)
    blocks = panels.reshape(len(panels), -1, 9, 64).astype(np.int32)  # of 64 inputs
    groups = blocks[:, :, 0].reshape(*blocks.shape[:2], 2, 1, 1, LANES, 1, 2)
    codes = blocks[:, :, 1:].reshape(*blocks.shape[:2], 2, 4, 1, LANES, 4)
    both = np.concatenate((codes & 15, codes >> 4), 4)  # group, 8 inputs, 4 of them, output
    values = (both * groups[..., 0] - 8 * groups[..., 1]) >> 4
    assert np.abs(values).max() <= 127
    return values.astype(np.int8).reshape(len(panels), -1, LANES, 4)


def add(rows: Floats, more: Floats) -> None:
    rows[:, : more.shape[1]] += more


def logits(weights: Weights, ids: list[int]) -> Floats:
    """Logits behind every id of one text."""
    config, widths = weights.config, Geometry.of(weights.config)
    half, size, group = widths.half, 2 * widths.half, config.heads // config.kv_heads
    true_half, count = config.head_size // 2, len(ids)

    def norm(rows: Floats, name: str, true_size: int) -> Floats:
        squares = (rows**2).sum(-1, keepdims=True) / true_size
        return rows / np.sqrt(squares + config.epsilon) * weights.array(name)

    def product(rows: Floats, name: str) -> Floats:
        of = matrix(weights, name)
        return np.pad(rows, ((0, 0), (0, of.shape[1] - rows.shape[1]))) @ of.T

    angles = np.arange(count)[:, None] * np.pad(weights.array("speeds"), (0, half - true_half))
    cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def rope(heads: Floats, name: str) -> Floats:
        if name in weights.entries:
            heads = norm(heads, name, config.head_size)
        a, b = heads[..., :half], heads[..., half:]
        return np.concatenate((a * cosines - b * sines, b * cosines + a * sines), -1)

    bf16 = weights.array("embedding")[ids].astype(np.uint32) << 16
    rows = bf16.view(np.float32).astype(np.float64)
    future = np.triu(np.full((count, count), -np.inf), 1)
    for layer in range(config.layers):
        at = f"layer.{layer}"
        qkv = product(norm(rows, f"{at}.norm", config.hidden), f"{at}.qkv")
        if f"{at}.bias" in weights.entries:
            qkv = qkv + weights.array(f"{at}.bias")
        heads = qkv.reshape(count, -1, size)
        queries = rope(heads[:, : config.heads], f"{at}.query_norm")
        keys = rope(heads[:, config.heads : -config.kv_heads], f"{at}.key_norm")
        keys, values = (np.repeat(x, group, 1) for x in (keys, heads[:, -config.kv_heads :]))
        scores = np.einsum("qhc,khc->hqk", queries, keys) / np.sqrt(config.head_size) + future
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khc->qhc", shares, values).reshape(count, -1)
        add(rows, product(attended, f"{at}.out"))
        both = product(norm(rows, f"{at}.inner_norm", config.hidden), f"{at}.gate_up")
        gate, up = both.reshape(count, -1, 2, LANES).transpose(2, 0, 1, 3).reshape(2, count, -1)
        inner = gate / (1 + np.exp(-gate)) * up
        add(rows, product(inner, f"{at}.down"))
    return product(norm(rows, "norm", config.hidden), "head")[:, : config.vocabulary]
