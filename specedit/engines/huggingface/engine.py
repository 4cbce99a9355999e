"""The generic engine behind the engine interface: what the cache holds, and how it goes back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling, common
from specedit.engines.huggingface import fused
from specedit.engines.huggingface.fused import FusedModule
from specedit.engines.huggingface.modules import DynamicModule, Runner, State, StaticModule
from specedit.engines.huggingface.passes import WIDTHS, Passes
from specedit.errors import ModelError

FIRST_CAPACITY = 4096  # positions that the cache holds at first; it grows
PROBE = (5, 3, 4)  # ids of the passes that a forward path is tried with before it is used
TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-2}  # of a probe's mean difference
HALF_TOLERANCE = 0.1  # the same with 16 bits
DISTANCES = (64, 256, 1024, 4096)  # before a prompt's end, where a recurrent state is kept
MOST_STATES = 8  # states that are kept
MOST_REPEATED = 64  # ids that a pass repeats after a rejection, before they get their own pass


class HuggingFaceEngine:
    """One model with one cache, and the ids it holds."""

    def __init__(self, model: Any, *, padded: bool | None = None, weights: str = "") -> None:
        config = model.config.get_text_config()
        self.model, self._device = model, next(model.parameters()).device
        with _device_errors():
            self._runner, why = runner_of(model)
        self._passes = Passes(self._runner, self._device, padded=padded)
        self._ids: list[int] = []
        self._held = 0  # ids that the cache holds; those after them are fed with the next pass
        self._states: dict[int, State] = {0: self._runner.save()}  # by how many ids they hold
        self._pass_state = -1  # the one that the last pass alone needs
        self._fixed = 0  # ids that prompts begin with
        self._sampling, self._audit = GREEDY, False
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        on = f" on {torch.cuda.get_device_name()}" if self._device.type == "cuda" else ""
        self.info = EngineInfo(
            name="huggingface",
            device=self._device.type,
            threads=torch.get_num_threads(),
            window=_window(config),
            vocabulary=int(config.vocab_size),
            exact=False,
            note="; ".join(filter(None, ((weights or dtype) + on, why))),
            weights=weights,
        )
        if self._device.type == "cuda":  # whether passes can be recorded is known from here on
            list(self.begin([0, 0, 0]))
            self.forward([0])
            self.crop(0)
            if self._passes.no_graphs:
                self.note(f"without CUDA graphs: {self._passes.no_graphs}")

    def note(self, text: str) -> None:
        """Add a note to the report."""
        self.info = replace(self.info, note="; ".join(n for n in (self.info.note, text) if n))

    @property
    def length(self) -> int:
        return len(self._ids)

    def read_fixed(self, ids: Sequence[int]) -> None:
        """Keep a recurrent state after these ids, which the next prompts begin with, too."""
        self._fixed = len(ids)

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        self._sampling, self._audit, self._pass_state = sampling, audit, -1
        started = time.perf_counter()
        wanted = list(prompt[:-1])
        self.crop(common(self._ids, wanted))
        del self._ids[self._held :]
        reused = len(self._ids)
        yield Prefill(reused, len(wanted), reused, time.perf_counter() - started)
        with self._errors():
            self._passes.room(len(prompt))
        for end in self._stops(len(wanted)):
            for at in range(len(self._ids), end, self._passes.prompt_width):
                part = wanted[at : min(at + self._passes.prompt_width, end)]
                with self._errors():
                    self._passes.read(part, at)
                self._ids += part
                self._held = len(self._ids)
                if self._held == end == len(wanted):
                    self._passes.wait()
                yield Prefill(self._held, len(wanted), reused, time.perf_counter() - started)
            self._save(end)

    def _stops(self, end: int) -> list[int]:
        """Where reading stops: a recurrent state is kept where other prompts may differ."""
        stops = {end}
        if self._runner.recurrent:
            stops |= {self._fixed, *(end - distance for distance in DISTANCES)}
        return sorted(stop for stop in stops if len(self._ids) < stop <= end)

    def _save(self, length: int) -> None:
        if not self._runner.recurrent:
            return
        with self._errors():
            self._states[length] = self._runner.save()
        others = sorted(self._states.keys() - {0, self._fixed, length})
        for position in others[: len(self._states) - MOST_STATES]:
            del self._states[position]

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        first = len(self._ids) + 1  # the absolute position the first choice would take
        with self._errors():
            again = self._ids[self._held :]
            if len(again) > MOST_REPEATED:
                self._passes.read(again, self._held)
                self._held, again = len(self._ids), []
            if self._runner.recurrent and not again and len(ids) > 1:
                self._keep_for_pass()
            self._passes.room(len(self._ids) + len(ids))
            best = self._passes.choose([*again, *ids], self._held)
            sampled = []
            if self._sampling.temperature > 0:
                sampled = self._passes.sample(self._sampling, first - len(again))
            rows = self._passes.logits()[len(again) :] if self._audit else None
        self._ids.extend(ids)
        self._held = len(self._ids)
        if sampled:
            return Choices(sampled[len(again) :], rows)
        chosen, margins = best.ids[len(again) :], best.margins[len(again) :]
        if self._sampling.takes_second(range(first, first + len(ids))):
            at = (self._sampling.second_at or 0) - first
            chosen[at], margins[at] = best.seconds[len(again) + at], -margins[at]
        return Choices(chosen, rows, margins=margins)

    def _keep_for_pass(self) -> None:
        """Keep the state that a rejection goes back to, instead of the last pass's."""
        if self._held not in self._states:
            self._states.pop(self._pass_state, None)
            self._states[self._held] = self._runner.save()
            self._pass_state = self._held

    def crop(self, length: int) -> None:
        if length >= len(self._ids):
            return
        del self._ids[length:]
        if length >= self._held:
            return
        self._states = {at: state for at, state in self._states.items() if at <= length}
        self._held = length
        if self._runner.recurrent:
            self._held = max(self._states)
            self._runner.restore(self._states[self._held])

    def keep(self, start: int, rows: Sequence[int]) -> None:
        self.crop(start + len(rows))

    def watch(self, on: bool) -> None:
        """It returns no hidden rows."""

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """What a device raises becomes an error for the user, and the cache is read anew."""
        try:
            with _device_errors():
                yield
        except ModelError:
            self._ids, self._held, self._states = [], 0, {0: self._states[0]}
            with contextlib.suppress(RuntimeError):  # the device does not work any more
                self._runner.restore(self._states[0])
            raise


@contextlib.contextmanager
def _device_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # torch.OutOfMemoryError and AcceleratorError are such
        message = str(error).splitlines()[0][:200]
        if isinstance(error, torch.OutOfMemoryError) or "memory" in message.lower():
            raise ModelError(
                f"The device has too little memory: {message}",
                hint="Close other programs that use it, edit a part of the file (--symbol NAME), "
                "or use --weights int8, --weights int4 or a smaller --model.",
            ) from error
        raise ModelError(
            f"The device failed: {type(error).__name__}: {message}",
            hint="Run it again; with --device cpu if it fails again.",
        ) from error


def runner_of(model: Any) -> tuple[Runner, str]:
    """The fastest forward path that computes what one without a cache does, and why no faster."""
    ids = torch.arange(1, 1 + sum(PROBE), device=next(model.parameters()).device)
    ids %= model.config.get_text_config().vocab_size
    with torch.inference_mode():
        wanted = model(input_ids=ids[None], use_cache=False).logits[0].float()
    reason = ""
    kinds = (FusedModule, StaticModule) if fused.fits(model) else (StaticModule,)
    for kind in kinds:
        try:
            runner = kind(model, FIRST_CAPACITY + WIDTHS[-1])
            if _agrees(runner, ids, wanted):
                return runner, reason
            reason = f"without {kind.name}: its logits differ"
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            reason = f"without {kind.name}: {type(error).__name__}: {str(error)[:80]}"
    # Some models' code reads several ids correctly at the beginning alone
    for single, widths in ((False, PROBE), (True, (1,) * sum(PROBE))):
        with contextlib.suppress(TypeError, ValueError):  # of a cache that a config.json spoils
            if _agrees(DynamicModule(model), ids, wanted, widths):
                return DynamicModule(model, single=single), reason + "; one id a pass" * single
    raise ModelError(
        f"{type(model).__name__} computes other logits with a cache than without one; {reason}",
        hint="Use a newer transformers (python -m pip install -U transformers), or another model.",
    )


@torch.inference_mode()
def _agrees(
    runner: Runner, ids: torch.Tensor, wanted: torch.Tensor, widths: Sequence[int] = PROBE
) -> bool:
    """Whether passes over parts of these ids, each of them twice, give the wanted logits."""
    before, at, limit = runner.save(), 0, 0.0
    for width in widths:
        state = runner.save()
        for _ in range(2):
            runner.restore(state)
            runner.start.fill_(at)
            logits = runner.logits(ids[at : at + width], FIRST_CAPACITY, width)
        rows, limit = wanted[at : at + width], TOLERANCE.get(logits.dtype, HALF_TOLERANCE)
        if not (logits.float() - rows).abs().mean() <= limit * rows.abs().mean():
            return False
        at += width
    runner.restore(before)
    return True


def _window(config: Any) -> int:
    """Positions up to which RoPE frequencies stay the same, at any chunking: `longrope` changes all
    of them past the trained length, `dynamic` past the window."""
    window = int(getattr(config, "max_position_embeddings", 0) or 2048)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") != "longrope":
        return window
    trained: Any = rope.get("original_max_position_embeddings")
    return min(window, int(trained or getattr(config, "original_max_position_embeddings", window)))
