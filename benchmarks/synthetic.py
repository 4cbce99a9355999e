"""Write a GGUF file of a known model's shape with random weights: for sizes that are not at hand.

    python -m benchmarks.synthetic qwen2.5-coder-7b OUT.gguf --tokenizer MODEL.gguf

The types are those of Q4_K_M, the values have the usual scale, and the file is streamed: one random
chunk of blocks for each type is repeated. `--vocabulary` cuts or pads the tokenizer's tokens;
`--shard-tensors N` writes `-00001-of-0000M.gguf` files of N tensors each. The text of such a model
is noise; memory, conversion, exactness and the time of a pass are not.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from specedit.models.architecture import HYBRID, MTP, ROPE_FACTORS, Architecture
from specedit.models.gguf import open_gguf

_QWEN2 = Architecture(
    *("qwen2", 28, 3584, 18944, 28, 4, 128, 152_064, 32_768, 1e-6, 1e6),
    bias=True,
)
_QWEN3 = Architecture(
    *("qwen3", 36, 4096, 12_288, 32, 8, 128, 151_936, 40_960, 1e-6, 1e6),
    head_norm=True,
)
_LLAMA = Architecture("llama", 32, 4096, 14_336, 32, 8, 128, 128_256, 131_072, 1e-5, 5e5)
_GRANITE = Architecture(
    *("granite", 40, 4096, 12_800, 32, 8, 128, 100_352, 131_072, 1e-5, 1e7),
    embedding_scale=12.0,
    residual_scale=0.22,
    attention_scale=1 / 128,
    logit_scale=16.0,
)
_QWEN35 = Architecture(  # 4B
    *("qwen35", 32, 2560, 9216, 16, 4, 256, 248_320, 262_144, 1e-6, 1e7),
    head_norm=True,
    rotated=64,
    output_gate=True,
    recurrent=tuple(layer for layer in range(32) if layer % 4 < 3),
    key_heads=16,
    value_heads=32,
    key_size=128,
    value_size=128,
    taps=4,
    tiled=True,
)
_NARROW: dict[str, Any] = {  # 0.8B and 2B
    **{"layers": 24, "heads": 8, "kv_heads": 2, "value_heads": 16},
    "recurrent": tuple(layer for layer in range(24) if layer % 4 < 3),
}
_QWEN3_30B = Architecture(
    *("qwen3moe", 48, 2048, 768, 32, 4, 128, 151_936, 40_960, 1e-6, 1e6),
    head_norm=True,
    experts=128,
    chosen=8,
)
_TINY = {"layers": 2, "hidden": 256, "inner": 512, "heads": 4, "kv_heads": 2, "vocabulary": 320}
_SMALL_STATES: dict[str, Any] = {"recurrent": (0,), "key_heads": 2, "value_heads": 4}
_TINY_QWEN35 = replace(
    _QWEN35,
    **{**_TINY, **_SMALL_STATES},
    head_size=64,
    rotated=16,
    window=512,
)
SHAPES = {
    "qwen2.5-coder-3b": replace(
        _QWEN2, layers=36, hidden=2048, inner=11_008, heads=16, kv_heads=2, vocabulary=151_936
    ),
    "qwen2.5-coder-7b": _QWEN2,
    "qwen2.5-coder-14b": replace(
        _QWEN2, layers=48, hidden=5120, inner=13_824, heads=40, kv_heads=8
    ),
    "qwen3-4b": replace(_QWEN3, hidden=2560, inner=9728),
    "qwen3-8b": _QWEN3,
    "llama-8b": _LLAMA,
    "granite-4.1-3b": replace(
        _GRANITE, hidden=2560, inner=8192, heads=40, head_size=64, attention_scale=1 / 64
    ),
    "granite-4.1-8b": _GRANITE,
    "qwen3.5-0.8b": replace(_QWEN35, **_NARROW, hidden=1024, inner=3584),
    "qwen3.5-2b": replace(_QWEN35, **_NARROW, hidden=2048, inner=6144),
    "qwen3.5-4b": _QWEN35,
    "qwen3.5-9b": replace(_QWEN35, hidden=4096, inner=12_288),
    "qwen3.6-27b": replace(
        _QWEN35,
        layers=64,
        hidden=5120,
        inner=17_408,
        heads=24,
        value_heads=48,
        recurrent=tuple(layer for layer in range(64) if layer % 4 < 3),
    ),
    "qwen3-30b-a3b": _QWEN3_30B,
    "qwen3.6-35b-a3b": replace(
        _QWEN35,
        family="qwen35moe",
        layers=40,
        hidden=2048,
        inner=512,
        kv_heads=2,
        recurrent=tuple(layer for layer in range(40) if layer % 4 < 3),
        experts=256,
        chosen=8,
        shared=1,
    ),
    "tiny-qwen3.5": _TINY_QWEN35,
    "tiny-qwen3.5-experts": replace(
        _TINY_QWEN35, family="qwen35moe", inner=256, experts=8, chosen=3, shared=1
    ),
    "tiny-qwen2": replace(_QWEN2, **_TINY, head_size=64, window=512),  # type: ignore[arg-type]
    "tiny-qwen3": replace(_QWEN3, **_TINY, head_size=64, window=512),  # type: ignore[arg-type]
    "tiny-llama": replace(_LLAMA, **_TINY, head_size=64, window=512),  # type: ignore[arg-type]
}
TIED = (
    "qwen2.5-coder-3b",
    "qwen3-4b",
    *("qwen3.5-0.8b", "qwen3.5-2b", "qwen3.5-4b"),
    "tiny-qwen3",
    "granite-4.1-3b",
    "granite-4.1-8b",
)  # the output layer is the embedding
FLOATS = ("ssm_conv1d", "ssm_alpha", "ssm_beta", "ffn_gate_inp")  # matrices that stay float32
CHUNK = 7919  # blocks that are repeated; a prime, so that rows differ
SCALE = 0.015  # standard deviation of a matrix, as the 1.5B's
TYPES = gguf.GGMLQuantizationType
Bytes = npt.NDArray[np.uint8]


def type_of(name: str, model: Architecture, tied: bool) -> Any:
    """The type that Q4_K_M gives a tensor."""
    shape = model.shape(name)
    if shape is None or len(shape) == 1 or any(part in name for part in FLOATS):
        return TYPES.F32
    layer = int(name.split(".")[1]) if name.startswith("blk.") else 0
    count = model.layers
    precise = layer < count // 8 or layer >= 7 * count // 8 or (layer - count // 8) % 3 == 2
    better = "attn_v." in name or "ffn_down." in name
    if (better and precise) or name == "output.weight" or (tied and name == "token_embd.weight"):
        return TYPES.Q8_0 if shape[-1] % 256 else TYPES.Q6_K
    return TYPES.Q5_0 if shape[-1] % 256 else TYPES.Q4_K


def chunk_of(kind: Any, random: np.random.Generator) -> Bytes:
    """Blocks of a type as rows of bytes."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = random.integers(0, 256, (CHUNK, size), np.uint8)

    def half(value: float) -> Bytes:
        return np.frombuffer(np.float16(value).tobytes(), np.uint8)

    match kind:
        case TYPES.Q4_K:  # d, dmin, scales and minima in 6 bits, codes; centred on 7.5 steps
            d = SCALE / 47 / 4.6
            blocks[:, 0:2], blocks[:, 2:4] = half(d), half(7.5 * d)
            steps = random.integers(32, 64, (CHUNK, 8), np.uint8)
            low, high = steps[:, :4], steps[:, 4:]
            blocks[:, 4:8] = blocks[:, 8:12] = low | high >> 4 << 6
            blocks[:, 12:16] = high & 15 | (high & 15) << 4
        case TYPES.Q6_K:  # codes, scales in 8 bits, d; centred on 32 steps
            blocks[:, 192:208] = random.integers(32, 127, (CHUNK, 16), np.uint8)
            blocks[:, 208:210] = half(SCALE / 80 / 18.5)
        case _:  # Q5_0, Q8_0: d, codes
            blocks[:, 0:2] = half(SCALE / (9.2 if kind == TYPES.Q5_0 else 74))
    return blocks


def values_of(name: str, shape: Sequence[int], random: np.random.Generator) -> Any:
    """A vector: norms around 1, biases around 0."""
    if name == ROPE_FACTORS:
        return np.geomspace(1, 8, shape[0]).astype(np.float32)
    if name.endswith("ssm_a"):
        return -np.exp(random.standard_normal(shape)).astype(np.float32)
    centre = 1.0 if "norm" in name else 0.0
    if len(shape) > 1 and "conv" not in name:
        return (SCALE * random.standard_normal(shape)).astype(np.float32)
    return (centre + 0.2 * random.standard_normal(shape)).astype(np.float32)


def write(
    path: Path,
    model: Architecture,
    *,
    tokenizer: Path | None = None,
    tied: bool = False,
    shard_tensors: int = 0,
    seed: int = 1,
) -> list[Path]:
    """Write the file, or its shards; returns their paths."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, model.family, split_max_tensors=shard_tensors)
    for key, number in _numbers(model):
        writer.add_float32(key, number) if isinstance(number, float) else writer.add_uint32(
            key, number
        )
    if model.family in HYBRID:  # llama.cpp needs them
        writer.add_array(f"{model.family}.rope.dimension_sections", [11, 11, 10, 0])
    for key, value in _tokenizer(tokenizer, model.vocabulary).items():
        _add(writer, key, value)
    names = [*model.names(), *([] if tied else ["output.weight"])]
    if model.family == "llama":
        names.append(ROPE_FACTORS)
    kinds = {name: type_of(name, model, tied) for name in names}
    theirs = {name: name for name in names}
    if model.family in HYBRID:
        for name in names:
            theirs[name] = name.replace(".ffn_norm.", ".post_attention_norm.")
            theirs[name] = theirs[name].replace(".ssm_a.weight", ".ssm_a")
            own = "nextn." if name.split(".")[1] in MTP else ""
            theirs[name] = theirs[name].replace("mtp.", f"blk.{model.layers}.{own}")
    chunks = {kind: chunk_of(kind, random).ravel() for kind in set(kinds.values()) - {TYPES.F32}}
    sizes: dict[str, int] = {}
    for name, kind in kinds.items():
        shape = model.shape(name) or (model.head_size // 2,)
        if kind == TYPES.F32:
            size = 4 * math.prod(shape)
            writer.add_tensor_info(theirs[name], shape, np.dtype(np.float32), size)
            continue
        block, size = gguf.GGML_QUANT_SIZES[kind]
        stored = (*shape[:-1], shape[-1] // block * size)
        sizes[name] = math.prod(stored)
        writer.add_tensor_info(
            theirs[name], stored, np.dtype(np.uint8), sizes[name], raw_dtype=kind
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for name, kind in kinds.items():
        if kind == TYPES.F32:
            values = values_of(theirs[name], model.shape(name) or (model.head_size // 2,), random)
        else:
            values = np.resize(chunks[kind], sizes[name])
        writer.write_tensor_data(values)
    writer.close()
    stem = f"{path.stem}-*-of-*.gguf" if shard_tensors else path.name
    return sorted(path.parent.glob(stem))


def _numbers(model: Architecture) -> Iterator[tuple[str, int | float]]:
    yield from {
        f"{model.family}.{key}": number
        for key, number in {
            "block_count": model.layers + model.mtp,
            "context_length": model.window,
            "embedding_length": model.hidden,
            "feed_forward_length": model.inner,
            "attention.head_count": model.heads,
            "attention.head_count_kv": model.kv_heads,
            "attention.key_length": model.head_size,
            "attention.value_length": model.head_size,
            "rope.dimension_count": model.rotated or model.head_size,
            "rope.freq_base": model.rope_base,
            "attention.layer_norm_rms_epsilon": model.epsilon,
            "vocab_size": model.vocabulary,
            **(_multipliers(model) if model.family == "granite" else {}),
            **(_states(model) if model.recurrent else {}),
            **(_experts(model) if model.experts else {}),
        }.items()
    }.items()


def _states(model: Architecture) -> dict[str, int]:
    step = next(at for at in range(model.layers) if at not in model.recurrent) + 1
    return {
        "full_attention_interval": step,
        "ssm.conv_kernel": model.taps,
        "ssm.state_size": model.key_size,
        "ssm.group_count": model.key_heads,
        "ssm.time_step_rank": model.value_heads,
        "ssm.inner_size": model.value_heads * model.value_size,
        **({"nextn_predict_layers": 1} if model.mtp else {}),
    }


def _experts(model: Architecture) -> dict[str, int]:
    return {
        "expert_count": model.experts,
        "expert_used_count": model.chosen,
        "expert_feed_forward_length": model.inner,
        "expert_shared_feed_forward_length": model.inner,
    }


def _multipliers(model: Architecture) -> dict[str, float]:
    return {
        "embedding_scale": model.embedding_scale,
        "residual_scale": model.residual_scale,
        "attention.scale": model.attention_scale,
        "logit_scale": model.logit_scale,
    }


def _tokenizer(source: Path | None, size: int) -> dict[str, Any]:
    """The tokenizer's metadata, for exactly `size` tokens."""
    from specedit.models.tokenizer import byte_table

    if source is None:
        known: dict[str, Any] = {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "qwen2",
            "tokenizer.ggml.tokens": [*byte_table(), "in", "<|im_start|>", "<|im_end|>"],
            "tokenizer.ggml.token_type": [1] * 257 + [3] * 2,
            "tokenizer.ggml.merges": ["i n"],
            "tokenizer.ggml.eos_token_id": 258,
        }
    else:
        metadata = open_gguf(source).metadata
        known = {key: value for key, value in metadata.items() if key.startswith("tokenizer.")}
    tokens, kinds = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
    lacking = range(len(known[tokens]), size)
    known[tokens] = known[tokens][:size] + [f"[PAD{id}]" for id in lacking]
    known[kinds] = known[kinds][:size] + [5] * len(lacking)
    return known


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, help="GGUF file whose tokenizer is copied")
    parser.add_argument("--vocabulary", type=int, help="number of tokens")
    parser.add_argument("--layers", type=int, help="number of layers")
    parser.add_argument("--shard-tensors", type=int, default=0)
    parser.add_argument("--mtp", action="store_true", help="with a layer that predicts ahead")
    given = parser.parse_args()
    changes = {key: getattr(given, key) for key in ("vocabulary", "layers") if getattr(given, key)}
    model = replace(SHAPES[given.shape], **changes)
    kept = tuple(layer for layer in model.recurrent if layer < model.layers)
    model = replace(model, recurrent=kept, mtp=int(given.mtp))
    tied, shards = given.shape in TIED, given.shard_tensors
    for path in write(given.out, model, tokenizer=given.tokenizer, tied=tied, shard_tensors=shards):
        print(f"{path}: {path.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
