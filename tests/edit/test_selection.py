"""Which lines a selected text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.edit.splice import lines_of
from specedit.errors import SpeceditError

TEXT = "a = 1\nb = 2\n\na = 1\nc = 3\n"


@pytest.mark.parametrize(
    ("selected", "near", "lines"),
    [
        ("b = 2", None, (2, 2)),
        ("b = 2\n", None, (2, 2)),
        ("= 2\n\na", None, (2, 4)),
        ("b = 2\r\n\r\n", None, (2, 3)),
        ("a = 1", 1, (1, 1)),
        ("a = 1", 4, (4, 4)),
        ("a = 1", 5, (4, 4)),
        ("a = 1\n", 5, (4, 4)),
        ("a = 1", 99, (4, 4)),
        ("3", None, (5, 5)),
    ],
)
def test_lines(selected, near, lines):
    assert lines_of(TEXT, selected, near) == lines


@pytest.mark.parametrize(
    ("selected", "near", "said"),
    [
        ("", 1, "The selection is empty"),
        (" \n", 1, "The selection is empty"),
        ("z", 1, "not in the file"),
        ("a = 1", None, "2 times, on lines 1, 4"),
    ],
)
def test_no_lines(selected, near, said):
    with pytest.raises(SpeceditError, match=said):
        lines_of(TEXT, selected, near)


def test_of_places_that_overlap_the_one_that_begins_there_is_meant():
    assert lines_of("aaaa\na\na", "a\na", 1) == (1, 2)
    assert lines_of("aaaa\na\na", "a\na", 2) == (2, 3)


def test_near_counts_from_the_end_of_a_place_above_it():
    assert lines_of("b\na\na\na\nx\nx\nb\na\na\na\n", "b\na\na\na", 5) == (1, 4)


@given(st.text("ab\n", min_size=1, max_size=30), st.data())
def test_a_selection_is_found_where_it_was_made(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    selected = text[start:end]
    if not selected.strip():
        return
    first = text.count("\n", 0, start) + 1
    found = lines_of(text, selected, first)
    assert found == (first, first + selected.removesuffix("\n").count("\n"))
