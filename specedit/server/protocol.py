"""The messages of client and server: plans and events as JSON lines, OpenAI's error objects.

One event is one line. An error of a run is a line too, so that the client raises it again with the
same message and exit code. ASCII only, so that any text survives. Standard library only: a client
imports neither an HTTP library nor torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from specedit import errors
from specedit.edit.backend import Answer, Event, Loading, Plan, Ready, Written
from specedit.engines.base import Prefill
from specedit.errors import FileError, InputError, ServerError, SpeceditError, TooLong, UsageError
from specedit.files import stored

RUN, WARM, STATUS, STOP = "/specedit/run", "/specedit/warm", "/specedit/status", "/specedit/stop"
OWN = "/specedit/"  # paths that need a token on TCP
INVALID = "invalid_request_error"
T = TypeVar("T")
BEAT = b"\n"  # an empty line while nothing happens, so that the client knows the server lives
_EVENTS: dict[str, type[Event]] = {
    kind.__name__.lower(): kind for kind in (Loading, Ready, Prefill, Written, Answer)
}
_KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SpeceditError)
}


@dataclass(eq=False)
class RefusedError(Exception):
    """An error response, as the error boundary sends it."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    kind: str = INVALID
    headers: tuple[tuple[str, str], ...] = ()

    def json(self) -> dict[str, Any]:
        about = {"param": self.param, "code": self.code}
        return {"error": {"message": self.message, "type": self.kind, **about}}


def refusal_of(error: SpeceditError) -> RefusedError:
    """The response for one of our errors."""
    retry_s = getattr(error, "retry_s", None)
    if retry_s is not None:
        return _failure(503, error, retry_s, "queue_full")
    if isinstance(error, TooLong):
        return RefusedError(400, str(error), param="messages", code="context_length_exceeded")
    if isinstance(error, UsageError | InputError):
        return RefusedError(400, str(error))
    return _failure(503, error, 1) if isinstance(error, ServerError) else _failure(500, error)


def _failure(
    status: int, error: SpeceditError, retry_s: int | None = None, code: str | None = None
) -> RefusedError:
    headers = () if retry_s is None else (("retry-after", str(retry_s)),)
    return RefusedError(status, str(error), code=code, kind="server_error", headers=headers)


def dump(data: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def plan_from(data: object) -> Plan:
    """The Plan that `asdict` made JSON of."""
    return _instance(Plan, data)


def event_json(event: Event) -> dict[str, Any]:
    return {"event": type(event).__name__.lower(), **asdict(event)}


def event_from(data: object) -> Event:
    """The event of one line; the error of an error line is raised."""
    fields = dict(data) if isinstance(data, dict) else {}
    name = fields.pop("event", None)
    if name == "error":
        raise error_from(fields)
    if (kind := _EVENTS.get(str(name))) is None:
        raise ServerError(f"The server sent an unknown event: {str(name)[:100]!r}.")
    return _instance(kind, fields)


def _instance(kind: type[T], data: object) -> T:
    """The dataclass that `asdict` made JSON of, each value of its declared type."""
    try:
        return stored.typed(kind, data)
    except stored.WrongShapeError as error:
        raise ServerError(
            f"The client and the server exchanged an invalid {kind.__name__}: {error}.",
            hint="If another build of specedit runs the server, stop it: specedit serve stop",
        ) from None


def error_json(error: SpeceditError) -> dict[str, Any]:
    line = {"event": "error", "kind": type(error).__name__, "hint": error.hint}
    if isinstance(error, FileError):
        return {**line, "message": error.reason, "file": error.file}
    return {**line, "message": error.message}


def error_from(data: Mapping[str, Any]) -> SpeceditError:
    kind = _KINDS.get(str(data.get("kind")), ServerError)
    message, hint = str(data.get("message", "")), str(data.get("hint", ""))
    if issubclass(kind, FileError):
        return kind(message, file=str(data.get("file", "")), hint=hint)
    return kind(message, hint=hint)
