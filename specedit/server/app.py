"""The routes: OpenAI's and our own, over one engine thread."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from specedit.edit.backend import ModelInfo, Plan
from specedit.errors import ServerError, SpeceditError, TooLong
from specedit.files import stored
from specedit.inference.model import CACHE_BYTES
from specedit.server import protocol
from specedit.server.chat_request import (
    Completion,
    OpenAIRequest,
    TextCompletion,
    chat_plan,
    chat_request,
    check_size,
    completion_plan,
    completion_request,
)
from specedit.server.listener import MCP, Options, check_options
from specedit.server.protocol import RefusedError, refusal_of
from specedit.server.requests import (
    Channel,
    ClientGoneError,
    Items,
    Limits,
    Streaming,
    event_lines,
    openai_chunks,
    read_body,
    replayed,
    respond,
    started,
    whole_answer,
)
from specedit.server.runtime import ServerRecord
from specedit.server.worker import Ticket, Worker
from specedit.settings import Settings

Endpoint = Callable[..., Awaitable[ASGIApp]]


class Tools(Protocol):
    """The tools for agents, which this package does not import."""

    async def handler(self) -> ASGIApp: ...
    def stop(self) -> None: ...


@dataclass(eq=False)
class Api:
    """The endpoints. State lives in the worker, and in the record that tells the addresses."""

    worker: Worker
    settings: Settings
    record: ServerRecord
    limits: Limits
    tools: Tools | None = None
    created: float = field(default_factory=time.time)
    stopping: threading.Event = field(default_factory=threading.Event)
    listen: Callable[[Options], Awaitable[None]] | None = None

    def routes(self) -> list[Route]:
        table: list[tuple[str, str, Endpoint]] = [
            *((method, MCP, self._agents) for method in ("POST", "GET", "DELETE") if self.tools),
            ("POST", "/v1/chat/completions", self._chat),
            ("POST", "/v1/completions", self._complete),
            ("GET", "/v1/models", self._list_models),
            ("GET", "/v1/models/{name:path}", self._show_model),
            ("GET", "/health", self._health),
            ("POST", protocol.RUN, self._own),
            ("POST", protocol.WARM, partial(self._own, warm=True)),
            ("GET", protocol.STATUS, self._status),
            ("POST", protocol.LISTEN, self._listen),
            ("POST", protocol.STOP, self._end),
        ]
        return [Route(path, do, methods=[method]) for method, path, do in table]

    async def _chat(self, request: Request) -> Response:
        chat = chat_request(await read_body(request, self.limits))
        return await self._answered(request, chat, chat_plan(chat, self.settings), Completion)

    async def _complete(self, request: Request) -> Response:
        asked = completion_request(await read_body(request, self.limits))
        plan = completion_plan(asked, self.settings)
        try:
            return await self._answered(request, asked, plan, TextCompletion)
        except TooLong as error:
            raise replace(refusal_of(error), param="prompt") from None

    async def _answered(
        self, request: Request, asked: OpenAIRequest, plan: Plan, kind: type[Completion]
    ) -> Response:
        name = await self._known(asked.model)
        name = self._names()[0] if name in self.record.aliases else name
        if self.worker.loaded is not None:
            check_size(plan, self.worker.loaded.engine.info.window)
        channel = Channel(request)
        ticket = Ticket(plan, channel.put, count=True)
        self.worker.submit(ticket)
        completion = kind(name, f"specedit-{self.record.version}")
        if asked.stream:
            items = await started(self._items(ticket, channel))
            lines = openai_chunks(items, completion, plan.stop, asked.include_usage)
            return Streaming(lines, "text/event-stream")
        return JSONResponse(completion.whole(await whole_answer(self._items(ticket, channel))))

    async def _own(self, request: Request, *, warm: bool = False) -> Response:
        body = await read_body(request, self.limits)
        try:
            plan = protocol.plan_from(stored.parsed(body))
        except (ServerError, ValueError) as error:
            raise RefusedError(400, f"Not a plan: {error}") from None
        channel = Channel(request)
        ticket = Ticket(plan, channel.put, warm=warm)
        self.worker.submit(ticket)
        return Streaming(event_lines(self._items(ticket, channel)), "application/x-ndjson")

    async def _items(self, ticket: Ticket, channel: Channel) -> Items:
        """The channel's items; closing this early cancels the ticket."""
        try:
            async with aclosing(channel.items()) as items:
                async for item in items:
                    yield item
        finally:
            self.worker.cancel(ticket)

    async def _list_models(self, request: Request) -> Response:
        names = await self._settled_names()
        listed = dict.fromkeys([names[0], *self.record.aliases])
        return JSONResponse({"object": "list", "data": [self._model(name) for name in listed]})

    async def _show_model(self, request: Request) -> Response:
        return JSONResponse(self._model(await self._known(request.path_params["name"])))

    async def _known(self, name: str) -> str:
        """The name, if a request may call the model so."""
        names = await self._settled_names()
        if name not in names:
            message = f"The model {name!r} does not exist here; this server has {names[0]!r}."
            raise RefusedError(404, message, param="model", code="model_not_found")
        return name

    async def _settled_names(self) -> list[str]:
        """The model's names, after it is loaded or loading has failed."""
        if not self.worker.settled.is_set():
            await asyncio.to_thread(self.worker.settled.wait)
        return self._names()

    def _names(self) -> list[str]:
        """The names that a request may use, the model's own first."""
        own = [self.worker.loaded.line.name] if self.worker.loaded else []
        return list(dict.fromkeys([*own, self.settings.model, *self.record.aliases]))

    def _model(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": int(self.created), "owned_by": "specedit"}

    async def _health(self, request: Request) -> Response:
        state = self.worker.state
        ready = state == "ready"
        passes = self.worker.counts.passes
        body = {"status": "ok" if ready else state, "passes": passes}
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
                "urls": [listener.url for listener in record.listeners],
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

    async def _agents(self, request: Request) -> ASGIApp:
        """A message of an agent's client; the SDK's app gets the body that was read here."""
        body = await read_body(request, self.limits)
        self.worker.active = time.monotonic()  # the server is not idle
        assert self.tools is not None
        handler = await self.tools.handler()
        return lambda scope, receive, send: handler(scope, replayed(receive, body), send)

    async def _listen(self, request: Request) -> Response:
        """One more address, further names of the model, or both."""
        body = await read_body(request, self.limits)
        try:
            options = stored.typed(Options, stored.parsed(body))
            check_options(options)
            assert self.listen is not None
            await self.listen(options)
        except (ServerError, ValueError, OverflowError) as error:
            raise RefusedError(400, str(error)) from None
        return JSONResponse(asdict(self.record))

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
            message = f"{error.detail}: {request.method} {request.url.path}"
            headers = tuple((error.headers or {}).items())
            return respond(RefusedError(error.status_code, message, headers=headers))
    return PlainTextResponse("", 499)  # ClientGoneError


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name, 0) for name in names}


def make_app(api: Api) -> ASGIApp:
    errors = (RefusedError, SpeceditError, HTTPException, ClientGoneError)
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
