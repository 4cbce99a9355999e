"""`specedit refine`: what was asked before, the text as it was, and one more wish."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Specedit

from specedit.edit.refining import MOST_CHARS, MOST_TURNS, conversation
from specedit.errors import UsageError
from specedit.files.journal import home

BEFORE = "# one\nx = 1\n# two\ny = 2\n"
BARE = "x = 10\ny = 20\n"
KEPT = "# one\nx = 10\n# two\ny = 20\n"
Script = Callable[..., Path]


@pytest.fixture
def edited(
    tmp_path: Path, script: Script, inside: Specedit, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A file whose comments an edit took away."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "a.py").write_text(BEFORE)
    says(script, BARE)
    assert inside("edit", "Ten times as much", "a.py").returncode == 0
    return folder


def says(script: Script, *answers: str) -> Path:
    first, *others = [{"answer": f"{text}```"} for text in answers]
    return script(**first, then=others)


def held(folder: Path, name: str = "a.py") -> str:
    return (folder / name).read_text()


def test_it_goes_on_from_the_last_edit(edited: Path, script: Script, inside: Specedit) -> None:
    says(script, KEPT)
    done = inside("refine", "no, keep the comments", "--json")
    assert done.returncode == 0 and held(edited) == KEPT
    (file,) = json.loads(done.stdout)["files"]
    assert "+# one" in file["diff"] and "-x" not in file["diff"], "against what is there now"
    assert inside("undo").returncode == 0 and held(edited) == BARE
    assert inside("undo").returncode == 0 and held(edited) == BEFORE


def test_the_model_sees_the_original_and_everything_that_was_asked(
    edited: Path, script: Script, inside: Specedit
) -> None:
    says(script, KEPT)
    inside("refine", "no, keep the comments")
    # the scripted model says the last block of its prompt: the original, not what is there now
    script(replace=[["1", "10"], ["2", "20"], ["# one", "# 1"], ["# two", "# 2"]])
    assert inside("refine", "numbers in the comments").returncode == 0
    assert held(edited) == "# 10\nx = 10\n# 20\ny = 20\n".replace("# 10", "# 1").replace(
        "# 20", "# 2"
    )
    talk = conversation(home())
    assert [turn.instruction for turn in talk.turns] == [
        *("Ten times as much", "no, keep the comments", "numbers in the comments")
    ]
    asked = talk.instruction("more")
    assert asked.index("Ten times") < asked.index("no, keep") < asked.index("more")


def test_all_of_it_taken_back_is_a_change_and_the_same_again_is_none(
    edited: Path, script: Script, inside: Specedit
) -> None:
    says(script, BEFORE, BEFORE)
    strict = ("--gate", "nothing=refuse", "--tries", "1", "--json")
    done = inside("refine", "no, leave it", *strict)
    assert done.returncode == 0 and held(edited) == BEFORE
    (file,) = json.loads(done.stdout)["files"]
    assert "nothing" not in [one["kind"] for one in file["findings"]]
    done = inside("refine", "leave it as it was", *strict)
    assert done.returncode == 2
    (file,) = json.loads(done.stdout)["files"]
    assert "nothing" in [one["kind"] for one in file["findings"]]


def test_a_question_is_refused_as_edit_refuses_it(
    edited: Path, script: Script, inside: Specedit
) -> None:
    says(script, KEPT)
    done = inside("refine", "Why is x ten?")
    assert done.returncode == 2 and "specedit ask" in done.stderr.decode()
    assert held(edited) == BARE
    assert inside("refine", "Why is x ten?", "--allow", "question").returncode == 0


def test_a_selected_part_stays_the_part(edited: Path, script: Script, inside: Specedit) -> None:
    (edited / "c.py").write_text("x = 1\ny = 2\n" * 3)
    script(replace=[["2", "3"]])
    done = inside("edit", "One more", "c.py", "--selected", "y = 2", "--near", "4")
    assert (
        done.returncode == 0
        and held(edited, "c.py") == "x = 1\ny = 2\nx = 1\ny = 3\nx = 1\ny = 2\n"
    )
    script(replace=[["2", "4"], ["1", "7"]])
    assert inside("refine", "Two more").returncode == 0
    assert held(edited, "c.py") == "x = 1\ny = 2\nx = 1\ny = 4\nx = 1\ny = 2\n"


def test_all_of_a_large_file_is_asked_about_and_that_is_said(
    edited: Path, script: Script, inside: Specedit
) -> None:
    large = "".join(f"def part_{n}(a):\n    return a + {n}\n\n\n" for n in range(300))
    (edited / "c.py").write_text(large)
    script(replace=[["a + 150", "a * 150"]])
    assert inside("edit", "Let part_150 multiply", "c.py").returncode == 0
    script(replace=[["a + 150", "a - 150"]])
    done = inside("refine", "no, subtract", "--json")
    assert held(edited, "c.py") == large.replace("a + 150", "a - 150")
    (file,) = json.loads(done.stdout)["files"]
    assert "whole" in [one["kind"] for one in file["findings"]]


def test_the_earlier_answer_is_a_prediction(edited: Path, script: Script, inside: Specedit) -> None:
    names = [random.Random(n).randbytes(8).hex() for n in range(80)]
    long = "".join(f"x{name} = 1\n" for name in names[:40])
    answer = "".join(f"y{name} = 1\n" for name in names[40:])
    (edited / "b.py").write_text(long)
    says(script, answer)
    assert inside("edit", "Two of each", "b.py").returncode == 0
    says(script, answer + "third = 0\n")
    done = inside("refine", "and a third", "--json")
    one = json.loads(done.stdout)["files"][0]
    assert one["prediction"]["accepted"] > 0.9 * len(answer)


def test_the_conversation_is_bounded(edited: Path, script: Script, inside: Specedit) -> None:
    for number in range(MOST_TURNS + 3):
        says(script, f"x = {number}\ny = 0\n")
        assert inside("refine", f"wish {number} " + "x" * 600).returncode == 0
    talk = conversation(home())
    asked = talk.instruction("the newest")
    assert "Ten times as much" in asked and "the newest" in asked and "wish 10" in asked
    assert "wish 0 " not in asked and asked.count("And then") < MOST_TURNS
    assert len(asked) < MOST_CHARS + 1000


def test_part_of_a_file_stays_the_part(
    tmp_path: Path, script: Script, inside: Specedit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BEFORE)
    says(script, "x = 5\n")
    assert inside("edit", "Five", "a.py", "--lines", "2:2").returncode == 0
    says(script, "x = 6\n")
    assert inside("refine", "six").returncode == 0
    assert held(tmp_path) == BEFORE.replace("x = 1", "x = 6")


def test_what_changed_since_is_not_touched(edited: Path, script: Script, inside: Specedit) -> None:
    (edited / "a.py").write_text("mine = 1\n")
    calls = says(script, KEPT)
    calls.unlink()
    done = inside("refine", "no, keep the comments")
    assert done.returncode == 2 and "changed since" in done.stderr.decode()
    assert held(edited) == "mine = 1\n" and not calls.exists()


def test_only_an_edit_is_refined(edited: Path, script: Script, inside: Specedit) -> None:
    (edited / "b.py").write_text("old = 1\n")
    assert inside("refine", "do", "b.py").returncode == 2
    script(replace=[["old", "new"]])
    assert inside("rename", "old", "new", "b.py").returncode == 0
    done = inside("refine", "no")
    assert done.returncode == 2 and "only an edit" in done.stderr.decode()
    assert "“old to new”" in inside("undo", "--list").stdout.decode()


def test_without_any_run_there_is_nothing_to_refine(inside: Specedit) -> None:
    done = inside("refine", "no")
    assert done.returncode == 2 and "no run to go on from" in done.stderr.decode()
    with pytest.raises(UsageError):
        conversation(home())


def test_it_is_tested_as_an_edit_is(edited: Path, script: Script, inside: Specedit) -> None:
    says(script, BARE + "z = 1\n", KEPT)
    done = inside("refine", "keep the comments", "--test", "grep -q one a.py")
    assert done.returncode == 0 and held(edited) == KEPT
