"""The client: same events as in this process; what it finds, believes, starts and gives up on."""

import contextlib
import os
import socket
import stat
import threading
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from events import Stop, held, stopping
from events import events as events_of
from warm_server import Running, plan, running, until

from specedit import __version__
from specedit.connect import LocalBackend, connect
from specedit.edit.backend import Answer, Emit, Loading, Plan, unreported
from specedit.errors import ServerError, TooLong, UsageError
from specedit.server import client, runtime
from specedit.server.app import Limits
from specedit.server.client import ServerBackend, ServerBusyError, WithFallback
from specedit.server.runtime import RuntimeFolder, ServerRecord
from specedit.settings import Settings

pytestmark = pytest.mark.tools

REPLACE = {"replace": [["Username", "Email"]]}
TEXT = "class User:\n    Username = 'héé 😀'\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path, REPLACE) as found:
        yield found


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Running]:
    script = {"answer": "ab" * 5_000, "delay_s": 0.02, "calls": str(tmp_path / "calls")}
    with running(tmp_path, script, draft="none", limits=Limits(waiting=2)) as found:
        yield found


SECONDS = ("seconds", "drafting", "load_s", "prefill_s", "decode_s")  # never the same


def timeless(value: Any) -> Any:
    """An event without its seconds."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    named = {field.name: timeless(getattr(value, field.name)) for field in fields(value)}
    return replace(value, **named | dict.fromkeys(named.keys() & set(SECONDS), 0.0))


PLANS: dict[str, Plan] = {
    "plain": plan(TEXT, draft=()),
    "prediction": plan(TEXT, prediction=TEXT),
    "opened": plan(TEXT, prediction=TEXT, opening="```python\n"),
    "stop": plan(TEXT, stop=("héé",)),
    "audit": plan(TEXT, prediction=TEXT, audit=True),
    "cut": plan(TEXT, max_tokens=7),
    "fresh": plan(TEXT, prediction=TEXT, fresh=True),
}


@pytest.mark.parametrize("asked", PLANS.values(), ids=PLANS)
def test_a_server_says_what_this_process_would(tmp_path, monkeypatch, asked):
    with running(tmp_path, REPLACE) as server:
        there = [timeless(e) for e in events_of(ServerBackend(server.record), asked)]
    monkeypatch.setenv("TESTS_SCRIPT", str(tmp_path / "script.json"))
    waited, *here = map(timeless, events_of(LocalBackend(Settings()), asked))
    assert isinstance(waited, Loading)
    assert there == here


def test_closing_a_run_cancels_it_there(slow):
    with pytest.raises(Stop):
        ServerBackend(slow.record).run(plan("x", draft=()), stopping)
    until(lambda: slow.status()["requests"]["cancelled"] == 1)
    assert slow.status()["requests"]["running"] == 0


def test_a_run_goes_before_a_warm_up(slow, tmp_path):
    backend = ServerBackend(slow.record)
    short, long = plan("y"), plan("z" * 100, max_tokens=1)
    threads = []
    with held(ServerBackend(slow.record), plan("x", draft=())):
        for run, asked in ((backend.warm, short), (backend.run, long)):
            threads.append(threading.Thread(target=run, args=(asked, unreported)))
            threads[-1].start()
            until(lambda: slow.status()["requests"]["queued"] == len(threads))
    for thread in threads:
        thread.join()
    begun = [int(line.split()[1]) for line in (tmp_path / "calls").read_text().splitlines()]
    assert begun[-2] > begun[-1]


# --- falling back


class Local:
    """This process, as far as a fallback is concerned."""

    server = None
    notes = ()

    model = None

    def run(self, asked: Plan, emit: Emit) -> Answer:
        return Answer("here", "stop", True, 1, 0, 1)

    def close(self) -> None:
        pass


def dies_after(lines: list[bytes]) -> tuple[ServerRecord, threading.Thread]:
    """A server that says so much and is killed."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, listening:
            connection.recv(1 << 16)
            connection.sendall(b"".join([b"HTTP/1.1 200 OK\r\n\r\n", *lines]))

    thread = threading.Thread(target=serve)
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    return ServerRecord(1, "", {}, address), thread


PREFILL = b'{"event":"prefill","done":1,"total":1,"reused":0,"seconds":0}\n'
DEATHS = {
    "at once": [],
    "within a line": [PREFILL[:9]],
    "after a line": [PREFILL],
    "after a beat": [b"\n\n", PREFILL, b"\n"],
    "not our server": [b"<html>"],
}


@pytest.mark.parametrize("lines", DEATHS.values(), ids=DEATHS)
def test_a_server_that_dies_in_mid_run_costs_nothing_but_a_note(lines):
    record, thread = dies_after(lines)
    backend = WithFallback(ServerBackend(record), Local())
    assert backend.server == record.address
    answer = backend.run(plan("x"), unreported)
    thread.join()
    assert answer.text == "here"
    assert backend.server is None and len(backend.notes) == 1
    assert backend.run(plan("x"), unreported).text == "here"
    assert backend.notes == ()


@contextlib.contextmanager
def full_queue(slow: Running, emit: Emit) -> Iterator[None]:
    """One run is held and two wait, as long as the block lasts."""
    with held(ServerBackend(slow.record), plan("x", draft=())):
        for waiting in (1, 2):
            args = (slow.record, emit)
            threading.Thread(target=_until_gone, args=args, daemon=True).start()
            until(lambda: slow.status()["requests"]["queued"] == waiting)  # noqa: B023
        yield


def test_a_busy_server_is_not_waited_for(slow):
    with full_queue(slow, unreported):
        with pytest.raises(ServerBusyError):
            ServerBackend(slow.record).run(plan("x"), unreported)
        backend = WithFallback(ServerBackend(slow.record), Local())
        assert backend.run(plan("x"), unreported).text == "here"


def _until_gone(record: ServerRecord, emit: Emit) -> None:
    with contextlib.suppress(ServerError):
        ServerBackend(record).run(plan("x", draft=()), emit)


def test_a_plan_that_is_too_large_for_a_server_is_too_long_for_its_model(tmp_path):
    """So that one file fails, and the others of the command are done."""
    small, too_long = Limits(body_bytes=1000), pytest.raises(TooLong, match="The body is larger")
    with running(tmp_path, REPLACE, limits=small) as server, too_long:
        ServerBackend(server.record).run(plan("x" * 1000), unreported)


def test_an_error_of_the_run_is_no_reason_to_run_again(server):
    backend = WithFallback(ServerBackend(server.record), Local())
    with pytest.raises(UsageError):
        backend.run(plan("x", draft=("predicton",)), unreported)
    assert backend.server is not None


# --- finding


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuntimeFolder:
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    return runtime.runtime_folder()


SETTINGS = Settings(model="scripted")


def test_a_running_server_is_found_unless_it_is_off(place, tmp_path):
    assert client.find(SETTINGS)[0] is None
    assert isinstance(connect(SETTINGS), LocalBackend)
    with running(tmp_path, REPLACE) as server:
        found = client.find(SETTINGS)[0]
        assert found is not None and found.server == server.record.address
        assert client.find(replace(SETTINGS, server="off"))[0] is None


DIFFERENT = {
    "model": "another",
    "engine": "huggingface",
    "device": "cuda",
    "threads": 7,
    "weights": "int4",
}


@pytest.mark.parametrize(("name", "value"), DIFFERENT.items(), ids=DIFFERENT)
def test_a_terminals_server_that_answers_otherwise_is_left_alone(server, place, name, value):
    other = replace(SETTINGS, **{name: value})
    assert client.find(other)[0] is None
    assert server.status()["state"] == "ready"
    backend = connect(other)
    assert isinstance(backend, LocalBackend) and "left alone" in backend.notes[0]


def test_a_server_of_another_version_or_with_other_kernels_is_left_alone(
    server, place, monkeypatch
):
    with monkeypatch.context() as changed:
        changed.setattr("specedit.server.client.VERSION", "99")
        assert client.find(SETTINGS)[0] is None
    monkeypatch.setenv("SPECEDIT_KERNEL", "reference")
    assert client.find(SETTINGS)[0] is None
    assert server.status()["state"] == "ready"


def test_a_server_of_another_build_of_this_version_is_not_asked(
    server, place, tmp_path, monkeypatch
):
    module = tmp_path / "specedit/errors.py"
    module.parent.mkdir()
    module.write_text("one = 1\n")
    assert client.find(SETTINGS)[0] is not None
    monkeypatch.setattr(runtime, "PACKAGE", module.parent)
    assert client.find(SETTINGS)[0] is None
    one = runtime.identity(SETTINGS)
    (module.parent / "__pycache__").mkdir()
    (module.parent / "__pycache__/errors.py").write_text("compiled")
    assert runtime.identity(SETTINGS) == one
    module.write_text("one = 10\n")
    assert runtime.identity(SETTINGS) != one


def test_what_a_dead_server_left_is_not_believed_and_is_replaced(place, tmp_path):
    place.write(ServerRecord(os.getpid(), __version__, runtime.identity(SETTINGS), "unix:x"))
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(place.socket))
    assert place.record() is None
    assert client.find(SETTINGS)[0] is None
    with running(tmp_path, REPLACE) as server:
        assert server.status()["state"] == "ready"
    assert not place.socket.exists() and place.record() is None


def test_the_folder_and_the_socket_are_ours_alone(server):
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(server.place.folder) == 0o700
    assert mode(server.place.socket) == 0o600
    assert mode(server.place.folder / "server.json") == 0o600


def link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize("make", [link, lambda f: f.write_text("")], ids=["link", "file"])
def test_a_folder_that_is_not_one_is_not_trusted(tmp_path, monkeypatch, make):
    make(tmp_path / "runtime")
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    with pytest.raises(ServerError):
        runtime.runtime_folder()
    assert client.find(SETTINGS)[0] is None
    assert "trusted" in connect(replace(SETTINGS, warm=True)).notes[0]


def test_a_folder_open_to_others_is_closed(tmp_path, monkeypatch):
    (tmp_path / "runtime").mkdir(mode=0o755)
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    assert stat.S_IMODE(runtime.runtime_folder().folder.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path):
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()
    with running(folder, REPLACE) as server:
        assert len(str(server.place.socket)) < 100
        assert ServerBackend(server.record).run(plan("x"), unreported).completion


def test_without_unix_sockets_it_is_loopback_and_a_token(tmp_path, monkeypatch):
    monkeypatch.setattr("specedit.server.service.UNIX_SOCKETS", False)
    with running(tmp_path, REPLACE, port=None) as server:
        assert server.record.address.startswith("http://127.0.0.1:") and server.record.token
        assert ServerBackend(server.record).run(plan("x"), unreported).completion
        assert server.ask("GET", "/v1/models").status == 401
        stranger = ServerBackend(replace(server.record, token="guess"))
        with pytest.raises(ServerError):
            stranger.run(plan("x"), unreported)
