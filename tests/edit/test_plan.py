"""Plans: what the model is asked, and which part of the file the answer replaces."""

from textwrap import dedent

import pytest

from specedit.edit import prompt
from specedit.edit.job import plan_edit
from specedit.edit.splice import whole
from specedit.errors import InputError, UsageError
from specedit.files.source import Source
from specedit.settings import Settings

CODE = """\
import os


class Cart:
    def total(self):
        return 1

    def size(self):
        return 2


def total():
    return 3
"""


def source(text: str = CODE, name: str = "cart.py") -> Source:
    return Source.from_bytes(name, text.encode())


def test_the_file_comes_first_and_the_instruction_last():
    job = plan_edit(source(), "Sort the names", Settings())
    user = job.plan.messages[-1].content
    assert user.index(CODE) < user.index("Sort the names")


def test_the_prediction_is_the_file_as_the_prompt_shows_it():
    job = plan_edit(source(CODE.rstrip("\n")), "x", Settings())
    assert job.plan.prediction == CODE
    assert CODE in job.plan.messages[-1].segments


def test_the_answer_is_opened_and_its_closing_known():
    plan = plan_edit(source(), "x", Settings()).plan
    assert (plan.opening, plan.closing) == ("```\n", "```")


@pytest.mark.parametrize(
    ("text", "marks"),
    [("x", "```"), ("a ``` b", "````"), ("`````", "``````"), ("`", "```")],
)
def test_the_fence_is_longer_than_any_in_the_file(text, marks):
    assert prompt.fence(text) == marks


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        (None, CODE),
        ((1, 1), "import os\n"),
        ((5, 6), "    def total(self):\n        return 1\n"),
        ((13, 13), "    return 3\n"),
    ],
)
def test_lines_name_a_part(lines, part):
    job = plan_edit(source(), "x", Settings(), lines=lines)
    assert CODE[job.region.start : job.region.end] == part
    assert job.plan.prediction == dedent(part)


def test_a_symbol_names_a_part_that_is_shown_alone():
    job = plan_edit(source(), "x", Settings(), symbol="Cart.size")
    assert CODE[job.region.start : job.region.end].strip().startswith("def size")
    user = job.plan.messages[-1].content
    assert "def total(self)" not in user
    assert user.count("def size") == 1


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"lines": (0, 2)}, InputError, "1:13"),
        ({"lines": (5, 3)}, InputError, "5:3"),
        ({"lines": (1, 99)}, InputError, "1:13"),
        ({"symbol": "total"}, InputError, "Cart.total"),
        ({"symbol": "nothing"}, InputError, "Cart.size"),
        ({"symbol": "Cart", "lines": (1, 2)}, UsageError, "--symbol"),
    ],
)
def test_a_part_that_is_none_is_an_error(arguments, error, says):
    with pytest.raises(error) as raised:
        plan_edit(source(), "x", Settings(), **arguments)  # type: ignore[arg-type]
    assert says in str(raised.value)


def test_an_empty_instruction_is_an_error():
    with pytest.raises(UsageError):
        plan_edit(source(), "  ", Settings())


def test_plain_decoding_has_neither_prediction_nor_drafters():
    job = plan_edit(source(), "x", Settings(prediction="none", draft="none"))
    assert job.plan.prediction is None
    assert job.plan.draft == ()
    assert job.region == whole(job.source)
