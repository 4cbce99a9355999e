"""The generic engine: any causal language model that transformers can run, on CPU, CUDA or MPS.

Its logits are not bit-equal at any chunking: passes of different widths may round differently. It
takes chains, no trees. A model is checked before its weights are read: families, names and shapes
that `specedit.models.architecture` does not know are refused. GGUF tensors come from our reader
under transformers' names: transformers itself reads GGUF more slowly, with a further package.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling, common
from specedit.engines.sampling import choose, second_best
from specedit.errors import ModelError, SpeceditError, UsageError
from specedit.models import architecture, configuration
from specedit.models.adapter import merge_into
from specedit.models.architecture import LAYERS, WORKING, Architecture
from specedit.models.gguf import Gguf, open_gguf
from specedit.models.store import ModelFiles

MAX_BUFFER_NUMBERS = 1 << 28  # most numbers of a model's buffers
_COUNTED = re.compile(r"(layers?|experts|blocks|depth)$")


def load(files: ModelFiles, dtype: torch.dtype) -> Any:
    """transformers' model of `files`, on the CPU."""
    os.environ.setdefault("USE_HUB_KERNELS", "NO")  # else a config.json can name code to fetch
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with errors_of(files):
        gguf = files.kind == "gguf"
        model = build(files.path, dtype) if gguf else _of_folder(files.path, dtype)
        merge_into(model.state_dict(), files)
        return model


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
            else "Check the files (specedit model verify), or use another --model.",
        ) from error


def _of_folder(folder: Path, dtype: torch.dtype) -> Any:
    """The model of a safetensors folder: no code of its own, no pickle, no weight made up."""
    from transformers import AutoConfig, AutoModelForCausalLM

    safe = {"trust_remote_code": False, "local_files_only": True}
    known = configuration.check_folder(folder)
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
            hint="Check the files (specedit model verify), or use another --model.",
        )
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        str(folder),
        config=config,
        dtype=dtype,
        use_safetensors=True,
        output_loading_info=True,
        **safe,
    )
    model, report = loaded
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder} lacks {len(missing)} of the model's tensors ({', '.join(missing[:3])}, …)",
            hint="Check the files (specedit model verify), or use another --model.",
        )
    return model


def _check_layers(folder: Path, known: Mapping[str, Any]) -> None:
    """Refuse numbers of layers or experts that no model has, before any is made."""
    for key, value in known.items():
        if isinstance(value, dict):
            _check_layers(folder, value)
        elif _COUNTED.search(key) and isinstance(value, int) and value > LAYERS:
            raise ModelError(f"{folder / 'config.json'}: {key} is {value}; no model has so many")


def build(path: Path, dtype: torch.dtype) -> Any:
    """The model of a GGUF file, dequantised to `dtype`, on the CPU."""
    from transformers import AutoConfig, AutoModelForCausalLM

    gguf = open_gguf(path, arrays=False)
    result = architecture.of_gguf(gguf)
    tied = "output.weight" not in gguf.tensors
    numbers = _numbers(result)
    numbers["rope_parameters"] |= architecture.gguf_rope(gguf)
    config = AutoConfig.for_model(result.family, **numbers, tie_word_embeddings=tied)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    state = dict(_state(gguf, result, dtype))
    if tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, strict=True, assign=True)
    model.tie_weights()
    _fill_buffers(model, result)
    return model


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
    if model.family == "smollm3":
        rotated = [int(layer not in model.unrotated) for layer in range(model.layers)]
        config |= {"no_rope_layers": rotated, "pad_token_id": None}
    return {**config, "attention_bias": model.bias}


def _state(gguf: Gguf, numbers: Architecture, dtype: torch.dtype) -> Iterator[tuple[str, Any]]:
    for name, info in gguf.tensors.items():
        if name == architecture.ROPE_FACTORS:
            continue
        taken = architecture.rows(gguf, numbers, name).reshape(info.shape)
        yield architecture.their_name(name), torch.from_numpy(taken).to(dtype)
    if numbers.bias and numbers.family != "qwen2":  # transformers wants one after attention, too
        for layer in range(numbers.layers):
            yield (
                f"model.layers.{layer}.self_attn.o_proj.bias",
                torch.zeros(numbers.hidden).to(dtype),
            )


def _fill_buffers(model: Any, numbers: Architecture) -> None:
    """RoPE tables are computed, not stored; on the meta device they are still empty. Llama 3's
    factors, which a GGUF file has as a tensor, are applied here."""
    for module in model.modules():
        if hasattr(module, "inv_freq") and module.inv_freq.is_meta:
            fresh = type(module)(module.config)
            if numbers.rope_factors and module.config.rope_parameters["rope_type"] == "default":
                fresh.inv_freq /= torch.tensor(numbers.rope_factors)
            for name, _ in fresh.named_buffers(recurse=False):
                module.register_buffer(name, fresh.inv_freq.clone(), persistent=False)
            module.attention_scaling = fresh.attention_scaling


PREFILL = 256  # positions per prefill pass, for progress that is visible


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
    files: ModelFiles, *, device: str = "auto", threads: int | None = None
) -> HuggingFaceEngine:
    """Load the model of `files`; a GGUF file is dequantised."""
    if threads:
        torch.set_num_threads(threads)
    where = pick_device(device)
    dtype = pick_dtype(where)
    model = load(files, dtype)
    with errors_of(files):
        return HuggingFaceEngine(model.to(where).eval())


class HuggingFaceEngine:
    """One model with one cache that can be cropped, and the ids it holds."""

    def __init__(self, model: Any) -> None:
        from transformers import DynamicCache

        config = model.config.get_text_config()
        self._model = model
        self._device = next(model.parameters()).device
        self._new_cache: Callable[[], Any] = lambda: DynamicCache(config=config)
        self._cache: Any = self._new_cache()
        self._ids: list[int] = []
        self._sampling = GREEDY
        self._audit = False
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        self._info = EngineInfo(
            name="huggingface",
            device=self._device.type,
            threads=torch.get_num_threads(),
            window=_window(config),
            vocabulary=int(config.vocab_size),
            exact=False,
            note=dtype,
        )
        refuse_uncroppable(self._cache, type(model).__name__)

    @property
    def info(self) -> EngineInfo:
        return self._info

    def note(self, text: str) -> None:
        """Add a note to the report."""
        self._info = replace(self._info, note="; ".join(n for n in (self._info.note, text) if n))

    @property
    def length(self) -> int:
        return len(self._ids)

    @torch.inference_mode()
    def _feed(self, ids: Sequence[int], keep: int) -> torch.Tensor:
        """One forward call; logits of the last `keep` positions."""
        out = self._model(
            input_ids=torch.tensor([list(ids)], device=self._device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        self._ids.extend(ids)
        logits: torch.Tensor = out.logits[0]
        return logits

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        self._sampling, self._audit = sampling, audit
        started = time.perf_counter()
        wanted = list(prompt[:-1])
        shared = common(self._ids, wanted)
        self.crop(shared)
        yield Prefill(shared, len(wanted), shared, time.perf_counter() - started)
        for at in range(shared, len(wanted), PREFILL):
            self._feed(wanted[at : at + PREFILL], keep=1)
            yield Prefill(len(self._ids), len(wanted), shared, time.perf_counter() - started)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        margins: list[float] | None = None
        first = len(self._ids) + 1  # the absolute position the first choice would take
        logits = self._feed(ids, len(ids)).float().cpu()
        if self._sampling.temperature <= 0:
            chosen = [int(c) for c in logits.argmax(-1)]
            best = logits.topk(2).values
            margins = (best[:, 0] - best[:, 1]).tolist()
            if self._sampling.takes_second(range(first, first + len(ids))):
                at = (self._sampling.second_at or 0) - first
                chosen[at] = second_best(logits[at].numpy())
                margins[at] = -margins[at]
        else:
            chosen = [
                choose(row.numpy(), self._sampling, first + n) for n, row in enumerate(logits)
            ]
        rows = [row.numpy().tobytes() for row in logits] if self._audit else None
        return Choices(chosen, rows, margins=margins)

    def crop(self, length: int) -> None:
        if length >= len(self._ids):
            return
        if length == 0:
            self._cache = self._new_cache()
        else:
            self._cache.crop(length - len(self._ids))  # negative: how many to forget
        del self._ids[length:]

    def keep(self, start: int, rows: Sequence[int]) -> None:
        self.crop(start + len(rows))

    def watch(self, on: bool) -> None:
        """It returns no hidden rows."""


def _window(config: Any) -> int:
    """Positions up to which RoPE frequencies stay the same, at any chunking.

    `longrope` changes all of them past the trained length, `dynamic` past the window.
    """
    window = int(getattr(config, "max_position_embeddings", 0) or 2048)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") == "longrope":
        trained: Any = rope.get("original_max_position_embeddings")
        window = min(
            window, int(trained or getattr(config, "original_max_position_embeddings", window))
        )
    return window


def refuse_uncroppable(cache: Any, name: str) -> None:
    """Refuse a recurrent or sliding-window cache: a rejected draft cannot be removed from it."""
    for layer in getattr(cache, "layers", []):
        if getattr(layer, "is_sliding", False) or "Linear" in type(layer).__name__:
            raise ModelError(
                f"{name} cannot be used: rejected drafts cannot be removed from its cache "
                f"({type(layer).__name__}).",
                hint=f"Use a model with full attention: {WORKING}.",
            )
