"""Runs a server: its lock, record, signals, idle time and end. Uvicorn speaks HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from types import FrameType

import uvicorn

from specedit.errors import ServerError
from specedit.server.app import Api, Tools, make_app
from specedit.server.listener import (
    Access,
    Options,
    check_options,
    limited_protocol,
    listening_sockets,
    tcp_socket,
)
from specedit.server.runtime import UNIX_SOCKETS, Listener, RuntimeFolder, ServerRecord, identity
from specedit.server.worker import Worker
from specedit.settings import Settings
from specedit.version import VERSION

GRACE_S = 2.0  # that runs may take to finish when the server stops
LOCK_S = 1.0  # a client that asks whether a server lives holds the lock for a moment
RECORD_TICKS = 50  # of 0.1 s, between two looks at the server's own record


class RunningError(ServerError):
    """This user's server runs already."""


def serve(
    settings: Settings,
    options: Options,
    folder: RuntimeFolder,
    started: Callable[[ServerRecord], None] = lambda record: None,
    make_tools: Callable[[ServerRecord, Settings], Tools] | None = None,
) -> int:
    """Serve until the server is stopped; the exit code. `started` is called once it listens.
    `make_tools` makes the tools for agents."""
    check_options(options)
    lock = folder.lock("server.lock")
    if not lock.take(LOCK_S):
        raise RunningError("A server is already running.", hint="specedit serve status")
    try:
        with listening_sockets(options, folder) as (sockets, address, url):
            token = options.token or ("" if UNIX_SOCKETS else secrets.token_urlsafe(24))
            record = ServerRecord(
                os.getpid(), VERSION, identity(settings), address, token,
                options.background, url, options.aliases,
            )  # fmt: skip
            folder.write(record)
            worker = Worker(settings, waiting=options.limits.waiting)
            tools = make_tools(record, settings) if make_tools else None
            api = Api(worker, settings, record, options.limits, tools)
            worker.start()
            UvicornServer(api, options, folder, started).run(sockets=sockets)
            if worker.failed is not None:
                print(f"specedit: {worker.failed}", file=sys.stderr)
            if not worker.join(0.5) and threading.current_thread() is threading.main_thread():
                # The engine is inside a pass or a load that only the end of the process can end.
                folder.clear()
                sys.stderr.flush()
                os._exit(0)
            return 0 if worker.failed is None else worker.failed.code
    finally:
        folder.clear()
        lock.release()


class UvicornServer(uvicorn.Server):
    """uvicorn, which ends when idle, when the model cannot be loaded, or within 5 s of a signal."""

    def __init__(
        self,
        api: Api,
        options: Options,
        folder: RuntimeFolder,
        started: Callable[[ServerRecord], None],
    ) -> None:
        self._app, self._protocol = make_app(api), limited_protocol(options.limits)
        super().__init__(self._config(options.host, api.record.token))
        self._api, self._worker, self._folder = api, api.worker, folder
        self._idle_s, self._started = options.idle_s, started
        api.listen = self._listen

    def _config(self, host: str, token: str) -> uvicorn.Config:
        """Of the connections to one address."""
        return uvicorn.Config(
            Access(self._app, host, token),
            http=self._protocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(GRACE_S) + 1,
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started(self._api.record)

    async def _listen(self, options: Options) -> None:
        """Listen at one more address, which has a token of its own, and have further names."""
        if options.port is not None:
            await self._open(options)
        names = dict.fromkeys([*self._api.record.aliases, *options.aliases])
        self._api.record = replace(self._api.record, aliases=tuple(names))
        self._folder.write(self._api.record)

    async def _open(self, options: Options) -> None:
        tcp, url = tcp_socket(options)
        tcp.setblocking(False)
        servers, config, record = self.servers, self.config, self._api.record
        token = options.token or ("" if UNIX_SOCKETS else record.token)
        self.config = self._config(options.host, token)
        self.config.load()
        try:
            await super().startup([tcp])
            servers += self.servers
        finally:
            self.servers, self.config = servers, config
        if record.url:
            record = replace(record, more=(*record.more, Listener(url, token)))
        else:
            record = replace(record, url=url, token=record.token or token)
        self._api.record = record

    async def on_tick(self, counter: int) -> bool:
        if self._worker.failed is not None:
            await asyncio.sleep(0.2)  # waiting clients receive the error
            return True
        idle = self._idle_s and self._worker.idle_s() > self._idle_s
        if idle or self._api.stopping.is_set():
            return True
        look = counter % RECORD_TICKS == RECORD_TICKS - 1
        if look and self._folder.record() != self._api.record:  # it would hide a server that lives
            with contextlib.suppress(OSError):
                self._folder.write(self._api.record)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._api.tools is not None:
            self._api.tools.stop()
        self._worker.stop(GRACE_S)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Like uvicorn's, but a signal is not raised again at the end: exit code 0."""
        try:
            before = {
                s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)
            }
        except ValueError:  # not the main thread
            yield
            return
        try:
            yield
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True
