"""OpenAI's `prediction` in a chat request to vLLM, and its figures in the answer's `usage`.

A pure ASGI middleware before vLLM's own routes. It takes `prediction` (and our own `predictions`,
a list of them) out of the body, turns the text into ids, hands these to the scheduler through
`vllm_xargs`, and counts in the answer which of them appeared, as OpenAI's usage has it. A request
without a prediction passes untouched, byte for byte, and so does everything that is no chat
request. Knows JSON, server-sent events and ids; does not know vLLM.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from specedit.backends.wire import appeared
from specedit.server.refusal import INVALID, Refusal
from specedit.vllm.drafting import joined
from specedit.vllm.words import ServedVocabulary

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CHAT = "/v1/chat/completions"
LARGEST = 64 << 20  # bytes of a body that is looked into
EXTRA = "specedit_prediction"
NOT_USED = b"x-specedit-prediction"
# What OpenAI refuses beside a prediction, and what counts as absent.
REFUSED = ("logprobs", "top_logprobs", "tools", "functions", "logit_bias", "audio")
PENALTIES = ("presence_penalty", "frequency_penalty")


@dataclass
class Predicting:
    """One request with a prediction."""

    predictions: list[list[int]]
    streamed: bool
    usage: bool  # the client wants usage in its stream
    ids: bool  # the client wants ids itself
    written: list[int] = field(default_factory=list)


class Predictions:
    """`--middleware specedit.vllm.middleware.Predictions`."""

    def __init__(self, app: App, words: ServedVocabulary | None = None) -> None:
        self._app = app
        self._words = words

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")))
        if scope["type"] != "http" or scope.get("method") != "POST" or path != CHAT:
            await self._app(scope, receive, send)
            return
        body, replay = await _read(receive)
        request = _object(body)
        if request is None or not ("prediction" in request or "predictions" in request):
            await self._app(scope, replay, send)
            return
        refusal = _refusal(request)
        if refusal is not None:
            await _refuse(refusal, send)
            return
        texts = _texts(request)
        words = await self._vocabulary(scope)
        ids = [await asyncio.to_thread(words.encode, text) for text in texts] if words else []
        asked = _rewrite(request, ids)
        changed = json.dumps(request).encode()
        scope = {**scope, "headers": _resized(scope["headers"], len(changed))}
        answer = _Answer(asked, send, told=words is not None)
        await self._app(scope, _replayed(changed, receive), answer.send)

    async def _vocabulary(self, scope: Scope) -> ServedVocabulary | None:
        if self._words is None:
            state = getattr(scope.get("app"), "state", None)
            config = getattr(getattr(state, "vllm_config", None), "model_config", None)
            name = getattr(config, "tokenizer", None) or getattr(config, "model", None)
            if name is None:
                return None
            self._words = await asyncio.to_thread(ServedVocabulary.of, str(name))
        return self._words


def _rewrite(request: dict[str, Any], ids: list[list[int]]) -> Predicting:
    """Takes ours out of the request, puts vLLM's in; what the answer must be given of it."""
    request.pop("prediction", None)
    request.pop("predictions", None)
    asked = Predicting(
        predictions=ids,
        streamed=bool(request.get("stream")),
        usage=bool((request.get("stream_options") or {}).get("include_usage")),
        ids=bool(request.get("return_token_ids")),
    )
    if ids:
        extra = dict(request.get("vllm_xargs") or {})
        request["vllm_xargs"] = {**extra, EXTRA: joined(ids)}
        request["return_token_ids"] = True  # the answer's ids, to be counted and taken out again
    return asked


def _refusal(request: dict[str, Any]) -> Refusal | None:
    """What cannot stand beside a prediction, in OpenAI's words; None when all is well."""
    given = request.get("predictions")
    if given is not None and (not isinstance(given, list) or not given):
        return _invalid("predictions", "expected an array of predictions", "invalid_type")
    for name, one in (
        *((("prediction", request["prediction"]),) if "prediction" in request else ()),
        *((f"predictions[{n}]", one) for n, one in enumerate(given or ())),
    ):
        if one is not None and _text(one) is None:
            return _invalid(name, "expected {'type': 'content', 'content': TEXT}", "invalid_type")
    if request.get("n") not in (None, 1):
        return _unsupported("n")
    for name in REFUSED:
        if request.get(name) not in (None, [], {}, False):
            return _unsupported(name)
    for name in PENALTIES:
        if isinstance(request.get(name), int | float) and request[name] > 0:
            return _unsupported(name)
    return None


def _unsupported(name: str) -> Refusal:
    said = f"Unsupported parameter: '{name}' cannot be combined with a prediction."
    return Refusal(400, said, name, "unsupported_parameter")


def _invalid(name: str, said: str, code: str) -> Refusal:
    return Refusal(400, f"Invalid type for '{name}': {said}.", name, code)


def _texts(request: dict[str, Any]) -> list[str]:
    wanted = [request.get("prediction"), *(request.get("predictions") or ())]
    return [text for one in wanted if one is not None and (text := _text(one))]


def _text(prediction: Any) -> str | None:
    """A prediction's text: a string, or OpenAI's array of text parts."""
    if not isinstance(prediction, dict) or prediction.get("type") != "content":
        return None
    content = prediction.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else None for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else None


class _Answer:
    """The answer on its way out: whole, or event by event."""

    def __init__(self, asked: Predicting, send: Send, *, told: bool) -> None:
        self._asked = asked
        self._send = send
        self._told = told
        self._start: Message | None = None
        self._events = False
        self._held = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._start is None:
            await self._stream(message)
        else:
            self._held += message.get("body", b"")
            if not message.get("more_body"):
                await self._whole()

    async def _begin(self, message: Message) -> None:
        headers = list(message.get("headers", ()))
        kind = {k.lower(): v for k, v in headers}.get(b"content-type", b"")
        self._events = kind.startswith(b"text/event-stream")
        if not self._told:
            headers.append((NOT_USED, b"not used: this model has no tokenizer.json"))
        message = {**message, "headers": headers}
        if self._events:
            await self._send(message)
        else:
            self._start = message

    async def _whole(self) -> None:
        assert self._start is not None
        body, found = self._held, _object(self._held)
        if found is not None and self._start["status"] == 200:
            for choice in found.get("choices") or ():
                self._take(choice)
            _drop(found, self._asked)
            self._count(found.get("usage"))
            body = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
        headers = _resized(self._start["headers"], len(body))
        await self._send({**self._start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _stream(self, message: Message) -> None:
        self._held += message.get("body", b"")
        *events, self._held = self._held.split(b"\n\n")
        out = b"".join(self._event(event) + b"\n\n" for event in events)
        if not message.get("more_body"):
            out, self._held = out + self._held, b""
        if out or not message.get("more_body"):
            await self._send({**message, "body": out})

    def _event(self, event: bytes) -> bytes:
        head, _, data = event.partition(b"data: ")
        found = None if head.strip() else _object(data)
        if found is None:
            return event
        for choice in found.get("choices") or ():
            self._take(choice)
        _drop(found, self._asked)
        self._count(found.get("usage"))
        return b"data: " + json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()

    def _take(self, choice: dict[str, Any]) -> None:
        self._asked.written += choice.get("token_ids") or ()
        if not self._asked.ids:
            choice.pop("token_ids", None)

    def _count(self, usage: Any) -> None:
        """OpenAI's figures: the prediction's ids that appeared, and those that did not."""
        if not isinstance(usage, dict) or not self._asked.predictions:
            return
        main = self._asked.predictions[0]
        found = appeared(main, self._asked.written)
        details = usage.get("completion_tokens_details") or {}
        usage["completion_tokens_details"] = {
            **details,
            "accepted_prediction_tokens": found,
            "rejected_prediction_tokens": len(main) - found,
        }
        for name in ("completion_tokens", "total_tokens"):
            if isinstance(usage.get(name), int):
                usage[name] += len(main) - found


def _drop(found: dict[str, Any], asked: Predicting) -> None:
    if not asked.ids:
        found.pop("prompt_token_ids", None)


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body, and a `receive` that gives all of it again. A body over LARGEST is not read to
    its end: what was read is given again, and nothing of it is looked into."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body") or size > LARGEST:
            break
    whole = messages[-1]["type"] == "http.request" and not messages[-1].get("more_body")
    body = b"".join(m.get("body", b"") for m in messages) if whole and size <= LARGEST else b""
    left = iter(messages)

    async def again() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return body, again


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _resized(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    kept = [(k, v) for k, v in headers if k.lower() != b"content-length"]
    return [*kept, (b"content-length", str(length).encode())]


async def _refuse(refusal: Refusal, send: Send) -> None:
    assert refusal.kind == INVALID
    body = json.dumps(refusal.json()).encode()
    headers = [(b"content-type", b"application/json")]
    start = {"type": "http.response.start", "status": refusal.status}
    await send({**start, "headers": _resized(headers, len(body))})
    await send({"type": "http.response.body", "body": body})
