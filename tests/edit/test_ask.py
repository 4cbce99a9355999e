"""`--ask`: the answered hunks and no others, whatever the answers are."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.edit.hunk_choice import Question, applied, choose, edited, shown
from specedit.errors import UsageError
from specedit.syntax.lines import hunks
from specedit.view.screen import edited_by_user

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
def test_answers_decide(answers, text):
    assert play(answers)[0] == text


def test_a_question_says_which_hunk_it_is_and_helps_when_not_understood():
    _, asked, _ = play("?,y,n,n")
    assert [(q.number, q.of, q.help) for q in asked] == [
        *[(1, 3, False), (1, 3, True), (2, 3, False), (3, 3, False)]
    ]
    assert "(1/3)" in asked[0].prompt


def test_only_q_ends_the_questions_of_later_files():
    assert play("q")[2]
    assert not play("d")[2]


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30), st.data())
def test_yes_to_all_is_the_new_text_and_no_to_all_the_old(before, after, data):
    assert choose(before, after, lambda q: "y").text == after
    assert choose(before, after, lambda q: "n").text == before
    messages: list[str] = []

    def some(question: Question) -> str:
        messages.append(data.draw(st.sampled_from("yn")))
        return messages[-1]

    result = choose(before, after, some)
    assert (result.applied, result.of) == (messages.count("y"), len(messages))
    assert result.whole == ("n" not in messages)
    assert result.text == after or not result.whole


TWO = "a\nb\nc\nd\ne\n"
CHANGED = "A\nb\nc\nD\ne\n"  # two changes in one hunk


def pick(answers: str, edit: str | None = None) -> tuple[str, list[Question]]:
    asked: list[Question] = []
    left = iter(answers.split(","))

    def ask(question: Question) -> str:
        asked.append(question)
        return next(left)

    by_hand = None if edit is None else (lambda hunk: edit)
    return choose(TWO, CHANGED, ask, by_hand).text, asked


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ("s,y,n", "A\nb\nc\nd\ne\n"),
        ("s,n,y", "a\nb\nc\nD\ne\n"),
        ("s,a", CHANGED),
        ("s,s,n,q", TWO),
    ],
    ids=["first", "second", "both", "a piece cannot be split again"],
)
def test_a_hunk_is_split_where_lines_stay(answers, text):
    result, asked = pick(answers)
    assert result == text
    assert "s" in asked[0].keys and (asked[0].of, asked[1].of) == (1, 2)
    assert "s" not in asked[1].keys and "e" not in asked[0].keys


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (" a\n b\n c\n-d\n+D\n e\n", "a\nb\nc\nD\ne\n"),
        ("-a\n+AA\n b\n c\n d\n e\n# a remark\n", "AA\nb\nc\nd\ne\n"),
        ("-a\n-b\n c\n d\n e\n", "c\nd\ne\n"),
        ("# nothing is left\n", TWO),
        (" a\n b\n c\n d\n e\n+f\n", "a\nb\nc\nd\ne\nf\n"),
    ],
    ids=["left out", "other words", "more is taken away", "nothing", "a line more"],
)
def test_a_hunk_is_edited_by_hand(left, text):
    assert pick("e", left)[0] == text


def test_an_edited_hunk_that_does_not_fit_is_asked_about_again():
    result, asked = pick("e,n", " a\n b\n not there\n")
    assert result == TWO and "other ones" in asked[1].why


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_splitting_changes_what_is_asked_and_never_what_is_taken(before, after):
    def key(question: Question) -> str:
        return "s" if "s" in question.keys else "y"

    assert choose(before, after, key).text == after
    assert choose(before, after, lambda q: "s" if "s" in q.keys else "n").text == before


def test_an_editor_gets_the_hunk_and_gives_it_back(tmp_path, monkeypatch):
    (hunk,) = hunks(TWO, CHANGED)
    program = tmp_path / "edit.py"
    program.write_text(
        "import sys, pathlib\np = pathlib.Path(sys.argv[1])\n"
        "p.write_text(p.read_text().replace('+D', '+DD'))\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {program}")
    part = edited(hunk, edited_by_user(hunk))
    assert part is not None and applied(TWO, [part]) == "A\nb\nc\nDD\ne\n"
    monkeypatch.setenv("VISUAL", f"{sys.executable} -c 'raise SystemExit(3)'")
    with pytest.raises(UsageError, match="exit code 3"):
        edited_by_user(hunk)


def test_a_last_line_without_a_newline_keeps_none():
    before, after = "a\nb", "A\nb"
    (hunk,) = hunks(before, after)
    part = edited(hunk, shown(hunk))
    assert part is not None and applied(before, [part]) == after
