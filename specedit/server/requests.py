"""A request's body, within limits; its ticket's items as they come from the engine thread; and what
they become: our event lines, OpenAI's stream, or one answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive

from specedit.edit.backend import Answer, Loading, Ready, Written
from specedit.server import protocol
from specedit.server.chat_request import Completion, StreamedText
from specedit.server.protocol import RefusedError, refusal_of
from specedit.server.worker import Ended, Item

BEAT_S = 1.0  # longest silence of a stream: a client tells a slow server from a dead one
_CLOSE = (("connection", "close"),)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on clients."""

    body_bytes: int = 16 << 20
    body_s: float = 30.0
    head_s: float = 10.0
    waiting: int = 16
    tcp_connections: int = 256
    unix_connections: int = 256
    drain_bytes: int = 64 << 20  # of a body that is too large, so that its sender reads the answer
    drain_s: float = 5.0


class ClientGoneError(Exception):
    """The client closed its connection."""


class Channel:
    """The items of one ticket. `put` is called from the engine thread."""

    def __init__(self, request: Request) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()
        self._watch = self._loop.create_task(self._watch_client(request))

    def put(self, item: Item) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)
        except RuntimeError:  # the loop is closed, and with it the connection
            return

    async def items(self) -> AsyncGenerator[Item | None, None]:
        """Each item up to `Ended`; None when `BEAT_S` passes without one."""
        try:
            while True:
                try:
                    item = await asyncio.wait_for(self._queue.get(), BEAT_S)
                except TimeoutError:
                    yield None
                    continue
                if item is None:
                    raise ClientGoneError
                yield item
                if isinstance(item, Ended):
                    return
        finally:
            self._watch.cancel()

    async def _watch_client(self, request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._queue.put_nowait(None)


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body, if it is not too large and does not arrive too slowly. One that is too large
    is read to its end, within limits, and dropped: a client that is cut off reads no answer."""
    declared = request.headers.get("content-length", "")
    too_large = declared.isdigit() and int(declared) > limits.body_bytes
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.drain_s if too_large else limits.body_s) as deadline:
            if not (too_large and request.headers.get("expect")):
                async for part in _parts(request):
                    parts.append(part)
                    size += len(part)
                    if size > limits.body_bytes and not too_large:
                        too_large = True
                        deadline.reschedule(asyncio.get_running_loop().time() + limits.drain_s)
                    if too_large:
                        parts.clear()
                        if size > limits.drain_bytes or request.headers.get("expect"):
                            break
    except TimeoutError:
        if not too_large:
            message = "The body of the request arrived too slowly."
            raise RefusedError(408, message, headers=_CLOSE) from None
    if too_large:
        message = f"The body is larger than {limits.body_bytes >> 20} MiB."
        raise RefusedError(413, message, code="body_too_large", headers=_CLOSE)
    return b"".join(parts)


async def _parts(request: Request) -> AsyncIterator[bytes]:
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


def replayed(receive: Receive, body: bytes) -> Receive:
    """A `receive` that begins with a body which was read already."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Message:
        return next(messages, None) or await receive()

    return again


def respond(refusal: RefusedError) -> JSONResponse:
    return JSONResponse(refusal.json(), refusal.status, headers=dict(refusal.headers))


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
