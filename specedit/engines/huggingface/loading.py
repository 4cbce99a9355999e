"""transformers' model of a folder or of a GGUF file, on its device.

A model is checked before its weights are read: what would run code, does not fit on the card, or
has names and shapes that do not belong together is refused. GGUF tensors come from our reader under
transformers' names, and are dequantised on the device: transformers itself is slower.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from specedit.engines.huggingface.dequantize import MOST_NUMBERS, dequantize
from specedit.engines.huggingface.engine import HuggingFaceEngine
from specedit.errors import ModelError, SpeceditError, UsageError
from specedit.models import architecture, configuration
from specedit.models.adapter import merged
from specedit.models.architecture import LAYERS, Architecture
from specedit.models.gguf import Gguf, open_gguf, read
from specedit.models.store import AdapterFiles, ModelFiles

MAX_BUFFER_NUMBERS = 1 << 28  # most numbers of a model's buffers
INT4_GROUP = 128  # weights with one scale
BYTES_PER_WEIGHT = {"": 2.0, "int8": 1.01, "int4": 0.54}  # of linear layers, with their scales
CACHED_POSITIONS = 8192
WORKING_BYTES = 1.2e9  # of torch's context and a pass
CHECK = "Check the files (specedit model verify), or use another --model."
_COUNTED = re.compile(r"(layers?|experts|blocks|depth)$")


def pick_device(wanted: str) -> str:
    """The device to use; an error where it is not available."""
    has = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if wanted == "auto":
        return next(d for d in ("cuda", "mps", "cpu") if has[d])
    if not has[wanted]:
        raise UsageError(f"torch finds no {wanted} device.", hint="Use --device cpu, or auto.")
    return wanted


def pick_dtype(device: str) -> torch.dtype:
    """bf16 where the device likes it."""
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device == "mps":
        return torch.float16
    fast = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)()
    return torch.bfloat16 if fast else torch.float32


def open_huggingface(
    files: ModelFiles, *, device: str = "auto", threads: int | None = None, weights: str = "auto"
) -> HuggingFaceEngine:
    """Load the model of `files`; a GGUF file is dequantised. `weights`: int8 or int4 on a card."""
    if threads:
        torch.set_num_threads(threads)
    where = pick_device(device)
    kind = "" if weights == "auto" else weights
    if kind:
        check_quantisation(kind, where)
    model = load(files, pick_dtype(where), where, kind)
    return HuggingFaceEngine(model, weights=kind)


def load(files: ModelFiles, dtype: torch.dtype, device: str = "cpu", weights: str = "") -> Any:
    """transformers' model of `files`, on the device."""
    os.environ.setdefault("USE_HUB_KERNELS", "NO")  # else a config.json can name code to fetch
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with errors_of(files):
        if files.kind == "gguf":
            model = build(files.path, dtype, device, weights, files.adapter)
        else:
            model = _of_folder(files, dtype, device, weights)
        return model.eval()


@contextlib.contextmanager
def errors_of(files: ModelFiles) -> Iterator[None]:
    """Whatever a file makes transformers raise becomes a `ModelError` about the file."""
    try:
        yield
    except SpeceditError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        raise ModelError(
            f"{files.path} cannot be loaded by transformers: {type(error).__name__}: {reason}",
            hint="Close other programs, or use a smaller --model."
            if isinstance(error, MemoryError)
            else CHECK,
        ) from error


def _of_folder(files: ModelFiles, dtype: torch.dtype, device: str, weights: str) -> Any:
    """The model of a safetensors folder: no code of its own, no pickle, no weight made up."""
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = files.path
    safe = {"trust_remote_code": False, "local_files_only": True}
    known = configuration.check_folder(folder)
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{files.name} was converted for the exact engine, which keeps nothing else of it",
            hint="Use --device cpu, or remove the model and pull it with this device and engine.",
        )
    stored = sum(header.nbytes for header in configuration.headers(folder).values())
    _check_layers(folder, known)
    config = AutoConfig.from_pretrained(str(folder), **safe)
    # The engine's choice, not the file's: a file may name an implementation on the hub.
    config._attn_implementation = config._experts_implementation = None
    with torch.device("meta"):
        hollow = AutoModelForCausalLM.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    numbers = sum(tensor.numel() for tensor in hollow.parameters())
    tables = sum(tensor.numel() for tensor in hollow.buffers())
    if numbers > 4 * stored or tables > MAX_BUFFER_NUMBERS:  # four bits a number are the fewest
        raise ModelError(
            f"{folder / 'config.json'} describes a model of {max(numbers, tables):,} numbers; "
            f"the safetensors files hold {stored:,} bytes",
            hint=CHECK,
        )
    check_memory(folder, hollow, device, weights)
    how: Any = {"config": config, "dtype": dtype, "use_safetensors": True, **safe}
    loaded: Any = AutoModelForCausalLM.from_pretrained(str(folder), output_loading_info=True, **how)
    model, report = loaded
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder} lacks {len(missing)} of the model's tensors ({', '.join(missing[:3])}, …)",
            hint=CHECK,
        )
    state = model.state_dict()
    dict(merged(state.items(), state, files.adapter))
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    for part in model.modules() if weights else ():
        if isinstance(part, torch.nn.Linear) and part.weight is not embedding.weight:
            _quantise(part.to(device), weights, head=part is head)
    return model.to(device)


def _check_layers(folder: Path, known: Mapping[str, Any]) -> None:
    """Refuse numbers of layers or experts that no model has, before any is made."""
    for key, value in known.items():
        if isinstance(value, dict):
            _check_layers(folder, value)
        elif _COUNTED.search(key) and isinstance(value, int) and value > LAYERS:
            raise ModelError(f"{folder / 'config.json'}: {key} is {value}; no model has so many")


def build(
    path: Path,
    dtype: torch.dtype,
    device: str = "cpu",
    weights: str = "",
    adapter: AdapterFiles | None = None,
) -> Any:
    """The model of a GGUF file, dequantised to `dtype` on the device."""
    from transformers import AutoConfig, AutoModelForCausalLM

    gguf = open_gguf(path, arrays=False)
    result = architecture.of_gguf(gguf)
    if result.family in architecture.EXACT_ONLY:
        raise ModelError(
            f"{path}: a GGUF file of the family {result.family} runs on the exact engine alone.",
            hint="Use --engine exact, on the CPU.",
        )
    tied = "output.weight" not in gguf.tensors
    numbers = _numbers(result)
    numbers["rope_parameters"] |= architecture.gguf_rope(gguf)
    config = AutoConfig.for_model(result.family, **numbers, tie_word_embeddings=tied)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    check_memory(path, model, device, weights)
    missing = {name for name, _ in model.named_parameters()}
    state = _state(gguf, result, dtype, device)
    for name, tensor in merged(state, model.state_dict(), adapter):
        missing.discard(name)
        holder, _, kind = name.rpartition(".")
        module = model.get_submodule(holder)
        setattr(module, kind, torch.nn.Parameter(tensor, requires_grad=False))
        if weights and isinstance(module, torch.nn.Linear) and kind == "weight":
            _quantise(module, weights, head=name.startswith("lm_head"))
    model.tie_weights()
    if missing - ({"lm_head.weight"} if tied else set()):
        raise ModelError(f"{path} has no tensor for {min(missing)}.", hint="Fetch it again.")
    _fill_buffers(model, result)
    return model.to(device)


def _numbers(model: Architecture) -> dict[str, Any]:
    config = {
        "hidden_size": model.hidden,
        "intermediate_size": model.inner,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": model.head_size,
        "vocab_size": model.vocabulary,
        "max_position_embeddings": model.window,
        "rms_norm_eps": model.epsilon,
        "rope_parameters": {"rope_theta": model.rope_base},
    }
    if model.family == "qwen2":  # it always has the bias
        return config
    if model.family == "granite":
        config |= {
            "embedding_multiplier": model.embedding_scale,
            "residual_multiplier": model.residual_scale,
            "attention_multiplier": model.attention_scale or model.head_size**-0.5,
            "logits_scaling": model.logit_scale,
        }
    if model.family in ("mistral", "ministral"):  # theirs has one by default
        config |= {"sliding_window": None}
    if model.family == "smollm3":
        rotated = [int(layer not in model.unrotated) for layer in range(model.layers)]
        config |= {"no_rope_layers": rotated, "pad_token_id": None}
    return {**config, "attention_bias": model.bias}


def _state(
    gguf: Gguf, numbers: Architecture, dtype: torch.dtype, device: str
) -> Iterator[tuple[str, Any]]:
    for name in gguf.tensors:
        if name != architecture.ROPE_FACTORS:
            yield architecture.their_name(name), _tensor(gguf, numbers, name, dtype, device)
    if numbers.bias and numbers.family != "qwen2":  # transformers wants one after attention, too
        for layer in range(numbers.layers):
            yield (
                f"model.layers.{layer}.self_attn.o_proj.bias",
                torch.zeros(numbers.hidden, dtype=dtype, device=device),
            )


def _tensor(
    gguf: Gguf, numbers: Architecture, name: str, dtype: torch.dtype, device: str
) -> torch.Tensor:
    """A tensor of a GGUF file: its bytes are copied to the device as they are."""
    info = gguf.tensors[name]
    step = max(1, MOST_NUMBERS // info.shape[-1])
    result = torch.empty(info.rows, info.shape[-1], dtype=dtype, device=device)
    for start in range(0, info.rows, step):
        stop = min(start + step, info.rows)
        at, size = info.offset + start * info.row_bytes, (stop - start) * info.row_bytes
        raw = torch.frombuffer(read(gguf.files[info.part], at, size), dtype=torch.uint8)
        result[start:stop] = dequantize(raw.to(device), info.type_name).view(stop - start, -1)
    result = result.view(info.shape)
    if architecture.interleaved(numbers, name):
        pairs = result.view(-1, numbers.head_size // 2, 2, *info.shape[1:])
        result = pairs.transpose(1, 2).reshape(info.shape)
    return result


def _fill_buffers(model: Any, numbers: Architecture) -> None:
    """Compute RoPE tables, which no file holds; Llama 3's factors are a tensor of a GGUF file."""
    for module in model.modules():
        if hasattr(module, "inv_freq") and module.inv_freq.is_meta:
            fresh = type(module)(module.config)
            if numbers.rope_factors and module.config.rope_parameters["rope_type"] == "default":
                fresh.inv_freq /= torch.tensor(numbers.rope_factors)
            for name, _ in fresh.named_buffers(recurse=False):
                module.register_buffer(name, fresh.inv_freq.clone(), persistent=False)
            module.attention_scaling = fresh.attention_scaling


def check_quantisation(weights: str, device: str) -> None:
    if device != "cuda":
        here = f"the exact engine or a card, and the generic engine runs on {device} here"
        hint = "Use --weights auto, or another model or --engine."
        raise UsageError(f"--weights {weights} needs {here}.", hint=hint)
    if find_spec("torchao") is None:
        message = f"--weights {weights} on a card needs torchao."
        raise UsageError(message, hint="python -m pip install 'specedit[cuda]'")


def _quantise(linear: torch.nn.Linear, weights: str, *, head: bool) -> None:
    """Quantise one layer's weights; the output layer gets 8 bits at least."""
    torchao: Any = import_module("torchao.quantization")
    if weights == "int4" and not head and linear.in_features % INT4_GROUP == 0:
        config = torchao.Int4WeightOnlyConfig(
            group_size=INT4_GROUP, int4_packing_format="tile_packed_to_4d"
        )
    else:
        config = torchao.Int8WeightOnlyConfig()
    torchao.quantize_(linear, config)


def check_memory(path: Path, hollow: Any, device: str, weights: str) -> None:
    """Refuse a model that does not fit on the card, before it is loaded."""
    if device != "cuda":
        return
    free = torch.cuda.mem_get_info()[0]
    needed = {kind: _needed_bytes(hollow, kind) for kind in ("", "int8", "int4")}
    if needed[weights] <= free:
        return
    fitting = [f"--weights {kind}" for kind in ("int8", "int4") if needed[kind] <= free]
    hint = "Close other programs that use the card, or use a smaller --model, or --device cpu."
    raise ModelError(
        f"{path.name} needs {needed[weights] / 1e9:.1f} GB in {weights or 'bf16'}, and the card "
        f"has {free / 1e9:.1f} GB free",
        hint=f"Use {' or '.join(fitting)}." if fitting else hint,
    )


def _needed_bytes(hollow: Any, weights: str) -> float:
    """The memory of a model's weights, of the cache of 8,192 positions, and of a pass."""
    parts = (part for part in hollow.modules() if isinstance(part, torch.nn.Linear))
    linear = sum(part.weight.numel() for part in parts)
    others = sum(tensor.numel() for tensor in hollow.parameters()) - linear
    config = hollow.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    cache = 2 * 2 * config.num_hidden_layers * heads * size * CACHED_POSITIONS
    return float(others * 2 + linear * BYTES_PER_WEIGHT[weights] + cache) + WORKING_BYTES
