"""Servers under load: the same edits arrive at each, with predictions and without.

    python -m benchmarks.load CASES.jsonl --serve specedit=http://127.0.0.1:8737 --at-once 1,2,4,8

Arrivals are open: a request is sent when it is due, however many are still waiting. At level 1 they
come one by one; at level n, n requests arrive in the time that one takes alone, at random moments
that are the same for every server and way. Works with vLLM's server and with specedit's.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from benchmarks.common import parser, part, resolved, run
from benchmarks.speed.cases import Case, read_cases
from specedit.edit.backend import Plan
from specedit.edit.job import plan_edit
from specedit.errors import ServerError, UsageError
from specedit.files.source import Source
from specedit.server.remote import PROFILES, accepted_drafts, event_data, request_json
from specedit.settings import Settings

TIMEOUT_S = 600.0
STEPS = "vllm:iteration_tokens_total_count"
FEW = 8  # requests of a level, at least


@dataclass(frozen=True)
class Server:
    """One server: its name in the results, and its address."""

    name: str
    url: str

    @classmethod
    def of(cls, text: str) -> Server:
        """`URL`, or `NAME=URL`."""
        name, equals, url = text.partition("=")
        if not equals or "/" in name:
            name, url = "", text
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"--serve {text!r} is not a URL.", hint="NAME=http://127.0.0.1:8000")
        return cls(name or parts.netloc, url.rstrip("/").removesuffix("/v1"))

    def get(self, path: str) -> str:
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return bytes(answer.read()).decode(errors="replace")
        except (OSError, HTTPException, ValueError) as error:
            raise ServerError(f"{self.url}{path} does not answer: {error}") from error

    def model(self) -> str:
        try:
            return str(json.loads(self.get("/v1/models"))["data"][0]["id"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise ServerError(f"{self.url} lists no model at /v1/models.") from None

    def steps(self) -> float | None:
        """Steps since the server started; None where it does not count them."""
        try:
            return float(json.loads(self.get("/health"))["passes"])
        except (ServerError, ValueError, KeyError, TypeError):
            pass  # another server
        try:
            lines = self.get("/metrics").splitlines()
        except ServerError:
            return None
        counts = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(STEPS)]
        return sum(counts) if counts else None


@dataclass(frozen=True)
class Served:
    """One answer. Seconds count from when the request was due, so no wait is hidden."""

    case: str
    due: float  # seconds after the first request of all
    first_s: float
    total_s: float
    text: str = ""
    tokens: int = 0  # of the text; rejected ones of a prediction are not counted
    drafted: int | None = None
    accepted: int | None = None
    failed: str = ""


@dataclass(frozen=True)
class Level:
    """One server, one way, one load."""

    server: str
    predicted: bool
    at_once: int
    served: tuple[Served, ...]
    steps: int | None  # of the server, all requests together

    def row(self) -> dict[str, Any]:
        answered = [one for one in self.served if not one.failed]
        tokens = sum(one.tokens for one in answered)
        seconds = max(one.due + one.total_s for one in self.served)
        return {
            "server": self.server,
            "predictions": "with" if self.predicted else "without",
            "at_once": self.at_once,
            "requests": len(self.served),
            "failed": len(self.served) - len(answered),
            "steps": self.steps,
            "tokens": tokens,
            "tokens_per_second": round(tokens / seconds, 2) if seconds else 0.0,
            "p50_s": round(percentile([one.total_s for one in answered], 0.5), 3),
            "p95_s": round(percentile([one.total_s for one in answered], 0.95), 3),
            "first_s": round(percentile([one.first_s for one in answered], 0.5), 3),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all are not above; 0 where there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def arrivals(count: int, apart_s: float, seed: int) -> list[float]:
    """Moments of `count` requests, the first at 0, `apart_s` from each other on average."""
    numbers = random.Random(seed)
    gaps = [0.0, *(numbers.expovariate(1.0) * apart_s for _ in range(count - 1))]
    return list(itertools.accumulate(gaps))


@dataclass(frozen=True)
class Loads:
    """What to measure on one server."""

    server: Server
    model: str
    plans: Sequence[tuple[str, Plan]]
    requests: int = 0  # of a level; 0: as many as arrive at once, and at least FEW
    limit: int = 0
    seed: int = 0

    def level(self, at_once: int, predicted: bool, alone_s: float) -> Level:
        count = self.requests or max(at_once, FEW)
        wanted = [self.plans[n % len(self.plans)] for n in range(count)]
        before = self.server.steps()
        if at_once == 1:
            served = self._one_by_one(wanted, predicted)
        else:
            served = self._arriving(wanted, predicted, alone_s / at_once)
        after = self.server.steps()
        steps = None if before is None or after is None else round(after - before)
        return Level(self.server.name, predicted, at_once, tuple(served), steps)

    def _one_by_one(self, wanted: Sequence[tuple[str, Plan]], predicted: bool) -> list[Served]:
        served: list[Served] = []
        for case, plan in wanted:
            one = self.ask(case, plan, predicted, 0.0, time.perf_counter())
            served.append(replace(one, due=sum(s.total_s for s in served)))
        return served

    def _arriving(
        self, wanted: Sequence[tuple[str, Plan]], predicted: bool, apart_s: float
    ) -> list[Served]:
        dues = arrivals(len(wanted), apart_s, self.seed)
        served: dict[int, Served] = {}
        began = time.perf_counter()

        def ask(at: int) -> None:
            served[at] = self.ask(*wanted[at], predicted, dues[at], began)

        threads = [threading.Thread(target=ask, args=(at,), daemon=True) for at in range(len(dues))]
        for thread, due in zip(threads, dues, strict=True):
            time.sleep(max(0.0, began + due - time.perf_counter()))
            thread.start()
        for thread in threads:
            thread.join()
        return [served[at] for at in sorted(served)]

    def ask(self, case: str, plan: Plan, predicted: bool, due: float, began: float) -> Served:
        """One request, sent now; `began` is when the clock of `due` started."""
        plan = plan if predicted else replace(plan, prediction=None)
        body = request_json(plan, self.model, replace(PROFILES["vllm"], more={}))
        body |= {"max_tokens": self.limit} if self.limit else {}
        started, first = began + due, 0.0
        text: list[str] = []
        usage: dict[str, Any] = {}
        last: dict[str, Any] = {}
        try:
            for data in self._events(body):
                usage = data.get("usage") or usage
                last = data if data.get("metrics") else last
                for choice in data.get("choices") or ():
                    if piece := (choice.get("delta") or {}).get("content"):
                        first = first or time.perf_counter()
                        text.append(piece)
        except ServerError as problem:
            return Served(case, due, 0.0, time.perf_counter() - started, failed=str(problem))
        ended = time.perf_counter()
        details = usage.get("completion_tokens_details") or {}
        rejected = int(details.get("rejected_prediction_tokens") or 0)
        drafted, accepted = accepted_drafts(last) or (None, None)
        return Served(
            case,
            due,
            (first or ended) - started,
            ended - started,
            "".join(text),
            int(usage.get("completion_tokens") or 0) - rejected,
            drafted,
            accepted,
        )

    def _events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        address = f"{self.server.url}/v1/chat/completions"
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                for event in event_data(answer, self.server.name):
                    if "error" in event:
                        raise ServerError(f"{self.server.name}: {event['error']}")
                    yield event
        except urllib.error.HTTPError as error:
            message = error.read(500).decode(errors="replace")
            raise ServerError(f"{self.server.name} refused ({error.code}): {message}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise ServerError(f"{self.server.name} does not answer: {error}") from error


def plans(cases: Sequence[Case], settings: Settings) -> list[tuple[str, Plan]]:
    """The cases as edits of whole files."""
    found = []
    for case in cases:
        source = Source.from_bytes(case.filename, case.before.encode())
        found.append((case.id, plan_edit(source, case.instruction, settings).plan))
    return found


def levels(loads: Loads, at_once: Sequence[int], ways: Sequence[bool]) -> Iterator[Level]:
    """Every load in every way, the smallest load first."""
    warm = loads.ask(*loads.plans[0], True, 0.0, time.perf_counter())
    if warm.failed:
        raise ServerError(warm.failed)
    alone_s = loads.ask(*loads.plans[0], False, 0.0, time.perf_counter()).total_s
    for number in at_once:
        for predicted in ways:
            level = loads.level(number, predicted, alone_s)
            if number == 1 and not predicted:
                alone_s = statistics.median(one.total_s for one in level.served)
            yield level


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--serve", action="append", required=True, metavar="[NAME=]URL")
    made.add_argument("--at-once", default="1,2,4,8,16,32", metavar="N,…")
    made.add_argument("--requests", type=int, default=0, help="of a level")
    made.add_argument("--limit", type=int, default=0, help="maximum tokens of an answer")
    options = made.parse_args()
    settings = resolved(options)
    wanted = plans(part(read_cases(options.cases, "instruction"), options), settings)
    numbers = [int(number) for number in options.at_once.split(",")]
    texts: dict[tuple[int, int, str], str] = {}  # as the first server wrote them first
    for server in map(Server.of, options.serve):
        loads = Loads(
            server, server.model(), wanted, options.requests, options.limit, settings.seed
        )
        for level in levels(loads, numbers, (False, True)):
            same = sum(
                texts.setdefault((level.at_once, n, one.case), one.text) == one.text
                for n, one in enumerate(level.served)
            )
            row = {**level.row(), "same_texts": same}
            print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
            if options.out is not None:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(
                        json.dumps({**row, "each": [asdict(o) for o in level.served]}) + "\n"
                    )
    return 0


if __name__ == "__main__":
    run(main)
