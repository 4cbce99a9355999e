"""Forward passes with static shapes, whose choices are made on the device.

On a card the ids of a pass are padded to one of a few widths, and each width is recorded once as a
CUDA graph, for attention over spans in powers of two: replaying it starts all kernels at once. The
padding writes rows past the ids, which the next pass writes over. A recurrent state would see
padding, so such a model's ids are cut into passes of full widths. Three numbers for each id are
copied to the processor: the likeliest id, the second, and by how much their logits differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from specedit.engines.base import Sampling
from specedit.engines.huggingface.modules import Runner
from specedit.engines.sampling import choose, uniform

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
PROMPT_WIDTH = 4096  # ids of one pass while a prompt is read
LEAST_SPAN = 2048  # positions; a longer span is a power of two
EAGER_SPAN = 256  # positions; without graphs a span is a multiple of it
WARM_RUNS = 2  # before a capture, as libraries allocate in their first calls


@dataclass(frozen=True, slots=True)
class Best:
    """For each id of a pass: the two likeliest ids after it, and how far their logits differ."""

    ids: list[int]
    seconds: list[int]
    margins: list[float]


class Passes:
    """Runs passes of one model."""

    def __init__(self, runner: Runner, device: torch.device, *, padded: bool | None = None) -> None:
        self.runner = runner
        self._device = device
        self.prompt_width = 256 if device.type == "cpu" else PROMPT_WIDTH  # progress is visible
        self._padded = runner.static and (device.type != "cpu" if padded is None else padded)
        records = runner.static and device.type == "cuda"
        self._graphs: dict[tuple[int, int], Any] | None = {} if records else None
        self._pool: Any = None
        self._rows: torch.Tensor | None = None  # the logits of the last pass
        self._shared: torch.Tensor | None = None  # where every graph leaves its logits
        self.no_graphs = ""  # why a capture failed

    def room(self, positions: int) -> None:
        """Make room for so many positions, and a pass's padding."""
        needed = positions + WIDTHS[-1]
        if needed > self.runner.capacity:
            self.runner.grow(1 << (needed - 1).bit_length())
            if self._graphs:
                self._graphs = {}  # they read and write where the cache was

    @torch.inference_mode()
    def read(self, ids: Sequence[int], start: int) -> None:
        """Feed ids whose choices are not needed."""
        most = 1 if self.runner.single else self.prompt_width
        for at in range(0, len(ids), most):
            part = ids[at : at + most]
            self.runner.start.fill_(start + at)
            self.runner.logits(self._tensor(part), self._span(start + at + len(part)), 1)

    @torch.inference_mode()
    def choose(self, ids: Sequence[int], start: int) -> Best:
        """Feed ids, and choose after each of them."""
        parts, at = [], 0
        while at < len(ids):
            part = ids[at : at + self._part(len(ids) - at)]
            numbers, rows = self._pass(part, start + at)
            whole = len(part) == len(ids)
            parts.append((numbers, rows) if whole else (numbers.clone(), rows.clone()))
            at += len(part)
        self._rows = parts[0][1] if len(parts) == 1 else torch.cat([rows for _, rows in parts])
        best, seconds, margins = torch.cat([numbers for numbers, _ in parts], 1).tolist()
        return Best([*map(int, best)], [*map(int, seconds)], margins)

    def sample(self, sampling: Sampling, first: int) -> list[int]:
        """An id of each row of the last pass; the first row's takes the position `first`."""
        assert self._rows is not None, "a pass comes first"
        if self._device.type == "cpu":
            rows = self._rows.float()
            return [choose(row.numpy(), sampling, first + at) for at, row in enumerate(rows)]
        return sample(self._rows, sampling, first)

    def wait(self) -> None:
        """Wait for the device, so that the time of a prompt is not counted as the next pass's."""
        if self._device.type == "cuda":
            torch.cuda.synchronize()

    def logits(self) -> list[bytes]:
        """The last pass's logits, as float32."""
        assert self._rows is not None, "a pass comes first"
        return [row.numpy().tobytes() for row in self._rows.float().cpu()]

    def _part(self, left: int) -> int:
        """How many of the ids that are left one pass takes."""
        if self.runner.single:
            return 1
        if self.runner.recurrent and self._padded:
            return 1 << (min(left, WIDTHS[-1]).bit_length() - 1)
        return left

    def _span(self, end: int) -> int:
        if self._padded:
            span = max(LEAST_SPAN, 1 << (end - 1).bit_length())
        else:
            span = -(-end // EAGER_SPAN) * EAGER_SPAN
        return min(span, self.runner.capacity)

    def _tensor(self, ids: Sequence[int], width: int = 0) -> torch.Tensor:
        return torch.tensor([*ids, *[0] * (width - len(ids))], device=self._device)

    def _pass(self, ids: Sequence[int], start: int) -> tuple[torch.Tensor, torch.Tensor]:
        count = width = len(ids)
        if self._padded:
            width = next((w for w in WIDTHS if w >= count), count)
        span = self._span(start + width)
        self.runner.start.fill_(start)
        graph = self._graph(width, span, start)
        if graph is None:
            numbers, rows = self._compute(self._tensor(ids, width), span)
        else:
            replay, held, numbers, rows = graph
            held[:count].copy_(self._tensor(ids))
            replay()
        return numbers[:, :count], rows[:count]

    def _compute(self, ids: torch.Tensor, span: int) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self.runner.logits(ids, span, len(ids))
        best = rows.max(-1)
        others = rows.scatter(1, best.indices[:, None], float("-inf")).max(-1)
        margins = best.values.float() - others.values.float()
        # float32 holds every id below 2^24
        return torch.stack([best.indices.float(), others.indices.float(), margins]), rows

    def _graph(self, width: int, span: int, start: int) -> Any:
        """The recorded pass of this shape; None where recording fails."""
        if self._graphs is None or width not in WIDTHS or (self.runner.recurrent and not start):
            return None  # a recurrent model's first pass takes another path in its code
        if (width, span) not in self._graphs:
            state = self.runner.save()
            try:
                self._graphs[width, span] = self._record(width, span)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                self._graphs = None
                self.no_graphs = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
                torch.cuda.synchronize()
            self.runner.restore(state)
            self.runner.start.fill_(start)
        return self._graphs and self._graphs[width, span]

    def _record(self, width: int, span: int) -> Any:
        held = self._tensor((), width)
        stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_RUNS):
                self._kept_rows(width, self._compute(held, span)[1])
            self._pool = self._pool or torch.cuda.graph_pool_handle()
            graph = torch.cuda.CUDAGraph()
            graph.capture_begin(pool=self._pool)
            try:
                numbers, rows = self._compute(held, span)
                kept = self._kept_rows(width, rows)
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        return graph.replay, held, numbers, kept

    def _kept_rows(self, width: int, rows: torch.Tensor) -> torch.Tensor:
        """Copy the logits to memory that all graphs share: their own is used by other graphs."""
        if self._shared is None:
            self._shared = rows.new_empty(WIDTHS[-1], rows.shape[1])
        return self._shared[:width].copy_(rows)


def sample(logits: torch.Tensor, sampling: Sampling, first: int) -> list[int]:
    """`engines.sampling.choose` for every row, on the device of the logits: the same rule with sums
    in another order, in float64 where the device has it."""
    kind = torch.float32 if logits.device.type == "mps" else torch.float64
    wide = logits.to(kind)
    weights = ((wide - wide.amax(-1, keepdim=True)) / sampling.temperature).exp()
    aims = [uniform(sampling.seed, first + at) for at in range(len(logits))]
    aim = torch.tensor(aims, dtype=kind, device=logits.device)[:, None]
    if sampling.top_p >= 1:
        reach = weights.cumsum(-1)
        return [int(id) for id in _picked(reach, aim, reach[:, -1:]).cpu()]
    # A stable order: among equal weights the lowest id comes first
    values, ids = torch.sort(weights, dim=-1, descending=True, stable=True)
    reach = values.cumsum(-1)
    last = torch.searchsorted(reach, sampling.top_p * reach[:, -1:]).clamp_(max=reach.shape[1] - 1)
    found = _picked(reach, aim, reach.gather(1, last))
    return [int(id) for id in ids.gather(1, torch.minimum(found, last)).cpu()]


def _picked(reach: torch.Tensor, aim: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    """The first index whose cumulated weight is beyond `aim` of the `whole`."""
    found = torch.searchsorted(reach, aim * whole, right=True)
    return found.clamp_(max=reach.shape[1] - 1)
