"""`specedit refine`: what was asked before, the text as it was, and one more wish."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Specedit

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


def prompt_in(folder: Path) -> str:
    """The last prompt of a script that names this folder's file `prompts`."""
    return str(json.loads((folder / "prompts").read_text().splitlines()[-1]))


def held(folder: Path, name: str = "a.py") -> str:
    return (folder / name).read_text()


def test_it_goes_on_from_the_last_edit(edited, script, inside):
    says(script, KEPT)
    done = inside("refine", "no, keep the comments", "--json")
    assert done.returncode == 0 and held(edited) == KEPT
    assert done.stderr.startswith("specedit: continues “Ten times as much” in a.py\n".encode())
    (file,) = json.loads(done.stdout)["files"]
    assert "+# one" in file["diff"] and "-x" not in file["diff"], "against what is there now"
    assert inside("undo").returncode == 0 and held(edited) == BARE
    assert inside("undo").returncode == 0 and held(edited) == BEFORE


def test_the_model_sees_the_original_and_everything_that_was_asked(edited, script, inside):
    says(script, KEPT)
    inside("refine", "no, keep the comments")
    # the scripted model says the last block of its prompt: the original, not what is there now
    replaced = [["1", "10"], ["2", "20"], ["# one", "# 1"], ["# two", "# 2"]]
    script(replace=replaced, prompts=str(edited / "prompts"))
    assert inside("refine", "numbers in the comments").returncode == 0
    assert held(edited) == "# 1\nx = 10\n# 2\ny = 20\n"
    asked = prompt_in(edited)
    assert asked.index("Ten times as") < asked.index("no, keep the") < asked.index("numbers in")
    assert BEFORE in asked and KEPT not in asked


def test_all_of_it_taken_back_is_a_change_and_the_same_again_is_none(edited, script, inside):
    says(script, BEFORE, BEFORE)
    strict = ("--tries", "1", "--json")
    done = inside("refine", "no, leave it", *strict)
    assert done.returncode == 0 and held(edited) == BEFORE
    assert b"the earlier edit was taken back" in done.stderr
    (file,) = json.loads(done.stdout)["files"]
    assert "nothing" not in [one["kind"] for one in file["findings"]]
    done = inside("refine", "leave it as it was", *strict)
    (file,) = json.loads(done.stdout)["files"]
    assert "nothing" in [one["kind"] for one in file["findings"]]


def test_a_question_is_refused_as_edit_refuses_it(edited, script, inside):
    says(script, KEPT)
    done = inside("refine", "Why is x ten?")
    assert done.returncode == 2 and "is a question" in done.stderr.decode()
    assert held(edited) == BARE
    assert inside("refine", "Why is x ten?", "--allow", "question").returncode == 0


def test_a_selected_part_stays_the_part(edited, script, inside):
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


LARGE = "".join(f"def part_{n}(a):\n    return a + {n}\n\n\n" for n in range(300))


@pytest.fixture
def large(edited: Path, script: Script, inside: Specedit) -> Path:
    """A large file of which an edit changed one place."""
    (edited / "c.py").write_text(LARGE)
    script(replace=[["a + 150", "a * 150"]])
    assert inside("edit", "Let part_150 multiply", "c.py").returncode == 0
    return edited


@pytest.mark.parametrize(
    ("said", "others"),
    [("no, subtract", ()), ("no, subtract, and in part_7 too", (7,))],
)
def test_of_a_large_file_the_places_that_were_changed_are_asked_about_and_those_named(
    large, script, inside, said, others
):
    script(replace=[["a + 150", "a - 150"], *(["a + 7\n", "a - 7\n"] for _ in others)])
    done = inside("refine", said, "--json")
    expected = LARGE.replace("a + 150", "a - 150")
    for n in others:
        expected = expected.replace(f"a + {n}\n", f"a - {n}\n")
    assert done.returncode == 0 and held(large, "c.py") == expected
    (file,) = json.loads(done.stdout)["files"]
    assert "focused" in [one["kind"] for one in file["findings"]]
    names = [one["symbol"] for one in file["regions"]]
    assert "part_150" in names and len(names) <= 3
    assert all(f"part_{n}" in names for n in others)
    assert file["tokens"]["completion"] < len(LARGE) / 20
    assert inside("undo").returncode == 0
    assert held(large, "c.py") == LARGE.replace("a + 150", "a * 150")


def test_a_place_that_was_added_behind_the_last_line_stays_in_question(edited, script, inside):
    (edited / "c.py").write_text(LARGE)
    script(replace=[["a + 299\n", "a + 299\n\n\ndef last():\n    return 1\n"]])
    assert inside("edit", "Behind part_299 add a function last", "c.py").returncode == 0
    added = held(edited, "c.py")
    assert "def last():\n    return 1\n" in added
    script(replace=[["a + 299\n", "a + 299\n\n\ndef last():\n    return 2\n"]])
    assert inside("refine", "it returns 2").returncode == 0
    assert held(edited, "c.py") == added.replace("return 1", "return 2")


def test_what_is_too_long_for_the_window_is_refused(large, script, inside):
    changed = held(large, "c.py")
    arguments = ("refine", "no, subtract", "--focus", "off", "--json")
    script(replace=[["a + 150", "a - 150"]], window=300)
    done = inside(*arguments)
    assert done.returncode == 2 and held(large, "c.py") == changed
    assert "window" in json.loads(done.stdout)["files"][0]["problems"][0]


def test_the_earlier_answer_is_a_prediction(edited, script, inside):
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


def test_no_instruction_of_a_conversation_is_left_out(edited, script, inside):
    for number in range(11):
        script(answer=f"x = {number}\ny = 0\n```", prompts=str(edited / "prompts"))
        assert inside("refine", f"wish {number} " + "x" * 600).returncode == 0
    asked = prompt_in(edited)
    assert "Ten times as much" in asked and all(f"wish {n} " in asked for n in range(11))


def test_part_of_a_file_stays_the_part(tmp_path, script, inside, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BEFORE)
    says(script, "x = 5\n")
    assert inside("edit", "Five", "a.py", "--lines", "2:2").returncode == 0
    says(script, "x = 6\n")
    assert inside("refine", "six").returncode == 0
    assert held(tmp_path) == BEFORE.replace("x = 1", "x = 6")


def test_what_changed_since_is_not_touched(edited, script, inside):
    (edited / "a.py").write_text("mine = 1\n")
    calls = says(script, KEPT)
    calls.unlink()
    done = inside("refine", "no, keep the comments")
    assert done.returncode == 2 and "changed since" in done.stderr.decode()
    assert held(edited) == "mine = 1\n" and not calls.exists()


def test_only_an_edit_is_refined(edited, script, inside):
    (edited / "b.py").write_text("old = 1\n")
    assert inside("refine", "do", "b.py").returncode == 2
    script(replace=[["old", "new"]])
    assert inside("rename", "old", "new", "b.py").returncode == 0
    done = inside("refine", "no")
    assert done.returncode == 2 and "only an edit" in done.stderr.decode()
    assert "“old to new”" in inside("undo", "--list").stdout.decode()


def test_without_any_run_there_is_nothing_to_refine(inside):
    done = inside("refine", "no")
    assert done.returncode == 2 and "no edit to refine" in done.stderr.decode()
