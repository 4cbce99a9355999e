"""The Engine of exact logits: begin, forward, crop over a Model and a Cache.

Knows choices and auditing. Does not know int8, drafts or text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import torch

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling
from specedit.engines.exact.cache import Cache
from specedit.engines.exact.model import Model
from specedit.engines.sampling import choose
from specedit.errors import UsageError

PREFILL = 512  # positions per prefill pass: 0.96 of the time of 256 at 3,000 positions
WIDEST = 512  # a longer forward is fed in pieces, which changes no bit


class ExactEngine:
    """One model and, at a time, one cache. `swap` puts another cache in its place."""

    def __init__(self, model: Model, info: EngineInfo) -> None:
        self.model = model
        self.cache = model.new_cache()
        self._info = info
        self._sampling = GREEDY
        self._audit = False

    @property
    def info(self) -> EngineInfo:
        return self._info

    @property
    def length(self) -> int:
        return len(self.cache.ids)

    def new_cache(self) -> Cache:
        """An empty cache of this model, for `swap`."""
        return self.model.new_cache()

    def swap(self, cache: Cache) -> Cache:
        """Put `cache` in place and hand back the one that was there."""
        old, self.cache = self.cache, cache
        return old

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        self._sampling, self._audit = sampling, audit
        started = time.perf_counter()
        wanted = list(prompt[:-1])
        self._fits(len(prompt))
        reused = self.cache.common(wanted)
        self.cache.crop(reused)
        yield Prefill(reused, len(wanted), reused, time.perf_counter() - started)
        if wanted:
            self.cache.reserve(len(wanted))
        for at in range(reused, len(wanted), PREFILL):
            with torch.inference_mode():
                self.model.read(wanted[at : at + PREFILL], self.cache, last=False)
            yield Prefill(self.length, len(wanted), reused, time.perf_counter() - started)

    def forward(self, ids: Sequence[int]) -> Choices:
        self._fits(self.length + len(ids))
        chosen: list[int] = []
        rows: list[bytes] = []
        for at in range(0, len(ids), WIDEST):
            with torch.inference_mode():
                self._forward(ids[at : at + WIDEST], chosen, rows)
        return Choices(chosen, rows if self._audit else None)

    def _forward(self, ids: Sequence[int], chosen: list[int], rows: list[bytes]) -> None:
        first = self.length + 1  # the position the first choice would take
        hidden = self.model.read(ids, self.cache)
        assert hidden is not None
        parts, factor = self.model.logits(hidden)
        greedy = self._sampling.temperature <= 0
        if greedy:
            chosen.extend(_largest(parts, factor))
        if greedy and not self._audit:
            return
        logits = torch.cat([part * factor for part in parts], -1)
        for index, row in enumerate(logits):
            if not greedy:
                chosen.append(choose(row, self._sampling, first + index))
            if self._audit:
                rows.append(row.numpy().tobytes())

    def crop(self, length: int) -> None:
        self.cache.crop(length)

    def _fits(self, length: int) -> None:
        if length > self._info.window:
            raise UsageError(
                f"{length} tokens do not fit the model's window of {self._info.window}.",
                hint="Edit a smaller file, or use a model with a longer window.",
            )


def _largest(parts: list[torch.Tensor], factor: torch.Tensor) -> list[int]:
    """The lowest id whose logit, multiplied out and rounded, is the row's largest.

    Multiplying by a positive factor keeps the order but may round neighbours to one value. So the
    least product that rounds to the same logit is looked for first (two steps of the float format
    at most), then the first id that reaches it. Only one part of one row is read twice.
    """
    tops = torch.stack([part.amax(-1) for part in parts])
    least = tops.amax(0)
    scale = factor.view(-1)
    aim = least * scale
    below = torch.tensor(float("-inf"))
    for _ in range(3):
        lower = torch.nextafter(least, below)
        least = torch.where(lower * scale == aim, lower, least)
    reach = (tops >= least).to(torch.uint8).argmax(0).tolist()
    ids = []
    for row, part in enumerate(reach):
        offset = sum(p.shape[-1] for p in parts[:part])
        ids.append(offset + int((parts[part][row] >= least[row]).to(torch.uint8).argmax()))
    return ids
