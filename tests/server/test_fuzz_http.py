"""Whatever an HTTP body or an endpoint's stream holds, it is taken, or refused with words."""

from __future__ import annotations

import contextlib
import io
from typing import Any, ClassVar

from odd import Odd, dumped, target

from specedit.edit.backend import Message, Plan, unreported
from specedit.errors import SpeceditError
from specedit.server import remote
from specedit.server.chat_request import ChatRequest
from specedit.server.protocol import RefusedError
from specedit.server.remote import PROFILES, RemoteBackend
from specedit.server.service import Access
from specedit.settings import Settings

REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
    ],
    "prediction": {"type": "content", "content": "y"},
    "stream": True,
    "stream_options": {"include_usage": True},
    "stop": ["a", "b"],
    "max_tokens": 5,
    "temperature": 0.5,
    "top_p": 0.5,
    "seed": 7,
    "n": 1,
    "logit_bias": None,
    "metadata": {"a": "b"},
}
EVENTS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"content": "```\nx = 2\n```"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 5,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"accepted_prediction_tokens": 2},
        },
    },
    {"error": {"message": "no"}},
]


@target(lambda odd: odd.damaged(dumped(odd.changed(odd.changed(REQUEST)))))
def test_any_body_is_a_request_or_refused(body):
    with contextlib.suppress(RefusedError, SpeceditError):
        plan = ChatRequest.read(body).plan(Settings())
        assert plan.messages and all(isinstance(m.content, str) for m in plan.messages)
        assert plan.max_tokens is None or plan.max_tokens > 0


def streams(odd: Odd) -> bytes:
    lines = []
    for event in EVENTS[: odd.randrange(1, 6)]:
        said = dumped(odd.changed(event) if odd.random() < 0.4 else event)
        lines.append(odd.choice([b"data: ", b"data:", b"data: ", b": ", b""]) + said + b"\n\n")
    return odd.damaged(b"".join([*lines, b"data: [DONE]\n\n"]))


class Opener:
    """urllib's, whose answer is here already."""

    data = b""
    headers: ClassVar = {"x-specedit-prediction": "not used: \x1b[2J" * 99}

    def open(self, request: object, timeout: float) -> Opener:
        self._rest = io.BytesIO(self.data)
        return self

    def read1(self, size: int) -> bytes:
        return self._rest.read(size)

    def __enter__(self) -> Opener:
        return self

    def __exit__(self, *_: object) -> None: ...


PLAN = Plan((Message("user", ("x",)),), "```\n", "```", prediction="x = 1\n")


@target(streams)
def test_any_stream_is_an_answer_or_our_error(data):
    opener = Opener()
    opener.data = data
    before = remote.urllib.request.build_opener
    remote.urllib.request.build_opener = lambda *_: opener  # type: ignore[assignment]
    try:
        with contextlib.suppress(SpeceditError):
            RemoteBackend(Settings(server="http://x", model="m")).run(PLAN, unreported)
    finally:
        remote.urllib.request.build_opener = before


@target(lambda odd: odd.damaged(odd.choice([b"http://127.0.0.1:8/v1", b"https://[::1]/x", b""])))
def test_any_address_is_one_or_refused(data):
    with contextlib.suppress(SpeceditError):
        server = data.decode("latin-1")
        RemoteBackend(Settings(server=server, profile=list(PROFILES)[len(data) % 6]))


def heads(odd: Odd) -> dict[bytes, bytes]:
    sound = {
        b"host": b"127.0.0.1:80",
        b"origin": b"http://127.0.0.1:80",
        b"authorization": b"Bearer k",
    }
    kept = {name: value for name, value in sound.items() if odd.random() < 0.8}
    return {n: odd.damaged(v) if odd.random() < 0.5 else v for n, v in kept.items()}


@target(heads)
def test_any_head_is_let_in_or_refused_and_only_ours_is_let_in(headers):
    gate = Access(None, "127.0.0.1", "k")  # type: ignore[arg-type]
    scope = {"type": "http", "path": "/v1/models", "headers": list(headers.items())}
    if gate.refusal(scope) is None:
        name, _, port = headers[b"host"].decode("ascii").partition(":")
        assert name == "127.0.0.1" and (not port or port.isdigit())
        assert headers[b"authorization"].split()[-1] == b"k"
