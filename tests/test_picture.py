"""A run as a picture: what a person is told, in colour, and nothing else overwritten."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Script = Callable[..., Path]
TEXT = "Username = 1\nprint(Username)\n"


@pytest.fixture
def user(tmp_path: Path, script: Script) -> Path:
    script(replace=[["Username", "Email"]])
    path = tmp_path / "user.py"
    path.write_text(TEXT)
    return path


def words(path: Path) -> str:
    return path.read_text("utf-8").replace("&#160;", " ")


def test_a_run_is_drawn_as_a_person_sees_it(specedit: Run, user: Path, tmp_path: Path) -> None:
    done = specedit("picture", "run.svg", "rename", "Username", "Email", user, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert user.read_text() == TEXT.replace("Username", "Email")
    drawn = words(tmp_path / "run.svg")
    assert "specedit rename Username Email" in drawn  # its title
    assert "copied from the prediction" in drawn and "edited" in drawn
    assert "#1f6f3a" in drawn  # the changed word's background


def test_the_commands_own_flags_streams_and_exit_code_stay(
    specedit: Run, user: Path, tmp_path: Path
) -> None:
    run = ("rename", "Username", "Email", user, "--check", "--diff")
    done = specedit("picture", "run.svg", *run, cwd=tmp_path)
    plain = specedit(*run, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert plain.returncode == 1 and plain.stdout.startswith(b"diff ")
    assert specedit("picture", "run.svg", "rename", user, cwd=tmp_path).returncode == 2


def test_only_a_picture_is_written_over(specedit: Run, user: Path, tmp_path: Path) -> None:
    run = ("rename", "Username", "Email", user, "--check")
    for _ in range(2):
        assert specedit("picture", "run.svg", *run, cwd=tmp_path).returncode == 1
    done = specedit("picture", user, *run, cwd=tmp_path)
    assert done.returncode == 2 and b"is no picture of a run" in done.stderr
    assert user.read_text() == TEXT
