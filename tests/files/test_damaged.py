"""A journal with a damaged run: the run is named and skipped, and everything else can be undone."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from command_line import Specedit
from effort import FULL

from specedit.files import journal
from specedit.files.recorder import Recorder
from specedit.files.source import read

VALUES: tuple[Any, ...] = (
    None, True, -1, 1 << 80, 1e308, float("nan"), "", "\0", "\ud800", "../x", "\x1b[2J", [], [[]],
    {}, [{"path": 1}],
)  # fmt: skip
RECORDS = {
    "empty": b"",
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "half": b'{"name": "',
    "digits": b"9" * 5000,
    "not text": b"\xff\xfe\0",
    "a list": b"[]",
    "null": b"null",
    "no fields": b"{}",
    "twice": b"{}{}",
}


def places(record: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a record holds a value."""
    for key in record if isinstance(record, dict) else range(len(record)):
        yield (*way, key)
        if isinstance(record[key], dict | list):
            yield from places(record[key], (*way, key))


def kinds(record: bytes) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Ways to damage the folder of a run."""

    def text(data: bytes) -> Callable[[Path], None]:
        return lambda folder: (folder / "run.json").write_bytes(data) and None

    for way in places(json.loads(record)):
        for value in (*VALUES, KeyError):
            damaged = inner = json.loads(record)
            for key in way[:-1]:
                inner = inner[key]
            if value is KeyError:
                del inner[way[-1]]
            else:
                inner[way[-1]] = value
            yield f"{way} {value!r}", text(json.dumps(damaged).encode())
    for name, data in RECORDS.items():
        yield name, text(data)
    for name in ("run.json", "originals", "unfinished"):
        yield f"{name} is a folder", lambda folder, name=name: _folder(folder / name)
        yield f"{name} is a link", lambda folder, name=name: _link(folder / name)
        yield f"{name} is cut", lambda folder, name=name: (folder / name).write_bytes(b"{") and None


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere")


NAMES = ("a.py", "b.py", "c.py", "d.py")


def work(tree: Path) -> str:
    """Three runs in a work tree; the name of the middle one, which gets damaged."""
    for name in NAMES:
        (tree / name).write_bytes(b"old = 1\n")
    for names in (NAMES[:1], NAMES[1:3], NAMES[3:]):
        recorder = Recorder(journal.home(), "edit")
        recorder.write_all([(read(tree / name), b"new = 1\n") for name in names])
    return journal.runs(journal.home())[1].name


def test_everything_but_a_damaged_run_works_and_can_be_undone(tmp_path, inside: Specedit):
    tree = tmp_path / "work"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    record = (journal.home() / "journal" / work(tree) / "run.json").read_bytes()
    every = list(kinds(record))
    assert len(every) >= 200
    for what, damage in every if FULL else random.Random(0).sample(every, 12):
        for run in journal.runs(journal.home()):
            journal.delete(run)
        name = work(tree)
        folder = journal.home() / "journal" / name
        damage(folder)
        said = b""
        commands = (
            ("rename", "new", "newer", "d.py", "--no-model"),
            ("undo", "--list", "--all"),
            ("undo",),
            ("undo",),
            ("undo", "--run", name),
            ("undo", "--forget", "--run", name),
            ("undo", "--last"),
        )
        for words in commands:
            done = inside(*words, cwd=tree)
            said += done.stderr
            assert b"Traceback" not in done.stderr and done.returncode in (0, 2), (what, done)
        assert (tree / "d.py").read_bytes() == b"old = 1\n", (what, said.decode())
        assert (tree / "a.py").read_bytes() == b"old = 1\n", (what, said.decode())
        held = {(tree / name).read_bytes() for name in NAMES[1:3]}
        assert held <= {b"old = 1\n", b"new = 1\n"}, what
        assert not folder.exists(), (what, said.decode())


def test_a_killed_change_whose_record_is_damaged_is_named_by_every_command(tmp_path, inside):
    name = work(tmp_path)
    (journal.home() / "journal" / name / "run.json").write_bytes(b"{}")
    (journal.home() / "journal" / name / "unfinished").touch()
    for words in (("config",), ("undo", "--list")):
        done = inside(*words, cwd=tmp_path)
        assert done.returncode == 0 and done.stderr.count(name.encode()) == 2, done.stderr
        assert b"is damaged, so its change cannot be reverted" in done.stderr
