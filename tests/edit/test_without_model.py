"""Questions are told from edits, and what the instruction says outright needs no model."""

from pathlib import Path

import pytest
from case_files import rows
from effort import some
from one_edit import edit

LINES = Path(__file__).with_name("questions.txt").read_text("utf-8")
QUESTIONS, EDITS = ([*part.splitlines()[1:]] for part in LINES.split("\n\n"))
SHOP = """\
LIMIT = 10


def load(path, timeout=5):
    \"\"\"Loads the the cart.\"\"\"
    if not path:
        raise ValueError("no path")  # tell the caller
    return open(path, "rb", options={"timeout": timeout})
"""


def is_question(instruction: str) -> bool:
    edited = edit(instruction, "x = 1\n", replace=[["1", "2"]])
    refused = "The instruction is a question" in edited.messages
    assert refused != bool(edited.prompts), edited.messages
    assert refused == ("--allow question" in edited.messages)
    return refused


@pytest.mark.parametrize("instruction", some(QUESTIONS, 3))
def test_a_question_is_refused_before_the_model_is_asked(instruction):
    assert is_question(instruction)
    assert is_question(f"Please {instruction[0].lower()}{instruction[1:]}")


@pytest.mark.parametrize("instruction", some(EDITS, 3))
def test_an_edit_is_not_a_question(instruction):
    assert not is_question(instruction)
    assert not is_question(instruction.lower())


def test_several_sentences_ask_where_all_of_them_do():
    assert is_question("What does it return? And why is it a list?")
    assert not is_question("Why does it fail? Mend it.")


def test_a_question_may_be_allowed():
    edited = edit("Why is x 1?", "x = 1\n", "--allow", "question", replace=[["1", "2"]])
    assert (edited.code, edited.text) == (0, "x = 2\n")


@pytest.mark.parametrize(
    ("start", "word"), [("what ", "a "), ("explain in ", "the "), ("", "please "), ("", "is ")]
)
def test_a_long_instruction_ends(start, word):
    edit(start + word * 5000, "x = 1\n")


@rows("instruction old new")
def test_a_text_of_comments_and_strings_is_replaced(instruction, old, new):
    edited = edit(instruction, SHOP)
    assert (edited.text, edited.prompts) == (SHOP.replace(old, new), [])


@rows("instruction")
def test_anything_else_is_the_model_s(instruction):
    assert edit(instruction, SHOP).prompts


def test_a_local_variable_that_is_not_there_fails_at_once_with_those_that_are():
    text = "class Cart:\n    def total(self, items):  # a sum\n        n = 0\n        return n\n"
    edited = edit("Rename the local variable a to b in Cart.total", text)
    assert (edited.code, edited.text, edited.prompts) == (2, text, [])
    assert "Cart.total has no a; nothing was asked." in edited.messages
    assert "Its own names are self, items, n." in edited.messages


@rows("instruction near")
def test_a_text_that_does_not_occur_is_not_asked_about(instruction, near):
    edited = edit(instruction, SHOP)
    assert (edited.code, edited.text, edited.prompts) == (2, SHOP, [])
    assert "does not occur; nothing was asked." in edited.messages and near in edited.messages


@pytest.mark.parametrize("instruction", ["Raise LIMIT to 10", "please set `LIMIT` to 10."])
def test_a_value_that_is_there_already_is_said_to_be(instruction):
    edited = edit(instruction, SHOP)
    assert (edited.code, edited.text, edited.prompts) == (1, SHOP, [])
    assert "`LIMIT` is 10 already (line 1)" in edited.messages
    assert "the model" not in edited.messages
