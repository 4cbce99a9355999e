"""The Backend that asks our warm server, and how one is found, started and given up on.

Speaks just enough HTTP for one request and its lines, so that a client process loads neither
torch nor an HTTP library. Knows the runtime folder and the wire. Standard library only.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from specedit.backends import wire
from specedit.backends.runtime import (
    UNIX_SOCKETS,
    RuntimeFolder,
    ServerRecord,
    folders,
    identity,
    runtime_folder,
)
from specedit.edit.backend import Backend, Event, Loading
from specedit.edit.plan import Plan
from specedit.errors import ServerError, SpeceditError
from specedit.settings import Settings
from specedit.version import VERSION

CONNECT_S = 2.0
SILENCE_S = 30.0  # the server says something every second
START_S = 30.0  # until a new server listens; it loads its model afterwards
STOP_S = 8.0
PACKAGES = Path(__file__).resolve().parents[2]  # where `import specedit` finds this package
ASK_S = 10.0  # for a word about itself, which it gives from any state
HEARD_S = 2.0  # for a word that it is to end


class ServerGoneError(ServerError):
    """The server is not there, or went away in mid-run."""


class ServerBusyError(ServerError):
    """The server has too much to do."""


class ServerBackend:
    """Runs Plans in a warm server of ours. Closing a run's generator cancels it there."""

    def __init__(self, record: ServerRecord, *notes: str) -> None:
        self._record = record
        self.notes = notes  # what was done so that this server answers: said with its first run
        self._asked = False

    @property
    def server(self) -> str | None:
        return self._record.address

    def run(self, plan: Plan) -> Iterator[Event]:
        if self._asked:
            self.notes = ()
        self._asked = True
        return self._events(wire.RUN, plan)

    def warm(self, plan: Plan) -> Iterator[Event]:
        """Read the plan's prompt and nothing more, so that the next run finds it."""
        return self._events(wire.WARM, plan)

    def close(self) -> None:
        pass

    def _events(self, path: str, plan: Plan) -> Iterator[Event]:
        ended = False
        for line in _lines(self._record, path, wire.dump(wire.plan_json(plan))):
            if line.get("event") == "end":
                ended = True
                continue
            yield wire.event_from(line)
        if not ended:
            raise ServerGoneError("The server ended in mid-run.")


class WithFallback:
    """A server's backend while it lasts; then the run starts over in this process.

    Nothing is lost, for nothing is written before a run's end. A `Ready` that comes again says
    that everything before it is void."""

    def __init__(self, server: Backend, make_local: Callable[[], Backend]) -> None:
        self._server: Backend | None = server
        self._make_local = make_local
        self._local: Backend | None = None
        self._lost = ""

    @property
    def server(self) -> str | None:
        return self._server.server if self._server is not None else None

    @property
    def notes(self) -> tuple[str, ...]:
        said = self._server.notes if self._server is not None else ()
        return (*said, self._lost) if self._lost else said

    def run(self, plan: Plan) -> Iterator[Event]:
        if self._server is not None:
            try:
                yield from self._server.run(plan)
                return
            except (ServerGoneError, ServerBusyError) as problem:
                note = f"{problem.message} The run went on in this process."
            self._server.close()
            self._server = None
            self._lost = note
            yield Loading(note)
        else:
            self._lost = ""
        if self._local is None:
            self._local = self._make_local()
        yield from self._local.run(plan)

    def close(self) -> None:
        for backend in (self._server, self._local):
            if backend is not None:
                backend.close()


def look(settings: Settings) -> tuple[ServerBackend | None, str]:
    """The server to use, and why one that is there (or was wanted) is not used.

    A background server with another version or model is replaced. One that a person started in a
    terminal is left alone, and so is one that is at work."""
    if settings.server != "auto":
        return None, ""
    try:
        where = runtime_folder()
        record = where.record()
        if record is None and not settings.warm:
            return None, ""
        before = record
        if record is None or not answers(record, settings):
            record = _started(where, settings)
    except (ServerError, OSError) as problem:
        return None, f"No server was used: {problem}"
    if not answers(record, settings):
        own, other = identity(settings)["model"], record.identity.get("model")
        what = f"model {other}" if own != other else "other settings or another version"
        return None, f"The running server (process {record.pid}) has {what}, and was left alone."
    if before is not None and before.pid != record.pid:
        return ServerBackend(
            record, f"The warm server was replaced: it had {_other(before, record)}."
        ), ""
    return ServerBackend(record), ""


def _other(one: ServerRecord, record: ServerRecord) -> str:
    """What a server had that another one has not."""
    if one.version != record.version:
        return f"version {one.version}"
    named = [
        f"{name} {one.identity.get(name)}"
        for name in record.identity
        if one.identity.get(name) != record.identity[name]
    ]
    return ", ".join(named) or "other settings"


def answers(record: ServerRecord, settings: Settings) -> bool:
    return record.version == VERSION and record.identity == identity(settings)


def _started(where: RuntimeFolder, settings: Settings) -> ServerRecord:
    """The record of a server that fits, after starting it (or waiting for who does); or of the
    one that cannot be replaced."""
    with where.starting():
        record = where.record()
        if record is not None:
            if answers(record, settings) or not record.background:
                return record
            if status(record)["requests"]["running"]:
                return record
            _check_model(settings)
            stop(where, record)
        secret = {"SPECEDIT_TOKEN": record.token} if record is not None and record.token else {}
        return launch(where, arguments(settings, *_doors(record)), secret)


def _check_model(settings: Settings) -> None:
    """An error for a model that nothing is named by, before a server that works is ended."""
    if settings.engine != "scripted":
        from specedit.models.resolve import local

        local(settings.model)


def _doors(record: ServerRecord | None) -> list[str]:
    """Where the server that comes after another one listens: where that did."""
    if record is None or not record.url:
        return ["--socket-only"]
    host, _, port = record.url.removeprefix("http://").rpartition(":")
    named = [word for one in record.aliases for word in ("--alias", one)]
    return ["--host", host.strip("[]"), "--port", port, *named]


def arguments(settings: Settings, *more: str) -> list[str]:
    """The command line of a background server that serves these settings."""
    named = identity(settings)
    values: dict[str, object] = {
        "model": named["model"],
        "engine": settings.engine,
        "device": settings.device,
        "threads": settings.threads,
        "precision": settings.precision,
        "draft": settings.draft,
        "idle-minutes": settings.idle_minutes,
        "cache-bytes": settings.cache_bytes,
    }
    if named["draft_model"]:
        values["draft-model"] = named["draft_model"]
    flags = [text for name, value in values.items() for text in (f"--{name}", str(value))]
    return ["serve", "--detached", *flags, *more]


def launch(
    where: RuntimeFolder, command: list[str], variables: Mapping[str, str] | None = None
) -> ServerRecord:
    """Start a background server and wait until it listens.

    It works in its own folder, so that no project's modules or settings reach it."""
    import subprocess

    found = f"import sys; sys.path.append({str(PACKAGES)!r})"
    start = f"{found}; from specedit.__main__ import main; main()"
    places = {n: v for n, v in folders().items() if v}
    with where.log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", start, *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=where.folder,
            env={**os.environ, **places, **(variables or {})},
            start_new_session=True,
        )
    until = time.monotonic() + START_S
    while time.monotonic() < until and (process.poll() is None or where.record()):
        if (record := where.record()) is not None and _listens(record):
            return record
        time.sleep(0.02)
    said = where.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise ServerError(
        "The background server did not start.", hint="\n".join(said[-5:]) or f"See {where.log}."
    )


def _listens(record: ServerRecord) -> bool:
    try:
        _open(record, CONNECT_S).close()
    except OSError:
        return False
    return True


def stop(where: RuntimeFolder, record: ServerRecord) -> None:
    """End a server and wait for it; one that does not listen is ended by signal, one that was
    stopped as a job is woken for it."""
    import signal

    heard = False
    with suppress(ServerError):
        _json(record, "POST", wire.STOP, HEARD_S)
        heard = True
    if heard and _ended(where, STOP_S):
        return
    for names in (("SIGTERM", "SIGCONT"), ("SIGKILL",)):
        for name in names:
            with suppress(OSError):
                os.kill(record.pid, getattr(signal, name, signal.SIGTERM))
        if _ended(where, STOP_S):
            return
    raise ServerError(f"The server (process {record.pid}) does not end.")


def _ended(where: RuntimeFolder, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if not where.held("server.lock"):
            return True
        time.sleep(0.02)
    return False


def status(record: ServerRecord) -> dict[str, Any]:
    """What a running server says of itself."""
    return _json(record, "GET", wire.STATUS, ASK_S)


def _json(record: ServerRecord, method: str, path: str, patience_s: float) -> dict[str, Any]:
    lines = list(_lines(record, path, b"", method, patience_s))
    if len(lines) != 1:
        raise ServerGoneError("The server gave no answer.")
    return lines[0]


def _lines(
    record: ServerRecord,
    path: str,
    body: bytes,
    method: str = "POST",
    patience_s: float = SILENCE_S,
) -> Iterator[dict[str, Any]]:
    """The JSON lines of one response. HTTP/1.0, so that the end of the stream ends the body."""
    token = f"Authorization: Bearer {record.token}\r\n" if record.token else ""
    head = (
        f"{method} {path} HTTP/1.0\r\nHost: {_host(record)}\r\n{token}"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        with _open(record, patience_s) as connection:
            connection.sendall(head.encode() + body)
            with connection.makefile("rb") as answer:
                code = int(answer.readline().split()[1])
                headers = {}
                while line := answer.readline().strip():
                    name, _, value = line.decode("latin-1").partition(":")
                    headers[name.strip().lower()] = value.strip()
                if code != 200:
                    raise _refused(code, answer.read())
                for line in answer:
                    if line.strip():
                        yield dict(wire.loaded(line))
    except (OSError, ValueError, TypeError, IndexError) as problem:
        raise ServerGoneError("The server went away.") from problem


def _open(record: ServerRecord, timeout_s: float) -> socket.socket:
    if UNIX_SOCKETS and record.address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect(record.address.removeprefix("unix:"))
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = record.address.removeprefix("http://").rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout_s)


def _host(record: ServerRecord) -> str:
    return "specedit" if record.address.startswith("unix:") else record.address[len("http://") :]


def _refused(code: int, body: bytes) -> SpeceditError:
    try:
        error = dict(wire.loaded(body)["error"])
    except (ValueError, KeyError, TypeError):
        error = {}
    message = str(error.get("message") or f"The server answered {code}.")
    if code == 503:
        return ServerBusyError(message.partition("\n")[0])
    return ServerError(message)
