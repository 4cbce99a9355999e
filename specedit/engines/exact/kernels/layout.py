"""A converted file as the kernels read it: structures that point into the mapped file."""

from __future__ import annotations

from specedit.engines.exact.geometry import GROUP_SIZE, Geometry
from specedit.engines.exact.kernels import calls
from specedit.engines.exact.weights import Weights
from specedit.models.numbers import Config


def shape_of(config: Config, close: bool) -> calls.Shape:
    """A model's numbers; `close`: activations keep a residual."""
    widths = Geometry.of(config)
    return calls.Shape(
        config.layers,
        widths.hidden,
        config.hidden,
        widths.inner,
        min(GROUP_SIZE, widths.inner),
        config.heads,
        config.kv_heads,
        widths.half,
        config.head_size // 2,
        config.vocabulary,
        int(close),
        config.epsilon,
    )


def weights_of(weights: Weights) -> calls.CWeights:
    """Every tensor's address."""
    layers = (calls.CLayer * weights.config.layers)(
        *(_layer(weights, f"layer.{index}") for index in range(weights.config.layers))
    )
    return calls.CWeights(
        layers,
        weights.address("embedding"),
        weights.address("norm"),
        _linear(weights, "head"),
        weights.address("speeds"),
    )


def _linear(weights: Weights, name: str) -> calls.CLinear:
    panels, quads, lanes, four = weights.entries[f"{name}.panels"]["shape"]
    groups, inputs = weights.entries[f"{name}.scales"]["shape"][1], quads * four
    return calls.CLinear(
        *(weights.address(f"{name}.{part}") for part in ("panels", "scales", "offsets")),
        panels * lanes,
        inputs,
        inputs if groups == 1 else GROUP_SIZE,
    )


def _layer(weights: Weights, at: str) -> calls.CLayer:
    return calls.CLayer(
        weights.address(f"{at}.norm"),
        _linear(weights, f"{at}.qkv"),
        weights.address(f"{at}.bias"),
        weights.address(f"{at}.query_norm"),
        weights.address(f"{at}.key_norm"),
        _linear(weights, f"{at}.out"),
        weights.address(f"{at}.inner_norm"),
        _linear(weights, f"{at}.gate_up"),
        _linear(weights, f"{at}.down"),
    )
