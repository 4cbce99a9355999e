"""Plans, events and errors cross the wire unchanged; predicted tokens count as OpenAI has it."""

import json
from dataclasses import asdict, fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit import errors
from specedit.edit.backend import Answer, Loading, Plan, Ready, Written
from specedit.engines.base import Prefill
from specedit.errors import SpeceditError
from specedit.files import stored
from specedit.server import protocol

texts = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
NUMBERS = {str: texts, float: st.floats(0, 1e6), int: st.integers(0, 10**6), bool: st.booleans()}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that a field of a message has."""
    if kind in NUMBERS:
        return NUMBERS[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: any_of(hints[field.name]) for field in fields(kind)})
    if origin is tuple:
        return st.lists(any_of(parts[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(*map(any_of, parts), max_size=3)
    return st.none() if kind is NoneType else st.one_of(*map(any_of, parts))


plans = any_of(Plan)
events = st.one_of(*map(any_of, (Loading, Ready, Prefill, Written, Answer)))


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
