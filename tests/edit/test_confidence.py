"""How sure the tool is of an edit, and what that means for writing it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import at_a_terminal

pty = pytest.importorskip("pty")
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
    assert Path(edit["kept"]).read_text() == AFTER
    assert f"specedit apply {file} {edit['kept']}" in edit["problems"][0]


@pytest.mark.parametrize(
    ("repository", "flags", "code"),
    [
        pytest.param("", (), 2, id="model"),
        pytest.param("", ("--sure", "0.05"), 0, id="user lowers"),
        pytest.param("sure = 0.05", (), 2, id="repository cannot lower"),
        pytest.param("temperature = 0.5", (), 2, id="repository cannot sample"),
        pytest.param("sure = 0.99", ("--sure", "0.05"), 0, id="user beats repository"),
    ],
)
def test_the_user_sets_from_which_probability_on_an_edit_is_sure(
    file, script, inside, repository, flags, code
):
    (file.parent / "pyproject.toml").write_text(f"[tool.specedit]\n{repository}\n")
    doubtful(script, margin=5.0)
    done = inside("edit", WISH, file, "--json", *flags)
    (edit,) = json.loads(done.stdout)["files"]
    assert 0.05 < edit["confidence"] < 0.6
    assert (done.returncode, edit["sure"]) == (code, code == 0)


def test_a_repository_can_raise_the_probability(file, script, inside):
    (file.parent / "pyproject.toml").write_text("[tool.specedit]\nsure = 0.95\n")
    doubtful(script, margin=20.0)
    assert inside("edit", WISH, file).returncode == 2


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
        (b"h\ny\nn\n", 0, AFTER.replace("False", "True")),
        (b"h\nn\nn\n", 2, BEFORE),
    ],
    ids=["yes", "no", "help", "hunks", "no hunk"],
)
def test_at_a_terminal_the_user_decides(file, script, typed, code, text):
    doubtful(script)
    text_of = BEFORE.replace("\n\n\ndef ship", "\n" + "#\n" * 9 + "def ship")
    file.write_text(text_of)
    result, shown = at_a_terminal(typed, "edit", WISH, file)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "Write it? [y/n/o/h/q/?]" in shown and "sum(items) + 1" in shown
    assert result == code and ("the answer is kept in" in shown) == (code == 2)
    assert file.read_text() == text.replace("\n\n\ndef ship", "\n" + "#\n" * 9 + "def ship")


def test_a_letter_means_the_same_at_both_questions(file, script):
    doubtful(script)
    shown = at_a_terminal(b"?\nh\n?\nd\n", "edit", WISH, file)[1]
    texts = [dict(re.findall(rf"(?m)^(\w){mark}(.*)\r$", shown)) for mark in ("  ", " - ")]
    assert texts[0].keys() == {*"ynohq"} and texts[1].keys() >= {*"ynadq"}
    assert texts[0].keys() & texts[1].keys() == {*"ynq"}, "write, leave, leave the rest"


@pytest.mark.parametrize(
    ("typed", "code", "text"), [(b"y\n", 0, AFTER), (b"n\n", 2, BEFORE)], ids=["yes", "no"]
)
def test_the_edit_of_a_model_that_was_never_measured_is_asked_about(
    file, script, typed, code, text
):
    script(**SAME)
    result, shown = at_a_terminal(typed, "edit", WISH, file)
    assert "not rated: read it. Write it? [y/n/o/h/q/?]" in re.sub(r"\x1b\[[0-9;?]*m", "", shown)
    assert (result, file.read_text()) == (code, text)
    assert ("not written (not confirmed)" in shown) == (code == 2)


def test_without_a_terminal_it_is_written_and_said_to_be_unrated(file, script, inside):
    script(**SAME)
    done = inside("edit", WISH, file, "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert (done.returncode, file.read_text()) == (0, AFTER)
    assert (edit["confidence"], edit["sure"]) == (None, None)
    assert b"not rated: read the diff" in done.stderr


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_was_not_written_is_written_by_the_command_that_the_message_names(
    file, script, inside, newline
):
    file.write_bytes(BEFORE.replace("\n", newline).encode())
    doubtful(script)
    code, shown = at_a_terminal(b"n\n", "edit", WISH, "a.py")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert code == 2 and "refused" not in shown and "--yes" not in shown
    assert re.search("not written .*; the answer is kept in ", shown)
    command = re.search("`specedit apply a.py (.*)`", shown)
    assert command is not None
    kept = Path(command[1])
    assert kept.read_bytes() == AFTER.replace("\n", newline).encode()
    done = inside("apply", "a.py", kept)
    assert done.returncode == 0 and file.read_bytes() == kept.read_bytes()
    file.write_text("def other(): ...\n")
    done = inside("apply", "a.py", kept)
    assert done.returncode == 2 and b"changed since that answer was made" in done.stderr
    assert file.read_text() == "def other(): ...\n"


def test_a_test_that_passes_before_the_edit_is_said_to_prove_little(file, script, inside):
    doubtful(script)
    done = inside("edit", WISH, file, "--test", "true")
    assert done.stderr.count(b"'true' passes before the edit, too") == 1


def test_quitting_leaves_later_files_alone(file, script, tmp_path):
    doubtful(script)
    other = tmp_path / "b.py"
    other.write_text(BEFORE)
    code, shown = at_a_terminal(b"q\n", "edit", WISH, "a.py", "b.py")
    assert code == 2 and shown.count("Write it?") == 1 and "not looked at: you quit" in shown


OTHER = BEFORE.replace("sum(items)", "sum(items) + 2")
BROKEN = {"replace": [["return sum(items)", "return sum(items"]], "margin": 0.1}
UNLIKE = {"replace": [["sum(items)", "sum(items) + 2"]], "margin": 0.1}


@pytest.mark.parametrize(
    ("then", "typed", "code", "text"),
    [
        ([UNLIKE], b"o\ny\n", 0, OTHER),
        ([UNLIKE], b"o\nn\n", 2, BEFORE),
        ([SAME, BROKEN, UNLIKE], b"o\ny\n", 0, OTHER),
        ([SAME, SAME, BROKEN], b"o\ny\n", 0, AFTER),
    ],
    ids=["taken", "not taken", "the first that passes", "none passes: the one before"],
)
def test_at_a_terminal_the_user_may_ask_for_another_answer(file, script, then, typed, code, text):
    doubtful(script, then=then)
    result, shown = at_a_terminal(typed, "edit", WISH, file)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert (result, file.read_text()) == (code, text)
    assert shown.count("Write it?") == 2 and "try 2" in shown
    assert ("sum(items) + 2" in shown) == ("passes its checks" in shown) == (UNLIKE in then)
