"""The client of a warm server: requests over HTTP, and the Backend that runs Plans there.

HTTP is `http.client`'s, over the Unix socket or loopback. The server is found, started, replaced
and stopped here too: one per user and runtime folder. A background server that answers otherwise
than wanted and is idle is replaced; one that is busy, or was started in a terminal, is left alone.
Standard library only.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from specedit.edit.backend import Answer, Backend, Emit, Loading, ModelInfo, Plan, Ready
from specedit.errors import ServerError, SpeceditError, TooLong
from specedit.files import regular, stored
from specedit.files.startup import expanded
from specedit.server import protocol
from specedit.server.runtime import (
    OF_ENGINE,
    RuntimeFolder,
    ServerRecord,
    identity,
    path_variables,
    runtime_folder,
)
from specedit.settings import Settings
from specedit.settings.table import is_path
from specedit.version import VERSION

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
    return HTTPConnection(*address(record.address), timeout=timeout_s)


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
    record: ServerRecord, path: str, body: bytes, method: str = "POST", timeout_s: float = SILENCE_S
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
    return TooLong(message) if code == 413 else ServerError(message)


def listens(record: ServerRecord) -> bool:
    with suppress(OSError), closing(_connection(record, CONNECT_S)) as connection:
        connection.connect()
        return True
    return False


class ServerBackend:
    """Runs Plans in a warm server. A run that is left closes its connection, which cancels it."""

    def __init__(self, record: ServerRecord, *notes: str) -> None:
        self._record = record
        self.server: str | None = record.address
        self.notes = notes  # what was done so that this server answers: reported with the first run
        self.model: ModelInfo | None = None
        self._asked = False

    def run(self, plan: Plan, emit: Emit) -> Answer:
        if self._asked:
            self.notes = ()
        self._asked = True
        if (answer := self._send(protocol.RUN, plan, emit)) is None:
            raise ServerGoneError("The warm server ended during the run.")
        return answer

    def warm(self, plan: Plan, emit: Emit) -> None:
        """Read the plan's prompt only, so that the next run finds it in the cache."""
        self._send(protocol.WARM, plan, emit)

    def close(self) -> None:
        pass

    def _send(self, path: str, plan: Plan, emit: Emit) -> Answer | None:
        """Report a run's events; its Answer."""
        answer, ended = None, False
        with closing(lines(self._record, path, protocol.dump(asdict(plan)))) as events:
            for line in events:
                if line.get("event") == "end":
                    ended = True
                    continue
                event = protocol.event_from(line)
                if isinstance(event, Answer):
                    answer = event
                    continue
                if isinstance(event, Ready):
                    self.model = event.model
                emit(event)
        if not ended:
            raise ServerGoneError("The warm server ended during the run.")
        return answer


class WithFallback:
    """A server's backend while the server lives; after that the run starts over in this process.
    Nothing is written before a run ends. A second `Ready` voids what was reported before it."""

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

    def run(self, plan: Plan, emit: Emit) -> Answer:
        self._lost = ""
        server, *local = self._backends
        try:
            return server.run(plan, emit)
        except (ServerGoneError, ServerBusyError) as problem:
            if not local:
                raise
            self._lost = f"{problem.message} The run continued in this process."
        server.close()
        self._backends = local
        emit(Loading(self._lost))
        return local[0].run(plan, emit)

    def close(self) -> None:
        for backend in self._backends:
            backend.close()


START_S = 30.0  # until a new server listens; it loads its model afterwards
STOP_S = 8.0
STOP_REQUEST_S = 2.0
POLL_S = 0.02
PACKAGES = Path(__file__).resolve().parents[2]  # where `import specedit` finds this package


class LeftAloneError(ServerError):
    """The running server answers otherwise than wanted, and may not be replaced."""

    def __init__(self, record: ServerRecord, settings: Settings) -> None:
        server = f"The running server (process {record.pid})"
        super().__init__(f"{server} has {_difference(record, settings)}, and was left alone.")


def find(settings: Settings) -> tuple[ServerBackend | None, str]:
    """The server to use (started or replaced where that is wanted), or why none is used."""
    if settings.server != "auto":
        return None, ""
    try:
        folder = runtime_folder()
        record = folder.record()
        if record is None and not settings.warm:
            return None, ""
        if record is not None and answers(record, settings):
            return ServerBackend(record), ""
        if record is not None and not settings.warm and not record.background:
            return None, str(LeftAloneError(record, settings))
        return _started(folder, settings), ""
    except LeftAloneError as problem:
        return None, str(problem)
    except (ServerError, OSError) as problem:
        return None, f"No server was used: {problem}"


def answers(record: ServerRecord, settings: Settings) -> bool:
    """Whether this server gives the answers that this process would give."""
    return record.version == VERSION and record.identity == identity(settings)


def _started(folder: RuntimeFolder, settings: Settings) -> ServerBackend:
    """A server with these settings, started here or meanwhile by another client."""
    with folder.lock("start.lock"):
        before = folder.record()
        if before is not None and answers(before, settings):
            return ServerBackend(before)
        note = replace(folder, settings)
        token = before.token if before is not None else ""
        record = launch(folder, settings, _listeners(before), token)
    return ServerBackend(record, *([note] if note else []))


def replace(folder: RuntimeFolder, settings: Settings) -> str:
    """Stop the server that runs, if it may be stopped; a note about it. Hold `start.lock`."""
    record = folder.record()
    if record is None:
        return ""
    from specedit.models.resolve import local

    local(settings.model)  # an error for an unknown name: a typo never stops a server
    if not record.background or status(record)["requests"]["running"]:
        raise LeftAloneError(record, settings)
    stop(folder, record)
    return f"The warm server was replaced: it had {_difference(record, settings)}."


def _difference(record: ServerRecord, settings: Settings) -> str:
    """How a server differs from the wanted one, for a note."""
    if record.version != VERSION:
        return f"version {record.version}"
    own, wanted = record.identity, identity(settings)
    different = [f"{name} {own.get(name)}" for name in wanted if own.get(name) != wanted[name]]
    return ", ".join(different) or "another address"


def _listeners(record: ServerRecord | None) -> list[str]:
    """Flags that make a server listen where its predecessor did."""
    if record is None or not record.url:
        return ["--socket-only"]
    host, port = address(record.url)
    more = [word for alias in record.aliases for word in ("--alias", alias)]
    return ["--host", host, "--port", str(port), *more]


def address(url: str) -> tuple[str, int]:
    """Host and port of a server's own URL."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host.strip("[]"), int(port)


def _arguments(settings: Settings) -> list[str]:
    """The command line of a background server with these settings."""
    own = identity(settings)
    flags = ["serve", "--detached", "--model", own["model"]]
    if own["draft_model"]:
        flags += ["--draft-model", own["draft_model"]]
    for name in (*OF_ENGINE, "draft"):
        value = str(getattr(settings, name))
        path = expanded(value).absolute() if is_path(name, value) else value
        flags += [f"--{name.replace('_', '-')}", str(path)]
    return flags


def launch(
    folder: RuntimeFolder, settings: Settings, flags: Sequence[str], token: str = ""
) -> ServerRecord:
    """Start a background server, away from any project, and wait until it listens."""
    import subprocess

    path = f"import sys; sys.path.append({str(PACKAGES)!r})"
    program = f"{path}; from specedit.__main__ import main; main()"
    # The token is a variable, because other users can list command lines.
    variables = {**path_variables(), "SPECEDIT_TOKEN": token}
    variables = {name: value for name, value in variables.items() if value}
    with regular.writing(folder.log) as log:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *_arguments(settings), *flags],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder.folder,
            env={**os.environ, **variables, "SPECEDIT_RUNTIME": str(folder.folder)},
            start_new_session=True,
        )
    end = time.monotonic() + START_S
    while time.monotonic() < end and (process.poll() is None or folder.record()):
        if (record := folder.record()) is not None and listens(record):
            return record
        time.sleep(POLL_S)
    raise ServerError("The background server did not start.", hint=_last_words(folder))


def loading(folder: RuntimeFolder, record: ServerRecord) -> Iterator[Loading]:
    """The progress of a server until its model can answer; an error where it ends instead."""
    with suppress(ServerGoneError):
        while (state := status(record))["state"] != "ready":
            if state["loading"]:
                yield stored.typed(Loading, state["loading"])
            time.sleep(POLL_S)
        return
    _ended(folder, STOP_S)
    raise ServerError("The server ended before its model was loaded.", hint=_last_words(folder))


def _last_words(folder: RuntimeFolder) -> str:
    """The end of what a background server printed."""
    output = list[str]()
    with suppress(OSError):  # a server in a terminal has none
        output = regular.read(folder.log).decode("utf-8", "replace").strip().splitlines()
    last = "\n".join(line.removeprefix("specedit: ") for line in output[-5:])
    return last or f"See {folder.log}."


def stop(folder: RuntimeFolder, record: ServerRecord) -> None:
    """End a server and wait for its end. SIGCONT wakes one that was suspended as a job."""
    import signal

    accepted = False
    with suppress(ServerError):
        answer(record, "POST", protocol.STOP, STOP_REQUEST_S)
        accepted = True
    if accepted and _ended(folder, STOP_S):
        return
    for names in (("SIGTERM", "SIGCONT"), ("SIGKILL",)):
        for name in names:
            with suppress(OSError):
                os.kill(record.pid, getattr(signal, name, signal.SIGTERM))
        if _ended(folder, STOP_S):
            return
    raise ServerError(
        f"The server (process {record.pid}) does not end.", hint=f"End it: kill {record.pid}"
    )


def _ended(folder: RuntimeFolder, within_s: float) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if not folder.lock("server.lock").is_held():
            return True
        time.sleep(POLL_S)
    return False
