"""Plans, events and errors cross the wire unchanged; predicted tokens count as OpenAI has it."""

import json
from dataclasses import asdict, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit import errors
from specedit.decode import Chunk, Tally
from specedit.edit.backend import (
    Answer,
    Loading,
    Message,
    ModelInfo,
    Plan,
    RawPrompt,
    Ready,
    Written,
)
from specedit.engines.base import Prefill, Sampling, appeared
from specedit.errors import ServerError, SpeceditError
from specedit.files import stored
from specedit.server import protocol

texts = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
seconds = st.floats(0, 1e6)
counts = st.integers(0, 10**6)
messages = st.builds(
    Message, role=st.sampled_from(("system", "user")), segments=st.lists(texts).map(tuple)
)
PLAN = {
    "messages": st.lists(messages, min_size=1, max_size=3).map(tuple),
    "opening": texts,
    "language": texts,
    "closing": texts,
    "nested": st.booleans(),
    "prediction": st.none() | texts,
    "predictions": st.lists(texts, max_size=3).map(tuple),
    "least": texts,
    "instruction": texts,
    "draft": st.lists(texts, max_size=3).map(tuple),
    "max_tokens": st.none() | counts,
    "copies": st.booleans(),
    "unlike": st.lists(texts, max_size=3).map(tuple),
    "sampling": st.builds(Sampling, seconds, seconds, counts, second_at=st.none() | counts),
    "stop": st.lists(texts, max_size=3).map(tuple),
    "audit": st.booleans(),
    "fresh": st.booleans(),
    "raw": st.none() | st.builds(RawPrompt, texts, st.lists(counts).map(tuple), st.none() | texts),
}
plans = st.builds(Plan, **PLAN)
chunks = st.builds(
    Chunk, st.lists(counts).map(tuple), counts, counts, texts, st.booleans(), seconds, counts
)
lines = st.builds(ModelInfo, texts, texts, texts, texts, counts, st.booleans(), texts)
events = st.one_of(
    st.builds(Loading, texts, seconds, seconds, texts),
    st.builds(Ready, lines, seconds),
    st.builds(Prefill, counts, counts, counts, seconds),
    st.builds(Written, chunks, st.lists(texts).map(tuple)),
    st.builds(
        Answer, texts, texts, st.booleans(), counts, counts, counts, counts,
        st.dictionaries(texts, st.builds(Tally, counts, counts)), seconds, seconds, seconds,
        st.none() | texts, counts, counts,
    ),
)  # fmt: skip


@given(plans)
def test_a_plan_crosses_unchanged(plan):
    assert protocol.plan_from(stored.parsed(protocol.dump(asdict(plan)))) == plan


@given(events)
def test_an_event_crosses_unchanged_on_one_ascii_line(event):
    line = protocol.dump(protocol.event_json(event))
    assert line.isascii() and line.count(b"\n") == 1
    assert protocol.event_from(json.loads(line)) == event


KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SpeceditError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_an_error_is_raised_again_as_what_it_was(kind):
    line = json.loads(protocol.dump(protocol.error_json(kind("what", hint="now"))))
    with pytest.raises(kind) as raised:
        protocol.event_from(line)
    assert type(raised.value) is kind
    assert (raised.value.message, raised.value.hint) == ("what", "now")


def test_an_unknown_line_is_the_servers_fault():
    with pytest.raises(ServerError):
        protocol.event_from({"event": "new"})


def longest_common(a: list[int], b: list[int]) -> int:
    rows = [[0] * (len(b) + 1)]
    for x in a:
        row = [0]
        for at, y in enumerate(b):
            row.append(rows[-1][at] + 1 if x == y else max(rows[-1][at + 1], row[-1]))
        rows.append(row)
    return rows[-1][-1]


ids = st.lists(st.integers(0, 4), max_size=40)


@given(ids, ids)
def test_appeared_is_the_longest_common_subsequence(a, b):
    assert appeared(a, b) == longest_common(a, b)


def test_a_hundred_thousand_strange_tokens_are_counted():
    assert appeared(range(100_000), [*range(50_000, 51_000), 7]) == 1_000


def test_every_field_of_a_plan_crosses():
    assert {f.name for f in fields(Plan)} == set(asdict(Plan(()))) == set(PLAN)
