"""Passes by stock torch operations, for processors and models that the kernels do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from specedit.engines.exact.cache import Cache
from specedit.engines.exact.model import Model


class StockPasses:
    """One model on torch and oneDNN."""

    watches = True
    trees = False  # a row of its attention is where its position says

    def __init__(self, model: Model) -> None:
        self.model = model
        self.config = model.config

    def new_cache(self) -> Cache:
        """An empty cache of this model."""
        return self.model.new_cache()

    def use_threads(self, count: int) -> None:
        """Work on so many threads from now on."""
        torch.set_num_threads(count)

    def read(self, ids: Sequence[int], cache: Cache, states: Any = None) -> None:
        """Feed ids behind what the cache holds; nobody asks what comes after them."""
        with torch.inference_mode():
            hidden = self.model.read(ids, cache, last=states is not None)
            if hidden is not None:
                self._shown(hidden, states)

    def outputs(self, most: int) -> None:
        """Choices are among all ids here."""

    def choose(
        self,
        ids: Sequence[int],
        cache: Cache,
        *,
        rows: bool,
        parents: Sequence[int] | None = None,
        states: Any = None,
        among: None = None,
    ) -> tuple[list[int], list[memoryview] | None]:
        """Feed ids; the largest logit's id after each, and with `rows` all logits, as float32."""
        assert parents is None, "chains only"
        with torch.inference_mode():
            hidden = self.model.read(ids, cache)
            assert hidden is not None
            if states is not None:
                self._shown(hidden, states)
            parts, factor = self.model.logits(hidden)
            largest = _largest(parts, factor)
            if not rows:
                return largest, None
            logits = torch.cat([part * factor for part in parts], -1)
            return largest, [memoryview(row.numpy()).cast("B") for row in logits]

    def choose_each(
        self, ids: Sequence[int], caches: Sequence[Cache], states: Any = None
    ) -> list[int]:
        """Feed one id behind each of these caches, one after the other."""
        chosen, size = [], self.config.hidden * 4
        flat = None if states is None else memoryview(states).cast("B")
        for index, (id, cache) in enumerate(zip(ids, caches, strict=True)):
            room = None if flat is None else flat[index * size : (index + 1) * size]
            chosen += self.choose([id], cache, rows=False, states=room)[0]
        return chosen

    def _shown(self, hidden: torch.Tensor, states: Any) -> None:
        """The rows behind the last norm, into a buffer that can be written to."""
        flat = torch.frombuffer(memoryview(states).cast("B"), dtype=torch.float32)
        flat[: hidden.numel()] = self.model.normed(hidden).view(-1)


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
