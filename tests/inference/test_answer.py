"""Reading an answer: pieces are whole characters, and the closing line ends it."""

import pytest
from case_files import rows
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import END, ScriptedTokenizer

from specedit.errors import RefusedEdit
from specedit.inference.reader import Reader, Unfenced


def read(
    data: bytes, closing: str = "```", stop: tuple[str, ...] = (), nested: bool = False
) -> tuple[Reader, int]:
    """Feed bytes as ids, then the end; returns the reader and how many ids it took."""
    reader = Reader(ScriptedTokenizer(), closing, stop, nested=nested)
    taken = 0
    for token in [*data, END]:
        taken += 1
        if reader.ends(token):
            break
    return reader, taken


@rows("said closing text")
def test_reasoning_before_an_answer_is_counted_and_is_not_its_text(said, closing, text):
    reader = Reader(ScriptedTokenizer(), closing, expected="x = 0\n")
    for token in [*said.encode(), END]:
        if reader.ends(token):
            break
    assert reader.text() == text
    end = said.find("[/THINK]" if "[THINK]" in said else "</think>") + 8
    assert reader.reasoning == (end if said.lstrip().startswith(("<think>", "[THINK]")) else 0)


def test_reasoning_of_an_endpoint_is_counted_and_its_code_blocks_are_not_the_answer():
    reader, reasoning = Unfenced("```", expected="x = 0\n"), "<think>```\nno\n```</think>"
    shown = "".join(map(reader.more, f"{reasoning}\n```\nx = 1\n```\n"))
    assert (shown + reader.end(), reader.closed) == ("x = 1\n", True)
    assert reader.reasoning == len(reasoning) - len("<think>")


def test_a_stop_text_that_names_a_special_token_ends_the_answer_there():
    class Tokenizer(ScriptedTokenizer):
        def special(self, name: str) -> int | None:
            return 7 if name == "<tool_call>" else None

    for stop, ended in (((), False), (("<tool_call>", "c"), True)):
        reader = Reader(Tokenizer(), "", stop)
        assert [reader.ends(token) for token in (97, 7)] == [False, ended]


def test_a_file_that_begins_like_reasoning_is_an_answer():
    reader = Reader(ScriptedTokenizer(), "```", expected="<think>\n</think>\n")
    for token in [*b"<think>\nnew\n</think>\n```", END]:
        reader.ends(token)
    assert (reader.text(), reader.reasoning) == ("<think>\nnew\n</think>\n", 0)


def test_reasoning_without_an_answer_is_refused():
    reader = Reader(ScriptedTokenizer(), "```", expected="x = 0\n")
    with pytest.raises(RefusedEdit, match="nothing but reasoning"):
        for token in [*b"<think>Let me see", END]:
            reader.ends(token)


@rows("said closing text closed")
def test_the_closing_line_ends_the_answer(said, closing, text, closed):
    reader, _ = read(said.encode(), closing)
    assert (reader.text(), reader.closed) == (text, closed)


BLOCK = "```sh\nrun\n```\n"
BARE = "```\nrun\n```\n"


@pytest.mark.parametrize(
    ("said", "closing", "text", "closed"),
    [
        pytest.param(f"a\n{BLOCK}b\n```", "```", f"a\n{BLOCK}b\n", True, id="a-block"),
        pytest.param(f"a\n{BARE}b\n```\n", "```", f"a\n{BARE}b\n", True, id="a-bare-block"),
        pytest.param(f"{BLOCK}{BARE}```", "```", BLOCK + BARE, True, id="nothing-but-blocks"),
        pytest.param(f"a\n{BLOCK}", "```", f"a\n{BLOCK}", False, id="only-the-block-closed"),
        pytest.param("a\n```\n\nHere is why.", "```", "a\n", True, id="words-after-it"),
        pytest.param(f"a\n```\n\nSo:\n{BLOCK}", "```", "a\n", True, id="a-block-after-it"),
        pytest.param(f"{BLOCK}b\n```", "````", f"{BLOCK}b\n", True, id="closed-by-fewer"),
        pytest.param(f"{BLOCK}b\n````\nx", "````", f"{BLOCK}b\n", True, id="closed-by-its-own"),
        pytest.param(
            "- a\n  ```\n  x\n  ```\n```", "```", "- a\n  ```\n  x\n  ```\n", True, id="in-a-list"
        ),
        pytest.param("a\n", "```", "a\n", False, id="never-closed"),
    ],
)
def test_prose_may_hold_code_blocks(said, closing, text, closed):
    reader, _ = read(said.encode(), closing, nested=True)
    assert (reader.text(), reader.closed) == (text, closed)


@pytest.mark.parametrize("closing", ["```", "````"])
@given(
    st.lists(
        st.sampled_from(["a\n", "b ``` c\n", BLOCK, BARE, "\n", "~~~\nx\n~~~\n", "```py\n```\n"])
    )
)
def test_prose_comes_back_whole(closing, parts):
    prose = "".join(parts)
    reader, _ = read(f"{prose}{closing}".encode(), closing, nested=True)
    assert (reader.text(), reader.closed) == (prose, True)


def test_nothing_after_the_closing_line_is_read():
    _, taken = read(b"x\n```\nand so on and on")
    assert taken == len(b"x\n```\n")


@pytest.mark.parametrize(
    ("said", "stop", "text"),
    [("one two three", ("two",), "one "), ("one two", ("x", "tw"), "one "), ("aab", ("ab",), "a")],
)
def test_stop_texts_are_found_across_pieces(said, stop, text):
    reader, _ = read(said.encode(), "", stop)
    assert reader.text() == text


def test_a_stop_text_ends_an_answer_whose_last_id_begins_another_character():
    class Tokenizer(ScriptedTokenizer):
        def piece(self, token: int) -> bytes:
            return b"two\xe2" if token == 7 else super().piece(token)

    reader = Reader(Tokenizer(), "", ("two",))
    assert [reader.ends(token) for token in (97, 7)] == [False, True]
    assert reader.text() == "a"


@given(st.text(st.characters(exclude_characters="`", exclude_categories=("Cs",))))
def test_pieces_are_whole_characters_and_add_up(text):
    reader = Reader(ScriptedTokenizer(), "")
    pieces: list[str] = []
    for token in text.encode():
        reader.ends(token)
        fresh = reader.take()
        assert len(fresh) == 1
        pieces += fresh
    assert "".join(pieces) == text == reader.text()


def test_bytes_that_are_no_text_become_replacement_characters():
    reader, _ = read(b"a\xff\xe2\x82", "")
    assert reader.text() == "a\ufffd\ufffd"
