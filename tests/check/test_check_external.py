"""`check-with`: a program that the user named looks at the new text; only what is new counts."""

import shlex
import sys
from pathlib import Path

import pytest
from git_repository import Repository

from specedit.check import external
from specedit.errors import UsageError
from specedit.settings import resolve

# Reports each line that has `bad`, as linters do, and how many neighbours it sees.
LINES = """
path = pathlib.Path(sys.argv[1])
for number, line in enumerate(path.read_text().splitlines(), 1):
    if "bad" in line:
        print(f"{path}:{number}:1: E1 {line.strip()} near {len(list(path.parent.iterdir()))}")
"""
PLACE = """
seen = pathlib.Path("pyproject.toml").exists(), pathlib.Path("src/other.py").exists()
print(f"{sys.argv[1]}:1: {seen} {open(sys.argv[1]).read().strip()}")
"""
ARROW = """
if "new" in open(sys.argv[1]).read():
    print("error: no such name\\n --> src/a.py:7:2\\n  | code")
"""
FAILS = """
sys.exit("new" in open(sys.argv[1]).read())
"""


@pytest.fixture
def reported(checked, tmp_path: Path):
    """Lines and texts of what a program reports of an edit of `src/a.py`."""
    Repository.init(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src/other.py").write_text("")

    def run(program: str, before: str, after: str) -> list[tuple[int, str]]:
        lint = tmp_path / "lint.py"
        lint.write_text(f"import pathlib, sys\n{program}")
        command = shlex.join([sys.executable, str(lint), "{file}"])
        found = checked(before, after, "src/a.py", "--check-with", command)
        assert {finding["kind"] for finding in found} <= {"checker", "uncommitted"}
        return [
            (finding["line"], finding["text"].split(": ", 2)[2])
            for finding in found
            if finding["kind"] == "checker"
        ]

    return run


@pytest.mark.parametrize(
    ("program", "before", "after", "expected"),
    [
        (LINES, "bad = 1\n", "x = 2\nbad = 1\nbad = 3\n", [(3, "E1 bad = 3 near 2")]),
        (LINES, "bad = 1\ny = 1\n", "y = 2\nbad = 1\n", []),
        (PLACE, "old = 1\n", "old = 2\n", [(1, "(True, True) old = 2")]),
        (ARROW, "old = 1\n", "old = 1\nnew = 2\n", [(7, "error: no such name")]),
        (FAILS, "old = 1\n", "old = 1\nnew = 2\n", [(1, "exit code 1")]),
    ],
    ids=["new", "known", "place", "arrow", "exit-code"],
)
def test_only_what_is_new_is_reported_with_its_line(reported, program, before, after, expected):
    assert reported(program, before, after) == expected


def test_a_program_that_is_missing_or_hangs_is_reported_and_refuses_nothing(
    checked, tmp_path, monkeypatch
):
    (found,) = checked("a = 1\n", "a = 2\n", "a.py", "--check-with", "no-such-program-here {file}")
    assert found["kind"] == "not-checked" and "not installed" in found["text"]
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(external, "CHECKER_TIMEOUT_S", 0.5)
    command = shlex.join([sys.executable, str(slow), "{file}"])
    (found,) = checked("a = 1\n", "a = 2\n", "a.py", "--check-with", command)
    assert found["kind"] == "not-checked" and "took more than" in found["text"]


def test_a_program_of_the_current_folder_is_not_run(checked, tmp_path, monkeypatch):
    program = tmp_path / "lint-of-the-clone"
    program.write_text("#!/bin/sh\necho src/a.py:1: run\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", ".:/nowhere")
    (found,) = checked("a = 1\n", "a = 2\n", "a.py", "--check-with", "lint-of-the-clone {file}")
    assert "not installed" in found["text"]


def test_commands_are_for_any_file_or_for_a_language(checked):
    commands = "no-such-a {file}\ngo: no-such-b {file}\npython: no-such-c {file}"
    (found,) = checked("a = 1\n", "a = 2\n", "a.py", "--check-with", commands)
    assert "no-such-a" in found["text"]
    (found,) = checked("a = 1\n", "a = 2\n", "a.py", "--check-with", commands.split("\n", 1)[1])
    assert "no-such-c" in found["text"]


@pytest.mark.parametrize("value", ["ruff check", "'", "gopher: x {file}"])
def test_a_command_that_cannot_be_one_is_an_error(value):
    with pytest.raises(UsageError, match="check_with"):
        resolve({"check_with": value}, environ={})


def test_guarantee_10_a_repository_names_no_command_unless_it_is_trusted(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.specedit]\ncheck-with = "rm {file}"\nallow = ["undefined"]\nstrict = false\n'
    )
    found = resolve(start=tmp_path, environ={})
    assert found.values.check_with == "" and found.values.allow == ""
    assert set(found.ignored) == {"check_with", "allow", "strict"}


def test_a_neighbour_that_changed_since_an_earlier_run_is_looked_at_again(reported, tmp_path):
    reads_it = """
if "new" in open(sys.argv[1]).read():
    print(f"{sys.argv[1]}:1: {open('src/other.py').read()}")
"""
    for says in ("first", "second"):
        (tmp_path / "src/other.py").write_text(says)
        assert reported(reads_it, "a = 1\n", "new = 1\n") == [(1, says)]


def test_a_program_gets_no_key_of_ours(reported, monkeypatch):
    for name in ("SPECEDIT_API_KEY", "SPECEDIT_TOKEN", "MINE"):
        monkeypatch.setenv(name, "secret")
    tells = """
import os
if "new" in open(sys.argv[1]).read():
    print(f"{sys.argv[1]}:1: {sorted(k for k, v in os.environ.items() if v == 'secret')}")
"""
    assert reported(tells, "a = 1\n", "new = 1\n") == [(1, "['MINE']")]
