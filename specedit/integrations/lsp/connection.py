"""The base of a session with an editor: JSON-RPC messages framed by `Content-Length`, checked
fields, replies, our own requests, work in threads, progress.

All state changes and all sending happen under one lock, so that nothing follows a cancellation.
"""

from __future__ import annotations

import json
import re
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from specedit.errors import SpeceditError
from specedit.files.startup import home
from specedit.files.undo import recover

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, NOT_INITIALIZED = -32602, -32603, -32002
CANCELLED, CONTENT_MODIFIED, REQUEST_FAILED = -32800, -32801, -32803

LONGEST_HEADER = 1 << 16  # bytes of a header line
MAX_MESSAGE_BYTES = 256 << 20  # bytes of a message
# At the end of a line rather than all of it: what precedes it is the body of a damaged message.
LENGTH = re.compile(rb"Content-Length:[ \t]*(\S*)[ \t]*\r?\n\Z", re.IGNORECASE)

Message = dict[str, Any]


class Stopped(Exception):
    """The work of a request was cancelled between two passes."""


class RequestError(Exception):
    """A request that gets an error reply."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def read_messages(stream: BinaryIO) -> Iterator[object]:
    """Each message as JSON; a RequestError for one that cannot be read. Ends with the stream."""
    length: bytes | None = None
    while line := stream.readline(LONGEST_HEADER):
        if (header := LENGTH.search(line)) is not None:
            length = header[1]
        elif not line.strip() and length is not None:
            size = int(length) if re.fullmatch(rb"[0-9]{1,12}", length) else -1
            shown, length = length.decode("ascii", "replace"), None
            if not 0 <= size <= MAX_MESSAGE_BYTES:
                problem = (
                    f"Content-Length: {shown} is not a number of bytes up to {MAX_MESSAGE_BYTES}"
                )
                yield RequestError(PARSE_ERROR, problem)
                continue
            body = stream.read(size)
            if len(body) < size:
                return
            try:
                yield json.loads(body)
            except (ValueError, RecursionError) as problem:
                yield RequestError(PARSE_ERROR, f"not JSON: {problem}")


def framed(message: Mapping[str, Any]) -> bytes:
    """One message as it is sent; ASCII, so that any text survives."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def param(holder: object, name: str, kind: type) -> Any:
    """A field of the parameters; an error where it is missing or of another type."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return checked(value, name, kind)


def checked(value: object, name: str, kind: type) -> Any:
    """The value, or an error if it is of another type."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RequestError(INVALID_PARAMS, f"{name} must be of type {kind.__name__}")
    return value


def position_of(holder: object, name: str) -> tuple[int, int]:
    """A position of the parameters: line and UTF-16 column, from 0."""
    place = param(holder, name, dict)
    line, character = param(place, "line", int), param(place, "character", int)
    if line < 0 or character < 0:
        raise RequestError(INVALID_PARAMS, f"{name} must not be negative")
    return line, character


def range_of(holder: object, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """A range of the parameters, its start first."""
    value = param(holder, name, dict)
    first, last = sorted((position_of(value, "start"), position_of(value, "end")))
    return first, last


ERROR, WARNING, INFO = 1, 2, 3  # types of a shown message


@dataclass
class Pending:
    """A request that is answered later. `stopped` is set when its result is no longer wanted."""

    id: int | str
    edits: bool
    token: object = None  # of its progress
    shown: bool = False  # the editor shows the progress
    sent: bool = False  # the result is on its way: too late to cancel
    stopped: threading.Event = field(default_factory=threading.Event)


class Connection:
    """The requests of an editor that are not answered yet, and ours that it has not answered."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._lock = threading.RLock()
        self._capabilities: object = None  # of the editor; None before `initialize`
        self._running: dict[int | str, Pending] = {}
        self._responses: dict[str, Callable[[Message], None]] = {}  # by the id of our request
        self._threads: list[threading.Thread] = []

    def close(self, timeout_s: float) -> bool:
        """Cancel all requests; returns whether their threads ended in time."""
        with self._lock:
            for request in list(self._running.values()):
                self._cancel(request)
        end = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _start(self, request: Pending, work: Callable[[Pending], None]) -> None:
        def run() -> None:
            try:
                for line in recover(home()):
                    with self._lock:
                        self._show(INFO, line)
                work(request)
            except Stopped:
                pass  # answered already
            except Exception as problem:
                self._finish(request, error=problem)

        self._running[request.id] = request
        thread = threading.Thread(target=run, daemon=True)
        self._threads = [*(running for running in self._threads if running.is_alive()), thread]
        thread.start()

    def _finish(
        self, request: Pending, result: object = None, error: Exception | None = None
    ) -> bool:
        """Answer a request, unless it was cancelled."""
        with self._lock:
            if self._running.pop(request.id, None) is None:
                return False
            stopped = request.stopped.is_set()
            self._end_progress(request, "cancelled" if stopped else "failed" if error else "done")
            if error is not None:
                self._refuse(request.id, error)
            else:
                self._reply(request.id, result)
            return True

    def _cancel(self, request: Pending) -> None:
        if not request.sent:
            request.stopped.set()
            self._finish(request, error=RequestError(CANCELLED, "cancelled"))

    def _cancel_request(self, params: object) -> None:
        number = params.get("id") if isinstance(params, dict) else None
        if isinstance(number, int | str) and number in self._running:
            self._cancel(self._running[number])

    def _cancel_progress(self, params: object) -> None:
        token = params.get("token") if isinstance(params, dict) else None
        for request in list(self._running.values()):
            if token is not None and request.token == token:
                self._cancel(request)

    # progress

    def _begin_progress(self, request: Pending) -> None:
        """With the token of the request; else with one of ours, where the editor accepts it."""

        def begin() -> None:
            if request.id in self._running:
                request.shown = True
                self._progress(request, "begin", title="specedit", cancellable=True)

        def created(response: Message) -> None:
            if "error" not in response:
                begin()

        if request.token is not None:
            begin()
        elif self._can("window", "workDoneProgress"):
            request.token = str(uuid.uuid4())
            params = {"token": request.token}
            self._ask("window/workDoneProgress/create", params, created)

    def _progress(self, request: Pending, kind: str, **value: object) -> None:
        with self._lock:
            if request.shown and not request.stopped.is_set():
                value = {"kind": kind, **value}
                self._notify("$/progress", {"token": request.token, "value": value})

    def _end_progress(self, request: Pending, outcome: str) -> None:
        if request.shown:
            request.shown = False
            value = {"kind": "end", "message": outcome}
            self._notify("$/progress", {"token": request.token, "value": value})

    # sending

    def _can(self, *names: str) -> bool:
        """Whether the editor declares a capability."""
        value = self._capabilities
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return bool(value)

    def _reply(self, number: int | str, result: object) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "result": result})

    def _refuse(self, number: int | str | None, problem: Exception) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "error": error_of(problem)})

    def _ask(self, method: str, params: object, answered: Callable[[Message], None]) -> None:
        number = str(uuid.uuid4())
        self._responses[number] = answered
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def _notify(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _show(self, kind: int, text: str) -> None:
        self._notify("window/showMessage", {"type": kind, "message": f"specedit: {text}"})

    def _log(self, text: str) -> None:
        self._notify("window/logMessage", {"type": INFO, "message": f"specedit: {text}"})


def error_of(problem: Exception) -> Message:
    """The error of a reply. Only an unexpected error prints a traceback."""
    if isinstance(problem, RequestError):
        return {"code": problem.code, "message": problem.message}
    if isinstance(problem, SpeceditError):
        return {"code": REQUEST_FAILED, "message": str(problem)}
    traceback.print_exception(problem)
    return {"code": INTERNAL_ERROR, "message": f"{type(problem).__name__}: {problem}"}
