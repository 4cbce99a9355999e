"""`specedit undo` from the command line, after real runs of a scripted model."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Specedit = Callable[..., subprocess.CompletedProcess[bytes]]

A = b"name = 1\r\nusername = 2\r\n"
B = b"username = 'b'\n"


@pytest.fixture
def edited(specedit: Specedit, script: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder where one run changed two files."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_bytes(A)
    (folder / "b.py").write_bytes(B)
    script(replace=[["username", "email"]])
    done = specedit("edit", "Rename username to email.", "a.py", "b.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "a.py").read_bytes() == A.replace(b"username", b"email")
    return folder


def test_undo_puts_back_every_byte_of_the_last_run(specedit, edited):
    done = specedit("undo", cwd=edited)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"a.py: put back" in done.stderr
    assert ((edited / "a.py").read_bytes(), (edited / "b.py").read_bytes()) == (A, B)
    again = specedit("undo", cwd=edited)
    assert again.returncode == 2
    assert b"nothing to undo" in again.stderr


def test_undo_is_of_the_work_tree_one_stands_in(specedit, edited, tmp_path):
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    done = specedit("undo", cwd=other)
    assert done.returncode == 2
    assert b"nothing to undo in" in done.stderr and b"undo --last" in done.stderr
    assert (edited / "a.py").read_bytes() != A
    assert specedit("undo", "--last", cwd=other).returncode == 0
    assert (edited / "a.py").read_bytes() == A


def test_undo_refuses_what_changed_since_and_says_so(specedit, edited):
    (edited / "a.py").write_bytes(b"mine\n")
    done = specedit("undo", cwd=edited)
    assert done.returncode == 2
    assert b"a.py: not put back: changed since the run wrote it" in done.stderr
    assert b"b.py: could be put back" in done.stderr
    assert (edited / "b.py").read_bytes() == B.replace(b"username", b"email")
    assert specedit("undo", "--partly", cwd=edited).returncode == 2
    assert ((edited / "a.py").read_bytes(), (edited / "b.py").read_bytes()) == (b"mine\n", B)
    assert specedit("undo", "--forget", cwd=edited).returncode == 0
    assert b"nothing to undo" in specedit("undo", cwd=edited).stderr


def test_undo_as_json(specedit, edited):
    listed = json.loads(specedit("undo", "--list", "--json", cwd=edited).stdout)
    (run,) = listed["runs"]
    assert [Path(f).name for f in run["files"]] == ["a.py", "b.py"]
    (edited / "b.py").unlink()
    done = specedit("undo", "--json", "--run", run["run"], cwd=edited)
    result = json.loads(done.stdout)["undone"]["files"]
    assert done.returncode == 2
    assert [(f["status"], f["problem"]) for f in result] == [("left", None), ("refused", "is gone")]


def test_runs_that_write_nothing_are_not_journalled(specedit, script, tmp_path):
    (tmp_path / "a.py").write_bytes(A)
    script(replace=[["username", "email"]])
    specedit("edit", "Rename it.", "a.py", "--diff", cwd=tmp_path)
    specedit("edit", "Rename it.", "a.py", "--check", cwd=tmp_path)
    assert b"nothing to undo" in specedit("undo", cwd=tmp_path).stderr


def test_the_list_is_of_this_work_tree_and_all_has_every_run(specedit, edited, tmp_path):
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    for _ in range(11):
        (other / "c.py").write_bytes(A)
        assert specedit("edit", "Rename it.", "c.py", cwd=other).returncode == 0
    done = specedit("undo", "--list", cwd=other)
    assert done.stdout.count(b"c.py") == 10 and b"a.py" not in done.stdout
    assert b"2 more runs" in done.stderr and b"--list --all" in done.stderr
    done = specedit("undo", "--list", "--all", cwd=other)
    assert (done.stdout.count(b"c.py"), done.stdout.count(b"a.py"), done.stderr) == (11, 1, b"")
    assert specedit("undo", cwd=other).returncode == 0
    assert b" 1 more run, of" in specedit("undo", "--list", cwd=other).stderr
