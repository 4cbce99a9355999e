"""`check-with`: a program that the user named looks at the new text; only what is new counts."""

import shlex
import sys
from pathlib import Path, PurePath

import pytest

from specedit.check import external
from specedit.check.external import CheckerError, new_remarks, parsed_commands
from specedit.errors import UsageError
from specedit.settings import resolve

# Reports each line that has `bad`, as linters do, and every neighbour that it sees.
PROGRAM = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
for number, line in enumerate(path.read_text().splitlines(), 1):
    if "bad" in line:
        print(f"{path}:{number}:1: E1 {line.strip()} near {len(list(path.parent.iterdir()))}")
sys.exit(0)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "src/a.py").write_text("bad = 1\n")
    (root / "src/other.py").write_text("")
    return root


@pytest.fixture
def command(tmp_path: Path) -> str:
    program = tmp_path / "lint.py"
    program.write_text(PROGRAM)
    return shlex.join([sys.executable, str(program), "{file}"])


def said(command: str, root: Path, before: str, after: str) -> list[tuple[int | None, str]]:
    found = new_remarks(command, before, after, "python", root, PurePath("src/a.py"))
    return [(one.line, one.text.split(": ", 2)[2]) for one in found]


def test_only_what_is_new_is_said_with_its_line(command, tree):
    before, after = "bad = 1\n", "x = 2\nbad = 1\nbad = 3\n"
    assert said(command, tree, before, after) == [(3, "E1 bad = 3 near 2")]
    assert said(command, tree, before, "\n\n" + before) == []
    assert (tree / "src/a.py").read_text() == before


def test_the_file_stands_at_its_place_among_its_neighbours(tree, tmp_path):
    program = tmp_path / "see.py"
    program.write_text(
        "import os, sys\n"
        "print(f'{sys.argv[1]}:1: {os.path.exists(\"pyproject.toml\")} '\n"
        "      f'{os.path.exists(\"src/other.py\")} {open(sys.argv[1]).read().strip()}')\n"
    )
    command = shlex.join([sys.executable, str(program), "{file}"])
    assert said(command, tree, "old", "new") == [(1, "True True new")]


def test_what_is_said_behind_an_arrow_or_only_by_the_exit_code(tree, tmp_path):
    arrow = "print('error: no such name'); print(' --> src/a.py:7:2'); print('  | code')"
    fails = "import sys; sys.exit('new' in open(sys.argv[1]).read())"
    for text, wanted in ((arrow, (7, "error: no such name")), (fails, (1, "exit code 1"))):
        program = tmp_path / "one.py"
        condition = "import sys\nif 'new' in open(sys.argv[1]).read():\n    "
        program.write_text(condition + text if text is arrow else text)
        command = shlex.join([sys.executable, str(program), "{file}"])
        external.remarks.cache_clear()
        assert said(command, tree, "old", "new") == [wanted]


def test_a_program_that_is_missing_or_hangs_is_said_and_refuses_nothing(
    tree, tmp_path, monkeypatch
):
    with pytest.raises(CheckerError, match="not installed"):
        said("no-such-program-here {file}", tree, "a", "b")
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(external, "CHECKER_TIMEOUT_S", 0.5)
    with pytest.raises(CheckerError, match="took more than"):
        said(shlex.join([sys.executable, str(slow), "{file}"]), tree, "a", "b")


def test_a_program_of_the_current_folder_is_not_run(tree, monkeypatch):
    program = tree / "lint-of-the-clone"
    program.write_text("#!/bin/sh\necho src/a.py:1: run\n")
    program.chmod(0o755)
    monkeypatch.chdir(tree)
    monkeypatch.setenv("PATH", ".:/nowhere")
    with pytest.raises(CheckerError, match="not installed"):
        said("lint-of-the-clone {file}", tree, "a", "b")


def test_commands_are_for_any_file_or_for_a_language():
    commands = parsed_commands("ruff check {file}\ngo: go vet {file}")
    assert commands == [("", "ruff check {file}"), ("go", "go vet {file}")]


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
