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


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def silu(x: Floats) -> Floats:
    return x * sigmoid(x)


def unit(heads: Floats) -> Floats:
    return heads / np.sqrt((heads**2).sum(-1, keepdims=True) + 1e-6)


def projected(weights: Weights, name: str, rows: Floats) -> Floats:
    """A product that stays in float32."""
    panels = weights.array(name).astype(np.float64)
    return rows @ panels.transpose(1, 0, 2).reshape(panels.shape[1], -1)


def delta_net(weights: Weights, at: str, rows: Floats, mixed: Floats) -> Floats:
    """Inputs of a recurrent layer's output product, from its normed rows and their `qkv`."""
    config = weights.config
    count, channels, heads = len(rows), config.channels, config.value_heads
    taps = weights.array(f"{at}.convolution").astype(np.float64)
    padded = np.pad(mixed[:, :channels], ((config.taps - 1, 0), (0, 0)))
    conv = silu(sum(padded[tap : tap + count] * taps[tap] for tap in range(config.taps)))
    keys = config.key_heads * config.key_size
    query = unit(conv[:, :keys].reshape(count, -1, config.key_size)) / np.sqrt(config.key_size)
    key = unit(conv[:, keys : 2 * keys].reshape(count, -1, config.key_size))
    value = conv[:, 2 * keys :].reshape(count, heads, config.value_size)
    each = heads // config.key_heads
    of = [h % config.key_heads if config.tiled else h // each for h in range(heads)]
    query, key = query[:, of], key[:, of]
    both = projected(weights, f"{at}.projection", rows)
    alpha, beta = both[:, :heads], sigmoid(both[:, heads : 2 * heads])
    shift, rate = weights.array(f"{at}.shift"), weights.array(f"{at}.decay")
    decay = np.exp(rate * np.log1p(np.exp(alpha + shift)))
    state, out = np.zeros((heads, config.key_size, config.value_size)), np.zeros_like(value)
    for t in range(count):
        state = state * decay[t, :, None, None]
        known = np.einsum("hkv,hk->hv", state, key[t])
        change = (value[t] - known) * beta[t, :, None]
        state = state + np.einsum("hk,hv->hkv", key[t], change)
        out[t] = np.einsum("hkv,hk->hv", state, query[t])
    normed = out / np.sqrt((out**2).mean(-1, keepdims=True) + config.epsilon)
    normed = (normed * weights.array(f"{at}.state_norm")).reshape(count, -1)
    return normed * silu(mixed[:, channels : channels + normed.shape[1]])


def feed_forward(weights: Weights, at: str, rows: Floats) -> Floats:
    """What a gated layer, or its experts, add to rows."""
    config = weights.config
    up, down = matrix(weights, f"{at}.gate_up"), matrix(weights, f"{at}.down")
    each = max(config.experts + config.shared, 1)
    ups, downs = up.reshape(each, -1, up.shape[1]), down.reshape(each, -1, down.shape[1])

    def gated(expert: int) -> Floats:
        both = (rows @ ups[expert].T).reshape(len(rows), -1, 2, LANES)
        gate, more = both.transpose(2, 0, 1, 3).reshape(2, len(rows), -1)
        return (silu(gate) * more) @ downs[expert].T

    if not config.experts:
        return gated(0)
    shares = projected(weights, f"{at}.router", rows)[:, :each]
    routed = shares[:, : config.experts]
    weight = np.exp(routed - routed.max(-1, keepdims=True))
    weight /= weight.sum(-1, keepdims=True)
    for row in weight:
        row[np.argsort(-row, kind="stable")[config.chosen :]] = 0
        row /= 1 if config.unscaled else row.sum()
    if config.shared:
        weight = np.concatenate((weight, sigmoid(shares[:, config.experts :])), 1)
    return sum(gated(expert) * weight[:, expert : expert + 1] for expert in range(each))


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
        normed = norm(rows, f"{at}.norm", config.hidden)
        if layer in config.recurrent:
            add(
                rows,
                product(delta_net(weights, at, normed, product(normed, f"{at}.qkv")), f"{at}.out"),
            )
            add(rows, feed_forward(weights, at, norm(rows, f"{at}.inner_norm", config.hidden)))
            continue
        qkv = product(normed, f"{at}.qkv")
        if f"{at}.bias" in weights.entries:
            qkv = qkv + weights.array(f"{at}.bias")
        heads, gates = qkv.reshape(count, -1, size), None
        if config.output_gate:
            both = heads[:, : 2 * config.heads].reshape(count, config.heads, 2, size)
            gates = both[:, :, 1]
            heads = np.concatenate((both[:, :, 0], heads[:, 2 * config.heads :]), 1)
        queries = rope(heads[:, : config.heads], f"{at}.query_norm")
        keys = rope(heads[:, config.heads : -config.kv_heads], f"{at}.key_norm")
        keys, values = (np.repeat(x, group, 1) for x in (keys, heads[:, -config.kv_heads :]))
        scores = np.einsum("qhc,khc->hqk", queries, keys) / np.sqrt(config.head_size) + future
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khc->qhc", shares, values)
        if gates is not None:
            attended = attended * sigmoid(gates)
        add(rows, product(attended.reshape(count, -1), f"{at}.out"))
        add(rows, feed_forward(weights, at, norm(rows, f"{at}.inner_norm", config.hidden)))
    return product(norm(rows, "norm", config.hidden), "head")[:, : config.vocabulary]
