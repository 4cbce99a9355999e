"""A model's numbers and float32 tensors, from a GGUF file or a folder of safetensors.

Knows both naming schemes (GGUF's is used for both) and which families the exact engine runs.
Does not quantise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.engines.exact.safetensors import TYPES, Tensor, open_safetensors
from specedit.engines.exact.weights import Config
from specedit.errors import ModelError
from specedit.models.files import ModelFiles
from specedit.models.gguf import Gguf, open_gguf

FAMILIES = ("qwen2", "qwen3", "llama")
FOLDER_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

    Reader = Callable[[str, int, int | None], Array]


@dataclass(frozen=True)
class Checkpoint:
    """Numbers, tensor names with row counts, and how to read rows as float32."""

    path: Path
    config: Config
    tensors: dict[str, int]
    rows: Reader
    release: Callable[[str], None]

    def matrix(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """Rows of a weight."""
        if name not in self.tensors:
            raise ModelError(f"{self.path} has no tensor {name}.", hint="specedit model verify")
        return self.rows(name, start, stop)

    def vector(self, name: str) -> Array:
        return self.matrix(name).reshape(-1)


def unsupported(files: ModelFiles) -> str | None:
    """Why the exact engine cannot run this model, in words; None when it can."""
    try:
        if files.kind == "gguf":
            _gguf_config(open_gguf(files.path, arrays=False))
        else:
            _folder_config(files.path)
    except ModelError as error:
        return error.message
    return None


def open_checkpoint(files: ModelFiles) -> Checkpoint:
    """Open a model for conversion."""
    found = _open_gguf(files.path) if files.kind == "gguf" else _open_folder(files.path)
    known = re.compile(
        r"(token_embd|output_norm|output)\.weight|blk\.\d+\.(attn_(q|k|v)\.(weight|bias)|"
        r"attn_(norm|q_norm|k_norm|output)\.weight|ffn_(norm|gate|up|down)\.weight)"
    )
    for name in found.tensors:
        if name != "rope_freqs.weight" and not known.fullmatch(name):
            raise ModelError(
                f"{files.path}: the exact engine does not know what tensor {name} is for.",
                hint="--engine huggingface",
            )
    return found


def _family(family: str) -> str:
    if family not in FAMILIES:
        raise ModelError(
            f"the exact engine runs {', '.join(FAMILIES)}; this model is {family}",
            hint="--engine huggingface",
        )
    return family


def _gguf_config(file: Gguf) -> Config:
    meta = file.metadata
    family = _family(str(meta.get("general.architecture")))

    def number(key: str, default: Any = None) -> Any:
        value = meta.get(f"{family}.{key}", default)
        if value is None:
            raise ModelError(f"{file.path}: the metadata lacks {family}.{key}.")
        return value

    if meta.get(f"{family}.rope.scaling.type", "none") != "none":
        raise ModelError(
            f"{file.path}: rotary scaling {meta[f'{family}.rope.scaling.type']} is not supported",
            hint="--engine huggingface",
        )
    heads, hidden = number("attention.head_count"), number("embedding_length")
    factors: tuple[float, ...] = ()
    if "rope_freqs.weight" in file.tensors:
        factors = tuple(float(f) for f in file.vector("rope_freqs.weight"))
    return Config(
        family=family,
        layers=number("block_count"),
        hidden=hidden,
        inner=number("feed_forward_length"),
        heads=heads,
        kv_heads=number("attention.head_count_kv", heads),
        head_size=number("attention.key_length", hidden // heads),
        vocabulary=file.tensors["token_embd.weight"].rows if file.tensors else 0,
        window=number("context_length"),
        epsilon=number("attention.layer_norm_rms_epsilon"),
        rope_base=number("rope.freq_base", 10000.0),
        head_norm="blk.0.attn_q_norm.weight" in file.tensors,
        bias="blk.0.attn_q.bias" in file.tensors,
        rope_factors=factors,
    )


def _open_gguf(path: Path) -> Checkpoint:
    file = open_gguf(path, arrays=False)
    if "token_embd.weight" not in file.tensors:
        raise ModelError(f"{path} has no tensor token_embd.weight: it is not a language model.")
    config = _gguf_config(file)
    turned = {"attn_q": config.heads, "attn_k": config.kv_heads} if config.family == "llama" else {}

    def rows(name: str, start: int, stop: int | None) -> Array:
        found: Array = file.rows(name, start, stop)
        heads = turned.get(name.split(".")[-2]) if name.startswith("blk.") else None
        if heads:  # llama GGUF files interleave the halves of each head
            shape = found.shape
            flat = found.reshape(heads, shape[0] // heads // 2, 2, -1)
            found = flat.transpose(0, 2, 1, 3).reshape(shape)
        return found

    return Checkpoint(
        path, config, {n: t.rows for n, t in file.tensors.items()}, rows, file.release
    )


def _folder_config(path: Path) -> Config:
    try:
        known = json.loads((path / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path / 'config.json'} cannot be read: {error}.") from error
    family = _family(str(known.get("model_type")))
    rope = known.get("rope_parameters") or known.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3") or known.get("use_sliding_window"):
        raise ModelError(
            f"{path}: {kind} rotary scaling or a sliding window is not supported",
            hint="--engine huggingface",
        )
    heads = known["num_attention_heads"]
    size = known.get("head_dim") or known["hidden_size"] // heads
    base = float(rope.get("rope_theta") or known.get("rope_theta") or 10000.0)
    return Config(
        family=family,
        layers=known["num_hidden_layers"],
        hidden=known["hidden_size"],
        inner=known["intermediate_size"],
        heads=heads,
        kv_heads=known.get("num_key_value_heads") or heads,
        head_size=size,
        vocabulary=known["vocab_size"],
        window=known["max_position_embeddings"],
        epsilon=known["rms_norm_eps"],
        rope_base=base,
        head_norm=family == "qwen3",
        bias=family == "qwen2" or bool(known.get("attention_bias")),
        rope_factors=_llama3_factors(rope, base, size) if kind == "llama3" else (),
    )


def _llama3_factors(rope: dict[str, Any], base: float, size: int) -> tuple[float, ...]:
    """How much slower each frequency turns in Llama 3.1 and later."""
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for i in range(size // 2):
        turns = rope["original_max_position_embeddings"] / (
            6.283185307179586 * base ** (2 * i / size)
        )
        smooth = min(1.0, max(0.0, (turns - low) / (high - low)))
        factors.append(1.0 / ((1 - smooth) / rope["factor"] + smooth))
    return tuple(factors)


def _open_folder(path: Path) -> Checkpoint:
    config = _folder_config(path)
    places: dict[str, tuple[Tensor, str]] = {}
    try:
        for part in sorted(path.glob("*.safetensors")):
            for name, tensor in open_safetensors(part).items():
                places[_gguf_name(name)] = (tensor, name)
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} has a damaged safetensors file: {error}.") from error
    if not places:
        raise ModelError(f"{path} has no safetensors file.", hint="Name another folder.")

    def rows(name: str, start: int, stop: int | None) -> Array:
        tensor, theirs = places[name]
        if tensor.type not in TYPES:
            raise ModelError(
                f"{path}: tensor {theirs} has type {tensor.type}, which cannot be read."
            )
        return tensor.read(start, stop)

    tensors = {name: tensor.rows for name, (tensor, _) in places.items()}
    return Checkpoint(path, config, tensors, rows, lambda name: None)


def _gguf_name(name: str) -> str:
    stem, _, kind = name.rpartition(".")
    if found := re.fullmatch(r"model\.layers\.(\d+)\.(.+)", stem):
        return f"blk.{found[1]}.{FOLDER_NAMES.get(found[2], found[2])}.{kind}"
    return f"{FOLDER_NAMES.get(stem, stem)}.{kind}"
