"""What a ticket's items become: our own lines, OpenAI's stream, or one whole answer.

Knows the wire and OpenAI's chunks. Does not know routes, and not where the items come from.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from starlette.responses import Response

from specedit.backends import wire
from specedit.edit.backend import Answer, Loading, Ready, Written
from specedit.server.channel import ClientGoneError
from specedit.server.completion import Completion, Stream
from specedit.server.refusal import refusal_of
from specedit.server.work import Ended, Item, Predicted

Items = AsyncGenerator[Item | None, None]  # None: nothing happened for a while
Pieces = AsyncGenerator[bytes, None]


async def own_lines(given: Items) -> Pieces:
    """Our own protocol: each event a line, an error or `{"event":"end"}` last."""
    async with aclosing(given) as items:
        async for item in items:
            match item:
                case None:
                    yield wire.BEAT
                case Ended(error=None):
                    yield wire.dump({"event": "end"})
                case Ended(error=error):
                    assert error is not None
                    yield wire.dump(wire.error_json(error))
                case Predicted():
                    pass
                case _:
                    yield wire.dump(wire.event_json(item))


async def chat_chunks(
    given: Items, completion: Completion, stop: Sequence[str], include_usage: bool
) -> Pieces:
    """OpenAI's stream. Every chunk has a null usage when the last one will have a real one."""
    text, predicted = Stream(stop), Predicted(0, 0)
    blank: dict[str, Any] = {"usage": None} if include_usage else {}
    yield _sse(completion.chunk({"role": "assistant", "content": ""}) | blank)
    async with aclosing(given) as items:
        async for item in items:
            match item:
                case None:
                    yield b": still here\n\n"
                case Written():
                    if found := text.written(item):
                        yield _sse(completion.chunk({"content": found}) | blank)
                case Predicted():
                    predicted = item
                case Answer():
                    if rest := text.rest(item):
                        yield _sse(completion.chunk({"content": rest}) | blank)
                    yield _sse(completion.chunk({}, item.reason) | blank)
                    if include_usage:
                        yield _sse(completion.last(item, predicted))
                    yield b"data: [DONE]\n\n"
                case Ended(error=error) if error is not None:
                    yield _sse(refusal_of(error).json())
                case _:
                    pass


async def begun(items: Items) -> Items:
    """The same items, once the engine has taken the ticket or a beat passed: until then an error
    is still a status code, and not a line in a stream."""
    first: list[Item | None] = []
    while not first or isinstance(first[-1], Loading | Ready):
        first.append(await anext(items))
    if isinstance(last := first[-1], Ended) and last.error is not None:
        await items.aclose()
        raise last.error

    async def joined() -> Items:
        async with aclosing(items):
            for item in first:
                yield item
            async for item in items:
                yield item

    return joined()


async def whole_answer(given: Items) -> tuple[Answer, Predicted]:
    """The answer, when it is there; a ticket's error is raised."""
    answer, predicted = None, Predicted(0, 0)
    async with aclosing(given) as items:
        async for item in items:
            if isinstance(item, Answer):
                answer = item
            elif isinstance(item, Predicted):
                predicted = item
            elif isinstance(item, Ended) and item.error is not None:
                raise item.error
    assert answer is not None
    return answer, predicted


class Streaming(Response):
    """A body that comes piece by piece; who stops reading ends its source at once."""

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
    return b"data: " + wire.dump(data) + b"\n"
