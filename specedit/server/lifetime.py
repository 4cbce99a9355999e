"""A server from its first lock to its last word: sockets, signals, idle time, the end.

Knows uvicorn and the runtime folder. Does not know routes or models.
"""

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
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from specedit.backends.runtime import UNIX_SOCKETS, RuntimeFolder, ServerRecord, identity
from specedit.errors import ServerError
from specedit.server.app import Api, make_app
from specedit.server.channel import Limits
from specedit.server.gate import UNIX, Door, is_loopback
from specedit.server.metrics import Metrics
from specedit.server.work import Worker
from specedit.settings import Settings
from specedit.version import VERSION

PORT = 8737
GRACE_S = 2.0  # what runs may finish within this, once the end is wanted
LOCK_S = 1.0  # a client that asks who lives holds the lock for a moment


@dataclass(frozen=True)
class Options:
    """How one server is opened."""

    host: str = "127.0.0.1"
    port: int | None = PORT  # None: the socket only
    any_port: bool = True  # the port was not named: when it is taken, another will do
    token: str = ""
    idle_s: float = 0.0  # 0: never ends by itself
    background: bool = False
    aliases: tuple[str, ...] = ()  # names beside the model's own that a client may ask for
    limits: Limits = field(default_factory=Limits)


class TakenError(ServerError):
    """Another server of this user lives."""


def serve(
    settings: Settings,
    options: Options,
    runtime_folder: RuntimeFolder,
    started: Callable[[ServerRecord], None] = lambda record: None,
) -> int:
    """Serve until told to stop; the exit code. `started` is told where, once it listens."""
    _check(options)
    with _only(runtime_folder), _sockets(options, runtime_folder) as (sockets, address, url):
        token = options.token or ("" if UNIX_SOCKETS else secrets.token_urlsafe(24))
        record = ServerRecord(
            os.getpid(), VERSION, identity(settings), address, token,
            options.background, url, options.aliases,
        )  # fmt: skip
        runtime_folder.write(record)
        try:
            return _run(settings, options, record, sockets, started, runtime_folder.clear)
        finally:
            runtime_folder.clear()


def _check(options: Options) -> None:
    if not is_loopback(options.host) and not options.token:
        raise ServerError(
            f"--host {options.host} is open to others, so a token is needed.",
            hint="Give one with SPECEDIT_TOKEN, or with --token.",
        )
    for name in options.aliases:
        if not name.isprintable() or not name.strip() or name != name.strip():
            raise ServerError(f"--alias {name!r} is no name that a client can send.")
    if not options.token.isprintable() or options.token != options.token.strip():
        raise ServerError("A token has no line's end in it, and no space around it.")


@contextlib.contextmanager
def _only(runtime_folder: RuntimeFolder) -> Generator[None, None, None]:
    """Hold the lock that says a server lives."""
    lock = runtime_folder.lock("server.lock")
    if not lock.take(LOCK_S):
        raise TakenError("A server is running already.", hint="specedit serve status")
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _sockets(
    options: Options, runtime_folder: RuntimeFolder
) -> Generator[tuple[list[socket.socket], str, str], None, None]:
    """The listening sockets, our own address and the OpenAI clients' URL."""
    with contextlib.ExitStack() as stack:
        found, address, url = [], "", ""
        if UNIX_SOCKETS:
            path = runtime_folder.socket
            path.unlink(missing_ok=True)  # stale: we hold the lock
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            unix.bind(str(path))
            path.chmod(0o600)
            found.append(unix)
            address = f"unix:{path}"
        if options.port is not None or not UNIX_SOCKETS:
            tcp = stack.enter_context(_tcp(options))
            found.append(tcp)
            host, port = tcp.getsockname()[:2]
            url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            address = address or url
        for one in found:
            one.listen(512)
            one.setblocking(False)
        yield found, address, url


def _tcp(options: Options) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    ports = [options.port or 0, 0] if options.any_port else [options.port or 0]
    for port in ports:
        tcp = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tcp.bind((options.host, port))
            return tcp
        except OSError as error:
            tcp.close()
            problem = error
    raise ServerError(
        f"{options.host}:{options.port} cannot be opened: {problem.strerror}",
        hint="Name another --port; 0 takes any.",
    )


def _run(
    settings: Settings,
    options: Options,
    record: ServerRecord,
    sockets: list[socket.socket],
    started: Callable[[ServerRecord], None],
    clear: Callable[[], None],
) -> int:
    metrics = Metrics()
    worker = Worker(settings, metrics, waiting=options.limits.waiting)
    server: Lifetime | None = None

    def stop() -> None:
        assert server is not None
        server.should_exit = True

    api = Api(worker, metrics, settings, record, stop, options.limits, options.aliases)
    config = uvicorn.Config(
        make_app(api, Door(options.host, record.token)),
        http=_patient(options.limits.head_s),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=options.limits.connections,
        timeout_graceful_shutdown=int(GRACE_S) + 1,
    )
    server = Lifetime(config, worker, options.idle_s, lambda: started(record))
    worker.start()
    server.run(sockets=sockets)
    if worker.failed is not None:
        print(f"specedit: {worker.failed}", file=sys.stderr)
    if not worker.join(0.5) and threading.current_thread() is threading.main_thread():
        _leave(clear)
    return 0 if worker.failed is None else worker.failed.code


def _leave(clear: Callable[[], None]) -> None:
    """The engine is inside a pass or a load that nothing can end but the process."""
    clear()
    sys.stderr.flush()
    os._exit(0)


class Lifetime(uvicorn.Server):
    """uvicorn, that ends when idle, when the model cannot be loaded, or within 5 s of a signal."""

    def __init__(
        self, config: uvicorn.Config, worker: Worker, idle_s: float, started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._worker = worker
        self._idle_s = idle_s
        self._listening = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()

    async def on_tick(self, counter: int) -> bool:
        if self._worker.failed is not None:
            await asyncio.sleep(0.2)  # those who wait are told why
            return True
        if self._idle_s and self._worker.idle_s() > self._idle_s:
            return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._worker.stop(GRACE_S)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn does, without raising the signal again at the end: we ended as asked."""
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


def _patient(head_s: float) -> type[H11Protocol]:
    """uvicorn's protocol, that closes a connection whose request head does not come."""

    class Patient(H11Protocol):
        _head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            opened = transport.get_extra_info("socket")
            if UNIX_SOCKETS and opened is not None and opened.family == socket.AF_UNIX:
                self.server = UNIX  # what older versions of uvicorn do not tell
            self._time()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._time()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _time(self) -> None:
            """A head is awaited as long as no answer is under way."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self._head is None:
                self._head = self.loop.call_later(head_s, self.transport.close)

        def _forget(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

    return Patient
