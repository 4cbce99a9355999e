"""The kernels' call interface in ctypes: structures and signatures of specedit.h,
and a converted file as structures that point into the mapped file."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_int8, c_int32, c_uint64, c_void_p

from specedit.engines.exact.geometry import (
    BLOCK4,
    BLOCK6,
    INPUT_MULTIPLE,
    LANES,
    Geometry,
    group_size_of,
)
from specedit.engines.exact.weights import Weights, four_of
from specedit.models.head_file import Heads

INTERFACE = 8


class Shape(ctypes.Structure):
    _fields_ = (
        *((name, c_int32) for name in ("layers", "hidden", "hidden_true", "inner", "group_size")),
        *((name, c_int32) for name in ("heads", "kv_heads", "half", "half_true", "vocabulary")),
        ("residual", c_int32),
        ("epsilon", c_float),
    )


class CLinear(ctypes.Structure):
    _fields_ = (
        ("panels", c_void_p),
        ("scales", c_void_p),
        ("offsets", c_void_p),
        ("outputs", c_int32),
        ("inputs", c_int32),
        ("group_size", c_int32),
        ("bits", c_int32),
    )


class CLayer(ctypes.Structure):
    _fields_ = (
        ("norm", c_void_p),
        ("qkv", CLinear),
        ("bias", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("out", CLinear),
        ("inner_norm", c_void_p),
        ("gate_up", CLinear),
        ("down", CLinear),
        ("unrotated", c_int32),
    )


class CWeights(ctypes.Structure):
    _fields_ = (
        ("layers", POINTER(CLayer)),
        ("embedding", c_void_p),
        ("norm", c_void_p),
        ("head", CLinear),
        ("frequencies", c_void_p),
    )


class CSubset(ctypes.Structure):
    _fields_ = (("rows", CLinear), ("count", c_int32))


class CPass(ctypes.Structure):
    _fields_ = (
        ("ids", POINTER(c_int32)),
        ("parents", POINTER(c_int32)),
        ("width", c_int32),
        ("start", c_int32),
        ("choices", POINTER(c_int32)),
        ("logits", POINTER(c_float)),
        ("hidden", POINTER(c_float)),
        ("subset", POINTER(CSubset)),
        ("caches", POINTER(c_void_p)),
        ("starts", POINTER(c_int32)),
        ("margins", POINTER(c_float)),
    )


class CHead(ctypes.Structure):
    _fields_ = (
        ("of_state", CLinear),
        ("of_id", CLinear),
        ("down", CLinear),
        ("output", CLinear),
        ("bias", c_void_p),
        ("guessed", c_int32),
        ("gated", c_int32),
        ("sharpness", c_float),
    )


class CGuess(ctypes.Structure):
    _fields_ = (
        ("states", POINTER(c_float)),
        ("ids", POINTER(c_int32)),
        ("width", c_int32),
        ("most", c_int32),
        ("made", POINTER(c_float)),
        ("guesses", POINTER(c_int32)),
        ("chances", POINTER(c_float)),
    )


SIGNATURES = {
    "interface": (c_int, ()),
    "variant": (c_char_p, (c_int,)),
    "can": (c_int, (c_int,)),
    "difference": (c_char_p, (c_int, c_int, c_uint64, c_int)),
    "version": (c_char_p, ()),
    "quantize": (c_int, (c_void_p, *(c_int,) * 4, c_void_p, c_void_p, c_void_p)),
    "pool_new": (c_void_p, (c_int,)),
    "pool_free": (None, (c_void_p,)),
    "model_new": (c_void_p, (c_int, POINTER(Shape), POINTER(CWeights))),
    "model_free": (None, (c_void_p,)),
    "cache_new": (c_void_p, (c_void_p,)),
    "cache_free": (None, (c_void_p,)),
    "cache_reserve": (c_int, (c_void_p, c_int)),
    "cache_bytes": (c_uint64, (c_void_p,)),
    "cache_copy": (c_int, (c_void_p, c_void_p, c_int)),
    "cache_row_bytes": (c_uint64, (c_void_p,)),
    "cache_rows": (c_int, (c_void_p, c_void_p, c_int, c_int)),
    "cache_keep": (c_int, (c_void_p, c_int, POINTER(c_int32), c_int)),
    "run": (c_int, (c_void_p, c_void_p, c_void_p, POINTER(CPass))),
    "guess_run": (c_int, (c_void_p, c_void_p, POINTER(CHead), POINTER(CGuess))),
    "output_rows": (
        c_int,
        (
            *(c_void_p, POINTER(c_int32), c_int, c_int, c_int),
            *(POINTER(c_int8), POINTER(c_float), POINTER(c_int32)),
        ),
    ),
    "products": (c_int, (c_void_p, c_void_p, c_int)),
    "attention": (c_int, (c_void_p, c_void_p, c_void_p, c_int, c_int)),
}


def bind(library: ctypes.CDLL) -> ctypes.CDLL:
    """Give every function of a loaded library its types."""
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, f"specedit_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def shape_of(weights: Weights, close: bool) -> Shape:
    """A model's numbers; `close`: activations keep a residual."""
    config = weights.config
    widths = Geometry.of(config)
    return Shape(
        config.layers,
        widths.hidden,
        config.hidden,
        widths.inner,
        min(group_size_of(four_of(weights.entries)), widths.inner),
        config.heads,
        config.kv_heads,
        widths.half,
        config.head_size // 2,
        config.vocabulary,
        int(close),
        config.epsilon,
    )


def weights_of(weights: Weights) -> CWeights:
    """Every tensor's address."""
    layers = (CLayer * weights.config.layers)(
        *(_layer(weights, index) for index in range(weights.config.layers))
    )
    return CWeights(
        layers,
        weights.address("embedding"),
        weights.address("norm"),
        linear_of(weights, "head"),
        weights.address("speeds"),
    )


def linear_of(weights: Weights | Heads, name: str) -> CLinear:
    """A product's addresses and sizes."""
    panels, steps, *_, last = weights.entries[f"{name}.panels"]["shape"]
    groups = weights.entries[f"{name}.scales"]["shape"][1]
    bits = {BLOCK4: 4, BLOCK6: 6}.get(last, 8)
    inputs = steps * (4 if bits == 8 else INPUT_MULTIPLE)
    return CLinear(
        *(weights.address(f"{name}.{part}") for part in ("panels", "scales", "offsets")),
        panels * LANES,
        inputs,
        inputs if groups == 1 else group_size_of(four_of(weights.entries)),
        bits,
    )


def _layer(weights: Weights, index: int) -> CLayer:
    at = f"layer.{index}"
    return CLayer(
        weights.address(f"{at}.norm"),
        linear_of(weights, f"{at}.qkv"),
        weights.address(f"{at}.bias"),
        weights.address(f"{at}.query_norm"),
        weights.address(f"{at}.key_norm"),
        linear_of(weights, f"{at}.out"),
        weights.address(f"{at}.inner_norm"),
        linear_of(weights, f"{at}.gate_up"),
        linear_of(weights, f"{at}.down"),
        int(index in weights.config.unrotated),
    )
