"""Whatever crosses the socket between our client and our server is an event, or our error."""

import contextlib
import json
import threading
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from events import events as events_of
from odd import Odd, dumped, target

from specedit.decode import Chunk
from specedit.edit.backend import Answer, Loading, Message, ModelInfo, Plan, Ready, Written
from specedit.engines.base import Prefill
from specedit.errors import SpeceditError, UsageError
from specedit.files import stored
from specedit.server import client, protocol
from specedit.server.runtime import RuntimeFolder, ServerRecord

PLAN = asdict(Plan((Message("user", ("a", "b")),), "```\n", "```", prediction="x"))
EVENTS = [
    *map(
        protocol.event_json,
        (
            Loading("it", 1.0, 2.0),
            Ready(ModelInfo("m", engine="exact"), 0.5),
            Prefill(1, 2, 3, 0.1),
            Written(Chunk((1, 2), 1, 1, "prediction", False, 0.1), ("a", "b")),
            Answer("text", "stop", True, 1, 2, 3, 0.1, 0.2),
        ),
    ),
    protocol.error_json(UsageError("what", hint="now")),
    {"event": "end"},
]


def checked(made: object) -> None:
    """Every field of the type it says; a wrong one would break far from here."""
    for field in fields(made):  # type: ignore[arg-type]
        value = getattr(made, field.name)
        kinds = {"int": int, "float": float, "str": str, "bool": bool}
        if isinstance(field.type, str) and (kind := kinds.get(field.type)):
            assert type(value) is kind, field.name


def read(line: bytes) -> Any:
    """None where a line is no JSON, which is a line of nothing."""
    try:
        return stored.parsed(line)
    except ValueError:
        return None


@target(lambda odd: odd.damaged(dumped(odd.changed(PLAN))))
def test_any_line_is_a_plan_or_refused(line):
    with contextlib.suppress(SpeceditError):
        checked(protocol.plan_from(read(line)))


@target(lambda odd: odd.damaged(dumped(odd.changed(odd.choice(EVENTS)))))
def test_any_line_is_an_event_or_refused(line):
    with contextlib.suppress(SpeceditError):
        checked(protocol.event_from(read(line)))


def answers(odd: Odd) -> bytes:
    """What a server might send: a head and lines, any of it damaged."""
    lines = [dumped(odd.changed(e) if odd.random() < 0.3 else e) + b"\n" for e in EVENTS]
    status = odd.choice([b"200", b"200", b"503", b"4", b"x", b""])
    return odd.damaged(b"HTTP/1.0 " + status + b" OK\r\nA: b\r\n\r\n" + b"".join(lines))


class Said:
    """A socket that has received everything already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def close(self) -> None: ...

    def sendall(self, data: bytes) -> None: ...

    def makefile(self, mode: str) -> Any:
        import io

        return io.BytesIO(self._data)


@pytest.fixture(autouse=True)
def _said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        client._UnixConnection, "connect", lambda self: setattr(self, "sock", Said(SENT.data))
    )


SENT = threading.local()
RECORD = ServerRecord(1, "v", {}, "unix:/nowhere")


@target(answers)
def test_any_answer_of_a_server_is_events_or_our_error(data):
    SENT.data = data
    with contextlib.suppress(SpeceditError):
        for event in events_of(client.ServerBackend(RECORD), Plan(())):
            checked(event)
    with contextlib.suppress(SpeceditError):
        client.status(RECORD)


@target(lambda odd: odd.damaged(dumped(odd.changed(json.loads(json.dumps(asdict(RECORD)))))))
def test_any_record_of_a_server_is_one_or_none(data):
    place = RuntimeFolder(Path())
    Path("server.json").write_bytes(data)
    with place.lock("server.lock"):
        found = place.record()
    assert found is None or isinstance(found, ServerRecord)
