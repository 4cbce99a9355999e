"""What somebody puts in a file's place keeps nobody waiting, and gives no other file away."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from git_repository import Repository

from specedit.errors import InputError
from specedit.files import atomic, journal, regular
from specedit.files.recorder import Recorder
from specedit.files.source import read
from specedit.files.undo import undo
from specedit.server.runtime import RuntimeFolder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links in folders")


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """Who waits for a pipe's other end waits for ever: a test that does so ends."""

    def ended(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put(kind: str, path: Path) -> None:
    """Something else under the name of a file."""
    path.rename(path.with_name("away"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("away" if kind == "link" else path.name)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to itself"])
def test_guarantee_3_what_took_the_files_place_is_not_written_nor_waited_for(tmp_path, kind):
    path = tmp_path / "a.py"
    path.write_text("old\n")
    source = read(path)
    put(kind, path)
    recorder = Recorder(tmp_path / "store", "edit")
    with pytest.raises(InputError):
        recorder.write(source, b"new\n")
    assert journal.runs(tmp_path / "store") == []
    assert {p.name for p in tmp_path.iterdir()} - {"store"} == {"a.py", "away"}


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "link to itself"])
def test_undo_refuses_what_took_the_files_place(tmp_path, kind):
    path = tmp_path / "a.py"
    path.write_text("old\n")
    Recorder(tmp_path / "store", "edit").write(read(path), b"new\n")
    put(kind, path)
    assert [one.status for one in undo(tmp_path / "store").files] == ["refused"]
    assert (tmp_path / "away").read_text() == "new\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("secret\n")
    path.chmod(0o600)
    return path


def test_a_link_in_the_place_of_a_draft_gives_no_other_file_away(tmp_path, victim, monkeypatch):
    """Whoever may write to the folder, while somebody else (root, say) edits a file there."""
    path = tmp_path / "a.py"
    path.write_text("old\n")
    path.chmod(0o666)
    dress = atomic._copy_attributes

    def meanwhile(*given: object, **more: object) -> None:
        (draft,) = tmp_path.glob(".specedit-*")
        draft.rename(tmp_path / "away")
        draft.symlink_to(victim)
        dress(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(atomic, "_copy_attributes", meanwhile)
    atomic.replace(read(path), b"new\n")
    assert victim.stat().st_mode & 0o777 == 0o600
    assert victim.read_text() == "secret\n"


def test_a_link_in_the_place_of_a_file_lends_the_draft_nothing(tmp_path, victim, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text("old\n")
    victim.chmod(0o4755)
    dress = atomic._copy_attributes

    def meanwhile(*given: object, **more: object) -> None:
        path.rename(tmp_path / "away")
        path.symlink_to(victim)
        try:
            dress(*given)  # type: ignore[arg-type]
        finally:
            path.unlink()
            (tmp_path / "away").rename(path)

    monkeypatch.setattr(atomic, "_copy_attributes", meanwhile)
    with pytest.raises(InputError):
        atomic.replace(read(path), b"new\n")
    assert path.stat().st_mode & 0o7000 == 0 and path.read_text() == "old\n"


def test_undo_gives_its_mode_to_the_file_and_to_no_link_in_its_place(tmp_path, victim, monkeypatch):
    path, store = tmp_path / "a.py", tmp_path / "store"
    path.write_text("old\n")
    path.chmod(0o666)
    Recorder(store, "edit").write(read(path), b"new\n")
    real = atomic.replace

    def meanwhile(*given: object, **more: object) -> None:
        real(*given, **more)  # type: ignore[arg-type]
        path.unlink()
        path.symlink_to(victim)

    monkeypatch.setattr(atomic, "replace", meanwhile)
    undo(store)
    assert victim.stat().st_mode & 0o777 == 0o600


def test_a_staged_file_that_became_a_pipe_holds_up_no_commit(
    tmp_path, script, process, monkeypatch
):
    script(replace=[["old", "new"]])
    repo = Repository.init(tmp_path / "repo")
    repo.write("pyproject.toml", '[[tool.specedit.hook]]\nrename = {old = "new"}\n')
    path = repo.write("a.py", "old = 1\n")
    repo.git("add", "-A")
    put("pipe", path)
    done = process("hook", "run", cwd=repo.root, timeout=50)
    assert done.returncode == 1 and b"a.py: not rewritten" in done.stderr


def test_a_regular_file_is_read_and_nothing_else(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    assert regular.read(tmp_path / "a") == b"x"
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "/dev/null", "none"):
        with pytest.raises(OSError):
            regular.read(tmp_path / name)


OWN = {
    "server.json": lambda: RuntimeFolder(Path(os.environ["SPECEDIT_RUNTIME"])).folder,
    "server.lock": lambda: RuntimeFolder(Path(os.environ["SPECEDIT_RUNTIME"])).folder,
    "config.toml": lambda: Path(os.environ["SPECEDIT_CONFIG"]),
    "trusted.json": lambda: Path(os.environ["SPECEDIT_CONFIG"]),
    "locks/journal.lock": lambda: Path(os.environ["SPECEDIT_HOME"]),
    "journal/20200101T000000.000000-1/run.json": lambda: Path(os.environ["SPECEDIT_HOME"]),
    "journal/20200101T000000.000000-1/unfinished": lambda: Path(os.environ["SPECEDIT_HOME"]),
}


@pytest.mark.parametrize("name", OWN)
def test_a_pipe_in_the_place_of_a_file_of_our_own_blocks_no_command(
    tmp_path, script, inside, monkeypatch, name
):
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("SPECEDIT_SERVER", "auto")
    script(replace=[["old", "new"]])
    pipe = OWN[name]() / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    (tmp_path / "a.py").write_text("old = 1\n")
    done = inside("edit", "Say new.", "a.py", cwd=tmp_path)
    refused = name == "config.toml"
    assert done.returncode == (2 if refused else 0), done.stderr.decode()
    assert not refused or b"not a regular file" in done.stderr
    assert (tmp_path / "a.py").read_text() == ("old = 1\n" if refused else "new = 1\n")
