"""The generic engine: any causal language model that transformers can run, on CPU, CUDA or MPS.

Its logits are not bit-equal at any chunking: passes of different widths may round differently.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from specedit.engines.base import (
    GREEDY,
    Choices,
    EngineInfo,
    Prefill,
    Sampling,
    common,
    depths,
)
from specedit.engines.sampling import choose
from specedit.engines.transformers_model import errors_of, load
from specedit.errors import ModelError, UsageError
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

    def __init__(self, model: Any, note: str = "") -> None:
        from transformers import DynamicCache

        config = model.config.get_text_config()
        self._model = model
        self._device = next(model.parameters()).device
        self._new_cache: Callable[[], Any] = lambda: DynamicCache(config=config)
        self._cache: Any = self._new_cache()
        self._ids: list[int] = []
        self._sampling = GREEDY
        self._audit = self._watching = self._proven = False
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        self._info = EngineInfo(
            name="huggingface",
            device=self._device.type,
            threads=torch.get_num_threads(),
            window=_window(config),
            vocabulary=int(config.vocab_size),
            exact=False,
            note=note or dtype,
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
    def _feed(
        self, ids: Sequence[int], keep: int, parents: Sequence[int] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """One forward call; logits of the last `keep` positions, and their hidden rows if watched.

        A tree is a mask and positions of its own."""
        fed = torch.tensor([list(ids)], device=self._device)
        more: dict[str, Any] = {}
        if parents is not None:
            past = len(self._ids)
            places = torch.tensor([depths(parents)], device=self._device) + past
            more |= {"position_ids": places, "attention_mask": self._mask(past, parents)}
        if self._watching:
            more["output_hidden_states"] = True
        out = self._model(
            input_ids=fed, past_key_values=self._cache, use_cache=True, logits_to_keep=keep, **more
        )
        self._ids.extend(ids)
        logits: torch.Tensor = out.logits[0]
        return logits, out.hidden_states[-1][0, -keep:] if self._watching else None

    def _mask(self, past: int, parents: Sequence[int]) -> torch.Tensor:
        """0 where an id of a tree sees: the cache, itself and its ancestors."""
        width = len(parents)
        sees = torch.zeros(width, past + width, dtype=torch.bool)
        for row, parent in enumerate(parents):
            sees[row] = sees[parent] if parent >= 0 else torch.arange(past + width) < past
            sees[row, past + row] = True
        mask = torch.zeros(sees.shape, dtype=self._model.dtype)
        mask.masked_fill_(~sees, torch.finfo(mask.dtype).min)
        return mask[None, None].to(self._device)

    def prove(self) -> None:
        """Test, once, whether this model takes trees and returns hidden rows.

        `info.trees` and `info.hidden` are false and 0 before."""
        if self._proven:
            return
        self._proven = True
        held, cache, watching = self._ids, self._cache, self._watching
        self._ids, self._cache = [], self._new_cache()
        try:
            self._info = replace(self._info, **self._abilities())
            if not self._info.trees:
                self.note("chains only: its attention takes no mask of a tree")
        except Exception as error:  # whatever a model's own code raises
            self.note(f"chains only: {type(error).__name__}")
        finally:
            self._ids, self._cache, self._watching = held, cache, watching

    @torch.inference_mode()
    def _abilities(self) -> dict[str, Any]:
        """`trees` and `hidden`: passes a tree of two paths and compares it with chains."""
        some = [token % self._info.vocabulary for token in (1, 2, 3, 5, 7)]
        self._feed(some[:2], 1)
        plain, _ = self._feed([some[2], some[4], some[3]], 3)
        self.crop(2)
        self._watching = True
        tree, rows = self._feed([some[2], some[3], some[4], some[3]], 4, [-1, 0, 0, 2])
        self.keep(2, [0, 2])
        after, _ = self._feed([some[3]], 1)
        assert rows is not None
        close = 1e-3 if plain.dtype in (torch.float32, torch.float64) else 0.1
        most = close * float(plain.float().std())

        def same(mine: torch.Tensor, other: torch.Tensor) -> bool:
            return float((mine.float() - other.float()).abs().max()) <= most

        trees = same(tree[[0, 2, 3]], plain) and same(after[0], plain[2])
        layer = self._model.get_output_embeddings()
        stated = layer is not None and same(layer(rows), tree)
        return {"trees": trees, "hidden": int(rows.shape[-1]) if stated else 0}

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
        first = len(self._ids) + 1  # the absolute position the first choice would take
        raw, hidden = self._feed(ids, len(ids), parents)
        logits = raw.float().cpu()
        if self._sampling.temperature <= 0:
            chosen = [int(c) for c in logits.argmax(-1)]
        else:
            offsets = range(len(ids)) if parents is None else depths(parents)
            chosen = [
                choose(row.numpy(), self._sampling, first + offset)
                for row, offset in zip(logits, offsets, strict=True)
            ]
        rows = [row.numpy().tobytes() for row in logits] if self._audit else None
        states = None if hidden is None else list(hidden.float().cpu().numpy())
        return Choices(chosen, rows, states)

    def crop(self, length: int) -> None:
        if length >= len(self._ids):
            return
        if length == 0:
            self._cache = self._new_cache()
        else:
            self._cache.crop(length - len(self._ids))  # negative: how many to forget
        del self._ids[length:]

    @torch.inference_mode()
    def keep(self, start: int, rows: Sequence[int]) -> None:
        if list(rows) != list(range(len(rows))):
            index = torch.tensor([start + row for row in rows], device=self._device)
            for layer in self._cache.layers:
                for held in (layer.keys, layer.values):
                    held[:, :, start : start + len(rows)] = held[:, :, index.to(held.device)]
            self._ids[start : start + len(rows)] = [self._ids[start + row] for row in rows]
        self.crop(start + len(rows))

    def watch(self, on: bool) -> None:
        self._watching = on and self._info.hidden > 0


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
                f"{name} keeps a {type(layer).__name__}, which cannot be cropped: "
                "rejected drafts could not be removed.",
                hint="Use a model with full attention (Qwen2, Qwen3, Llama).",
            )
