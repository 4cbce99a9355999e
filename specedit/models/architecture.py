"""Architectures: which families are known, their numbers, and what each tensor is for.

The one place for these facts; both engines read them here. GGUF's tensor names are the names used;
transformers' belong to them one to one. Rotary scaling is here too: its parameters have
transformers' names, and frequency i is divided by factor i.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import ModelError
from specedit.models import configuration
from specedit.models.configuration import Fields, Header

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from specedit.models.gguf import Gguf


KINDS = ("default", "linear", "llama3", "yarn")


def rope_of_folder(fields: Fields | None, window: int) -> dict[str, Any]:
    """Read `rope_parameters` or the older `rope_scaling` of a config.json."""
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


def rope_of_gguf(fields: Fields, window: int) -> dict[str, Any]:
    """Read `FAMILY.rope.scaling.…`. Llama 3's factors are a tensor, which is not read here."""
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


FAMILIES = (
    *("qwen2", "qwen3", "llama", "mistral", "ministral", "smollm3", "granite"),
    *("qwen3moe", "qwen35", "qwen35moe"),
)
HYBRID = ("qwen35", "qwen35moe")  # three of four layers are gated delta nets
WITH_EXPERTS = ("qwen3moe", "qwen35moe")
EXACT_ONLY = ("qwen3moe", *HYBRID)  # the generic engine does not run GGUF files of these
MAX_EXPERTS = 512  # of one layer
# A family's name in a config.json, where it is another one
_FOLDER_FAMILIES = {
    "qwen3_moe": "qwen3moe",
    **dict.fromkeys(("qwen3_5", "qwen3_5_text"), "qwen35"),
    **dict.fromkeys(("qwen3_5_moe", "qwen3_5_moe_text"), "qwen35moe"),
}
INTERLEAVED = ("llama", "smollm3", "granite")  # their GGUF files pair a head's rotating rows (0, 1)
LAYERS = 1_000  # no model has more
MAX_WINDOW = 1 << 20  # positions; a longer window is not used
OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
INNER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z",
    "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_beta": "linear_attn.in_proj_b",
    "ssm_conv1d": "linear_attn.conv1d",
    "ssm_dt": "linear_attn.dt_bias",  # these two have no ending there
    "ssm_a": "linear_attn.A_log",
    "ssm_norm": "linear_attn.norm",
    "ssm_out": "linear_attn.out_proj",
    "ffn_gate_inp": "mlp.gate",
    "ffn_gate_exps": "mlp.experts.gate_proj",
    "ffn_up_exps": "mlp.experts.up_proj",
    "ffn_down_exps": "mlp.experts.down_proj",
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
    "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj",
    "ffn_down_shexp": "mlp.shared_expert.down_proj",
}
MTP = {  # of a layer that predicts the id after the next one (multi-token prediction)
    "eh_proj": "fc",
    "enorm": "pre_fc_norm_embedding",
    "hnorm": "pre_fc_norm_hidden",
    "shared_head_norm": "norm",
}
_ENDINGS = {"dt_bias": "bias", "A_log": "weight"}  # of tensors whose names have none
_OTHER_NAMES = {"shared_mlp.output_linear": "ffn_down"}
ROPE_FACTORS = "rope_freqs.weight"  # Llama 3's, in GGUF files only
_GENERIC = "--engine huggingface"
_FOLDER = "Name the folder or hub id with the safetensors of this model instead."
_OUR_NAMES = {theirs: ours for ours, theirs in (OUTER | INNER | MTP).items()}
_GATE_AND_UP = ".shared_mlp.input_linear.weight"  # gate above up: Granite's layers next to experts
_EXPERTS = re.compile(
    r"(?:model\.(?:language_model\.)?layers\.([0-9]{1,6})|mtp\.layers\.0)\.mlp\.experts\."
    r"(?:([0-9]{1,6})\.)?(gate|up|down|gate_up)_proj(?:\.weight)?"
)
_LAYER = re.compile(r"(?:model\.(?:language_model\.)?layers\.([0-9]+)|mtp(?:\.layers\.0)?)\.(.+)")
_IMAGES = ("model.visual.", "visual.")
_DENSE_HYBRID = "granitemoehybrid"  # all its layers may be attention, without experts: Granite 4.0
_SMOLLM3_STEP = 4  # every fourth layer of SmolLM3 has no RoPE
MISTRAL_WINDOW = 4096  # positions, where its config.json does not name a window


@dataclass(frozen=True, slots=True)
class Architecture:
    """The numbers of one model of a known family, and what its tensors are."""

    family: str  # of FAMILIES
    layers: int
    hidden: int
    inner: int  # width of the gated layer
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    window: int
    epsilon: float
    rope_base: float
    head_norm: bool = False  # queries and keys are normalised per head (Qwen3)
    bias: bool = False  # queries, keys and values have a bias (Qwen2)
    rope_factors: tuple[float, ...] = ()  # each frequency is divided by its factor (Llama 3)
    rope_magnitude: float = 1.0  # 0: YaRN, which only transformers computes
    unrotated: tuple[int, ...] = ()  # layers without RoPE (SmolLM3)
    embedding_scale: float = 1.0  # Granite: rows of the embedding are multiplied by it,
    residual_scale: float = 1.0  # what attention and the gated layer add to a row by this,
    attention_scale: float = 0.0  # queries times keys by this (0: 1 / sqrt(head_size)),
    logit_scale: float = 1.0  # and logits are divided by this
    rotated: int = 0  # RoPE turns the first numbers of a head (0: all)
    output_gate: bool = False  # attention's outputs are gated; each head's gate follows its query
    # Gated delta nets: layers, heads, channels of a head, and inputs of the convolution
    recurrent: tuple[int, ...] = ()
    key_heads: int = 0
    value_heads: int = 0
    key_size: int = 0
    value_size: int = 0
    taps: int = 0
    tiled: bool = False  # value heads lie as GGUF files have them: the key heads again and again
    experts: int = 0  # of each layer, all of the width `inner`
    chosen: int = 0  # for one id
    shared: int = 0  # 1: one more is always taken
    unscaled: bool = False  # the weights of the chosen ones do not add up to 1
    mtp: int = 0  # 1: one more layer predicts the id after the next one

    @property
    def channels(self) -> int:
        """What goes through the convolution: queries, keys and values."""
        return 2 * self.key_heads * self.key_size + self.value_heads * self.value_size

    def folded(self) -> Architecture:
        """Return the numbers of a model without multipliers that computes the same, with weights
        times `factor`. Its rows are smaller by `embedding_scale`, which the norms take out again:
        the embedding, of 16 bits, stays as it is."""
        return replace(
            self,
            epsilon=self.epsilon / self.embedding_scale**2,
            embedding_scale=1.0,
            residual_scale=1.0,
            attention_scale=0.0,
            logit_scale=1.0,
        )

    def factor(self, name: str, *, head: bool = False) -> float:
        """Return what the weights of a tensor are multiplied with in the `folded` model; `head`:
        it is the output layer, whose tensor may be the embedding."""
        if head:
            return 1 / self.logit_scale
        if ".attn_q." in name and self.attention_scale:
            return self.attention_scale * math.sqrt(self.head_size)
        if ".attn_output." in name or ".ffn_down." in name:
            return self.residual_scale / self.embedding_scale
        return 1.0

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of a tensor of this model; None if the model has none of that name."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        match = re.fullmatch(r"(?:blk\.([0-9]{1,6})|mtp)\.(\w+)\.(weight|bias)", name)
        if match is None:
            table = (self.vocabulary, self.hidden)
            outer = {"token_embd": table, "output": table, "output_norm": (self.hidden,)}
            return outer.get(name.removesuffix(".weight")) if name.endswith(".weight") else None
        if match[1] is None:
            if not self.mtp:
                return None
            if match[2] in MTP and match[3] == "weight":
                return (self.hidden, 2 * self.hidden) if match[2] == "eh_proj" else (self.hidden,)
        elif int(match[1]) >= self.layers or str(int(match[1])) != match[1]:
            return None
        elif int(match[1]) in self.recurrent:
            return self._feed_forward(match[2], match[3]) or self._delta_net(match[2], match[3])
        gated = 2 if self.output_gate else 1
        heights = {"attn_q": gated * queries, "attn_k": keys, "attn_v": keys}
        if match[3] == "bias":
            return (heights[match[2]],) if self.bias and match[2] in heights else None
        inner: dict[str, tuple[int, ...]] = {
            **{part: (height, self.hidden) for part, height in heights.items()},
            "attn_output": (self.hidden, queries),
        }
        if self.head_norm:
            inner |= dict.fromkeys(("attn_q_norm", "attn_k_norm"), (self.head_size,))
        return inner.get(match[2]) or self._feed_forward(match[2], match[3])

    def _delta_net(self, part: str, kind: str) -> tuple[int, ...] | None:
        values = self.value_heads * self.value_size
        if kind == "bias":
            return (self.value_heads,) if part == "ssm_dt" else None
        return {
            "attn_qkv": (self.channels, self.hidden),
            "attn_gate": (values, self.hidden),
            "ssm_alpha": (self.value_heads, self.hidden),
            "ssm_beta": (self.value_heads, self.hidden),
            "ssm_conv1d": (self.channels, self.taps),
            "ssm_a": (self.value_heads,),
            "ssm_norm": (self.value_size,),
            "ssm_out": (self.hidden, values),
        }.get(part)

    def _feed_forward(self, part: str, kind: str) -> tuple[int, ...] | None:
        """Also the norms, which every layer has."""
        up, down = (self.inner, self.hidden), (self.hidden, self.inner)
        parts: dict[str, tuple[int, ...]] = dict.fromkeys(("attn_norm", "ffn_norm"), (self.hidden,))
        gated = {"ffn_gate": up, "ffn_up": up, "ffn_down": down}
        if not self.experts:
            parts |= gated
        else:
            parts |= {f"{name}_exps": (self.experts, *shape) for name, shape in gated.items()}
            parts["ffn_gate_inp"] = (self.experts, self.hidden)
        if self.shared:
            parts |= {f"{name}_shexp": shape for name, shape in gated.items()}
            parts["ffn_gate_inp_shexp"] = (self.hidden,)
        return parts.get(part) if kind == "weight" else None

    def names(self) -> Iterator[str]:
        """Every tensor the model must have; `output.weight` may be the embedding instead."""
        yield from ("token_embd.weight", "output_norm.weight")
        for block in (*(f"blk.{layer}" for layer in range(self.layers)), "mtp"):
            for part in (*MTP, *INNER):
                for kind in ("weight", "bias"):
                    if self.shape(name := f"{block}.{part}.{kind}"):
                        yield name


def check_tensors(
    path: Path,
    model: Architecture,
    tensors: Mapping[str, tuple[int, ...]],
    hint: str = _FOLDER,
    *,
    whole: bool = True,
) -> None:
    """Refuse weights that are not this model's: each tensor has its place and shape. They are all
    there unless they are not `whole`."""
    shown = their_name if path.is_dir() else str
    for name, shape in tensors.items():
        if name == ROPE_FACTORS or (name.startswith("mtp.") and not model.mtp):
            continue
        wanted = model.shape(name)
        if wanted is None:
            raise ModelError(f"{path}: a {model.family} model has no tensor {name}.", hint=hint)
        if shape != wanted:
            raise ModelError(f"{path}: tensor {shown(name)} has the shape {shape}, not {wanted}")
    for name in model.names() if whole else ():
        if name not in tensors:
            raise ModelError(f"{path} has no tensor {shown(name)}.", hint="Fetch the model again.")


def mtp_problem(path: Path, model: Architecture, tensors: Mapping[str, tuple[int, ...]]) -> str:
    """Why these tensors of a file or folder are no whole MTP layer, in words; empty: they are."""
    model = replace(model, mtp=1)
    for name in (*model.names(), *tensors):
        found, wanted = tensors.get(name), model.shape(name)
        if not name.startswith("mtp.") or found == wanted:
            continue
        if wanted is None:
            return f"its tensor {name} is not known"
        shown = their_name(name)
        if not path.is_dir():
            own = "nextn." if name.split(".")[1] in MTP else ""
            shown = name.replace("mtp.", f"blk.{model.layers}.{own}")
        if found is None:
            return f"it has no tensor {shown}"
        return f"its tensor {shown} has the shape {found}, not {wanted}"
    return ""


def with_mtp(
    path: Path, model: Architecture, tensors: Mapping[str, tuple[int, ...]]
) -> Architecture:
    """The model with its MTP layer, if all of that is among the tensors, or without one."""
    return replace(model, mtp=int(not mtp_problem(path, model, tensors)))


def text_only(file: Gguf) -> Gguf:
    """A GGUF file with the names that are used here. Of the layers that predict ahead, the first
    is kept."""
    family = str(file.metadata.get("general.architecture", ""))
    if family not in HYBRID:
        return file
    fields = Fields(file.path, file.metadata, f"{family}.")
    every = layers = fields.whole("block_count", most=LAYERS)
    ahead = "nextn_predict_layers"
    if fields.known.get(f"{family}.{ahead}", 0) != 0:
        layers -= fields.whole(ahead, most=layers - 1)
    tensors = {}
    for name, info in file.tensors.items():
        block = re.match(r"blk\.([0-9]{1,6})\.", name)
        if not block or int(block[1]) < layers or int(block[1]) == layers < every:
            ours = name.replace(".post_attention_norm.", ".ffn_norm.")
            if block and int(block[1]) == layers:
                ours = f"mtp.{ours[block.end() :].removeprefix('nextn.')}"
            tensors[f"{ours}.weight" if ours.endswith(".ssm_a") else ours] = info
    numbers = {f"{family}.block_count": layers, f"{family}.{ahead}": 0}
    return replace(file, tensors=tensors, metadata={**file.metadata, **numbers})


def gguf_family(file: Gguf) -> str:
    """The family of a GGUF file, which must be one that can be read, without a sliding window."""
    family = Fields(file.path, file.metadata).text("general.architecture", "unknown")
    if family not in FAMILIES:
        raise unknown_family(file.path, family)
    fields = Fields(file.path, file.metadata, f"{family}.")
    window = fields.whole("attention.sliding_window", 2**62, most=2**62)
    if window < fields.whole("context_length", 1, most=2**62):
        raise ModelError(
            f"{file.path} ({family}) attends through a sliding window of {window:,}, which is not "
            "supported in GGUF files.",
            hint=_FOLDER,
        )
    return family


def of_gguf(file: Gguf) -> Architecture:
    """The numbers of a GGUF file, checked against its tensors."""
    family = gguf_family(file)
    file = text_only(file)
    fields = Fields(file.path, file.metadata, f"{family}.")
    table = file.tensors.get("token_embd.weight")
    if table is None or len(table.shape) != 2:
        what = "has no tensor token_embd.weight: it is not a language model"
        raise ModelError(f"{file.path} {what}.", hint=_FOLDER)
    if not fields.truth("rope.scaling.finetuned", True) and family == "granite":
        raise unknown(fields, "none")
    parameters, base = gguf_rope(file), fields.real("rope.freq_base", 10000.0)
    result = _numbers(fields, 0, family, base, parameters, table.shape[0])
    if family in HYBRID:
        result = replace(result, tiled=True)
    for key in ("attention.value_length", *(() if family in HYBRID else ("rope.dimension_count",))):
        if fields.whole(key, result.head_size) != result.head_size:
            raise fields.wrong(key, f"{result.head_size}, all of a head,")
    if ROPE_FACTORS in file.tensors:
        if parameters["rope_type"] != "default":
            raise unknown(fields, f"{parameters['rope_type']} next to {ROPE_FACTORS}")
        result = replace(result, rope_factors=_factors(file, result.head_size))
    result = replace(result, bias=result.bias or "blk.0.attn_q.bias" in file.tensors)
    shapes = {name: info.shape for name, info in file.tensors.items()}
    result = with_mtp(file.path, result, shapes) if family in HYBRID else result
    check_tensors(file.path, result, shapes)
    return result


def gguf_rope(file: Gguf) -> dict[str, Any]:
    """The parameters of a GGUF file's rotary scaling, by transformers' names."""
    family = str(file.metadata["general.architecture"])
    window = Fields(file.path, file.metadata, f"{family}.").whole("context_length", most=2**32)
    return rope_of_gguf(Fields(file.path, file.metadata, f"{family}.rope.scaling."), window)


def of_folder(path: Path) -> Architecture:
    """The numbers of a folder's config.json."""
    fields = Fields(path / "config.json", configuration.check_folder(path))
    family = fields.text("model_type", "unknown")
    layers = {*fields.texts("layer_types")}
    if dense := is_dense_hybrid(family, layers):
        family = "granite"
    family = _FOLDER_FAMILIES.get(family, family)
    if family not in FAMILIES:
        raise unknown_family(path, family, _GENERIC)
    if family in HYBRID:
        fields = fields.inside("text_config") or fields
        layers = {*fields.texts("layer_types")}
    rotated = not dense or fields.text("position_embedding_type", "") == "rope"
    unusual = {
        "experts": dense and fields.known.get("num_local_experts", 1) != 0,
        "no RoPE": not rotated,
        "weights that are quantised already": fields.has("quantization_config"),
        "a sliding window": _slides(fields, family, layers),
        "layers without experts": family in WITH_EXPERTS
        and bool(fields.known.get("mlp_only_layers") or fields.whole("decoder_sparse_step", 1) > 1),
        "a bias in the gated layer": fields.truth("mlp_bias", False),
        "a bias of attention's output": family != "qwen2" and fields.truth("attention_bias", False),
    }
    for what in (what for what, result in unusual.items() if result):
        raise ModelError(f"{path} has {what}, which is not supported.", hint=_GENERIC)
    scaling = fields.inside("rope_parameters") or fields.inside("rope_scaling")
    base = fields.real("rope_theta", 10000.0)
    if scaling is not None:
        base = scaling.real("rope_theta", base)
    parameters = rope_of_folder(scaling, fields.whole("max_position_embeddings", most=2**32))
    result = _numbers(fields, 1, family, base, parameters, fields.whole("vocab_size"))
    if dense:
        result = replace(result, inner=fields.whole("shared_intermediate_size"))
    ahead = "mtp_num_hidden_layers"
    if family in HYBRID and fields.known.get(ahead) not in (None, 0):
        result = replace(result, mtp=min(fields.whole(ahead), 1))
    return result


def _slides(fields: Fields, family: str, layers: set[str]) -> bool:
    """Whether a layer attends through a window that is shorter than the model's."""
    if layers or not fields.truth("use_sliding_window", family not in ("qwen2", "qwen3")):
        return bool(layers & {"sliding_attention", "chunked_attention"})
    window = fields.known.get("sliding_window")
    if family == "mistral" and "sliding_window" not in fields.known:
        window = MISTRAL_WINDOW
    if window in (None, 0):
        return False
    if type(window) is not int or not 0 < window <= 2**62:
        raise fields.wrong("sliding_window", "a number of positions")
    return window < fields.whole("max_position_embeddings", window + 1, most=2**62)


# a field's key in a GGUF file, and in a config.json
_KEYS = {
    "layers": ("block_count", "num_hidden_layers"),
    "hidden": ("embedding_length", "hidden_size"),
    "inner": ("feed_forward_length", "intermediate_size"),
    "heads": ("attention.head_count", "num_attention_heads"),
    "kv_heads": ("attention.head_count_kv", "num_key_value_heads"),
    "head_size": ("attention.key_length", "head_dim"),
    "window": ("context_length", "max_position_embeddings"),
    "epsilon": ("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
}
_MULTIPLIERS = {  # of Granite
    "embedding_scale": ("embedding_scale", "embedding_multiplier"),
    "residual_scale": ("residual_scale", "residual_multiplier"),
    "attention_scale": ("attention.scale", "attention_multiplier"),
    "logit_scale": ("logit_scale", "logits_scaling"),
}


def _numbers(
    fields: Fields, kind: int, family: str, base: float, parameters: dict[str, Any], vocabulary: int
) -> Architecture:
    """The numbers under the keys of one `kind` of file."""
    key = {field: keys[kind] for field, keys in _KEYS.items()}
    heads, hidden = fields.whole(key["heads"]), fields.whole(key["hidden"])
    size = fields.whole(key["head_size"], hidden // heads or None, most=1 << 14)
    kv_heads = fields.whole(key["kv_heads"], heads)
    if heads % kv_heads or size % 2:
        raise ModelError(
            f"{fields.path}: attention with {heads} heads of {size} over {kv_heads} key heads "
            "cannot be computed.",
            hint=_FOLDER,
        )
    layers = fields.whole(key["layers"], most=LAYERS)
    if family in WITH_EXPERTS:
        key["inner"] = ("expert_feed_forward_length", "moe_intermediate_size")[kind]
    hybrid = _hybrid(fields, kind, layers, size) if family in HYBRID else {}
    inner = fields.whole(key["inner"])
    experts = _experts(fields, kind, family, inner) if family in WITH_EXPERTS else {}
    scales: dict[str, Any] = {}
    if family == "granite":
        scales = {name: fields.real(keys[kind], 1.0) for name, keys in _MULTIPLIERS.items()}
        if kind == 0 and not fields.has("attention.scale"):
            scales["attention_scale"] = 0.0
    return Architecture(
        family=family,
        layers=layers,
        hidden=hidden,
        inner=inner,
        heads=heads,
        kv_heads=kv_heads,
        head_size=size,
        vocabulary=vocabulary,
        window=min(fields.whole(key["window"], most=2**32), MAX_WINDOW),
        epsilon=fields.real(key["epsilon"]),
        rope_base=base,
        head_norm=family in ("qwen3", *EXACT_ONLY),
        bias=family == "qwen2",
        rope_factors=factors(parameters, base, hybrid.get("rotated", size)),
        rope_magnitude=0.0 if parameters["rope_type"] == "yarn" else 1.0,
        unrotated=_unrotated(fields, layers) if family == "smollm3" else (),
        **scales,
        **hybrid,
        **experts,
    )


def _hybrid(fields: Fields, kind: int, layers: int, size: int) -> dict[str, Any]:
    """The numbers of gated delta nets, and of the attention next to them."""
    keys = {
        "key_heads": ("ssm.group_count", "linear_num_key_heads"),
        "value_heads": ("ssm.time_step_rank", "linear_num_value_heads"),
        "key_size": ("ssm.state_size", "linear_key_head_dim"),
        "value_size": ("ssm.state_size", "linear_value_head_dim"),
        "taps": ("ssm.conv_kernel", "linear_conv_kernel_dim"),
    }
    found: dict[str, Any] = {name: fields.whole(key[kind]) for name, key in keys.items()}
    step = fields.whole("full_attention_interval", 4)
    recurrent = tuple(layer for layer in range(layers) if (layer + 1) % step)
    if kind == 0:
        values = found["value_heads"] * found["value_size"]
        if fields.whole("ssm.inner_size", values) != values:
            raise fields.wrong("ssm.inner_size", f"{values}, of all value heads,")
        rotated = fields.whole("rope.dimension_count", size // 4)
    else:
        if kinds := fields.texts("layer_types"):
            if len(kinds) < layers or not {*kinds} <= {"linear_attention", "full_attention"}:
                raise fields.wrong("layer_types", "linear_attention or full_attention of each")
            recurrent = tuple(at for at in range(layers) if kinds[at] == "linear_attention")
        if not fields.truth("attn_output_gate", True):
            raise fields.wrong("attn_output_gate", "true")
        inside = fields.inside("rope_parameters") or fields
        rotated = int(size * inside.real("partial_rotary_factor", 0.25))
    if not 2 <= rotated <= size or rotated % 2:
        raise ModelError(f"{fields.path}: RoPE cannot turn {rotated} of {size} numbers of a head")
    return {**found, "recurrent": recurrent, "rotated": rotated, "output_gate": True}


def _experts(fields: Fields, kind: int, family: str, inner: int) -> dict[str, Any]:
    """The numbers of a mixture of experts."""
    count = "expert_count"
    if kind == 1:
        count = "num_experts" if fields.has("num_experts") else "num_local_experts"
    used = ("expert_used_count", "num_experts_per_tok")[kind]
    size = ("expert_shared_feed_forward_length", "shared_expert_intermediate_size")[kind]
    experts = fields.whole(count, most=MAX_EXPERTS)
    shared = int(family in HYBRID)
    if shared and fields.whole(size) != inner:
        raise fields.wrong(size, f"{inner}, as of the other experts,")
    unscaled = kind == 1 and not shared and not fields.truth("norm_topk_prob", False)
    chosen = fields.whole(used, most=experts)
    return {"experts": experts, "chosen": chosen, "shared": shared, "unscaled": unscaled}


def _unrotated(fields: Fields, layers: int) -> tuple[int, ...]:
    """Return the layers without RoPE: those that a list names by 0, or each of so many."""
    stated = fields.known.get("no_rope_layers")
    if stated is None:
        step = fields.whole("no_rope_layer_interval", _SMOLLM3_STEP)
        return tuple(range(step - 1, layers, step))
    if not isinstance(stated, list) or len(stated) < layers or not {*stated} <= {0, 1}:
        raise fields.wrong("no_rope_layers", "a list of 0 and 1")
    return tuple(layer for layer in range(layers) if not stated[layer])


def unknown_family(path: Path, family: str, hint: str = _FOLDER) -> ModelError:
    """The error for an unknown family: which are known, and which is near."""
    near = difflib.get_close_matches(family, FAMILIES, n=1)
    return ModelError(
        f"{path} is a model of the family {family[:60]!r}; {', '.join(FAMILIES)} can be read"
        + (f" (near: {near[0]})" if near else ""),
        hint=hint,
    )


def is_dense_hybrid(family: str, layer_types: Iterable[str]) -> bool:
    """Whether a family with recurrent layers has none in this model."""
    kinds = {*layer_types}
    return family == _DENSE_HYBRID and bool(kinds) and kinds <= {"attention", "full_attention"}


def their_name(name: str) -> str:
    """The name of a tensor in transformers."""
    stem, _, kind = name.rpartition(".")
    if stem in OUTER:
        return f"{OUTER[stem]}.{kind}"
    block, _, part = stem.rpartition(".")
    if block == "mtp" and part not in INNER:
        return f"mtp.{MTP.get(part, part)}.{kind}"
    theirs = f"{block.replace('blk', 'model.layers').replace('mtp', 'mtp.layers.0')}.{INNER[part]}"
    return theirs if theirs.rpartition(".")[2] in _ENDINGS else f"{theirs}.{kind}"


def our_name(name: str) -> str:
    """The name of a tensor that transformers calls `name`; what is unknown keeps its own."""
    name = name.replace("model.language_model.", "model.", 1)
    stem, _, kind = name.rpartition(".")
    if kind in _ENDINGS:
        stem, kind = name, _ENDINGS[kind]
    layer = _LAYER.fullmatch(stem)
    if layer and (part := _OUR_NAMES.get(layer[2]) or _OTHER_NAMES.get(layer[2])):
        return f"blk.{layer[1]}.{part}.{kind}" if layer[1] else f"mtp.{part}.{kind}"
    return f"{_OUR_NAMES[stem]}.{kind}" if stem in OUTER.values() else name


def our_headers(known: Mapping[str, Header]) -> dict[str, Header]:
    """The tensors of a folder by their names here; gate and up in one tensor become two, the same
    of all experts one. What is not of the text is left out."""
    results: dict[str, Header] = {}
    experts: dict[str, dict[int, Header]] = {}
    for name, header in known.items():
        if name.startswith(_IMAGES):
            continue
        name = name.removeprefix("model.") if name.startswith("model.mtp.") else name
        if match := _EXPERTS.fullmatch(name):
            block = f"blk.{match[1]}" if match[1] else "mtp"
            for part, number, piece in _pieces(match[3], int(match[2] or -1), header):
                experts.setdefault(f"{block}.ffn_{part}_exps.weight", {})[number] = piece
            continue
        layer = re.fullmatch(r"model\.layers\.([0-9]+)" + re.escape(_GATE_AND_UP), name)
        if layer and len(header.shape) == 2 and header.shape[0] % 2 == 0:
            size, shape = header.nbytes // 2, (header.shape[0] // 2, header.shape[1])
            for part, offset in (("gate", header.offset), ("up", header.offset + size)):
                half = replace(header, shape=shape, nbytes=size, offset=offset)
                results[f"blk.{layer[1]}.ffn_{part}.weight"] = half
        else:
            sizes = header.shape
            if len(sizes) > 1:  # a convolution has one input for each channel
                sizes = tuple(size for size in sizes if size != 1) or (1,)
            results[our_name(name)] = replace(header, shape=sizes)
    for name, pieces in experts.items():
        first = next(iter(pieces.values()))
        for number, piece in pieces.items():
            if piece.shape != first.shape:
                raise ModelError(
                    f"{piece.file}: expert {number} of {their_name(name)} has the shape "
                    f"{piece.shape}, and another {first.shape}"
                )
        count = len(pieces) if {*pieces} == {*range(len(pieces))} else 0
        every = tuple(pieces[number] for number in range(count))
        results[name] = replace(first, shape=(count, *first.shape), pieces=every)
    return results


def _pieces(part: str, number: int, header: Header) -> Iterator[tuple[str, int, Header]]:
    """The experts' parts in a tensor, which has one of them, or all one after the other."""
    if number >= 0 or len(header.shape) != 3:
        yield part, number, header
        return
    count, height, width = header.shape
    names = ("gate", "up") if part == "gate_up" else (part,)
    size = header.nbytes // max(count * len(names), 1)
    for at in range(count * len(names)):
        offset, shape = header.offset + at * size, (height // len(names), width)
        piece = replace(header, shape=shape, nbytes=size, offset=offset)
        yield names[at % len(names)], at // len(names), piece


def interleaved(model: Architecture, name: str) -> bool:
    """Whether a GGUF file pairs the rotating rows of this tensor's heads."""
    return model.family in INTERLEAVED and bool(re.fullmatch(r"blk\.\d+\.attn_[qk]\.\w+", name))


def rows(
    file: Gguf, model: Architecture, name: str, start: int = 0, stop: int | None = None
) -> npt.NDArray[np.float32]:
    """Rows of a GGUF tensor as float32, each head's rotating rows in halves, as engines want them.

    `start` and `stop` lie between heads.
    """
    result = file.rows(name, start, stop)
    if not interleaved(model, name):
        return result
    columns = result.shape[-1] if len(file.tensors[name].shape) > 1 else 1
    pairs = result.reshape(-1, model.head_size // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(result.shape)


def _factors(file: Gguf, size: int) -> tuple[float, ...]:
    info = file.tensors[ROPE_FACTORS]
    if info.shape != (size // 2,):
        raise ModelError(f"{file.path}: {ROPE_FACTORS} has the shape {info.shape}, not {size // 2}")
    factors = tuple(float(factor) for factor in file.rows(ROPE_FACTORS).reshape(-1))
    if not all(1e-6 < factor < 1e6 for factor in factors):
        raise ModelError(f"{file.path}: {ROPE_FACTORS} holds factors out of range")
    return factors
