"""A question is told from an edit, from both sides."""

from pathlib import Path

import pytest

from specedit.edit.without_model import is_question

LINES = Path(__file__).with_name("questions.txt").read_text("utf-8")
QUESTIONS, EDITS = ([*part.splitlines()[1:]] for part in LINES.split("\n\n"))


@pytest.mark.parametrize("said", QUESTIONS)
def test_a_question_is_question(said):
    assert is_question(said)
    assert is_question(said.lower()) and is_question(f"Please {said[0].lower()}{said[1:]}")


@pytest.mark.parametrize("said", EDITS)
def test_an_edit_asks_nothing(said):
    assert not is_question(said)
    assert not is_question(said.lower())


def test_several_sentences_ask_where_all_of_them_do():
    assert is_question("What does it return? And why is it a list?")
    assert not is_question("Why does it fail? Mend it.")
    assert not is_question("")


@pytest.mark.parametrize(
    ("start", "word"), [("what ", "a "), ("explain in ", "the "), ("", "please "), ("", "is ")]
)
def test_a_long_instruction_ends(start, word):
    assert is_question(start + word * 5000) in (True, False)
