"""What the server counts, as Prometheus text.

Written by hand: a counter is a number and a histogram is a list of them.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from specedit.edit.backend import Answer, Event, Written

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """How many durations were at most each bound."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds

    def lines(self, name: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self.sum:.6f}"
        yield f"{name}_count {total}"


class Metrics:
    """One server's figures since it started."""

    def __init__(self) -> None:
        self.started = self.loaded = time.monotonic()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.drafts: Counter[tuple[str, str]] = Counter()
        self.refused = self.cancelled = self.answers = 0
        self.prompt = self.reused = self.completion = self.passes = 0
        self.appeared = self.absent = 0  # predicted ids, as OpenAI counts them
        self.queue_s, self.prefill_s, self.decode_s = Histogram(), Histogram(), Histogram()
        self.request_s = Histogram()

    @property
    def uptime_s(self) -> float:
        return time.monotonic() - self.started

    def event(self, event: Event) -> None:
        match event:
            case Written(chunk=chunk):
                self.passes += 1
                self.completion += len(chunk.tokens)
                self.drafts[chunk.source, "proposed"] += chunk.proposed
                self.drafts[chunk.source, "accepted"] += chunk.accepted
            case Answer():
                self.answers += 1
                self.prompt += event.prompt
                self.reused += event.reused
                self.appeared += event.appeared
                self.absent += event.absent
                self.prefill_s.add(event.prefill_s)
                self.decode_s.add(event.decode_s)
            case _:
                pass

    def retry_s(self, waiting: int) -> int:
        """Estimated whole seconds until a full queue accepts tickets again."""
        spent = self.prefill_s.sum + self.decode_s.sum
        each = spent / self.answers if self.answers else 1.0
        return max(1, min(120, math.ceil(each * (waiting + 1) / 2)))

    def text(self, gauges: dict[str, float]) -> str:
        return "\n".join([*self._counters(), *_gauges(gauges), *self._histograms()]) + "\n"

    def _counters(self) -> Iterator[str]:
        yield from _head("requests_total", "counter", "HTTP requests by path and status")
        for (path, status), count in sorted(self.requests.items()):
            yield f'specedit_requests_total{{path="{path}",status="{status}"}} {count}'
        yield from _head("draft_tokens_total", "counter", "draft tokens by drafter and outcome")
        for (source, outcome), count in sorted(self.drafts.items()):
            labels = f'source="{source}",outcome="{outcome}"'
            yield f"specedit_draft_tokens_total{{{labels}}} {count}"
        for name, value, text in (
            ("answers_total", self.answers, "runs that ended with an answer"),
            ("cancelled_total", self.cancelled, "runs whose client left"),
            ("queue_full_total", self.refused, "requests refused because the queue was full"),
            ("prompt_tokens_total", self.prompt, "tokens of answered prompts"),
            ("cached_tokens_total", self.reused, "of these, found in the prefix cache"),
            ("completion_tokens_total", self.completion, "tokens written"),
            ("passes_total", self.passes, "forward passes that wrote them"),
            ("accepted_prediction_tokens_total", self.appeared, "as OpenAI counts them"),
            ("rejected_prediction_tokens_total", self.absent, "as OpenAI counts them"),
        ):
            yield from _head(name, "counter", text)
            yield f"specedit_{name} {value}"

    def _histograms(self) -> Iterator[str]:
        for name, histogram, text in (
            ("queue_seconds", self.queue_s, "from the request to the engine"),
            ("prefill_seconds", self.prefill_s, "reading the prompt"),
            ("decode_seconds", self.decode_s, "writing the answer"),
            ("request_seconds", self.request_s, "whole requests that reach the engine"),
        ):
            yield from _head(name, "histogram", text)
            yield from histogram.lines(f"specedit_{name}")


def _gauges(gauges: dict[str, float]) -> Iterator[str]:
    for name, value in gauges.items():
        yield from _head(name, "gauge", name.replace("_", " "))
        yield f"specedit_{name} {value:g}" if value < 1e6 else f"specedit_{name} {value:.0f}"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP specedit_{name} {text}"
    yield f"# TYPE specedit_{name} {kind}"


def resident_bytes() -> int:
    """Memory that this process uses (its peak, where the system tells no more)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def return_memory() -> None:
    """Return freed memory to the system where the C library keeps it: a prediction of 100,000
    tokens leaves holes that would look like a leak."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
