"""What the items of a ticket become: our event lines, OpenAI's stream, or one OpenAI completion."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

from starlette.responses import Response

from specedit.edit.backend import Answer, Loading, Ready, Written
from specedit.edit.reader import stop_at
from specedit.server import protocol
from specedit.server.protocol import refusal_of
from specedit.server.requests import ClientGoneError
from specedit.server.worker import Ended, Item

Items = AsyncGenerator[Item | None, None]  # None: nothing happened for a while
Pieces = AsyncGenerator[bytes, None]


async def event_lines(source: Items) -> Pieces:
    """Our own protocol: a line for each event, last an error or `{"event":"end"}`."""
    async with aclosing(source) as items:
        async for item in items:
            match item:
                case None:
                    yield protocol.BEAT
                case Ended(error=error):
                    last = protocol.error_json(error) if error else {"event": "end"}
                    yield protocol.dump(last)
                case _:
                    yield protocol.dump(protocol.event_json(item))


async def openai_chunks(
    source: Items, completion: Completion, stop: Sequence[str], include_usage: bool
) -> Pieces:
    """OpenAI's stream. With `include_usage` every chunk but the last has a null usage."""
    text = StreamedText(stop)
    null_usage: dict[str, Any] = {"usage": None} if include_usage else {}
    if completion.opening is not None:
        yield _sse(completion.chunk(completion.opening) | null_usage)
    async with aclosing(source) as items:
        async for item in items:
            match item:
                case None:
                    yield b": still here\n\n"
                case Written():
                    if ready := text.add(item):
                        yield _sse(completion.chunk(completion.delta(ready)) | null_usage)
                case Answer():
                    if rest := text.rest(item):
                        yield _sse(completion.chunk(completion.delta(rest)) | null_usage)
                    last = completion.chunk(completion.delta(""), item.reason)
                    yield _sse(last | null_usage)
                    if include_usage:
                        yield _sse(completion.usage_chunk(item))
                    yield b"data: [DONE]\n\n"
                case Ended(error=error) if error is not None:
                    yield _sse(refusal_of(error).json())
                case _:
                    pass


async def started(items: Items) -> Items:
    """The items from the moment that the engine runs the ticket or a beat has passed. An earlier
    error is raised: it is still a status code, and not a line in a stream."""
    first = await anext(items)
    while isinstance(first, Loading | Ready):
        first = await anext(items)
    if isinstance(first, Ended) and first.error is not None:
        await items.aclose()
        raise first.error

    async def joined() -> Items:
        async with aclosing(items):
            yield first
            async for item in items:
                yield item

    return joined()


async def whole_answer(source: Items) -> Answer:
    """The answer of a ticket; its error is raised."""
    answer = None
    async with aclosing(source) as items:
        async for item in items:
            if isinstance(item, Answer):
                answer = item
            elif isinstance(item, Ended) and item.error is not None:
                raise item.error
    assert answer is not None
    return answer


class Streaming(Response):
    """A body sent in pieces. When the client leaves, its source is closed at once."""

    def __init__(self, source: Pieces, media_type: str) -> None:
        self._source = source
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no"})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async with aclosing(self._source) as source:
                async for piece in source:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        except ClientGoneError:
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _sse(data: dict[str, Any]) -> bytes:
    return b"data: " + protocol.dump(data) + b"\n"


class Completion:
    """OpenAI's objects for one chat request."""

    kind, chunk_kind, mark = "chat.completion", "chat.completion.chunk", "chatcmpl"
    opening: ClassVar[dict[str, Any] | None] = {"delta": {"role": "assistant", "content": ""}}

    def __init__(self, model: str, fingerprint: str) -> None:
        self._head = {
            "id": f"{self.mark}-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": fingerprint,
        }

    def message(self, text: str) -> dict[str, Any]:
        """The part of a choice that holds the whole answer."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        return {"message": message | {"refusal": None, "annotations": []}}

    def delta(self, text: str) -> dict[str, Any]:
        """The part of a choice that holds a piece of a stream; "" in the last one."""
        return {"delta": {"content": text} if text else {}}

    def whole(self, answer: Answer) -> dict[str, Any]:
        choice = {**self.message(answer.text), "finish_reason": answer.reason}
        return self._object(self.kind, choice) | {"usage": _usage(answer)}

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return self._object(self.chunk_kind, {**delta, "finish_reason": reason})

    def usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """The last chunk of a stream with `stream_options.include_usage`."""
        return self._object(self.chunk_kind) | {"usage": _usage(answer)}

    def _object(self, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
        rows = [{"index": 0, "logprobs": None, **choice} for choice in choices]
        return {"object": kind, **self._head, "choices": rows}


class TextCompletion(Completion):
    """OpenAI's objects for one request without a chat template."""

    kind, chunk_kind, mark = "text_completion", "text_completion", "cmpl"
    opening = None

    def message(self, text: str) -> dict[str, Any]:
        return {"text": text}

    delta = message


class StreamedText:
    """The part of an answer's text that may be sent: never a stop text, nor a possible beginning
    of one, so that a stream and a whole answer have the same characters."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._held = ""
        self._sent = 0

    def add(self, event: Written) -> str:
        self._held += event.text
        end = stop_at(self._held, self._stop)
        ready = len(self._held) - self._undecided() if end is None else end
        text, self._held = self._held[:ready], self._held[ready:]
        self._sent += len(text)
        return text

    def rest(self, answer: Answer) -> str:
        return answer.text[self._sent :]

    def _undecided(self) -> int:
        """Characters at the end that a stop text may begin with."""
        longest = max((len(s) for s in self._stop), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(s.startswith(self._held[-length:]) for s in self._stop):
                return length
        return 0


def _usage(answer: Answer) -> dict[str, Any]:
    """OpenAI counts predicted tokens that do not appear as completion tokens."""
    completion = answer.completion + answer.absent
    return {
        "prompt_tokens": answer.prompt,
        "completion_tokens": completion,
        "total_tokens": answer.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": answer.reused, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": answer.appeared,
            "rejected_prediction_tokens": answer.absent,
        },
    }
