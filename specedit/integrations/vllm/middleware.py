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
from typing import Annotated, Any

from pydantic import Field, ValidationError
from starlette.responses import JSONResponse

from specedit.integrations.vllm.drafting import MOST, PREDICTION, ServedVocabulary, joined
from specedit.integrations.vllm.launch import batch_invariant, drafts_spoil_sampling
from specedit.integrations.vllm.usage import CountedAnswer, Message, Send, json_object, resized
from specedit.server.chat_request import Predicted, Unsupported, refuse
from specedit.server.protocol import RefusedError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CHAT = "/v1/chat/completions"
LARGEST = 64 << 20  # bytes of a body that is parsed
UNLIMITED = 1 << 16  # ids of an answer without a limit
# vLLM refuses an empty list of tools, for example, which means nothing.
NOT_EMPTY = tuple(Unsupported.model_fields)


class _Fields(Predicted):
    """The fields of a chat request that are checked here; vLLM checks the others."""

    presence_penalty: Annotated[float, Field(le=0)] | None = None
    frequency_penalty: Annotated[float, Field(le=0)] | None = None


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
        try:
            texts = _texts(request)
        except RefusedError as error:
            response = JSONResponse(error.refusal.json(), error.refusal.status)
            await response(scope, receive, send)
            return
        vocabulary = await self._served_vocabulary(scope)
        ids, unused = [], ""
        if vocabulary is None:
            unused = "this model has no tokenizer.json"
        else:
            ids = [await asyncio.to_thread(vocabulary.encode, text) for text in texts]
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
    empty = {name for name in NOT_EMPTY if name in request and request[name] in ([], {})}
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


def _texts(request: dict[str, Any]) -> list[str]:
    """The predictions' texts; a RefusedError, as OpenAI and our own server word it, for malformed
    ones and for what cannot be combined with them."""
    try:
        fields = _Fields.model_validate(request)
    except ValidationError as error:
        refuse(error.errors(include_url=False)[0])
    return [text for text in fields.predicted_texts if text]


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
