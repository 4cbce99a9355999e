"""Plans and events as JSON: what crosses the socket between our client and our server.

One event is one line. What a run raised is a line too, so that it is raised again on the other
side with the same words and the same exit code. ASCII only, so that any text survives.
Knows shapes; knows no HTTP, no model. Standard library only: the client reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from math import isfinite
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from specedit import errors
from specedit.edit.backend import Answer, Event, Loading, Ready, Written
from specedit.edit.plan import Plan
from specedit.engines.base import Prefill, common
from specedit.errors import FileError, ServerError, SpeceditError

RUN, WARM, STATUS, STOP = "/specedit/run", "/specedit/warm", "/specedit/status", "/specedit/stop"
T = TypeVar("T")
LARGEST = 1 << 63
_HINTS: dict[type, dict[str, Any]] = {}
BEAT = b"\n"  # an empty line while nothing happens: the server lives
_KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SpeceditError)
}


def dump(data: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def loaded(line: bytes) -> Any:
    """What `dump` was given; a ValueError where it is no whole line."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("nested too deep") from None


def plan_json(plan: Plan) -> dict[str, Any]:
    return asdict(plan)


def plan_from(data: object) -> Plan:
    """The Plan that `plan_json` was given."""
    return made(Plan, data)


def event_json(event: Event) -> dict[str, Any]:
    match event:
        case Written():
            return {"event": "written", **asdict(event.chunk), "pieces": event.pieces}
        case Ready():
            return {"event": "ready", "model": asdict(event.model), "load_s": event.load_s}
        case _:
            return {"event": type(event).__name__.lower(), **asdict(event)}


def event_from(data: object) -> Event:
    """The event of one line; the error of an error line is raised."""
    fields = dict(data) if isinstance(data, dict) else {}
    match fields.pop("event", None):
        case "written":
            pieces = fields.pop("pieces", None)
            return made(Written, {"chunk": fields, "pieces": pieces})
        case "ready":
            return made(Ready, fields)
        case "prefill":
            return made(Prefill, fields)
        case "answer":
            return made(Answer, fields)
        case "loading":
            return made(Loading, fields)
        case "error":
            raise error_from(fields)
        case other:
            raise ServerError(
                f"The server said {str(other)[:100]!r}, which this version does not know."
            )


def made(kind: type[T], data: object) -> T:
    """A dataclass of ours from JSON's values, every one of them of the type that it is to have."""
    hints = _hints(kind)
    if not isinstance(data, dict) or not data.keys() <= hints.keys():
        raise _misfit(kind, data)
    fields = {name: _value(hints[name], value, kind) for name, value in data.items()}
    try:
        return kind(**fields)
    except TypeError:  # one is missing
        raise _misfit(kind, data) from None


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


def _value(hint: Any, value: Any, of: type) -> Any:
    if is_dataclass(hint):
        return made(hint, value)  # type: ignore[arg-type]
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple([_value(get_args(hint)[0], one, of) for one in value])
    if isinstance(hint, UnionType):  # always `some type | None`
        return None if value is None else _value(get_args(hint)[0], value, of)
    if hint is float and type(value) is int and abs(value) < LARGEST:
        return float(value)
    if type(value) is not hint or (hint is float and not isfinite(value)):
        raise _misfit(of, value)
    if hint is int and abs(value) > LARGEST:
        raise _misfit(of, value)
    return value


def _misfit(kind: type, value: object) -> ServerError:
    said = f"{type(value).__name__} where another belongs"
    return ServerError(f"What crossed the socket is no {kind.__name__}: {said}.")


def error_json(error: SpeceditError) -> dict[str, Any]:
    said = {"event": "error", "kind": type(error).__name__, "hint": error.hint}
    if isinstance(error, FileError):
        return {**said, "message": error.reason, "file": error.file}
    return {**said, "message": error.message}


def error_from(data: Mapping[str, Any]) -> SpeceditError:
    kind = _KINDS.get(str(data.get("kind")), ServerError)
    message, hint = str(data.get("message", "")), str(data.get("hint", ""))
    if issubclass(kind, FileError):
        return kind(message, file=str(data.get("file", "")), hint=hint)
    return kind(message, hint=hint)


def appeared(prediction: Sequence[int], completion: Sequence[int]) -> int:
    """How many of the prediction's ids appear in the completion, in order: the longest common
    subsequence. A shared beginning and end cost nothing; the middle is one row of bits per
    distinct id of the shorter side, walked once over the longer."""
    start, most = common(prediction, completion), min(len(prediction), len(completion))
    end = 0
    while end < most - start and prediction[-1 - end] == completion[-1 - end]:
        end += 1
    middle = (
        prediction[start : len(prediction) - end],
        completion[start : len(completion) - end],
    )
    short, long = sorted(middle, key=len)
    return start + end + _longest_common(short, long)


def _longest_common(short: Sequence[int], long: Sequence[int]) -> int:
    """Crochemore and others, 2001: a zero bit per matched position of `short`."""
    places: dict[int, int] = {}
    known = set(long)
    for at, token in enumerate(short):
        if token in known:
            places[token] = places.get(token, 0) | (1 << at)
    every = (1 << len(short)) - 1
    row = every
    for token in long:
        if found := places.get(token):
            hit = row & found
            row = ((row + hit) | (row - hit)) & every
    return len(short) - row.bit_count()
