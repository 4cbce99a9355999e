"""The loop: what a pass settles, where it stops, what the cache holds."""

import pytest
from drafting import answered
from replaying import run
from scripted_engine import END, ScriptedEngine

from specedit.decode import Chunk, drafters
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.errors import UsageError

ANSWER = list(b"one two three four five six seven eight nine ten")


def test_a_right_prediction_settles_the_answer_in_few_passes():
    result = run(ANSWER, [*ANSWER, END], names=("prediction",))
    assert result.tokens == [*ANSWER, END]
    assert result.passes <= 3
    assert all(chunk.accepted == chunk.proposed for chunk in result.chunks)
    assert len(result.tokens) in (
        result.passes + sum(chunk.accepted for chunk in result.chunks),
        result.passes - 1 + sum(chunk.accepted for chunk in result.chunks),  # ended by a draft's id
    )


def test_an_accepted_id_can_end_the_answer():
    text = list(b"answer ``` and more that the model would have said")
    asked: list[int] = []

    def ends(token: int) -> bool:
        asked.append(token)
        return asked[-3:] == list(b"```")

    made = drafters.build(["prediction"], prediction=text, codec=None)
    tokens, done, _ = answered(ScriptedEngine(text), [1], made, ends=ends, limit=100, audit=False)
    assert tokens == list(b"answer ```") == asked, "each committed id is asked about once, in order"
    assert done.reason == "stop"


def test_the_window_is_never_exceeded():
    engine = ScriptedEngine(ANSWER, window=20)
    made = drafters.build(["prediction"], prediction=ANSWER, codec=None)
    _, done, _ = answered(engine, [7] * 5, made, limit=1000, end=END, audit=False)
    assert engine.length <= 20
    assert done.reason == "length"


def test_a_prompt_is_needed():
    with pytest.raises(UsageError, match="prompt is empty"):
        list(decode(ScriptedEngine([]), [], drafters=(), widths=Widths(), ends=bool, limit=9))


def test_closing_early_leaves_a_cache_of_committed_ids():
    engine = ScriptedEngine(ANSWER)
    made = drafters.build(["prediction"], prediction=ANSWER[::-1], codec=None)
    events = decode(
        engine, [1, 2], drafters=made, widths=Widths(), ends=lambda t: t == END, limit=99
    )
    settled = 0
    for event in events:
        if isinstance(event, Chunk):
            settled += len(event.tokens)
            if settled > 5:
                break
    events.close()  # type: ignore[attr-defined]
    assert engine.length == 1 + settled
