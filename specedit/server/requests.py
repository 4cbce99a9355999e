"""A request's body, within limits, and its ticket's items as they come from the engine thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive

from specedit.server.protocol import RefusedError
from specedit.server.worker import Ended, Item

BEAT_S = 1.0  # longest silence of a stream: a client tells a slow server from a dead one
_CLOSE = (("connection", "close"),)


@dataclass(frozen=True)
class Limits:
    """What clients may cost."""

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
