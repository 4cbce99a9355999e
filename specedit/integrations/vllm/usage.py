"""An answer of vLLM on its way out, with OpenAI's figures of its prediction in `usage`.

It is passed on whole, or event by event. The ids that vLLM adds are counted, and removed unless the
client asked for them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from specedit.server.protocol import appeared
from specedit.server.remote import EXACT, UNUSED

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


class CountedAnswer:
    """One answer. `keep_ids`: the client wants ids itself; `unused`: why no drafts are offered;
    `exact`: other requests of a batch change no bit of this server's logits."""

    def __init__(
        self,
        send: Send,
        predictions: list[list[int]],
        *,
        keep_ids: bool,
        exact: bool,
        unused: str = "",
    ) -> None:
        self._send = send
        self._predictions = predictions
        self._keep_ids = keep_ids
        self._headers = [(EXACT.encode(), b"yes" if exact else b"no")]
        if unused:
            self._headers.append((UNUSED.encode(), f"not used: {unused}".encode()))
        self._written: list[int] = []
        self._start: Message | None = None
        self._events = False
        self._received = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._start is None:
            await self._stream(message)
        else:
            self._received += message.get("body", b"")
            if not message.get("more_body"):
                await self._whole()

    async def _begin(self, message: Message) -> None:
        headers = list(message.get("headers", ()))
        kind = {k.lower(): v for k, v in headers}.get(b"content-type", b"")
        self._events = kind.startswith(b"text/event-stream")
        message = {**message, "headers": [*headers, *self._headers]}
        if self._events:
            await self._send(message)
        else:
            self._start = message

    async def _whole(self) -> None:
        assert self._start is not None
        body, answer = self._received, json_object(self._received)
        if answer is not None and self._start["status"] == 200:
            body = self._counted(answer)
        headers = resized(self._start["headers"], len(body))
        await self._send({**self._start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _stream(self, message: Message) -> None:
        self._received += message.get("body", b"")
        *events, self._received = self._received.split(b"\n\n")
        out = b"".join(self._event(event) + b"\n\n" for event in events)
        if not message.get("more_body"):
            out, self._received = out + self._received, b""
        if out or not message.get("more_body"):
            await self._send({**message, "body": out})

    def _event(self, event: bytes) -> bytes:
        head, _, data = event.partition(b"data: ")
        part = None if head.strip() else json_object(data)
        return event if part is None else b"data: " + self._counted(part)

    def _counted(self, part: dict[str, Any]) -> bytes:
        """An answer or an event, with its ids counted and removed."""
        for choice in part.get("choices") or ():
            self._written += choice.get("token_ids") or ()
            if not self._keep_ids:
                choice.pop("token_ids", None)
        if not self._keep_ids:
            part.pop("prompt_token_ids", None)
        self._count(part.get("usage"))
        return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()

    def _count(self, usage: Any) -> None:
        """OpenAI's figures: the prediction's ids that appeared, and those that did not."""
        if not isinstance(usage, dict) or not self._predictions:
            return
        main = self._predictions[0]
        accepted = appeared(main, self._written)
        details = usage.get("completion_tokens_details") or {}
        usage["completion_tokens_details"] = {
            **details,
            "accepted_prediction_tokens": accepted,
            "rejected_prediction_tokens": len(main) - accepted,
        }
        for name in ("completion_tokens", "total_tokens"):
            if isinstance(usage.get(name), int):
                usage[name] += len(main) - accepted


def json_object(body: bytes) -> dict[str, Any] | None:
    try:
        result = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def resized(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    others = [(k, v) for k, v in headers if k.lower() != b"content-length"]
    return [*others, (b"content-length", str(length).encode())]
