"""OpenAI's `prediction` in a chat request to vLLM: removed, encoded, and passed to the scheduler.

A pure ASGI middleware before vLLM's own routes. It removes `prediction` (and our own `predictions`,
a list of them) from the body, passes their ids to the scheduler through `vllm_xargs`, and counts
in the answer which of them appeared. A request without a prediction, and everything
that is not a chat request, passes unchanged, byte for byte.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specedit.engines.base import appeared
from specedit.errors import ModelError
from specedit.integrations.vllm.drafting import MAX_DRAFT_IDS, PREDICTION, joined, served_tokenizer
from specedit.integrations.vllm.launch import batch_invariant, drafts_spoil_sampling
from specedit.models.tokenizer import Tokenizer
from specedit.server.app import respond
from specedit.server.chat_request import Predicted, Unsupported, refuse
from specedit.server.protocol import RefusedError
from specedit.server.remote import EXACT, UNUSED

CHAT = "/v1/chat/completions"
MAX_BODY_BYTES = 64 << 20  # bytes of a body that is parsed
UNLIMITED = 1 << 16  # ids of an answer without a limit
# vLLM refuses an empty list of tools, for example, which means nothing.
NOT_EMPTY = tuple(Unsupported.model_fields)


class _Fields(Predicted):
    """The fields of a chat request that are checked here; vLLM checks the others."""

    presence_penalty: Annotated[float, Field(le=0)] | None = None
    frequency_penalty: Annotated[float, Field(le=0)] | None = None


class Predictions:
    """`--middleware specedit.integrations.vllm.middleware.Predictions`."""

    def __init__(self, app: ASGIApp, tokenizer: Tokenizer | None = None) -> None:
        self._app = app
        self._tokenizer = tokenizer

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
            await respond(error)(scope, receive, send)
            return
        tokenizer = await self._served_tokenizer(scope)
        ids, unused = [], ""
        if tokenizer is None:
            unused = "this model has no tokenizer.json"
        else:
            try:
                ids = [await asyncio.to_thread(tokenizer.encode, text) for text in texts]
            except ModelError:
                unused = "this model's vocabulary cannot spell it"
            if drafts_spoil_sampling() and request.get("temperature") != 0:
                unused = "this build of vLLM spoils drafted samples; ask with temperature 0"
        keep_ids = bool(request.get("return_token_ids"))
        body = json.dumps(_rewritten(request, ids)).encode()
        scope = {**scope, "headers": resized(scope["headers"], len(body))}
        answer = CountedAnswer(send, ids, keep_ids, batch_invariant(), unused)
        whole = {"type": "http.request", "body": body}
        await self._app(scope, _replayed(receive, whole), answer.send)

    async def _served_tokenizer(self, scope: Scope) -> Tokenizer | None:
        if self._tokenizer is None:
            state = getattr(scope.get("app"), "state", None)
            config = getattr(getattr(state, "vllm_config", None), "model_config", None)
            name = getattr(config, "tokenizer", None) or getattr(config, "model", None)
            if name is None:
                return None
            self._tokenizer = await asyncio.to_thread(served_tokenizer, str(name))
        return self._tokenizer


def _rewritten(request: dict[str, Any], ids: list[list[int]]) -> dict[str, Any]:
    """The request with vLLM's arguments instead of ours."""
    empty = {name for name in NOT_EMPTY if name in request and request[name] in ([], {})}
    left_out = {"prediction", "predictions", *empty}
    changed = {name: value for name, value in request.items() if name not in left_out}
    if ids:
        extra = request.get("vllm_xargs") or {}
        if isinstance(extra, dict):  # vLLM refuses anything else
            changed["vllm_xargs"] = {**extra, PREDICTION: joined(ids, _reach(request))}
        changed["return_token_ids"] = True  # they are counted in the answer
    return changed


def _reach(request: dict[str, Any]) -> int:
    """Ids of a prediction that the answer can reach within its limit."""
    limits = [request.get(name) for name in ("max_completion_tokens", "max_tokens")]
    return min((n for n in limits if type(n) is int and n > 0), default=UNLIMITED) + MAX_DRAFT_IDS


def _texts(request: dict[str, Any]) -> list[str]:
    """The predictions' texts; a RefusedError as OpenAI and our own server word it."""
    try:
        fields = _Fields.model_validate(request)
    except ValidationError as error:
        refuse(error.errors(include_url=False)[0])
    return [text for text in fields.predicted_texts if text]


def _replayed(receive: Receive, *messages: Message) -> Receive:
    """A `receive` that begins with messages which were read already."""
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return again


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body, unless it is over MAX_BODY_BYTES, and a `receive` that returns all of it again."""
    messages: list[Message] = []
    size, more = 0, True
    while more and size <= MAX_BODY_BYTES:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)
    whole = size <= MAX_BODY_BYTES and messages[-1]["type"] == "http.request"
    body = b"".join(message.get("body", b"") for message in messages) if whole else b""
    return body, _replayed(receive, *messages)


@dataclass
class CountedAnswer:
    """An answer on its way out, passed on whole or event by event, with OpenAI's figures of its
    prediction in `usage`. The ids that vLLM adds are counted, and removed unless the client asked
    for them."""

    client: Send
    predictions: list[list[int]]
    keep_ids: bool  # the client wants ids itself
    exact: bool  # other requests of a batch change no bit of this server's logits
    unused: str  # why no drafts are offered
    _written: list[int] = field(default_factory=list)
    _start: Message | None = None  # of an answer that is passed on whole
    _received: bytes = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body":
            await self.client(message)
        elif self._start is None:
            await self._stream(message)
        else:
            self._received += message.get("body", b"")
            if not message.get("more_body"):
                await self._whole()

    async def _begin(self, message: Message) -> None:
        headers = list(message.get("headers", ()))
        kind = {k.lower(): v for k, v in headers}.get(b"content-type", b"")
        headers.append((EXACT.encode(), b"yes" if self.exact else b"no"))
        if self.unused:
            headers.append((UNUSED.encode(), f"not used: {self.unused}".encode()))
        message = {**message, "headers": headers}
        if kind.startswith(b"text/event-stream"):
            await self.client(message)
        else:
            self._start = message

    async def _whole(self) -> None:
        assert self._start is not None
        body, answer = self._received, json_object(self._received)
        if answer is not None and self._start["status"] == 200:
            body = self._counted(answer)
        headers = resized(self._start["headers"], len(body))
        await self.client({**self._start, "headers": headers})
        await self.client({"type": "http.response.body", "body": body})

    async def _stream(self, message: Message) -> None:
        self._received += message.get("body", b"")
        *events, self._received = self._received.split(b"\n\n")
        out = b"".join(self._event(event) + b"\n\n" for event in events)
        if not message.get("more_body"):
            out, self._received = out + self._received, b""
        if out or not message.get("more_body"):
            await self.client({**message, "body": out})

    def _event(self, event: bytes) -> bytes:
        head, _, data = event.partition(b"data: ")
        part = None if head.strip() else json_object(data)
        return event if part is None else b"data: " + self._counted(part)

    def _counted(self, part: dict[str, Any]) -> bytes:
        """An answer or event without its ids, and with OpenAI's figures in its usage."""
        for choice in part.get("choices") or ():
            self._written += choice.get("token_ids") or ()
            if not self.keep_ids:
                choice.pop("token_ids", None)
        if not self.keep_ids:
            part.pop("prompt_token_ids", None)
        usage = part.get("usage")
        if isinstance(usage, dict) and self.predictions:
            accepted = appeared(self.predictions[0], self._written)
            rejected = len(self.predictions[0]) - accepted
            usage["completion_tokens_details"] = {
                **(usage.get("completion_tokens_details") or {}),
                "accepted_prediction_tokens": accepted,
                "rejected_prediction_tokens": rejected,
            }
            for name in ("completion_tokens", "total_tokens"):
                if isinstance(usage.get(name), int):
                    usage[name] += rejected
        return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()


def json_object(body: bytes) -> dict[str, Any] | None:
    try:
        result = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def resized(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    others = [(k, v) for k, v in headers if k.lower() != b"content-length"]
    return [*others, (b"content-length", str(length).encode())]
