"""Runs a server: lock, sockets, record, signals, idle time and end. Uvicorn speaks HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from specedit.errors import ServerError
from specedit.server.access import UNIX, Listener, is_loopback
from specedit.server.app import Api, make_app
from specedit.server.metrics import Metrics
from specedit.server.requests import Limits
from specedit.server.runtime import UNIX_SOCKETS, RuntimeFolder, ServerRecord, identity
from specedit.server.worker import Worker
from specedit.settings import Settings
from specedit.version import VERSION

PORT = 8737
GRACE_S = 2.0  # that runs may take to finish when the server stops
LOCK_S = 1.0  # a client that asks whether a server lives holds the lock for a moment
RECORD_TICKS = 50  # of 0.1 s, between two looks at the server's own record
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


@dataclass(frozen=True)
class Options:
    """How a server listens, and for how long."""

    host: str = "127.0.0.1"
    port: int | None = PORT  # None: the Unix socket only
    any_port: bool = True  # where the port is taken, any other will do
    token: str = ""
    idle_s: float = 0.0  # without work until the server ends; 0: never
    background: bool = False
    aliases: tuple[str, ...] = ()  # names beside the model's own that a client may ask for
    limits: Limits = field(default_factory=Limits)


class RunningError(ServerError):
    """This user's server runs already."""


def serve(
    settings: Settings,
    options: Options,
    folder: RuntimeFolder,
    started: Callable[[ServerRecord], None] = lambda record: None,
) -> int:
    """Serve until the server is stopped; the exit code. `started` is called once it listens."""
    _check(options)
    with _only_server(folder), _sockets(options, folder) as (sockets, address, url):
        token = options.token or ("" if UNIX_SOCKETS else secrets.token_urlsafe(24))
        record = ServerRecord(
            os.getpid(), VERSION, identity(settings), address, token,
            options.background, url, options.aliases,
        )  # fmt: skip
        folder.write(record)
        try:
            return _run(settings, options, record, sockets, started, folder)
        finally:
            folder.clear()


def _check(options: Options) -> None:
    if not is_loopback(options.host) and not options.token:
        raise ServerError(
            f"--host {options.host} is open to others, so a token is needed.",
            hint="Give one with SPECEDIT_TOKEN, or with --token.",
        )
    for name in options.aliases:
        if not name.isprintable() or not name.strip() or name != name.strip():
            raise ServerError(f"--alias {name!r} is not a name that a client can send.")
    if not options.token.isprintable() or options.token != options.token.strip():
        raise ServerError("A token has no line break, and no space at its ends.")


@contextlib.contextmanager
def _only_server(folder: RuntimeFolder) -> Generator[None, None, None]:
    """Hold the lock of the user's one server."""
    lock = folder.lock("server.lock")
    if not lock.take(LOCK_S):
        raise RunningError("A server is running already.", hint="specedit serve status")
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _sockets(
    options: Options, folder: RuntimeFolder
) -> Generator[tuple[list[socket.socket], str, str], None, None]:
    """The listening sockets, our own clients' address and the OpenAI clients' URL."""
    with contextlib.ExitStack() as stack:
        sockets, address, url = [], "", ""
        if UNIX_SOCKETS:
            path = folder.socket
            path.unlink(missing_ok=True)  # a dead server's: we hold the lock
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            unix.bind(str(path))
            path.chmod(0o600)
            sockets.append(unix)
            address = f"unix:{path}"
        if options.port is not None or not UNIX_SOCKETS:
            tcp = stack.enter_context(_tcp(options))
            sockets.append(tcp)
            host, port = tcp.getsockname()[:2]
            url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            address = address or url
        for one in sockets:
            one.listen(512)
            one.setblocking(False)
        yield sockets, address, url


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
    folder: RuntimeFolder,
) -> int:
    metrics = Metrics()
    worker = Worker(settings, metrics, waiting=options.limits.waiting)

    def stop() -> None:
        server.should_exit = True

    api = Api(worker, metrics, settings, record, stop, options.limits)
    config = uvicorn.Config(
        make_app(api, Listener(options.host, record.token)),
        http=_protocol(options.limits),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(GRACE_S) + 1,
    )

    def repair() -> None:  # a damaged record would hide a server that lives
        if folder.record() != record:
            with contextlib.suppress(OSError):
                folder.write(record)

    server = UvicornServer(config, worker, options.idle_s, lambda: started(record), repair)
    worker.start()
    server.run(sockets=sockets)
    if worker.failed is not None:
        print(f"specedit: {worker.failed}", file=sys.stderr)
    if not worker.join(0.5) and threading.current_thread() is threading.main_thread():
        # The engine is inside a pass or a load that only the end of the process can end.
        folder.clear()
        sys.stderr.flush()
        os._exit(0)
    return 0 if worker.failed is None else worker.failed.code


class UvicornServer(uvicorn.Server):
    """uvicorn, which ends when idle, when the model cannot be loaded, or within 5 s of a signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        worker: Worker,
        idle_s: float,
        listening: Callable[[], None],
        repair: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._worker = worker
        self._idle_s = idle_s
        self._listening = listening
        self._repair = repair

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()

    async def on_tick(self, counter: int) -> bool:
        if self._worker.failed is not None:
            await asyncio.sleep(0.2)  # waiting clients receive the error
            return True
        if self._idle_s and self._worker.idle_s() > self._idle_s:
            return True
        if counter % RECORD_TICKS == RECORD_TICKS - 1:
            self._repair()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
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


def _protocol(limits: Limits) -> type[H11Protocol]:
    """uvicorn's HTTP with a time limit for a request's head, and a limit of connections for each
    kind of socket, so that TCP clients cannot lock out the user's own command line."""
    most = {True: limits.unix_connections, False: limits.tcp_connections}
    open_connections: Counter[bool] = Counter()

    class LimitedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None
        _refused = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            opened = transport.get_extra_info("socket")
            self._unix = UNIX_SOCKETS and opened is not None and opened.family == socket.AF_UNIX
            if self._unix:
                self.server = UNIX  # which older versions of uvicorn do not set
            open_connections[self._unix] += 1
            if open_connections[self._unix] > most[self._unix]:
                self._refused = True
                transport.write(BUSY)
                transport.close()
                return
            self._wait_for_head()

        def data_received(self, data: bytes) -> None:
            if not self._refused:
                super().data_received(data)
                self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            open_connections[self._unix] -= 1
            self._stop_timer()

        def _wait_for_head(self) -> None:
            """Limit the time to the next head, unless an answer is being sent."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(limits.head_s, self.transport.close)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedProtocol
