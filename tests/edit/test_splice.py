"""A region goes out and comes back; every other byte stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.edit.splice import (
    dedented,
    indentation,
    region_of,
    spliced,
    taken,
)
from specedit.errors import SpeceditError
from specedit.files.source import Source

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


def source(text: str) -> Source:
    return Source.from_bytes("a.py", text.encode())


@given(st.lists(st.text("ab ", max_size=3), min_size=1, max_size=9), st.data())
def test_a_region_put_back_is_the_text(lines, data):
    file = source("\n".join(lines) or "x")
    last = file.text.count("\n") + (not file.text.endswith("\n"))
    first = data.draw(st.integers(1, last))
    region = region_of(file, (first, data.draw(st.integers(first, last))))
    assert spliced(file, region, taken(file, region)) == file.text
    assert spliced(file, region, dedented(taken(file, region))) == file.text
    changed = spliced(file, region, "new")
    deep = indentation(taken(file, region))
    assert changed.startswith(file.text[: region.start] + deep + "new")
    assert changed.endswith(file.text[region.end :])


def test_the_final_newline_is_the_original_s():
    whole, open_ended = source("a\nb\nc\n"), source("a\nb")
    assert spliced(whole, region_of(whole, (2, 2)), "x") == "a\nx\nc\n"
    assert spliced(open_ended, region_of(open_ended, (2, 2)), "x\n") == "a\nx"


@pytest.mark.parametrize(
    ("name", "lines"),
    [("A", (4, 10)), ("A.m", (5, 6)), ("B.m", (14, 15)), ("p", (8, 10)), ("B::m", (14, 15))],
)
def test_a_symbol_is_its_lines_decorators_included(name, lines):
    file = source(TEXT)
    assert region_of(file, symbol=name) == region_of(file, lines)


def test_overloads_are_one_symbol_with_their_body():
    text = "f(1)\nfunction f(a: 1): 1\nfunction f(a: 2): 2\nfunction f(a) {\n}\nf(2)\n"
    file = Source.from_bytes("a.ts", text.encode())
    assert region_of(file, symbol="f") == region_of(file, (2, 5))
    apart = Source.from_bytes("a.ts", text.replace("): 2\n", "): 2\nclass A {}\n").encode())
    with pytest.raises(SpeceditError, match="defines f 3 times"):
        region_of(apart, symbol="f")


@pytest.mark.parametrize(
    ("name", "said"), [("absent", "It defines: A, A.m, A.p, B, B.m"), ("m", "A.m (line 5)")]
)
def test_a_symbol_that_is_none_or_many_is_an_error_with_names(name, said):
    with pytest.raises(SpeceditError) as caught:
        region_of(source(TEXT), symbol=name)
    assert said in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("lines", [(0, 1), (3, 2), (99, 100)])
def test_lines_that_are_none_are_an_error(lines):
    with pytest.raises(SpeceditError):
        region_of(source(TEXT), lines)
