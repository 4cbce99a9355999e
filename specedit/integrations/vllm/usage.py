"""An answer of vLLM on its way out, with OpenAI's figures of its prediction in `usage`.

Whole, or event by event: the ids that vLLM tells are counted, and taken out again unless the client
asked for them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from specedit.server.protocol import appeared
from specedit.server.remote import EXACT, UNUSED

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


@dataclass
class Predicting:
    """One request with a prediction."""

    predictions: list[list[int]]
    ids: bool  # the client wants ids itself
    unused: str = ""  # why no drafts are offered
    exact: bool = False  # neighbours in a batch change no bit of this server's logits
    written: list[int] = field(default_factory=list)


class CountedAnswer:
    """The answer on its way out: whole, or event by event."""

    def __init__(self, asked: Predicting, send: Send) -> None:
        self._asked = asked
        self._send = send
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
        headers.append((EXACT.encode(), b"yes" if self._asked.exact else b"no"))
        if self._asked.unused:
            headers.append((UNUSED.encode(), f"not used: {self._asked.unused}".encode()))
        message = {**message, "headers": headers}
        if self._events:
            await self._send(message)
        else:
            self._start = message

    async def _whole(self) -> None:
        assert self._start is not None
        body, result = self._held, json_object(self._held)
        if result is not None and self._start["status"] == 200:
            for choice in result.get("choices") or ():
                self._take(choice)
            _drop(result, self._asked)
            self._count(result.get("usage"))
            body = json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()
        headers = resized(self._start["headers"], len(body))
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
        result = None if head.strip() else json_object(data)
        if result is None:
            return event
        for choice in result.get("choices") or ():
            self._take(choice)
        _drop(result, self._asked)
        self._count(result.get("usage"))
        return b"data: " + json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()

    def _take(self, choice: dict[str, Any]) -> None:
        self._asked.written += choice.get("token_ids") or ()
        if not self._asked.ids:
            choice.pop("token_ids", None)

    def _count(self, usage: Any) -> None:
        """OpenAI's figures: the prediction's ids that appeared, and those that did not."""
        if not isinstance(usage, dict) or not self._asked.predictions:
            return
        main = self._asked.predictions[0]
        result = appeared(main, self._asked.written)
        details = usage.get("completion_tokens_details") or {}
        usage["completion_tokens_details"] = {
            **details,
            "accepted_prediction_tokens": result,
            "rejected_prediction_tokens": len(main) - result,
        }
        for name in ("completion_tokens", "total_tokens"):
            if isinstance(usage.get(name), int):
                usage[name] += len(main) - result


def _drop(found: dict[str, Any], asked: Predicting) -> None:
    if not asked.ids:
        found.pop("prompt_token_ids", None)


def json_object(body: bytes) -> dict[str, Any] | None:
    try:
        result = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def resized(headers: Any, length: int) -> list[tuple[bytes, bytes]]:
    kept = [(k, v) for k, v in headers if k.lower() != b"content-length"]
    return [*kept, (b"content-length", str(length).encode())]
