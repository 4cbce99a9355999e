"""Guarantees 1 and 2: a prediction changes the speed, never the text, and never for the worse."""

import random

import pytest
from effort import ends, some
from hypothesis import given
from hypothesis import strategies as st
from replaying import CURVE, TOKENIZER, Run, run
from scripted_engine import END

from specedit.decode.cost import Curve

SMALL = st.lists(st.integers(0, 5), max_size=60)  # few different ids: much matches by chance
EDITS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 6), st.lists(st.integers(0, 9), max_size=6)),
    max_size=6,
)
CURVES = {
    "int8 on two cores": CURVE,
    "a GPU": Curve.line(0.070, 0.001),
    "llama.cpp": Curve.line(0.035, 0.015),
    "no width is free": Curve.line(0.001, 0.1),
    "flat": Curve.of([(1, 0.1), (512, 0.1)]),
}


def edited(ids: list[int], edits: list[tuple[int, int, list[int]]]) -> list[int]:
    for at, cut, put in edits:
        at %= len(ids) + 1
        ids = [*ids[:at], *put, *ids[at + cut :]]
    return ids


def plainly(answer: list[int], limit: int = 1 << 20) -> Run:
    return run(answer, None, names=("none",), audit=True, limit=limit)


def same(answer: list[int], prediction: list[int], limit: int = 1 << 20) -> None:
    plain = plainly(answer, limit)
    drafted = run(answer, prediction, audit=True, limit=limit)
    assert drafted.tokens == plain.tokens
    assert drafted.done == plain.done, "the same logits were committed, and the same reason given"
    assert drafted.passes <= plain.passes
    accepted = sum(chunk.accepted for chunk in drafted.chunks)
    assert len(drafted.tokens) - drafted.passes <= accepted <= len(drafted.tokens)


@given(answer=SMALL, prediction=SMALL)
def test_guarantee_1_any_prediction_gives_the_same_text_and_logits(answer, prediction):
    same(answer, prediction)


@given(prediction=st.lists(st.integers(0, 255), max_size=150), edits=EDITS)
def test_guarantee_1_an_edited_prediction_gives_the_same_text_and_logits(prediction, edits):
    same(edited(prediction, edits), [*prediction, END])


@given(answer=SMALL, prediction=SMALL, limit=st.integers(1, 30))
def test_guarantee_1_the_limit_cuts_at_the_same_token(answer, prediction, limit):
    same(answer, prediction, limit)
    assert len(run(answer, prediction, limit=limit).tokens) <= limit


FILE = TOKENIZER.encode(
    "".join(f"def f{n}(a, b):\n    return a + b * {n * 7}\n\n" for n in range(16))
)
NOISE = random.Random(1).choices(range(256), k=300)


def lying(answer: list[int], every: int) -> list[int]:
    """Right just long enough to be trusted, then wrong, again and again."""
    return [token if n % every else 255 - token for n, token in enumerate(answer, 1)]


HOSTILE = {
    "empty": [],
    "random": NOISE,
    "another file": TOKENIZER.encode(
        "".join(f"class C{n} {{ int x = {n}; }}\n" for n in range(60))
    ),
    "reversed": FILE[::-1],
    "ten times too long": NOISE * 20,
    "one id": [120] * 600,
    "wrong every 2nd": lying(FILE, 2),
    "wrong every 7th": lying(FILE, 7),
    "wrong every 40th": lying(FILE, 40),
    "right, then ends": [*FILE[: len(FILE) // 2], END],
    "right, then random": [*FILE[: len(FILE) // 2], *NOISE],
}


@pytest.mark.parametrize("curve", ends(CURVES.values()), ids=ends(CURVES))
@pytest.mark.parametrize("prediction", some(HOSTILE.values(), 2), ids=some(HOSTILE, 2))
def test_guarantee_2_no_prediction_makes_decoding_slower(prediction, curve):
    for answer in (FILE, NOISE):
        result = run(answer, prediction, curve=curve)
        assert result.tokens == [*answer, END]
        assert result.passes <= len(result.tokens)
        found_out = 2 * curve.seconds(1)
        assert result.seconds(curve) <= 1.05 * result.plain(curve) + found_out
