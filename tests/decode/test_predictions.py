"""Several predictions: the one that agrees with what was just written is followed."""

from hypothesis import given
from hypothesis import strategies as st
from replaying import CURVE, Run, run
from scripted_engine import END, WordTokenizer
from test_guarantees import EDITS, FILE, HOSTILE, SMALL, edited, plainly

WORDS = WordTokenizer()
LISTS = st.lists(SMALL, max_size=5)


def several(answer: list[int], predictions: list[list[int]], original: list[int] | None) -> Run:
    plain = plainly(answer)
    drafted = run(answer, original, predictions=predictions, codec=WORDS, audit=True)
    assert drafted.tokens == plain.tokens
    assert drafted.done == plain.done, "the same logits were committed"
    assert drafted.passes <= plain.passes
    return drafted


@given(answer=SMALL, predictions=LISTS, original=st.none() | SMALL)
def test_guarantee_1_any_predictions_give_the_same_text_and_logits(answer, predictions, original):
    several(answer, predictions, original)


@given(
    original=st.lists(st.integers(0, 255), max_size=120),
    edits=st.lists(EDITS, max_size=4),
    own=EDITS,
)
def test_guarantee_1_earlier_tries_of_one_file_give_the_same_text_and_logits(original, edits, own):
    tries = [[*edited(original, one), END] for one in edits]
    several(edited(original, own), tries, [*original, END])


def test_guarantee_2_no_predictions_make_decoding_slower():
    hostile = list(HOSTILE.values())
    result = several(FILE, hostile, None)
    assert result.seconds() <= 1.05 * result.plain() + 2 * CURVE.seconds(1)


ORIGINAL = "".join(f"def f{n}(a, b):\n    return a + b * {n * 7}\n\n" for n in range(30))
# The first try changed two places; the second undoes one of them and changes a third.
FIRST = ORIGINAL.replace("a + b * 21", "max(a, b) * 21").replace("a + b * 63", "min(a, b) * 63")
SECOND = ORIGINAL.replace("a + b * 21", "max(a, b) * 21").replace("a + b * 140", "a - b * 140")


def ids(text: str) -> list[int]:
    return [*WORDS.encode(text), END]


def test_a_try_is_followed_where_it_agrees_and_left_where_it_does_not():
    """Inside a line: the first try knows the first change, and the original what was undone."""
    alone = run(WORDS.encode(SECOND), ids(ORIGINAL), codec=WORDS)
    both = several(WORDS.encode(SECOND), [ids(FIRST)], ids(ORIGINAL))
    assert both.passes < alone.passes
    sources = {chunk.which for chunk in both.chunks if chunk.source == "prediction"}
    assert sources == {0, 1}, "from the try (0), and from the original (1)"


def test_an_answer_that_was_given_before_costs_hardly_a_pass():
    again = several(WORDS.encode(FIRST), [ids(SECOND), ids(FIRST)], ids(ORIGINAL))
    best = run(WORDS.encode(FIRST), ids(FIRST), codec=WORDS)
    assert again.passes <= best.passes + 4


def test_every_prediction_learns_from_what_is_written():
    """What became another name becomes it in whichever of them is followed next."""
    text = "".join(f"total_{n} = price * {n}\nprint(price, total_{n})\n" for n in range(20))
    answer = text.replace("price", "amount")
    noisy = text.replace("print(price, total_7)", "print(total_7)")
    one = run(WORDS.encode(answer), ids(text), codec=WORDS)
    two = several(WORDS.encode(answer), [ids(noisy)], ids(text))
    assert two.passes <= one.passes + 3


def test_one_prediction_or_the_same_twice_is_drafted_as_before():
    one = run(WORDS.encode(SECOND), ids(ORIGINAL), codec=WORDS)
    twice = run(WORDS.encode(SECOND), ids(ORIGINAL), predictions=[ids(ORIGINAL)], codec=WORDS)
    assert twice.passes == one.passes
