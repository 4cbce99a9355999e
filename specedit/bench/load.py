"""Servers under load: the same edits arrive at each, with predictions and without.

Arrivals are open: a request is sent when it is due, whoever is still waiting. Level 1 is one by
one; at level n, n requests arrive in the time that one takes alone, at moments drawn once and the
same for every server and way. Knows requests and time; does not know what a server is made of.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from specedit.backends.remote import PROFILES, request_json
from specedit.bench import serving
from specedit.bench.cases import Case
from specedit.bench.serving import Served, Server
from specedit.bench.side import Said
from specedit.edit.job import plan_edit
from specedit.edit.plan import Plan
from specedit.errors import ServerError, UsageError
from specedit.files.source import Source
from specedit.settings import Settings

PLAIN, PREDICTED = "without", "with"
FEW = 8  # requests of a level, at least
T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """One edit, as a client sends it."""

    case: str
    plan: Plan

    def body(self, model: str, *, predicted: bool, limit: int) -> dict[str, Any]:
        kept = self.plan if predicted else _bare(self.plan)
        body = request_json(kept, model, PROFILES["vllm"])
        return body | ({"max_tokens": limit} if limit else {})


@dataclass(frozen=True)
class Level:
    """One server, one way, one load."""

    server: str
    way: str
    at_once: int
    served: tuple[Served, ...]
    steps: int | None  # of the server, all requests together
    same: int | None = None  # texts equal to those of the first server without predictions

    @property
    def answered(self) -> list[Served]:
        return [one for one in self.served if not one.failed]

    @property
    def seconds(self) -> float:
        """From the first request to the last answer's end."""
        return max(one.due + one.total_s for one in self.served)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.answered)

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        return percentile([one.total_s for one in self.answered], share)

    @property
    def first_s(self) -> float:
        return percentile([one.first_s for one in self.answered], 0.5)

    @property
    def together(self) -> int:
        """The most requests that were under way at one moment."""
        ends = [(one.due, 1) for one in self.served]
        ends += [(one.due + one.total_s, -1) for one in self.served]
        return max(itertools.accumulate(step for _, step in sorted(ends)), default=0)


@dataclass(frozen=True)
class Loads:
    """What is to be measured."""

    servers: tuple[Server, ...]
    levels: tuple[int, ...]
    requests: int = 0  # of a level; 0: as many as arrive at once, and FEW at least
    limit: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.levels or min(self.levels) < 1:
            raise UsageError("--at-once takes numbers from 1 on.", hint="--at-once 1,2,4,8")


@dataclass
class UnderLoad:
    """The texts that the first server wrote without predictions, and how long one edit takes."""

    asked: Loads
    requests: Sequence[Request]
    said: Said = lambda text: None
    model: str = ""
    alone_s: float = 0.0
    texts: dict[tuple[int, str], str] = field(default_factory=dict)

    def levels(self) -> Iterator[Level]:
        for server in self.asked.servers:
            name = serving.model(server)
            self.model = self.model or name
            told = self._warmed(server, name)
            ways = (PLAIN, PREDICTED) if told else (PLAIN,)
            for at_once in self.asked.levels:
                if at_once == 1:
                    yield from self._one_by_one(server, name, ways)
                else:
                    for way in ways:
                        yield self._arriving(server, name, at_once, way)

    def _warmed(self, server: Server, model: str) -> bool:
        """One request, not counted; whether the server counts predictions."""
        self.said(f"{server.name}: the first request")
        first = self.requests[0]
        found = serving.ask(
            server,
            first.body(model, predicted=True, limit=self.asked.limit or 64),
            first.case,
            0.0,
            time.perf_counter(),
        )
        if found.failed:
            raise ServerError(found.failed)
        return found.told

    def _one_by_one(self, server: Server, model: str, ways: Sequence[str]) -> Iterator[Level]:
        """Each request in every way before the next, so that all see the same machine."""
        served: dict[str, list[Served]] = {way: [] for way in ways}
        steps: dict[str, list[int | None]] = {way: [] for way in ways}
        chosen = self._chosen(1)
        try:
            for number, one in enumerate(chosen, 1):
                for way in (
                    ways if number % 2 else reversed(ways)
                ):  # the second finds the prompt read
                    self.said(f"{server.name}: {number} of {len(chosen)}, {way} predictions")
                    found, took = self._counted(
                        server, partial(self._alone, server, model, one, way)
                    )
                    served[way].append(replace(found, due=sum(s.total_s for s in served[way])))
                    steps[way].append(took)
        except KeyboardInterrupt:
            if not served[ways[-1]]:
                raise
            yield from self._levels_of(server, served, steps)
            raise
        yield from self._levels_of(server, served, steps)

    def _levels_of(
        self,
        server: Server,
        served: Mapping[str, Sequence[Served]],
        steps: Mapping[str, Sequence[int | None]],
    ) -> Iterator[Level]:
        for way, answers in served.items():
            known = [n for n in steps[way] if n is not None]
            if not self.alone_s:
                self.alone_s = statistics.median(one.total_s for one in answers)
            took = sum(known) if known else None
            yield Level(server.name, way, 1, tuple(answers), took, self._same(1, answers))

    def _alone(self, server: Server, model: str, one: Request, way: str) -> Served:
        body = one.body(model, predicted=way == PREDICTED, limit=self.asked.limit)
        return serving.ask(server, body, one.case, 0.0, time.perf_counter())

    def _chosen(self, at_once: int) -> list[Request]:
        count = self.asked.requests or max(at_once, FEW)
        return [self.requests[n % len(self.requests)] for n in range(count)]

    def _counted(self, server: Server, do: Callable[[], T]) -> tuple[T, int | None]:
        """What `do` gives, and the server's steps meanwhile."""
        before = serving.steps(server)
        found = do()
        after = serving.steps(server)
        return found, None if before is None or after is None else round(after - before)

    def _arriving(self, server: Server, model: str, at_once: int, way: str) -> Level:
        self.said(f"{server.name}: {at_once} at once, {way} predictions")
        chosen = self._chosen(at_once)
        if not self.alone_s:
            self.alone_s = self._alone(server, model, chosen[0], PLAIN).total_s
        dues = arrivals(len(chosen), self.alone_s / at_once, self.asked.seed)
        bodies = [
            one.body(model, predicted=way == PREDICTED, limit=self.asked.limit) for one in chosen
        ]

        def run() -> list[Served]:
            found: list[Served | None] = [None] * len(chosen)
            began = time.perf_counter()

            def ask(at: int) -> None:
                found[at] = serving.ask(server, bodies[at], chosen[at].case, dues[at], began)

            threads = [
                threading.Thread(target=ask, args=(at,), daemon=True) for at in range(len(chosen))
            ]
            for thread, due in zip(threads, dues, strict=True):
                time.sleep(max(0.0, began + due - time.perf_counter()))
                thread.start()
            for thread in threads:
                thread.join()
            return [one for one in found if one is not None]

        served, took = self._counted(server, run)
        same = self._same(at_once, served)
        return Level(server.name, way, at_once, tuple(served), took, same)

    def _same(self, at_once: int, served: Sequence[Served]) -> int:
        """Texts equal to the first ones of this level; the first ones are kept."""
        return sum(
            self.texts.setdefault((at_once, f"{one.case} {n}"), one.text) == one.text
            for n, one in enumerate(served)
            if not one.failed
        )


def requests(cases: Sequence[Case], settings: Settings) -> list[Request]:
    """The cases as edits of whole files."""
    found = []
    for case in cases:
        source = Source.from_bytes(case.filename, case.before.encode())
        found.append(Request(case.id, plan_edit(source, case.instruction, settings).plan))
    return found


def arrivals(count: int, apart_s: float, seed: int) -> list[float]:
    """Moments of `count` requests, the first at 0, `apart_s` from each other on average."""
    drawn = random.Random(seed)
    gaps = [0.0, *(drawn.expovariate(1.0) * apart_s for _ in range(count - 1))]
    return list(itertools.accumulate(gaps))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all are not above; 0 where there is none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def load_json(levels: Sequence[Level], *, texts: bool = False) -> list[dict[str, Any]]:
    """What the plots are drawn from."""
    return [_level_json(one, texts) for one in levels]


def _level_json(one: Level, texts: bool) -> dict[str, Any]:
    answered = one.answered
    drafted = [s.drafted for s in answered if s.drafted is not None]
    accepted = [s.accepted for s in answered if s.accepted is not None]
    return {
        "server": one.server,
        "predictions": one.way,
        "at_once": one.at_once,
        "together": one.together,
        "requests": len(one.served),
        "failed": [s.failed for s in one.served if s.failed],
        "seconds": round(one.seconds, 3),
        "steps": one.steps,
        "tokens": one.tokens,
        "tokens_per_second": round(one.rate, 2),
        "p50_s": round(one.percentile(0.5), 3),
        "p95_s": round(one.percentile(0.95), 3),
        "first_text_s": round(one.first_s, 3),
        "same_texts": one.same,
        "drafted": sum(drafted) if drafted else None,
        "accepted": sum(accepted) if accepted else None,
        "prediction": {
            "appeared": sum(s.appeared for s in answered),
            "absent": sum(s.absent for s in answered),
        },
        "each": [
            {
                "case": s.case,
                "due_s": round(s.due, 3),
                "first_s": round(s.first_s, 3),
                "total_s": round(s.total_s, 3),
                "tokens": s.tokens,
                "steps": s.steps,
                **({"text": s.text} if texts else {}),
            }
            for s in one.served
        ],
    }


def _bare(plan: Plan) -> Plan:
    return replace(plan, prediction=None)
