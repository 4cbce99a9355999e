"""Runs a server: its options and sockets, its lock, record, signals, idle time and end; the limits
of a connection, and who is let in. Uvicorn speaks HTTP.

The Unix socket is private by its folder. On TCP a foreign Host or Origin is refused before anything
is read, so that no web page drives the local model; our own protocol needs a token.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import os
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from specedit.errors import ServerError
from specedit.server.app import Api, Limits, make_app, respond
from specedit.server.protocol import OWN, RefusedError
from specedit.server.runtime import UNIX_SOCKETS, RuntimeFolder, ServerRecord, identity
from specedit.server.worker import Worker
from specedit.settings import Settings
from specedit.version import VERSION

GRACE_S = 2.0  # that runs may take to finish when the server stops
LOCK_S = 1.0  # a client that asks whether a server lives holds the lock for a moment
RECORD_TICKS = 50  # of 0.1 s, between two looks at the server's own record
PROBE_S = 0.2  # between two looks at whether a client that sends no more still reads
FIRST_PROBE_S = 0.005  # a client that is gone has answered the first by then
PORT = 8737
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a server listens, and for how long."""

    host: str = "127.0.0.1"
    port: int | None = PORT  # None: the Unix socket only
    any_port: bool = True  # where the port is taken, any other will do
    token: str = ""
    idle_s: float = 0.0  # without work until the server ends; 0: never
    background: bool = False
    aliases: tuple[str, ...] = ()  # names besides the model's own that a client may ask for
    limits: Limits = field(default_factory=Limits)


def check_options(options: Options) -> None:
    if not is_loopback(options.host) and not options.token:
        message = f"--host {options.host} is not a loopback address, so a token is needed."
        raise ServerError(message, hint="Set SPECEDIT_TOKEN, or use --token.")
    for name in options.aliases:
        if not name.isprintable() or not name.strip() or name != name.strip():
            raise ServerError(f"--alias {name!r} is not a name that a client can send.")
    if not options.token.isprintable() or options.token != options.token.strip():
        raise ServerError("A token has no line break, and no space at its ends.")


@contextlib.contextmanager
def listening_sockets(
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
            tcp, url = tcp_socket(options)
            sockets.append(stack.enter_context(tcp))
            address = address or url
        for bound in sockets:
            bound.listen(512)
            bound.setblocking(False)
        yield sockets, address, url


def tcp_socket(options: Options) -> tuple[socket.socket, str]:
    """A socket that is bound to the wanted address, and its URL."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    ports = [options.port or 0, 0] if options.any_port else [options.port or 0]
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    for port in ports:
        try:
            tcp = socket.create_server((options.host, port), family=family, dualstack_ipv6=both)
            host, bound = tcp.getsockname()[:2]
            return tcp, f"http://{f'[{host}]' if ':' in host else host}:{bound}"
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
    message = f"{options.host}:{options.port} cannot be opened: {reason}"
    raise ServerError(message, hint="Choose another --port (0: any free port).")


def limited_protocol(limits: Limits) -> type[H11Protocol]:
    """uvicorn's HTTP with limits: of a head's time, and of connections for each kind of socket."""
    most = {True: limits.unix_connections, False: limits.tcp_connections}

    class LimitedProtocol(H11Protocol):
        _by_age: ClassVar[dict[bool, dict[LimitedProtocol, None]]] = {True: {}, False: {}}
        _timer: asyncio.TimerHandle | None = None
        _refused = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            opened = transport.get_extra_info("socket")
            self._unix = UNIX_SOCKETS and opened is not None and opened.family == socket.AF_UNIX
            if self._unix:
                self.server = UNIX  # which older versions of uvicorn do not set
            if len(self._by_age[self._unix]) >= most[self._unix] and not self._make_room():
                self._refused = True
                transport.write(BUSY)
                transport.close()
                return
            self._by_age[self._unix][self] = None
            self._wait_for_head()

        def data_received(self, data: bytes) -> None:
            if not self._refused:
                super().data_received(data)
                self._wait_for_head()

        def eof_received(self) -> bool:  # type: ignore[override]  # asyncio lets it
            """A client that sends no more may still read: an interim response shows whether."""
            asked = self.cycle is not None and self.conn.their_state is not h11.SEND_BODY
            if not asked or self.cycle.scope["http_version"] != "1.1":
                return False
            self._probe(FIRST_PROBE_S)
            return not self.cycle.response_complete

        def _probe(self, pause: float) -> None:
            if not self.transport.is_closing() and not self.cycle.response_started:
                self.transport.write(b"HTTP/1.1 102 Processing\r\n\r\n")
                self.loop.call_later(pause, self._probe, PROBE_S)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._by_age[self._unix].pop(self, None)
            self._stop_timer()

        def _make_room(self) -> bool:
            """Whether a connection without a whole request was closed."""
            for other in self._by_age[self._unix]:
                answering = other.cycle is not None and not other.cycle.response_complete
                if not answering or other.conn.their_state is h11.SEND_BODY:
                    del self._by_age[self._unix][other]
                    other.transport.abort()
                    return True
            return False

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


UNIX = ("unix", None)  # the server's address in the scope of a request over the private socket
# A name or an address, and a port: nothing that a reader could take for another part of a URL.
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::\d{1,5})?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    if host in _LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """The app behind the checks. Pure ASGI, because it must not buffer a stream."""

    def __init__(self, app: ASGIApp, host: str, token: str) -> None:
        self._app = app
        self._host = host
        self._tokens = [token.encode()] if token else []
        with suppress(UnicodeEncodeError):  # some clients write headers in Latin-1
            self._tokens += [token.encode("latin-1")] if token else []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (refusal := self.refusal(scope)) is not None:
            await respond(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def refusal(self, scope: Mapping[str, Any]) -> RefusedError | None:
        if scope.get("server") == UNIX:
            return None
        raw = dict(scope["headers"])
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in raw.items()}
        host = headers.get("host", "")
        if not self._ours(host):
            return _denied(f"The Host {host!r} is not this server's.", "foreign_host")
        origin = headers.get("origin")
        foreign = origin is not None and origin not in (f"http://{host}", f"https://{host}")
        if foreign or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _denied("A web page may not use this server.", "foreign_origin")
        return self._token_refusal(scope["path"], raw.get(b"authorization", b""))

    def _ours(self, host: str) -> bool:
        """Whether no DNS rebinding can have chosen it: loopback, an address, or our own name."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = (match["six"] or match["name"]).lower()
        if is_loopback(name):
            return True
        if is_loopback(self._host):
            return False
        try:
            ipaddress.ip_address(name)
            return True
        except ValueError:
            return name in (self._host.lower(), socket.gethostname().lower())

    def _token_refusal(self, path: str, authorization: bytes) -> RefusedError | None:
        if not self._tokens:
            if path.startswith(OWN):
                return _denied("Use the Unix socket, or a server with a token.", "token_required")
            return None
        if path == "/health":
            return None
        scheme, _, token = authorization.partition(b" ")
        same = [hmac.compare_digest(token.strip(), own) for own in self._tokens]
        if scheme.lower() == b"bearer" and any(same):
            return None
        return RefusedError(
            401, "Incorrect API key provided.", code="invalid_api_key",
            headers=(("www-authenticate", "Bearer"),),
        )  # fmt: skip


def _denied(message: str, code: str) -> RefusedError:
    return RefusedError(403, message, code=code, kind="permission_error")


class RunningError(ServerError):
    """This user's server runs already."""


def serve(
    settings: Settings,
    options: Options,
    folder: RuntimeFolder,
    started: Callable[[ServerRecord], None] = lambda record: None,
) -> int:
    """Serve until the server is stopped; the exit code. `started` is called once it listens."""
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
            api = Api(worker, settings, record, options.limits)
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
        self._api, self._worker, self._folder = api, api.worker, folder
        self._idle_s, self._started = options.idle_s, started
        config = uvicorn.Config(
            Access(make_app(api), options.host, api.record.token),
            http=limited_protocol(options.limits),
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(GRACE_S) + 1,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started(self._api.record)

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
        self._worker.stop(GRACE_S)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Like uvicorn's, but the signal is not raised again at the end: exit code 0."""
        self.should_exit = True
