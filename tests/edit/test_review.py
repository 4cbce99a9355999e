"""The question that is asked about a change."""

from __future__ import annotations

from scripted_backend import Scripted

from specedit.edit.backend import Message, Plan, Progress
from specedit.edit.report import Edit
from specedit.edit.review import LONGEST, review_plan

BEFORE = b"def total(items):\r\n    return sum(items)\r\n"


def asked(before: bytes, after: bytes) -> str:
    plan = review_plan(Edit("src/a.py", "would-edit", before, after), " add one ")
    return plan.messages[-1].content


def test_the_model_reads_the_change_as_a_diff_and_the_instruction() -> None:
    text = asked(BEFORE, BEFORE.replace(b"(items)\r\n", b"(items) + 1\r\n"))
    assert text.startswith("File `a.py`.")
    assert "\n-    return sum(items)\n+    return sum(items) + 1\n```" in text
    assert "The instruction was: add one\n" in text


def test_a_fence_in_the_change_does_not_end_its_block() -> None:
    assert "\n+```\n````\n" in asked(b"a\n", b"a\n```\n")


def test_of_a_long_change_the_beginning_is_shown() -> None:
    text = asked(b"", b"".join(b"line %d\n" % number for number in range(10_000)))
    assert len(text) < LONGEST + 1000 and "+line 1\n" in text and text.endswith("yes or no.")


def test_a_state_is_given_out_and_nothing_is_written() -> None:
    backend = Scripted("never")
    plan = Plan(messages=(Message("user", ("one",)),), state_only=True)
    answer = backend.run(plan, Progress())
    other = Plan(messages=(Message("user", ("two",)),), state_only=True)
    assert answer.text == "" and answer.completion == 0 and answer.prompt == 4
    assert len(answer.state) == 4 and answer.state != backend.run(other, Progress()).state
    assert backend.run(plan, Progress()).state == answer.state
