"""Between a request and the engine thread: its items, and whether the client is still there.

Knows ASGI's `receive` and the loop. Does not know what the items mean.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from specedit.server.refusal import Refusal, RefusedError
from specedit.server.work import Ended, Item

BEAT_S = 1.0  # the longest silence of a stream, so that a client can tell slow from gone


@dataclass(frozen=True)
class Limits:
    """What one client may cost."""

    body_bytes: int = 16 << 20
    body_s: float = 30.0
    head_s: float = 10.0
    waiting: int = 16
    connections: int = 512
    drain_bytes: int = 64 << 20  # of a body that is too large, so that its sender reads the answer
    drain_s: float = 5.0


class ClientGoneError(Exception):
    """Nobody reads the answer any more."""


class Channel:
    """The items of one ticket, as they come. Call `item` from the engine thread."""

    def __init__(self, request: Request) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()
        self._watch = self._loop.create_task(self._watched(request))

    def item(self, item: Item) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)
        except RuntimeError:  # the loop has closed: nobody is there to tell
            return

    async def items(self) -> AsyncGenerator[Item | None, None]:
        """Each item until `Ended`; None when a beat passes without one."""
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

    async def _watched(self, request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._queue.put_nowait(None)


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body, if it is not too large and does not come too slowly."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.body_bytes:
        await _drained(request, limits)
        raise RefusedError(_too_large(limits))
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_s):
            async for part in _parts(request):
                size += len(part)
                if size > limits.body_bytes:
                    parts.clear()
                    break
                parts.append(part)
    except TimeoutError:
        raise RefusedError(
            Refusal(408, "The body of the request came too slowly.", headers=_CLOSE)
        ) from None
    if size > limits.body_bytes:
        await _drained(request, limits)
        raise RefusedError(_too_large(limits))
    return b"".join(parts)


_CLOSE = (("connection", "close"),)


def _too_large(limits: Limits) -> Refusal:
    most = limits.body_bytes >> 20
    return Refusal(
        413, f"The body is larger than {most} MiB.", code="body_too_large", headers=_CLOSE
    )


async def _parts(request: Request) -> AsyncIterator[bytes]:
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


async def _drained(request: Request, limits: Limits) -> None:
    """Read on and forget, within limits: a sender cut off in mid-body never reads why."""
    if request.headers.get("expect"):
        return
    size, started = 0, time.monotonic()
    try:
        async with asyncio.timeout(limits.drain_s):
            async for part in _parts(request):
                size += len(part)
                if size > limits.drain_bytes or time.monotonic() - started > limits.drain_s:
                    return
    except TimeoutError:
        return
