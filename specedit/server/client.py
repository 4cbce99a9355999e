"""The client of a warm server: requests over HTTP, and the Backend that runs Plans there.

HTTP is `http.client`'s, over the Unix socket or loopback. Which server is asked, and how it is
started, is `processes`' part. Standard library only.
"""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException
from typing import Any

from specedit.edit.backend import (
    Answer,
    Backend,
    Loading,
    ModelInfo,
    Plan,
    Progress,
    Ready,
    Written,
)
from specedit.engines.base import Prefill
from specedit.errors import ServerError, SpeceditError
from specedit.files import stored
from specedit.server import protocol
from specedit.server.runtime import ServerRecord

CONNECT_S = 2.0
SILENCE_S = 30.0  # a server that runs a Plan sends something every second
STATUS_S = 10.0
LONGEST_ERROR = 1 << 20  # bytes of an error's body that are read


class ServerGoneError(ServerError):
    """The server is not reachable, or disappeared during a run."""


class ServerBusyError(ServerError):
    """The server's queue is full."""


class _UnixConnection(HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("specedit", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connection(record: ServerRecord, timeout_s: float) -> HTTPConnection:
    if record.address.startswith("unix:"):
        return _UnixConnection(record.address.removeprefix("unix:"), timeout_s)
    host, _, port = record.address.removeprefix("http://").rpartition(":")
    return HTTPConnection(host.strip("[]"), int(port), timeout=timeout_s)


def status(record: ServerRecord) -> dict[str, Any]:
    """A running server's own status."""
    return answer(record, "GET", protocol.STATUS, STATUS_S)


def answer(
    record: ServerRecord, method: str, path: str, timeout_s: float, body: bytes = b""
) -> dict[str, Any]:
    """The one JSON object that a request is answered with."""
    objects = list(lines(record, path, body, method, timeout_s))
    if len(objects) != 1:
        raise ServerGoneError("The warm server sent no answer.")
    return objects[0]


def lines(
    record: ServerRecord,
    path: str,
    body: bytes,
    method: str = "POST",
    timeout_s: float = SILENCE_S,
) -> Generator[dict[str, Any], None, None]:
    """The JSON lines of one response. Closing the generator closes the connection."""
    headers = {"Content-Type": "application/json", "Connection": "close"}
    if record.token:
        headers["Authorization"] = f"Bearer {record.token}"
    try:
        with closing(_connection(record, timeout_s)) as connection:
            connection.request(method, path, body, headers)
            with closing(connection.getresponse()) as response:
                if response.status != 200:
                    raise _error(response.status, response.read(LONGEST_ERROR))
                for line in response:
                    if line.strip():
                        yield dict(stored.parsed(line))
    except (OSError, HTTPException, ValueError, TypeError) as problem:
        raise ServerGoneError("The warm server closed the connection.") from problem


def _error(code: int, body: bytes) -> SpeceditError:
    try:
        error = dict(stored.parsed(body)["error"])
    except (ValueError, KeyError, TypeError):
        error = {}
    message = str(error.get("message") or f"The server answered {code}.")
    if code == 503:
        return ServerBusyError(message.partition("\n")[0])
    return ServerError(message)


def listens(record: ServerRecord) -> bool:
    try:
        with closing(_connection(record, CONNECT_S)) as connection:
            connection.connect()
    except OSError:
        return False
    return True


class ServerBackend:
    """Runs Plans in a warm server. A run that is left closes its connection, which cancels it."""

    def __init__(self, record: ServerRecord, *notes: str) -> None:
        self._record = record
        self.notes = notes  # what was done so that this server answers: reported with the first run
        self.model: ModelInfo | None = None
        self._asked = False

    @property
    def server(self) -> str | None:
        return self._record.address

    def run(self, plan: Plan, progress: Progress) -> Answer:
        if self._asked:
            self.notes = ()
        self._asked = True
        answer = self._send(protocol.RUN, plan, progress)
        if answer is None:
            raise ServerGoneError("The warm server ended during the run.")
        return answer

    def warm(self, plan: Plan, progress: Progress) -> None:
        """Read the plan's prompt only, so that the next run finds it in the cache."""
        self._send(protocol.WARM, plan, progress)

    def close(self) -> None:
        pass

    def _send(self, path: str, plan: Plan, progress: Progress) -> Answer | None:
        """Report a run's events; its Answer."""
        answer, ended = None, False
        with closing(lines(self._record, path, protocol.dump(asdict(plan)))) as events:
            for line in events:
                if line.get("event") == "end":
                    ended = True
                    continue
                match event := protocol.event_from(line):
                    case Loading():
                        progress.loading(event)
                    case Ready():
                        self.model = event.model
                        progress.ready(event)
                    case Prefill():
                        progress.prefill(event)
                    case Written():
                        progress.written(event)
                    case Answer():
                        answer = event
        if not ended:
            raise ServerGoneError("The warm server ended during the run.")
        return answer


class WithFallback:
    """A server's backend while the server lives; after that the run starts over in this process.

    Nothing is lost, because nothing is written before a run ends. A second `ready` says that what
    was reported before it is void."""

    def __init__(self, server: Backend, local: Backend) -> None:
        self._backends = [server, local]
        self._lost = ""

    @property
    def server(self) -> str | None:
        return self._backends[0].server

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self._backends[0].notes, *filter(None, (self._lost,)))

    @property
    def model(self) -> ModelInfo | None:
        return self._backends[0].model

    def run(self, plan: Plan, progress: Progress) -> Answer:
        self._lost = ""
        server, *local = self._backends
        try:
            return server.run(plan, progress)
        except (ServerGoneError, ServerBusyError) as problem:
            if not local:
                raise
            self._lost = f"{problem.message} The run continued in this process."
        server.close()
        self._backends = local
        progress.loading(Loading(self._lost))
        return local[0].run(plan, progress)

    def close(self) -> None:
        for backend in self._backends:
            backend.close()
