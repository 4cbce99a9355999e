"""`--ask`: the answered hunks and no others, whatever the answers are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specedit.edit.ask import Question, choose

BEFORE = "".join(f"line {n}\n" for n in range(40))
AFTER = BEFORE.replace("line 3\n", "LINE 3\n").replace("line 20\n", "").replace("39", "39\nnew")
ONLY_FIRST = BEFORE.replace("line 3\n", "LINE 3\n")
ONLY_SECOND = BEFORE.replace("line 20\n", "")
WITHOUT_SECOND = AFTER.replace("line 19\n", "line 19\nline 20\n")


def play(answers: str) -> tuple[str, list[Question], bool]:
    asked: list[Question] = []
    left: Iterator[str] = iter(answers.split(","))

    def ask(question: Question) -> str:
        asked.append(question)
        return next(left)

    chosen = choose(BEFORE, AFTER, ask)
    return chosen.text, asked, chosen.quit


@pytest.mark.parametrize(
    ("answers", "text"),
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
def test_answers_decide(answers: str, text: str) -> None:
    assert play(answers)[0] == text


def test_a_question_says_which_hunk_it_is_and_helps_when_not_understood() -> None:
    _, asked, _ = play("?,y,n,n")
    assert [(q.number, q.of, q.help) for q in asked] == [
        *[(1, 3, False), (1, 3, True), (2, 3, False), (3, 3, False)]
    ]
    assert "(1/3)" in asked[0].prompt


def test_only_q_ends_the_questions_of_later_files() -> None:
    assert play("q")[2]
    assert not play("d")[2]


@settings(deadline=None)
@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30), st.data())
def test_yes_to_all_is_the_new_text_and_no_to_all_the_old(
    before: str, after: str, data: st.DataObject
) -> None:
    assert choose(before, after, lambda q: "y").text == after
    assert choose(before, after, lambda q: "n").text == before
    said: list[str] = []

    def some(question: Question) -> str:
        said.append(data.draw(st.sampled_from("yn")))
        return said[-1]

    found = choose(before, after, some)
    assert (found.applied, found.of) == (said.count("y"), len(said))
    assert found.whole == ("n" not in said)
    assert found.text == after or not found.whole
