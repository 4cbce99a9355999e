"""A region goes out and comes back; every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specedit.errors import UsageError
from specedit.text.languages import BY_NAME
from specedit.text.splice import mentioned_symbols, region, symbol_region

PYTHON = BY_NAME["python"]
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


@settings(deadline=None)
@given(st.lists(st.text("ab \r", max_size=3), min_size=1, max_size=9), st.data())
def test_a_region_put_back_is_the_text(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines) or "x"
    last = text.count("\n") + (not text.endswith("\n"))
    first = data.draw(st.integers(1, last))
    taken = region(text, first, data.draw(st.integers(first, last)))
    assert taken.splice(taken.text) == text
    assert taken.splice("new").startswith(taken.before + "new")
    assert taken.splice("new").endswith(taken.after)


def test_the_final_newline_is_the_original_s() -> None:
    assert region("a\nb\nc\n", 2, 2).splice("x") == "a\nx\nc\n"
    assert region("a\nb", 2, 2).splice("x\n") == "a\nx"


@pytest.mark.parametrize(
    ("name", "lines"),
    [("A", (4, 10)), ("A.m", (5, 6)), ("B.m", (14, 15)), ("p", (8, 10)), ("B::m", (14, 15))],
)
def test_a_symbol_is_its_lines_decorators_included(name: str, lines: tuple[int, int]) -> None:
    found = symbol_region(TEXT, PYTHON, name)
    assert (found.first, found.last) == lines


def test_context_is_cut_to_lines() -> None:
    above, below = region(TEXT, 5, 6).context(2)
    assert above == "\nclass A:\n"
    assert below == "\n    @property\n"


@pytest.mark.parametrize(
    ("name", "said"), [("absent", "Symbols in it: A, A.m, A.p, B, B.m."), ("m", "A.m (line 5)")]
)
def test_a_symbol_that_is_none_or_many_is_an_error_with_names(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        symbol_region(TEXT, PYTHON, name)
    assert said in str(caught.value)


@pytest.mark.parametrize("lines", [(0, 1), (3, 2), (99, 100)])
def test_lines_that_are_none_are_an_error(lines: tuple[int, int]) -> None:
    with pytest.raises(UsageError):
        region(TEXT, *lines)


def test_symbols_named_by_an_instruction() -> None:
    found = mentioned_symbols(TEXT, PYTHON, "Let B.m return 4, like p")
    assert [one.qualified for one in found] == ["A.p", "B.m"]
