"""How sure the tool is of an edit, and what that means for writing it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import at_a_terminal

Script = Callable[..., Path]
BEFORE = "def total(items):\n    return sum(items)\n\n\ndef ship(items):\n    return True\n"
AFTER = BEFORE.replace("sum(items)", "sum(items) + 1").replace("True", "False")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    return path


SAME = {"replace": [["sum(items)", "sum(items) + 1"], ["True", "False"]], "margin": 0.1}


def doubtful(script: Script, **other: object) -> None:
    """A model whose edit is right if its choices are clear, and they are not."""
    script(**{"rated": True, **SAME, **other})


WISH = "one more, and it never ships"


def test_a_sure_edit_is_written_and_said_to_be_sure(file, script, inside):
    doubtful(script, margin=20.0)
    done = inside("edit", WISH, file)
    assert done.returncode == 0 and file.read_text() == AFTER
    assert b", sure (88%)" in done.stderr


def test_guarantee_11_an_unsure_edit_is_not_written_silently(file, script, inside):
    doubtful(script)
    done = inside("edit", WISH, file, "--json")
    assert done.returncode == 2 and file.read_text() == BEFORE
    (edit,) = json.loads(done.stdout)["files"]
    assert (edit["status"], edit["sure"]) == ("refused", False)
    assert edit["confidence"] < 0.1
    assert "nothing was written" in edit["problems"][0]
    assert Path(edit["kept"]).read_text() == AFTER


def test_a_rename_is_not_rated(file, script, inside):
    """Syntax decides its places; the model decides about mentions alone."""
    file.write_text("def total(items):  # the total\n    return sum(items)\n")
    doubtful(script, replace=[["total", "price"]])
    done = inside("rename", "total", "price", file, "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert (done.returncode, edit["sure"], edit["confidence"]) == (0, None, None)
    assert file.read_text() == "def price(items):  # the price\n    return sum(items)\n"


@pytest.mark.parametrize("flag", ["--yes", "--test"])
def test_what_the_user_or_a_test_confirms_is_written(file, script, inside, flag):
    doubtful(script)
    options = ["--test", "grep -q False a.py"] if flag == "--test" else [flag]
    done = inside("edit", WISH, file, *options, "--json")
    assert done.returncode == 0 and file.read_text() == AFTER
    assert json.loads(done.stdout)["files"][0]["sure"] is (flag == "--test")


def test_a_preview_shows_an_unsure_edit_and_says_so(file, script, inside):
    doubtful(script)
    done = inside("edit", WISH, file, "--diff")
    assert done.returncode == 0 and b"+    return sum(items) + 1" in done.stdout
    assert b"unsure" in done.stderr and file.read_text() == BEFORE


def test_guarantee_5_a_filter_returns_its_input_where_the_edit_is_unsure(file, script, inside):
    doubtful(script)
    arguments = ("edit", WISH, "-", "--stdin-filename", "a.py")
    done = inside(*arguments, stdin=BEFORE.encode())
    assert (done.returncode, done.stdout) == (2, BEFORE.encode())
    assert b"unsure" in done.stderr
    done = inside(*arguments, "--yes", stdin=BEFORE.encode())
    assert (done.returncode, done.stdout) == (0, AFTER.encode())


@pytest.mark.parametrize(
    ("typed", "code", "text"),
    [
        (b"y\n", 0, AFTER),
        (b"n\n", 2, BEFORE),
        (b"?\nx\ny\n", 0, AFTER),
        (b"e\ny\nn\n", 0, AFTER.replace("False", "True")),
    ],
    ids=["yes", "no", "help", "hunks"],
)
def test_at_a_terminal_the_user_decides(file, script, typed, code, text):
    doubtful(script)
    text_of = BEFORE.replace("\n\n\ndef ship", "\n" + "#\n" * 9 + "def ship")
    file.write_text(text_of)
    result, shown = at_a_terminal(typed, "edit", WISH, file)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "Write it? [y/n/a/e/?]" in shown and "sum(items) + 1" in shown
    assert result == code
    assert file.read_text() == text.replace("\n\n\ndef ship", "\n" + "#\n" * 9 + "def ship")


OTHER = BEFORE.replace("sum(items)", "sum(items) + 2")
BROKEN = {"replace": [["return sum(items)", "return sum(items"]], "margin": 0.1}
UNLIKE = {"replace": [["sum(items)", "sum(items) + 2"]], "margin": 0.1}


@pytest.mark.parametrize(
    ("then", "typed", "code", "text"),
    [
        ([UNLIKE], b"a\ny\n", 0, OTHER),
        ([UNLIKE], b"a\nn\n", 2, BEFORE),
        ([SAME, BROKEN, UNLIKE], b"a\ny\n", 0, OTHER),
        ([SAME, SAME, BROKEN], b"a\ny\n", 0, AFTER),
    ],
    ids=["taken", "not taken", "the first that passes", "none passes: the one before"],
)
def test_at_a_terminal_the_user_may_ask_for_another_answer(file, script, then, typed, code, text):
    doubtful(script, then=then)
    result, shown = at_a_terminal(typed, "edit", WISH, file)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert (result, file.read_text()) == (code, text)
    assert shown.count("Write it?") == 2 and "try 2" in shown
    assert ("sum(items) + 2" in shown) == (UNLIKE in then)


def test_of_another_model_nothing_is_known_and_nothing_is_asked(file, script, inside):
    doubtful(script, rated=False)
    done = inside("edit", WISH, file, "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0 and file.read_text() == AFTER
    assert (edit["confidence"], edit["sure"]) == (None, None)
