"""The protocol's messages: JSON-RPC framed by `Content-Length`, error codes, checked fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, NOT_INITIALIZED = -32602, -32603, -32002
CANCELLED, CONTENT_MODIFIED, REQUEST_FAILED = -32800, -32801, -32803

LONGEST_HEADER = 1 << 16  # bytes of a header line
LARGEST = 256 << 20  # bytes of a message
# At the end of a line rather than all of it: what precedes it is the body of a damaged message.
LENGTH = re.compile(rb"Content-Length:[ \t]*(\S*)[ \t]*\r?\n\Z", re.IGNORECASE)

Message = dict[str, Any]


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
            if not 0 <= size <= LARGEST:
                problem = f"Content-Length: {shown} is not a number of bytes up to {LARGEST}"
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


def field(holder: object, name: str, kind: type) -> Any:
    """A field of the parameters; an error where it is missing or of another type."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return checked(value, name, kind)


def checked(value: object, name: str, kind: type) -> Any:
    """The value, or an error if it is of another type."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RequestError(INVALID_PARAMS, f"{name} must be of type {kind.__name__}")
    return value


def position(holder: object, name: str) -> tuple[int, int]:
    """A position of the parameters: line and UTF-16 column, from 0."""
    place = field(holder, name, dict)
    line, character = field(place, "line", int), field(place, "character", int)
    if line < 0 or character < 0:
        raise RequestError(INVALID_PARAMS, f"{name} must not be negative")
    return line, character


def span(holder: object, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """A range of the parameters, its start first."""
    value = field(holder, name, dict)
    first, last = sorted((position(value, "start"), position(value, "end")))
    return first, last
