"""OpenAI's `prediction` in a chat request to vLLM: removed, encoded, and passed to the scheduler.

A pure ASGI middleware before vLLM's own routes. It removes `prediction` (and our own `predictions`,
a list of them) from the body, passes their ids to the scheduler through `vllm_xargs`, and lets
`usage` count in the answer which of them appeared. A request without a prediction, and everything
that is not a chat request, passes unchanged, byte for byte.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from specedit.integrations.vllm.drafting import MOST, PREDICTION, ServedVocabulary, joined
from specedit.integrations.vllm.launch import batch_invariant, drafts_spoil_sampling
from specedit.integrations.vllm.usage import CountedAnswer, Message, Send, json_object, resized
from specedit.server.protocol import INVALID, Refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CHAT = "/v1/chat/completions"
LARGEST = 64 << 20  # bytes of a body that is parsed
UNLIMITED = 1 << 16  # ids of an answer without a limit
# What OpenAI refuses beside a prediction.
REFUSED = ("logprobs", "top_logprobs", "tools", "functions", "logit_bias", "audio")
PENALTIES = ("presence_penalty", "frequency_penalty")


class Predictions:
    """`--middleware specedit.integrations.vllm.middleware.Predictions`."""

    def __init__(self, app: App, vocabulary: ServedVocabulary | None = None) -> None:
        self._app = app
        self._vocabulary = vocabulary

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")))
        if scope["type"] != "http" or scope.get("method") != "POST" or path != CHAT:
            await self._app(scope, receive, send)
            return
        body, replay = await _read(receive)
        request = json_object(body)
        if request is None or not ("prediction" in request or "predictions" in request):
            await self._app(scope, replay, send)
            return
        refusal = _refusal(request)
        if refusal is not None:
            await _refuse(refusal, send)
            return
        vocabulary = await self._served_vocabulary(scope)
        ids, unused = [], ""
        if vocabulary is None:
            unused = "this model has no tokenizer.json"
        else:
            ids = [await asyncio.to_thread(vocabulary.encode, text) for text in _texts(request)]
            if drafts_spoil_sampling() and request.get("temperature") != 0:
                unused = "this build of vLLM spoils drafted samples; ask with temperature 0"
        keep_ids = bool(request.get("return_token_ids"))
        body = json.dumps(_rewritten(request, ids)).encode()
        scope = {**scope, "headers": resized(scope["headers"], len(body))}
        answer = CountedAnswer(send, ids, keep_ids=keep_ids, exact=batch_invariant(), unused=unused)
        await self._app(scope, _replayed(body, receive), answer.send)

    async def _served_vocabulary(self, scope: Scope) -> ServedVocabulary | None:
        if self._vocabulary is None:
            state = getattr(scope.get("app"), "state", None)
            config = getattr(getattr(state, "vllm_config", None), "model_config", None)
            name = getattr(config, "tokenizer", None) or getattr(config, "model", None)
            if name is None:
                return None
            self._vocabulary = await asyncio.to_thread(ServedVocabulary.of, str(name))
        return self._vocabulary


def _rewritten(request: dict[str, Any], ids: list[list[int]]) -> dict[str, Any]:
    """The request with vLLM's arguments instead of ours."""
    # An empty value means nothing, but vLLM refuses an empty list of tools.
    empty = {name for name in REFUSED if name in request and request[name] in ([], {})}
    left_out = {"prediction", "predictions", *empty}
    changed = {name: value for name, value in request.items() if name not in left_out}
    if ids:
        extra = request.get("vllm_xargs") or {}
        if isinstance(extra, dict):  # vLLM refuses anything else
            changed["vllm_xargs"] = {**extra, PREDICTION: joined(ids, _reach(request))}
        changed["return_token_ids"] = True  # `usage` counts them
    return changed


def _reach(request: dict[str, Any]) -> int:
    """Ids of a prediction that the answer can reach within its limit."""
    limits = [request.get(name) for name in ("max_completion_tokens", "max_tokens")]
    return min((n for n in limits if type(n) is int and n > 0), default=UNLIMITED) + MOST


def _refusal(request: dict[str, Any]) -> Refusal | None:
    """An error, in OpenAI's words, if the predictions are malformed or something in the request
    cannot be combined with them."""
    several = request.get("predictions")
    if several is not None and not isinstance(several, list):
        return _invalid("predictions", "expected an array of predictions", "invalid_type")
    if several == []:
        return _invalid("predictions", "expected one prediction at least", "invalid_value")
    named = [(f"predictions[{n}]", one) for n, one in enumerate(several or ())]
    if request.get("prediction") is not None:
        named.insert(0, ("prediction", request["prediction"]))
    for name, one in named:
        if (refusal := _malformed(name, one)) is not None:
            return refusal
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
    message = f"Unsupported parameter: '{name}' cannot be combined with a prediction."
    return Refusal(400, message, name, "unsupported_parameter")


def _invalid(name: str, expected: str, code: str) -> Refusal:
    what = "value" if code == "invalid_value" else "type"
    return Refusal(400, f"Invalid {what} for '{name}': {expected}.", name, code)


def _malformed(name: str, one: Any) -> Refusal | None:
    """An error of one prediction, which is called `name` as our own server does."""
    if not isinstance(one, dict):
        return _invalid(name, "expected {'type': 'content', 'content': TEXT}", "invalid_type")
    for part in ("type", "content"):
        if part not in one:
            message = f"Missing required parameter: '{name}.{part}'."
            return Refusal(400, message, f"{name}.{part}", "missing_required_parameter")
    if one["type"] != "content":
        return _invalid(f"{name}.type", "expected 'content'", "invalid_value")
    if _text(one) is None:
        place = f"{name}.content"
        return _invalid(place, "expected a string or an array of text parts", "invalid_type")
    return None


def _texts(request: dict[str, Any]) -> list[str]:
    predictions = [request.get("prediction"), *(request.get("predictions") or ())]
    return [text for one in predictions if (text := _text(one))]


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


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body, and a `receive` that returns all of it again. A body over LARGEST is not read to
    its end and not parsed."""
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


async def _refuse(refusal: Refusal, send: Send) -> None:
    assert refusal.kind == INVALID
    body = json.dumps(refusal.json()).encode()
    headers = [(b"content-type", b"application/json")]
    start = {"type": "http.response.start", "status": refusal.status}
    await send({**start, "headers": resized(headers, len(body))})
    await send({"type": "http.response.body", "body": body})
