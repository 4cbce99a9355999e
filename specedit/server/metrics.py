"""What the server counts, as Prometheus text."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from specedit.edit.backend import Answer, Event, Written

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Durations:
    """How many durations there were, and their sum in seconds."""

    def __init__(self) -> None:
        self.count, self.sum = 0, 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.sum += seconds


class Metrics:
    """One server's figures since it started."""

    def __init__(self) -> None:
        self.started = self.loaded = time.monotonic()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.drafts: Counter[tuple[str, str]] = Counter()
        self.refused = self.cancelled = self.answers = 0
        self.prompt = self.reused = self.completion = self.passes = 0
        self.appeared = self.absent = 0  # predicted ids, as OpenAI counts them
        self.queue_s, self.prefill_s, self.decode_s = Durations(), Durations(), Durations()
        self.request_s = Durations()

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
        parts: list[Iterable[str]] = [
            _rows("requests_total", "counter", "HTTP requests by path and status", (
                (f'{{path="{path}",status="{status}"}}', count)
                for (path, status), count in sorted(self.requests.items())
            )),
            _rows("draft_tokens_total", "counter", "draft tokens by drafter and outcome", (
                (f'{{source="{source}",outcome="{outcome}"}}', count)
                for (source, outcome), count in sorted(self.drafts.items())
            )),
        ]  # fmt: skip
        for name, value, help in (
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
            parts.append(_rows(name, "counter", help, [("", value)]))
        for name, gauge in gauges.items():
            parts.append(_rows(name, "gauge", name.replace("_", " "), [("", gauge)]))
        for name, durations, help in (
            ("queue_seconds", self.queue_s, "from the request to the engine"),
            ("prefill_seconds", self.prefill_s, "prefilling the prompt"),
            ("decode_seconds", self.decode_s, "writing the answer"),
            ("request_seconds", self.request_s, "whole requests that reach the engine"),
        ):
            values = [("_sum", durations.sum), ("_count", durations.count)]
            parts.append(_rows(name, "summary", help, values))
        return "".join(f"{line}\n" for part in parts for line in part)


def _rows(name: str, kind: str, help: str, values: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP specedit_{name} {help}"
    yield f"# TYPE specedit_{name} {kind}"
    for suffix, value in values:
        yield f"specedit_{name}{suffix} {round(value, 6):.12g}"


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
