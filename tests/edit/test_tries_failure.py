"""What the user and the model see of a test's output, tool by tool: real outputs, shortened."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from case_files import cases, read_texts
from command_line import Specedit
from git_repository import Repository

PYTEST = read_texts("edit/outputs.toml")["PYTEST"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are sh's")


@dataclass(frozen=True)
class Judged:
    """The telling line of an output, what the model was told of it, and which try was kept."""

    line: str
    told: str
    kept: int | None


@pytest.fixture
def judged(tmp_path: Path, script: Callable[..., Path], inside: Specedit) -> Callable[..., Judged]:
    """Six tries of which the command says these outputs: the first of one, the others of another.
    Of an answer that comes again nothing is run; the last one is told of the one before."""
    tree = Repository.init(tmp_path / "tree")
    tree.write("a.py", "x = 0000\n")  # a second passes between texts of one size

    def edit(first: str, others: str) -> Judged:
        for number, output in ((1, first), (22, others)):
            tree.write(f"output{number}", output.replace("FOLDER", str(tree.root)))
        answers = [{"answer": f"x = {number}\n```"} for number in (1, 22, 22, 22, 22, 333)]
        script(**answers[0], then=answers[1:], prompts=str(tmp_path / "prompts"))
        command = "read -r name is number < a.py; cat output$number; exit 1"
        flags = ("--test", command, "--tries", "6", "--keep-best", "--json")
        done = inside("edit", "Do it", "a.py", *flags, cwd=tree.root)
        tries = json.loads(done.stdout)["files"][0]["tries"]
        last = json.loads((tmp_path / "prompts").read_text().splitlines()[-1])
        told = last.partition("An earlier answer was wrong:\n\n")[2].partition("\n\nAvoid that")[0]
        kept = next((number for number, one in enumerate(tries, 1) if one["kept"]), None)
        return Judged(tries[1]["test"]["line"], told, kept)

    return edit


@cases("edit/outputs.toml", "outputs")
def test_what_a_tool_says(judged, said, line, shown, one_more):
    found = judged(said.replace(*one_more) if one_more else said, said)
    assert line in found.line
    assert " ".join(shown.split()) in " ".join(found.told.split())
    assert "/tree/" not in found.told and "frozen" not in found.told
    assert found.kept == (2 if one_more else 1), "the one with fewer failures, where they count"


def test_what_is_told_is_bounded(judged):
    long = PYTEST.replace("E       assert 5 == 6\n", "E       " + "x" * 5000 + "\n") * 50
    found = judged(long, long)
    assert len(found.told) <= 2400 and len(found.told.splitlines()) <= 40
    assert len(found.line) <= 200


def test_passed_tests_are_not_shown(judged):
    noise = "".join(f"test_{n}.py ...... [ {n}%]\n" for n in range(100))
    found = judged(PYTEST, noise + PYTEST)
    assert "assert 5 == 6" in found.told and "test_50.py" not in found.told
