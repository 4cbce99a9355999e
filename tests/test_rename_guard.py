"""The guard keeps a rename to its scope, whatever the model wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.rename.guard import GuardResult, guard_rename
from specedit.rename.places import rename_places
from specedit.syntax.languages import BY_NAME

PYTHON = BY_NAME["python"]
BEFORE = """\
class User:
    # the user's login name, not the username of the host
    username = ""

    def show(self):
        return self.username.title()
"""


def guarded(model: str, scope: str = "comments", allow_extra: bool = False) -> GuardResult:
    guess = rename_places(BEFORE, PYTHON, "username", "email", scope)
    return guard_rename(BEFORE, guess, model, PYTHON, scope, allow_extra)


PREDICTED = rename_places(BEFORE, PYTHON, "username", "email", "comments").text


def test_the_prediction_itself_passes() -> None:
    found = guarded(PREDICTED)
    assert replace(found, places=()) == GuardResult(PREDICTED)
    assert [(one.line, one.kind) for one in found.places] == [
        (one.line, one.kind) for one in rename_places(BEFORE, PYTHON, "username", "email").places
    ]


def test_what_the_model_changed_beyond_is_dropped_and_listed_with_its_line() -> None:
    result = guarded(PREDICTED.replace(".title()", ".upper()"))
    assert result.text == PREDICTED
    assert [one.line for one in result.dropped] == [6]
    assert str(result.dropped[0]) == (
        "line 6: the model also wanted `return self.email.upper()`, not applied"
    )


def test_allow_extra_keeps_it() -> None:
    wanted = PREDICTED.replace(".title()", ".upper()")
    result = guarded(wanted, allow_extra=True)
    assert (result.text, result.extra, result.dropped) == (wanted, True, ())


def test_the_model_may_keep_a_mention_in_a_comment() -> None:
    wanted = PREDICTED.replace("not the email of", "not the username of")
    result = guarded(wanted)
    assert result.text == wanted
    assert "line 2: the model keeps `username`" in str(result.disagreements[0])


def test_the_model_may_not_keep_a_place_in_code() -> None:
    result = guarded(PREDICTED.replace("self.email", "self.username"))
    assert result.text == PREDICTED
    assert "tree-sitter says it is the same" in str(result.disagreements[0])


def test_the_model_may_not_rename_what_is_something_else() -> None:
    text = "x = 1\ndef f(x):\n    return x\n"
    guess = rename_places(text, PYTHON, "x", "y", "code", 1)
    result = guard_rename(text, guess, text.replace("x", "y"), PYTHON, "code")
    assert result.text == guess.text == "y = 1\ndef f(x):\n    return x\n"
    assert "something else" in str(result.disagreements[0])


def test_a_comment_is_no_part_of_the_scope_code() -> None:
    guess = rename_places(BEFORE, PYTHON, "username", "email", "code")
    result = guard_rename(BEFORE, guess, PREDICTED, PYTHON, "code")
    assert result.text == guess.text
    assert result.dropped


@pytest.mark.parametrize("model", ["", "garbage", BEFORE[:40], BEFORE * 2], ids=repr)
def test_a_useless_answer_leaves_the_prediction(model: str) -> None:
    assert guarded(model).text.replace("username", "email") == PREDICTED


@given(st.integers(0, len(PREDICTED)), st.integers(0, 12), st.text("ax .\n#(", max_size=6))
def test_nothing_but_the_name_ever_differs(at: int, gone: int, put: str) -> None:
    result = guarded(PREDICTED[:at] + put + PREDICTED[at + gone :])
    assert result.text.replace("username", "email") == PREDICTED
