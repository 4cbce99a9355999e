"""What an endpoint says while it streams, as JSON objects, within limits.

A server is another's program: it may send no line's end, no end at all, or anything but JSON.
Knows server-sent events and sizes. Does not know chats. Standard library only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any

from specedit.errors import ServerError

LONGEST_LINE = 32 << 20  # bytes; an endpoint may say its whole answer in one
MOST_BYTES = 256 << 20  # of a stream: some 300 a token are usual
MOST_S = 3600.0  # of one answer, whatever keeps it alive
PIECE = 1 << 16
DATA, DONE = b"data:", b"[DONE]"


def data(answer: HTTPResponse, host: str) -> Iterator[dict[str, Any]]:
    """The object of each `data:` line."""
    for line in _lines(answer, host):
        said = line.strip().removeprefix(DATA)
        if said == line.strip() or said.strip() == DONE:
            continue
        try:
            found = json.loads(said)
        except (ValueError, RecursionError):
            raise ServerError(f"{host} answered something that is no JSON.") from None
        if not isinstance(found, dict):
            raise ServerError(f"{host} answered JSON that is no object.")
        yield found


def endless(host: str, what: str) -> ServerError:
    return ServerError(
        f"{host} answers without end: {what}.", hint="Nothing was written. Is it the right server?"
    )


def _lines(answer: HTTPResponse, host: str) -> Iterator[bytes]:
    until = time.monotonic() + MOST_S
    size, held = 0, 0
    parts: list[bytes] = []
    while piece := answer.read1(PIECE):
        size += len(piece)
        if size > MOST_BYTES:
            raise endless(host, f"more than {MOST_BYTES >> 20} MiB")
        if time.monotonic() > until:
            raise endless(host, f"for more than {MOST_S:.0f} s")
        *whole, rest = piece.split(b"\n")
        for end in whole:
            yield b"".join((*parts, end))
            parts, held = [], 0
        parts.append(rest)
        held += len(rest)
        if held > LONGEST_LINE:
            raise endless(host, f"a line of more than {LONGEST_LINE >> 20} MiB")
    yield b"".join(parts)
