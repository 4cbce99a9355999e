"""Provenance: every character of an answer has one origin."""

import pytest

from specedit.decode import FREE, Chunk
from specedit.edit.backend import Written
from specedit.view import provenance as prov


def written(
    *pieces: str,
    accepted: int = 0,
    proposed: int | None = None,
    source: str = "prediction",
    resynced: bool = False,
) -> Written:
    offered = accepted if proposed is None else proposed
    chunk = Chunk(tuple(range(len(pieces))), offered, accepted, source, resynced, 1.0)
    return Written(chunk, pieces)


def spelled(events: list[Written]) -> list[tuple[str, str]]:
    result = prov.of(events)
    return [(p.kind, result.text[p.start : p.end]) for p in result.parts]


PREDICTED = written("a", "b", "C", accepted=2)
AGAIN = written("d", "E", accepted=1, proposed=3, resynced=True)
CASES = [
    pytest.param([], [], id="nothing"),
    pytest.param([written("x", source=FREE)], [(FREE, "x")], id="plain decoding"),
    pytest.param([PREDICTED], [("copied", "ab"), (FREE, "C")], id="the own choice is free"),
    pytest.param(
        [PREDICTED, PREDICTED],
        [("copied", "abC"), ("copied", "ab"), (FREE, "C")],
        id="a choice the drafter expected is copied",
    ),
    pytest.param(
        [PREDICTED, AGAIN],
        [("copied", "ab"), (FREE, "C"), ("found", "d"), (FREE, "E")],
        id="a choice before a resync is a divergence",
    ),
    pytest.param(
        [written("x", "Y", accepted=1, source="lookup")],
        [("looked", "x"), (FREE, "Y")],
        id="looked up",
    ),
    pytest.param(
        [
            written("x", "Y", accepted=1, source="chained"),
            written("z", "W", accepted=1, source="model"),
        ],
        [("guessed", "x"), (FREE, "Y"), ("drafted", "z"), (FREE, "W")],
        id="heads, and a draft model",
    ),
    pytest.param(
        [written("", "", accepted=1), written("x", source=FREE)],
        [(FREE, "x")],
        id="tokens without characters",
    ),
]


@pytest.mark.parametrize(("events", "expected"), CASES)
def test_each_part_has_its_origin(events, expected):
    assert spelled(events) == expected


def test_an_answer_is_found_by_its_lines_when_a_part_was_not_applied():
    answer = prov.of([written("one\n", "two\n", "three\n", accepted=2, proposed=4)])
    placed = answer.onto("zero\none\nTWO\nthree\n")
    assert [(p.kind, placed.text[p.start : p.end]) for p in placed.parts] == [
        ("copied", "one\n"),
        (FREE, "three\n"),
    ]
    assert placed.kinds(0, 5) == set()
