"""`one text -> another one` needs no model where the first stands in comments and strings only."""

import pytest
from scripted_backend import Scripted, perform

from specedit.edit.job import plan_edit
from specedit.edit.report import Edit
from specedit.files.source import Source
from specedit.settings import Settings

SHOP = """\
LIMIT = 10


def load(path, timeout=5):
    \"\"\"Loads the the cart.\"\"\"
    if not path:
        raise ValueError("no path")  # tell the caller
    return open(path, "rb", options={"timeout": timeout})
"""
REPLACED = {
    "plain": ("the the -> the", "the the", "the"),
    "quoted": ('"no path" → "the path is empty"', "no path", "the path is empty"),
    "fat": ("'tell the' => 'for the'", "tell the", "for the"),
    "every-place": ("the -> a", "the", "a"),
}


def edited(instruction: str, backend: Scripted) -> Edit:
    source = Source.from_bytes("a.py", SHOP.encode())
    edit = perform(plan_edit(source, instruction, Settings()), backend, Settings())
    assert isinstance(edit, Edit)
    return edit


@pytest.mark.parametrize(("instruction", "old", "new"), REPLACED.values(), ids=REPLACED)
def test_a_text_of_comments_and_strings_is_replaced(instruction, old, new):
    backend = Scripted("never asked")
    assert edited(instruction, backend).after.decode() == SHOP.replace(old, new)
    assert not backend.plans


@pytest.mark.parametrize(
    "instruction",
    [
        'Change "no path" to "an empty path"',  # words decide what is meant
        '"no way" -> "no path at all"',  # is not there
        '"path" -> "file"',  # is code, too
        "`LIMIT` -> `20`",
        '"no path" -> "no {path}"',  # may need an f-string
        '"rb" -> "r"',  # too short to say where
    ],
)
def test_anything_else_is_the_model_s(instruction):
    backend = Scripted(SHOP + "```")
    edited(instruction, backend)
    assert backend.plans
