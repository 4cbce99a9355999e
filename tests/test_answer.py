"""Reading an answer: pieces are whole characters, and the closing line ends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.answer import Reader
from specedit.engines.scripted import END, ScriptedTokenizer


def read(data: bytes, closing: str = "```", stop: tuple[str, ...] = ()) -> tuple[Reader, int]:
    """Feed bytes as ids, then the end; returns the reader and how many ids it took."""
    reader = Reader(ScriptedTokenizer(), closing, stop)
    taken = 0
    for token in [*data, END]:
        taken += 1
        if reader.ends(token):
            break
    return reader, taken


@pytest.mark.parametrize(
    ("said", "closing", "text", "closed"),
    [
        ("x = 1\n```", "```", "x = 1\n", True),
        ("x = 1\n```\nHere is why", "```", "x = 1\n", True),
        ("x = 1\n```  \nmore", "```", "x = 1\n", True),
        ("x = 1\n", "```", "x = 1\n", False),
        ("```", "```", "", True),
        ("a\n```python\nb\n```\n", "```", "a\n```python\nb\n", True),
        ("a\n```\nb\n````\n", "````", "a\n```\nb\n", True),
        ("a ``` b\n```\n", "```", "a ``` b\n", True),
        ("anything", "", "anything", True),
    ],
    ids=[
        "closed by the end",
        "words after it",
        "spaces after it",
        "never closed",
        "empty",
        "an inner fence with a language",
        "a longer fence",
        "backticks inside a line",
        "no closing asked for",
    ],
)
def test_the_closing_line_ends_the_answer(said: str, closing: str, text: str, closed: bool) -> None:
    reader, _ = read(said.encode(), closing)
    assert (reader.text(), reader.closed) == (text, closed)


def test_nothing_after_the_closing_line_is_read() -> None:
    _, taken = read(b"x\n```\nand so on and on")
    assert taken == len(b"x\n```\n")


@pytest.mark.parametrize(
    ("said", "stop", "text"),
    [("one two three", ("two",), "one "), ("one two", ("x", "tw"), "one "), ("aab", ("ab",), "a")],
)
def test_stop_texts_are_found_across_pieces(said: str, stop: tuple[str, ...], text: str) -> None:
    reader, _ = read(said.encode(), "", stop)
    assert reader.text() == text


@given(st.text(st.characters(exclude_characters="`", exclude_categories=("Cs",))))
def test_pieces_are_whole_characters_and_add_up(text: str) -> None:
    reader = Reader(ScriptedTokenizer(), "")
    pieces: list[str] = []
    for token in text.encode():
        reader.ends(token)
        fresh = reader.take()
        assert len(fresh) == 1
        pieces += fresh
    assert "".join(pieces) == text == reader.text()


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    reader, _ = read(b"a\xff\xe2\x82", "")
    assert reader.text() == "a\ufffd\ufffd"
