"""The Plan of a try: its prompt, its sampling, and every earlier answer as a prediction.

A try that is shown something goes on from the prompt and the answer that it is shown something
about, so that both are in the cache; any other has the first try's prompt. Predictions change the
speed alone: a try's text is its prompt's, its seed's and its model's. Knows text; knows no ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit import prompt
from specedit.edit.job import Job
from specedit.edit.plan import Message, Plan
from specedit.edit.tries.ways import Way

MOST = 8  # earlier answers that are followed; the newest


@dataclass(frozen=True)
class Earlier:
    """An earlier answer to a Job, and what stood against it."""

    text: str
    said: str = ""
    whole: bool = True  # not cut off: it can be shown to the model again


def told(what: str, text: str) -> str:
    """What stood against an answer, as a model is told: who says it, and what."""
    return f"The {what} say:\n{text}"


def plan_of(job: Job, way: Way, earlier: Sequence[Earlier]) -> Plan:
    """What the backend is asked for one try."""
    plan = replace(job.plan, sampling=way.sampling)
    if plan.prediction is not None:
        newest = dict.fromkeys(one.text for one in reversed(earlier))
        plan = replace(plan, predictions=tuple(newest)[:MOST])
    if not (way.told and earlier and earlier[-1].said and earlier[-1].whole):
        return plan
    shown = earlier[-1]
    marks = prompt.fence(shown.said)
    said = (
        f"That edit does not do. This is what stands against it:\n\n{marks}\n"
        f"{prompt.finished(shown.said)}{marks}\n\n"
        "Find what is wrong with it and mend that. Reply with the complete text again in one "
        "code block."
    )
    answered = Message("assistant", (plan.opening, shown.text, plan.closing))
    return replace(plan, messages=(*plan.messages, answered, Message("user", (said,))))
