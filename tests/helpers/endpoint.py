"""Somebody else's server, on loopback: keeps what it is sent, says what it is told."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

USAGE = {
    "prompt_tokens": 50,
    "completion_tokens": 12,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"accepted_prediction_tokens": 7, "rejected_prediction_tokens": 2},
}


@dataclass
class Endpoint:
    """A recorded endpoint: keeps each request, says what it is told."""

    url: str
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]
    paths: list[str]
    answer: bytes = b""
    status: int = 200
    breaks_after: int = 1 << 30  # requests that are answered
    location: str = ""
    says: Callable[[dict[str, Any]], bytes] | None = None  # the answer to a request, if not always
    models: list[str] = field(default_factory=list)  # that it lists
    extra: dict[str, str] = field(default_factory=dict)  # further headers


def stream(
    *deltas: str, reason: str | None = "stop", usage: Any = USAGE, drafts: Any = None
) -> bytes:
    """The server-sent events that say these deltas; `drafts`: vLLM's, offered and accepted."""
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": d}, "finish_reason": None}]} for d in deltas
    ]
    if reason:
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if usage:
        events.append({"choices": [], "usage": usage})
    if drafts:
        counts = dict(zip(("num_draft_tokens", "num_accepted_draft_tokens"), drafts, strict=True))
        events[-1]["metrics"] = {"speculative_decoding": counts}
    lines = [f"data: {json.dumps(e)}\n\n" for e in events]
    return "".join([": comment\n\n", *lines, "data: [DONE]\n\n"]).encode()


@contextlib.contextmanager
def listening() -> Iterator[Endpoint]:
    endpoint = Endpoint("", [], [], [], stream("```python\n", "a = 2\n", "```"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            endpoint.requests.append(json.loads(body))
            endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
            endpoint.paths.append(self.path)
            broken = len(endpoint.requests) > endpoint.breaks_after
            self.send_response(500 if broken else endpoint.status)
            for name, value in endpoint.extra.items():
                self.send_header(name, value)
            if endpoint.location:
                self.send_header("Location", endpoint.location)
            self.end_headers()
            self.wfile.write(
                endpoint.says(endpoint.requests[-1]) if endpoint.says else endpoint.answer
            )

        def do_GET(self) -> None:
            endpoint.paths.append(self.path)
            self.send_response(200 if endpoint.models else 404)
            self.end_headers()
            listed = {"data": [{"id": name} for name in endpoint.models]}
            self.wfile.write(json.dumps(listed).encode())

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield endpoint
        server.shutdown()
        thread.join()
