"""`--ask`: the answered hunks and no others, whatever the answers are."""

import pytest
from command_line import at_a_terminal
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from one_edit import ask

BEFORE = "".join(f"line {n}\n" for n in range(40))
AFTER = BEFORE.replace("line 3\n", "LINE 3\n").replace("line 20\n", "").replace("39", "39\nnew")
ONLY_FIRST = BEFORE.replace("line 3\n", "LINE 3\n")
ONLY_SECOND = BEFORE.replace("line 20\n", "")
WITHOUT_SECOND = AFTER.replace("line 19\n", "line 19\nline 20\n")
TWO = "a\nb\nc\nd\ne\n"
CHANGED = "A\nb\nc\nD\ne\n"  # two changes in one hunk


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        pytest.param("n,n,n", BEFORE, id="none"),
        pytest.param("y,y,y", AFTER, id="all one by one"),
        pytest.param("a", AFTER, id="a takes the rest"),
        pytest.param("n,a", AFTER.replace("LINE", "line"), id="a after n"),
        pytest.param("y,q", ONLY_FIRST, id="q keeps what was taken"),
        pytest.param("y,d", ONLY_FIRST, id="d too"),
        pytest.param("q", BEFORE, id="q at once"),
        pytest.param("n,y,n", ONLY_SECOND, id="the middle one"),
        pytest.param("y,n,y", WITHOUT_SECOND, id="all but the middle one"),
        pytest.param("Y, n ,YES", WITHOUT_SECOND, id="case and blanks do not matter"),
        pytest.param("?,y,x,,n,y", WITHOUT_SECOND, id="no key asks again"),
    ],
)
def test_answers_decide(typed, text):
    assert ask(BEFORE, AFTER, typed.split(",")).text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("s,y,n", "A\nb\nc\nd\ne\n"),
        ("s,n,y", "a\nb\nc\nD\ne\n"),
        ("s,a", CHANGED),
        ("s,s,n,q", TWO),
    ],
    ids=["first", "second", "both", "a piece cannot be split again"],
)
def test_a_hunk_is_split_where_lines_stay(typed, text):
    asked = ask(TWO, CHANGED, typed.split(","))
    assert asked.text == text
    questions = [line for line in asked.messages.splitlines() if "Apply this hunk" in line]
    assert "(1/1)" in questions[0] and ",s" in questions[0]
    assert "(1/2)" in questions[1] and ",s" not in questions[1]


@given(
    st.text("ab\n", min_size=1, max_size=30), st.text("ab\n", min_size=1, max_size=30), st.data()
)
@examples(20)
def test_the_text_is_made_of_the_hunks_that_are_taken(before, after, data):
    before, after = f"c{before}", f"c{after.rstrip(chr(10))}{before[len(before.rstrip(chr(10))) :]}"
    assert ask(before, after, ["y"] * 20).text == after
    assert ask(before, after, ["n"] * 20).text == before
    assert ask(before, after, ["s", "y", "y", "y"] * 20).text == after
    some = data.draw(st.lists(st.sampled_from("yns"), min_size=20, max_size=20))
    assert {*ask(before, after, some).text.split("\n")} <= {*before.split("\n"), *after.split("\n")}


def test_a_question_says_which_hunk_it_is_and_helps_when_not_understood(tmp_path, script):
    (tmp_path / "a.txt").write_text(BEFORE)
    script(answer=f"{AFTER}```")
    arguments = ("edit", "Do it", "a.txt", "--ask", "--whole")
    _, shown = at_a_terminal(b"?\ny\nn\nn\n", *arguments, cwd=tmp_path)
    assert (tmp_path / "a.txt").read_text() == ONLY_FIRST
    assert [shown.count(f"({n}/3)") for n in (1, 2, 3)] == [2, 1, 1]
    assert shown.count("s - split this hunk into smaller ones") == 1
