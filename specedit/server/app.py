"""The routes: OpenAI's and our own, over one engine thread.

Reads a request, queues a ticket, says what the ticket says. Knows Starlette; knows no model.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from specedit.backends import wire
from specedit.backends.runtime import ServerRecord
from specedit.errors import ServerError, SpeceditError
from specedit.server.channel import Channel, ClientGoneError, Limits, read_body
from specedit.server.chat import chat_plan, chat_request
from specedit.server.completion import Completion
from specedit.server.gate import Door, Gate
from specedit.server.metrics import CONTENT_TYPE, Metrics, resident_bytes
from specedit.server.refusal import Refusal, RefusedError, refusal_of, respond
from specedit.server.streams import Items, Streaming, begun, chat_chunks, own_lines, whole_answer
from specedit.server.work import Ticket, Worker
from specedit.settings import Settings

Endpoint = Callable[[Request], Awaitable[Response]]


class Api:
    """The endpoints. State lives in the worker and the metrics."""

    def __init__(
        self,
        worker: Worker,
        metrics: Metrics,
        settings: Settings,
        record: ServerRecord,
        stop: Callable[[], None],
        limits: Limits,
        aliases: Sequence[str] = (),
    ) -> None:
        self._aliases = aliases
        self._worker = worker
        self._metrics = metrics
        self._settings = settings
        self._record = record
        self._stop = stop
        self._limits = limits
        self._created = int(time.time())

    def routes(self) -> list[Route]:
        table: list[tuple[str, str, Endpoint]] = [
            ("POST", "/v1/chat/completions", self.chat),
            ("GET", "/v1/models", self.models),
            ("GET", "/v1/models/{name:path}", self.model),
            ("GET", "/health", self.health),
            ("GET", "/metrics", self.metrics),
            ("POST", wire.RUN, self.run),
            ("POST", wire.WARM, self.warm),
            ("GET", wire.STATUS, self.status),
            ("POST", wire.STOP, self.end),
        ]
        return [Route(path, self._counted(path, do), methods=[m]) for m, path, do in table]

    async def chat(self, request: Request) -> Response:
        body = await read_body(request, self._limits)
        asked = chat_request(body)
        await self._worker.known()
        if asked.model not in (names := self._names()):
            raise RefusedError(_no_model(asked.model, names))
        name = names[0] if asked.model in self._aliases else asked.model
        plan = chat_plan(asked, self._settings)
        channel = Channel(request)
        ticket = Ticket(plan, channel.item, count=True)
        self._worker.submit(ticket)
        completion = Completion(name, f"specedit-{self._record.version}")
        if asked.stream:
            items = await begun(self._items(ticket, channel))
            lines = chat_chunks(items, completion, plan.stop, asked.include_usage)
            return Streaming(lines, "text/event-stream")
        answer, predicted = await whole_answer(self._items(ticket, channel))
        return JSONResponse(completion.whole(answer, predicted))

    async def run(self, request: Request) -> Response:
        return await self._own(request, warm=False)

    async def warm(self, request: Request) -> Response:
        return await self._own(request, warm=True)

    async def models(self, request: Request) -> Response:
        await self._worker.known()
        return JSONResponse(
            {"object": "list", "data": [self._model(name) for name in self._listed()]}
        )

    async def model(self, request: Request) -> Response:
        await self._worker.known()
        name = request.path_params["name"]
        if name not in (names := self._names()):
            raise RefusedError(_no_model(name, names))
        return JSONResponse(self._model(name))

    async def health(self, request: Request) -> Response:
        state = self._worker.state
        ready = state == "ready"
        return JSONResponse({"status": "ok" if ready else state}, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        worker, prefixes = self._worker, self._worker.prefixes
        gauges = {
            "queue_length": float(worker.queued),
            "running": float(worker.running),
            "resident_memory_bytes": float(resident_bytes()),
            "uptime_seconds": self._metrics.uptime_s,
            "cache_entries": float(prefixes.entries if prefixes else 0),
            "cache_bytes": float(prefixes.bytes if prefixes else 0),
            "cache_hits": float(prefixes.hits if prefixes else 0),
            "cache_misses": float(prefixes.misses if prefixes else 0),
        }
        return Response(self._metrics.text(gauges), media_type=CONTENT_TYPE)

    async def status(self, request: Request) -> Response:
        worker, prefixes = self._worker, self._worker.prefixes
        line = worker.loaded.line if worker.loaded else None
        return JSONResponse(
            {
                "pid": self._record.pid,
                "version": self._record.version,
                "state": worker.state,
                "address": self._record.address,
                "url": self._record.url or None,
                "background": self._record.background,
                "model": {
                    "name": line.name if line else self._settings.model,
                    "engine": line.engine if line else "",
                    "device": line.device if line else "",
                    "threads": line.threads if line else 0,
                    "exact": line.exact if line else False,
                },
                "memory_bytes": resident_bytes(),
                "uptime_s": round(self._metrics.uptime_s, 1),
                "idle_s": round(worker.idle_s(), 1),
                "cache": {
                    "entries": prefixes.entries if prefixes else 0,
                    "bytes": prefixes.bytes if prefixes else 0,
                    "limit_bytes": self._settings.cache_bytes,
                    "hits": prefixes.hits if prefixes else 0,
                    "misses": prefixes.misses if prefixes else 0,
                },
                "requests": {
                    "answered": self._metrics.answers,
                    "cancelled": self._metrics.cancelled,
                    "refused": self._metrics.refused,
                    "running": int(worker.running),
                    "queued": worker.queued,
                },
            }
        )

    async def end(self, request: Request) -> Response:
        self._stop()
        return JSONResponse({"stopping": True})

    async def _own(self, request: Request, *, warm: bool) -> Response:
        body = await read_body(request, self._limits)
        try:
            plan = wire.plan_from(wire.loaded(body))
        except (ServerError, ValueError) as error:
            raise RefusedError(Refusal(400, f"Not a plan: {error}")) from None
        channel = Channel(request)
        ticket = Ticket(plan, channel.item, warm=warm)
        self._worker.submit(ticket)
        return Streaming(own_lines(self._items(ticket, channel)), "application/x-ndjson")

    async def _items(self, ticket: Ticket, channel: Channel) -> Items:
        """The channel's items; leaving early, for whatever reason, cancels the ticket."""
        started = time.monotonic()
        try:
            async with aclosing(channel.items()) as items:
                async for item in items:
                    yield item
        finally:
            self._worker.cancel(ticket)
            self._metrics.request_s.add(time.monotonic() - started)

    def _names(self) -> list[str]:
        """What a request may call the model: its own name first."""
        own = [self._worker.loaded.line.name] if self._worker.loaded else []
        return list(dict.fromkeys([*own, self._settings.model, *self._aliases]))

    def _listed(self) -> list[str]:
        return list(dict.fromkeys([self._names()[0], *self._aliases]))

    def _model(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": "specedit"}

    def _counted(self, path: str, endpoint: Endpoint) -> Endpoint:
        """The one boundary: every refusal and error becomes a response here, and is counted."""

        async def call(request: Request) -> Response:
            try:
                response = await endpoint(request)
            except RefusedError as error:
                response = respond(error.refusal)
            except SpeceditError as error:
                response = respond(refusal_of(error))
            except ClientGoneError:
                response = PlainTextResponse("", 499)
            self._metrics.requests[path, response.status_code] += 1
            return response

        return call


def _no_model(name: str, known: list[str]) -> Refusal:
    return Refusal(
        404,
        f"The model {name!r} does not exist here; this server has {known[0]!r}.",
        param="model",
        code="model_not_found",
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path}"
    refusal = Refusal(
        error.status_code, f"{error.detail}: {what}", headers=tuple((error.headers or {}).items())
    )
    return respond(refusal)


def make_app(api: Api, door: Door) -> Gate:
    app = Starlette(routes=api.routes(), exception_handlers={HTTPException: _http_error})
    return Gate(app, door)
