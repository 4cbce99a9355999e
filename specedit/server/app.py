"""The routes, OpenAI's and our own, over one engine thread: a request's body, within limits; its
run's items as they come from that thread; and what they become: our event lines, OpenAI's stream,
or one answer."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from specedit.edit.backend import Answer, Loading, ModelInfo, Plan, Ready, Written
from specedit.errors import ServerError, SpeceditError
from specedit.files import stored
from specedit.inference.model import CACHE_BYTES
from specedit.server import protocol
from specedit.server.chat_request import ChatRequest, Completion, StreamedText, check_size
from specedit.server.protocol import RefusedError, refusal_of
from specedit.server.runtime import ServerRecord
from specedit.server.worker import Ended, Item, Ticket, Worker
from specedit.settings import REMOVED, Settings

Endpoint = Callable[..., Awaitable[ASGIApp]]
BEAT_S = 1.0  # longest silence of a stream: a client tells a slow server from a dead one
_CLOSE = (("connection", "close"),)
Items = AsyncGenerator[Item | None, None]  # None: nothing happened for a while
Pieces = AsyncGenerator[bytes, None]


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
                async for part in request.stream():
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


def respond(refusal: RefusedError) -> JSONResponse:
    return JSONResponse(refusal.json(), refusal.status, headers=dict(refusal.headers))


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
    yield _sse(completion.chunk({"role": "assistant", "content": ""}) | null_usage)
    async with aclosing(source) as items:
        async for item in items:
            match item:
                case None:
                    yield b": still here\n\n"
                case Written():
                    if ready := text.add(item):
                        yield _sse(completion.chunk({"content": ready}) | null_usage)
                case Answer():
                    if rest := text.rest(item):
                        yield _sse(completion.chunk({"content": rest}) | null_usage)
                    yield _sse(completion.chunk({}, item.reason) | null_usage)
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
        except ClientDisconnect:
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _sse(data: dict[str, Any]) -> bytes:
    return b"data: " + protocol.dump(data) + b"\n"


@dataclass(eq=False)
class Api:
    """The endpoints. State lives in the worker, and in the record that tells the addresses."""

    worker: Worker
    settings: Settings
    record: ServerRecord
    limits: Limits
    created: float = field(default_factory=time.time)
    stopping: threading.Event = field(default_factory=threading.Event)

    def routes(self) -> list[Route]:
        table: list[tuple[str, str, Endpoint]] = [
            ("POST", "/v1/chat/completions", self._chat),
            ("GET", "/v1/models", self._list_models),
            ("GET", "/v1/models/{name:path}", self._show_model),
            ("GET", "/health", self._health),
            ("POST", protocol.RUN, self._own),
            ("POST", protocol.WARM, partial(self._own, warm=True)),
            ("GET", protocol.STATUS, self._status),
            ("POST", protocol.STOP, self._end),
        ]
        return [Route(path, do, methods=[method]) for method, path, do in table]

    async def _chat(self, request: Request) -> Response:
        asked = ChatRequest.read(await read_body(request, self.limits))
        plan = asked.plan(self.settings)
        name = await self._known(asked.model)
        name = (await self._names())[0] if name in self.record.aliases else name
        if self.worker.loaded is not None:
            check_size(plan, self.worker.loaded.engine.info.window)
        items = self._items(request, plan, count=True)
        completion = Completion(name, f"specedit-{self.record.version}")
        if asked.stream:
            lines = openai_chunks(await started(items), completion, plan.stop, asked.include_usage)
            return Streaming(lines, "text/event-stream")
        return JSONResponse(completion.whole(await whole_answer(items)))

    async def _own(self, request: Request, *, warm: bool = False) -> Response:
        body = await read_body(request, self.limits)
        try:
            plan = protocol.plan_from(stored.parsed(body))
        except (ServerError, ValueError) as error:
            raise RefusedError(400, f"Not a plan: {error}") from None
        return Streaming(event_lines(self._items(request, plan, warm=warm)), "application/x-ndjson")

    def _items(
        self, request: Request, plan: Plan, *, warm: bool = False, count: bool = False
    ) -> Items:
        """Queue a plan; its items up to `Ended`, and None when `BEAT_S` passes without one. Closing
        them early cancels the run."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[Item | None]()

        def put(item: Item) -> None:
            """Called from the engine thread."""
            with suppress(RuntimeError):  # the loop is closed, and with it the connection
                loop.call_soon_threadsafe(queue.put_nowait, item)

        async def watch_client() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            queue.put_nowait(None)

        async def items() -> Items:
            watching = loop.create_task(watch_client())
            try:
                while True:
                    try:
                        item = await asyncio.wait_for(queue.get(), BEAT_S)
                    except TimeoutError:
                        yield None
                        continue
                    if item is None:
                        raise ClientDisconnect
                    yield item
                    if isinstance(item, Ended):
                        return
            finally:
                watching.cancel()
                self.worker.cancel(ticket)

        ticket = Ticket(plan, put, warm=warm, count=count)
        self.worker.submit(ticket)
        return items()

    async def _list_models(self, request: Request) -> Response:
        names = await self._names()
        listed = dict.fromkeys([names[0], *self.record.aliases])
        return JSONResponse({"object": "list", "data": [self._model(name) for name in listed]})

    async def _show_model(self, request: Request) -> Response:
        return JSONResponse(self._model(await self._known(request.path_params["name"])))

    async def _known(self, name: str) -> str:
        """The name, if a request may call the model so."""
        names = await self._names()
        if name not in names:
            message = f"The model {name!r} does not exist here; this server has {names[0]!r}."
            raise RefusedError(404, message, param="model", code="model_not_found")
        return name

    async def _names(self) -> list[str]:
        """The names that a request may use, the model's own first, after loading has ended."""
        if not self.worker.settled.is_set():
            await asyncio.to_thread(self.worker.settled.wait)
        own = [self.worker.loaded.line.name] if self.worker.loaded else []
        return list(dict.fromkeys([*own, self.settings.model, *self.record.aliases]))

    def _model(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": int(self.created), "owned_by": "specedit"}

    async def _health(self, request: Request) -> Response:
        ready, passes = self.worker.state == "ready", self.worker.counts.passes
        body = {"status": "ok" if ready else self.worker.state, "passes": passes}
        return JSONResponse(body, 200 if ready else 503)

    async def _status(self, request: Request) -> Response:
        worker, record = self.worker, self.record
        line = worker.loaded.line if worker.loaded else ModelInfo(self.settings.model)
        prefixes = worker.loaded.prefixes if worker.loaded else None
        return JSONResponse(
            {
                "pid": record.pid,
                "version": record.version,
                "state": worker.state,
                "loading": asdict(worker.loading) if worker.loading else None,
                "address": record.address,
                "url": record.url or None,
                "background": record.background,
                "model": _fields(line, "name", "engine", "device", "threads", "exact"),
                "memory_bytes": _resident_bytes(),
                "uptime_s": round(time.time() - self.created, 1),
                "idle_s": round(worker.idle_s(), 1),
                "cache": {
                    **_fields(prefixes, "entries", "bytes", "hits", "misses"),
                    "limit_bytes": CACHE_BYTES,
                },
                "requests": {
                    **_fields(worker.counts, "answered", "cancelled", "refused", "passes"),
                    "running": int(worker.running),
                    "queued": worker.queued,
                },
            }
        )

    async def _end(self, request: Request) -> Response:
        self.stopping.set()
        return JSONResponse({"stopping": True})


async def _error(request: Request, error: Exception) -> Response:
    """The error boundary: every refusal and error becomes a response here."""
    match error:
        case RefusedError():
            return respond(error)
        case SpeceditError():
            return respond(refusal_of(error))
        case HTTPException():
            path = request.url.path
            message = f"{error.detail}: {request.method} {path}"
            if path in REMOVED:
                message = f"{path} {REMOVED[path]}"
            headers = tuple((error.headers or {}).items())
            return respond(RefusedError(error.status_code, message, headers=headers))
    return PlainTextResponse("", 499)  # ClientDisconnect


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name, 0) for name in names}


def make_app(api: Api) -> ASGIApp:
    errors = (RefusedError, SpeceditError, HTTPException, ClientDisconnect)
    return Starlette(routes=api.routes(), exception_handlers=dict.fromkeys(errors, _error))


def _resident_bytes() -> int:
    """Memory that this process uses (its peak, where the system tells no more)."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
