"""Asking a warm server: one request and the JSON lines of its answer.

Speaks just enough HTTP for that, so that a client process loads neither torch nor an HTTP library.
Knows a server's record and the wire. Does not know which server is asked, or why. Standard
library only.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

from specedit.backends import wire
from specedit.backends.runtime import UNIX_SOCKETS, ServerRecord
from specedit.errors import ServerError, SpeceditError

CONNECT_S = 2.0
SILENCE_S = 30.0  # the server says something every second
ASK_S = 10.0  # for a word about itself, which it gives from any state


class ServerGoneError(ServerError):
    """The server is not there, or went away in mid-run."""


class ServerBusyError(ServerError):
    """The server has too much to do."""


def status(record: ServerRecord) -> dict[str, Any]:
    """What a running server says of itself."""
    return said(record, "GET", wire.STATUS, ASK_S)


def said(record: ServerRecord, method: str, path: str, patience_s: float) -> dict[str, Any]:
    answer = list(lines(record, path, b"", method, patience_s))
    if len(answer) != 1:
        raise ServerGoneError("The server gave no answer.")
    return answer[0]


def lines(
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


def listens(record: ServerRecord) -> bool:
    try:
        _open(record, CONNECT_S).close()
    except OSError:
        return False
    return True
