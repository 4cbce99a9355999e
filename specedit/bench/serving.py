"""A server by its URL: one chat request, timed while it streams, and the server's own counts.

Knows OpenAI's JSON and Prometheus' text, of vLLM's server and of ours. Does not know loads, cases
or what is compared. Standard library only, so that a client of 32 threads costs little.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from specedit.backends import stream
from specedit.backends.remote import accepted_drafts, says
from specedit.errors import ServerError, UsageError

SILENCE_S = 600.0
STEPS = ("vllm:iteration_tokens_total_count", "specedit_passes_total")  # each server's own count


@dataclass(frozen=True)
class Server:
    """One server: what it is called in the results, and where it is."""

    name: str
    url: str

    @property
    def base(self) -> str:
        return self.url.rstrip("/").removesuffix("/v1")


@dataclass(frozen=True)
class Served:
    """One answer. Seconds count from when the request was due, so that no wait is hidden."""

    case: str
    due: float  # seconds after the first request of all
    first_s: float
    total_s: float
    text: str
    tokens: int  # that the model wrote; those of a prediction that did not appear are not counted
    appeared: int = 0  # tokens of the prediction that are in the answer, as OpenAI counts
    absent: int = 0
    drafted: int | None = None  # that the server says it verified
    accepted: int | None = None
    told: bool = False  # the server counts predictions
    failed: str = ""

    @property
    def steps(self) -> int | None:
        """Of this request alone: one for each token that was no accepted draft."""
        return None if self.accepted is None else self.tokens - self.accepted


def server(text: str) -> Server:
    """`URL`, or `NAME=URL`."""
    name, equals, url = text.partition("=")
    if not equals or "/" in name:
        name, url = "", text
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--serve {text!r} is no URL.", hint="http://127.0.0.1:8000, or NAME=URL")
    return Server(name or parts.netloc, url)


def model(of: Server) -> str:
    """The first model that the server lists."""
    found = _get(of, "/v1/models")
    try:
        return str(json.loads(found)["data"][0]["id"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise ServerError(f"{of.url} lists no model at /v1/models.") from None


def steps(of: Server) -> float | None:
    """How many steps the server took since it started; None where it does not say."""
    try:
        lines = _get(of, "/metrics").splitlines()
    except ServerError:
        return None
    found = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(STEPS)]
    return sum(found) if found else None


def ask(of: Server, body: dict[str, Any], case: str, due: float, began: float) -> Served:
    """One request, sent now; `began` is when the clock of `due` started."""
    started = began + due
    first = 0.0
    text: list[str] = []
    usage: dict[str, Any] = {}
    last: dict[str, Any] = {}
    try:
        for data in _events(of, body):
            usage = data.get("usage") or usage
            last = data if data.get("metrics") else last
            for choice in data.get("choices") or ():
                if piece := (choice.get("delta") or {}).get("content"):
                    first = first or time.perf_counter()
                    text.append(piece)
    except ServerError as problem:
        ended = time.perf_counter()
        return Served(case, due, 0.0, ended - started, "", 0, failed=str(problem))
    ended = time.perf_counter()
    details = usage.get("completion_tokens_details") or {}
    absent = int(details.get("rejected_prediction_tokens") or 0)
    drafts = accepted_drafts(last)
    return Served(
        case=case,
        due=due,
        first_s=(first or ended) - started,
        total_s=ended - started,
        text="".join(text),
        tokens=int(usage.get("completion_tokens") or 0) - absent,
        appeared=int(details.get("accepted_prediction_tokens") or 0),
        absent=absent,
        drafted=drafts[0] if drafts else None,
        accepted=drafts[1] if drafts else None,
        told=says(usage),
    )


def _events(of: Server, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    request = urllib.request.Request(f"{of.base}/v1/chat/completions", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=SILENCE_S) as answer:
            for event in stream.data(answer, of.name):
                if "error" in event:
                    raise ServerError(f"{of.name}: {event['error']}")
                yield event
    except urllib.error.HTTPError as error:
        said = error.read(500).decode(errors="replace")
        raise ServerError(f"{of.name} refused ({error.code}): {said}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise ServerError(f"{of.name} cannot be asked: {error}") from error


def _get(of: Server, path: str) -> str:
    try:
        with urllib.request.urlopen(of.base + path, timeout=60) as answer:
            found: bytes = answer.read()
    except (OSError, HTTPException, ValueError) as error:
        raise ServerError(f"{of.url}{path} cannot be asked: {error}") from error
    return found.decode(errors="replace")
