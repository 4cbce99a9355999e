"""The generic engine: any causal language model that transformers can run, on CPU, CUDA or MPS.

Its logits are not bit-equal at any chunking: passes of different widths may round differently. It
takes chains, no trees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling, common
from specedit.engines.sampling import choose
from specedit.engines.transformers_model import errors_of, load
from specedit.errors import ModelError, UsageError
from specedit.models.architecture import WORKING
from specedit.models.store import ModelFiles

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
