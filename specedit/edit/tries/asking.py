"""The Plan of a try: its prompt, its sampling, and every earlier answer as a prediction.

A try that is told what stood against the one before shares all of the prompt but its end, so that
the file is in the cache; any other has the first try's prompt. Predictions change the
speed alone: a try's text is its prompt's, its seed's and its model's. Knows text; knows no ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit import prompt
from specedit.edit.job import Job
from specedit.edit.tries.ways import Way

MOST = 8  # earlier answers that are followed; the newest


@dataclass(frozen=True)
class Earlier:
    """An earlier answer to a Job, and what stood against it."""

    text: str
    said: str = ""


def job_of(job: Job, way: Way, earlier: Sequence[Earlier]) -> Job:
    """The Job of one try: the first one's, with its own sampling, and with what it is told."""
    plan = replace(job.plan, sampling=way.sampling)
    if plan.prediction is not None:
        texts = (*(one.text for one in reversed(earlier)), *plan.predictions)
        plan = replace(plan, predictions=tuple(dict.fromkeys(texts))[:MOST])
    said = earlier[-1].said if way.told and earlier else ""
    if said:
        plan = replace(plan, messages=prompt.told(plan.messages, said))
    return replace(job, plan=plan, told=said)
