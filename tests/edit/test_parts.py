"""A part of a file that the user names goes out and comes back; every other byte stays."""

from textwrap import dedent

import pytest
from case_files import rows
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from one_edit import edit

TEXT = """\
import os


class A:
    def m(self):
        return 1

    @property
    def p(self):
        return 2


class B:
    def m(self):
        return 3
"""
OVERLOADS = "f(1)\nfunction f(a: 1): 1\nfunction f(a: 2): 2\nfunction f(a) {\n}\nf(2)\n"
UPPER = {"replace": [["a", "A"], ["b", "B"]]}


def upper(text: str, first: int, last: int) -> str:
    """The text with lines [first, last] in capitals."""
    lines = text.split("\n")
    lines[first - 1 : last] = [line.upper() for line in lines[first - 1 : last]]
    return "\n".join(lines)


@given(st.lists(st.text("ab ", max_size=3), min_size=1, max_size=9), st.data())
@examples(20)
def test_only_the_lines_that_are_named_change(lines, data):
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n"]))
    text = text if text.strip() else f"a\n{text}"
    last = text.count("\n") + (not text.endswith("\n"))
    first = data.draw(st.integers(1, last))
    last = data.draw(st.integers(first, last))
    named = ("--lines", f"{first}:{last}")
    assert edit("Change it", text, *named, name="a.txt", **UPPER).text == upper(text, first, last)


@given(st.text("ab\n", min_size=1, max_size=30), st.data())
@examples(20)
def test_a_selection_is_found_where_it_was_made(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    selected = text[start : data.draw(st.integers(start + 1, len(text)))]
    if not selected.strip():
        return
    first = text.count("\n", 0, start) + 1
    last = first + selected.removesuffix("\n").count("\n")
    flags = ("--selected", selected, "--near", str(first))
    assert edit("Change it", text, *flags, name="a.txt", **UPPER).text == upper(text, first, last)


@rows("text first last answer after")
def test_what_the_model_says_is_put_in_their_place(text, first, last, answer, after):
    edited = edit("x", text, "--lines", f"{first}:{last}", name="a.txt", answer=f"{answer}\n")
    assert edited.text == after


@pytest.mark.parametrize(
    ("selected", "near", "changed"),
    [
        ("b = 2", None, [2]),
        ("b = 2\n", None, [2]),
        ("= 2\n\na", None, [2, 4]),
        ("b = 2\r\n\r\n", None, [2]),
        ("a = 1", 1, [1]),
        ("a = 1", 4, [4]),
        ("a = 1", 5, [4]),
        ("a = 1\n", 5, [4]),
        ("a = 1", 99, [4]),
        ("3", None, [5]),
    ],
)
def test_a_selected_text_is_whole_lines_the_nearest_ones(selected, near, changed):
    flags = ("--selected", selected, *(("--near", str(near)) if near else ()))
    edited = edit("x", "a = 1\nb = 2\n\na = 1\nc = 3\n", *flags, replace=[["= ", "= 1"]])
    assert [n for n, line in enumerate(edited.text.split("\n"), 1) if "= 1" in line[:-1]] == changed


@rows("text selected near shown")
def test_of_several_places_the_nearest_is_meant(text, selected, near, shown):
    flags = ("--selected", selected, "--near", str(near))
    edited = edit("x", text, *flags, name="a.txt", replace=[["b", "B"]])
    assert edited.shown == shown
    assert "B" not in edited.text or edited.text.startswith("B")


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("A", 4, 10), ("A.m", 5, 6), ("B.m", 14, 15), ("p", 8, 10), ("B::m", 14, 15)],
)
def test_a_symbol_is_its_lines_with_decorators_and_is_shown_alone(name, first, last):
    edited = edit("x", TEXT, "--symbol", name)
    assert edited.shown == dedent("".join(TEXT.splitlines(True)[first - 1 : last]))
    (prompt,) = edited.prompts
    assert prompt.count("import os") == 0 and prompt.count(edited.shown) == 1


def test_overloads_are_one_symbol_with_their_body():
    lines = OVERLOADS.splitlines(True)
    assert edit("x", OVERLOADS, "--symbol", "f", name="a.ts").shown == "".join(lines[1:5])


@rows("flags says")
def test_a_part_that_is_none_is_an_error_that_helps(flags, says):
    edited = edit("x", TEXT, *flags)
    assert (edited.code, edited.prompts) == (2, [])
    assert says in " ".join(edited.messages.split())


def test_overloads_that_are_apart_are_several():
    apart = OVERLOADS.replace("): 2\n", "): 2\nclass A {}\n")
    assert "defines f 3 times" in edit("x", apart, "--symbol", "f", name="a.ts").messages
