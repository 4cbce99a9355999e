"""A quoted text is replaced without a model where the instruction leaves nothing to decide."""

from __future__ import annotations

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
    "to": ('Change the message "no path" to "the path is empty"', "no path", "the path is empty"),
    "with": ("Replace 'no path' with 'a path is missing'.", "no path", "a path is missing"),
    "should-be": ('The doc string says "the the cart"; it should be "a cart"', "the the cart",
                  "a cart"),
    "should-say": ('"tell the caller" should say "for the caller"', "tell the", "for the"),
    "instead": ('Say "the path is empty" instead of "no path"', "no path", "the path is empty"),
    "not": ('The comment in load should be "inform the caller", not "tell the caller".',
            "tell the", "inform the"),
}  # fmt: skip


def edited(instruction: str, backend: Scripted) -> Edit:
    source = Source.from_bytes("a.py", SHOP.encode())
    edit = perform(plan_edit(source, instruction, Settings()), backend, Settings())
    assert isinstance(edit, Edit)
    return edit


@pytest.mark.parametrize(("instruction", "old", "new"), REPLACED.values(), ids=REPLACED)
def test_the_only_place_of_a_quoted_text_is_replaced(instruction: str, old: str, new: str) -> None:
    backend = Scripted("never asked")
    assert edited(instruction, backend).after.decode() == SHOP.replace(old, new)
    assert not backend.plans


@pytest.mark.parametrize(
    "instruction",
    [
        'Change "path" to "file"',  # is there several times
        'Change "no way" to "no path at all"',  # is not there
        'Change the default of "timeout" to "30"',  # a name
        "Change `LIMIT` to `20`",  # code
        'Change "no path" to "no {path}"',  # may need an f-string
        'Change "no path" to "no "path""',
        'Change "no path" to "an empty path" and raise a TypeError',
        'Append "no path given" to "no path"',
        'Change "rb" to "r"',  # too short to say where
    ],
)
def test_anything_else_is_the_model_s(instruction: str) -> None:
    backend = Scripted(SHOP + "```")
    edited(instruction, backend)
    assert backend.plans
