"""A warm server for tests: in a thread of this process, or as the real command."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from scripted_engine import END

from specedit.edit.backend import Message, Plan
from specedit.server import client, protocol
from specedit.server.runtime import RuntimeFolder, ServerRecord, private
from specedit.server.service import Options, serve
from specedit.settings import Settings

PATIENCE_S = 20.0
DRAFT = Settings().draft


def until(true: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def prompt(text: str) -> str:
    """What the scripted engine repeats, with its replacements, and the closing fence."""
    return f"Do it.\n```\n{text}\n```\n"


def plan(text: str, **fields: Any) -> Plan:
    return Plan((Message("user", (prompt(text),)),), **{"closing": "```", **fields})


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["error"]
        assert set(found) == {"message", "type", "param", "code"}
        return found

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The data of a stream of server-sent events."""
        events = [e.removeprefix(b"data: ") for e in self.body.split(b"\n\n") if e[:1] == b"d"]
        assert events.pop() == b"[DONE]"
        return [json.loads(e) for e in events]


class Listening:
    """A server on loopback that speaks OpenAI's protocol."""

    port: int
    model: str

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answered:
        with contextlib.closing(self.connect()) as connection:
            data = json.dumps(body).encode() if isinstance(body, dict) else body
            kind = {"Content-Type": "application/json"} if isinstance(body, dict) else {}
            connection.request(method, path, data, {**kind, **(headers or {})})
            answer = connection.getresponse()
            return Answered(answer.status, dict(answer.getheaders()), answer.read())

    def chat(self, text: str, **fields: Any) -> Answered:
        messages = [{"role": "user", "content": prompt(text)}]
        body = {"model": self.model, "messages": messages, **fields}
        return self.ask("POST", "/v1/chat/completions", body)


@dataclass(frozen=True)
class Running(Listening):
    """A server in a thread."""

    place: RuntimeFolder
    record: ServerRecord
    model: str = "scripted"

    @property
    def port(self) -> int:  # type: ignore[override]
        return urlsplit(self.record.url).port or 0

    def ids(self, text: str) -> list[int]:
        """The scripted engine's: bytes."""
        return list(text.encode())

    def written(self, text: str, **fields: Any) -> list[int]:
        choice = self.chat(text, **fields).json["choices"][0]
        ended = [END] if choice["finish_reason"] == "stop" and "stop" not in fields else []
        return [*choice["message"]["content"].encode(), *ended]

    def running(self) -> int:
        return int(self.status()["requests"]["running"])

    def status(self) -> dict[str, Any]:
        return client.status(self.record)

    def count(self, name: str) -> int:
        return int(self.status()["requests"][name])


@contextlib.contextmanager
def running(folder: Path, script: dict[str, Any], **options: Any) -> Iterator[Running]:
    """A server with a scripted engine; `options` are those of `Options`, and `draft`."""
    place = RuntimeFolder(private(folder / "runtime"))
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    found: list[ServerRecord] = []
    settings = Settings(model="scripted", draft=options.pop("draft", DRAFT))
    opened = Options(**{"port": 0, **options})
    thread = threading.Thread(target=serve, args=(settings, opened, place, found.append))
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("TESTS_SCRIPT", str(path))
        thread.start()
        try:
            until(lambda: bool(found) or not thread.is_alive())
            server = Running(place, found[0])
            until(lambda: server.status()["state"] == "ready")
            yield server
        finally:
            with contextlib.suppress(client.ServerGoneError):
                list(client.lines(found[0], protocol.STOP, b""))
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


def record_of(place: RuntimeFolder) -> ServerRecord:
    record = place.record()
    assert record is not None
    return record


def listening(place: RuntimeFolder) -> ServerRecord:
    """The record of a server, once it listens."""
    until(lambda: place.record() is not None and client.listens(record_of(place)))
    return record_of(place)


@contextlib.contextmanager
def process(
    *flags: str, env: Mapping[str, str], cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """`specedit serve` as a process of its own, ended at the end."""
    started = subprocess.Popen(
        [sys.executable, "-m", "specedit", "serve", *flags],
        env={**os.environ, **env},
        cwd=cwd,
        stderr=subprocess.PIPE,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()
