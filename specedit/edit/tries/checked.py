"""Tries that the checks alone judge: after a refusal the model is told why, once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from specedit.check.kinds import NOTHING
from specedit.edit.backend import Backend, Event
from specedit.edit.job import Job, Planned
from specedit.edit.outcome import keep
from specedit.edit.report import Edit, Try
from specedit.edit.tries.attempts import (
    Earlier,
    answer,
    as_earlier,
    attempts,
    max_tries,
    try_of,
    trying,
    with_all_tries,
)
from specedit.edit.tries.items import Tried, Trying
from specedit.settings import Settings

UNCHANGED = (NOTHING, "whitespace")  # kinds of finding of an answer without a change


def checked_tries(
    job: Job, backend: Backend, settings: Settings, *, alone: bool
) -> Generator[Planned | Event | Trying | Tried | Edit, None, None]:
    """Try until an answer passes its checks; the Edit comes last: that of the first answer that
    passed, otherwise that of the first. `alone`: an answer without a change does not pass."""
    first: Edit | None = None
    first_unchanged: Edit | None = None
    tries: list[Try] = []
    earlier: list[Earlier] = []
    for attempt in attempts(settings):
        if tries:
            yield trying(attempt, settings)
        answered = yield from answer(job, attempt, earlier, backend, settings)
        edit = answered.edit
        job = job if tries else answered.job
        unchanged = why_unchanged(edit) if alone and not edit.problems else ""
        passed = not (edit.problems or unchanged)
        tries.append(replace(try_of(attempt, answered, tries), noted=unchanged, kept=passed))
        asked_again = job.known is None and max_tries(settings) > 1
        if asked_again and (tries[-1].line or len(tries) > 1):
            yield Tried(tries[-1], max_tries(settings))
        first = first or edit
        if passed:
            yield edit if len(tries) == 1 else with_all_tries(edit, tries)
            return
        first_unchanged = first_unchanged or (edit if unchanged else None)
        if job.known is not None:
            break  # there is no other answer
        if any(one.kind == "cut-off" for one in edit.findings):
            break  # the next answer would be cut off as well, and each takes the longest time
        earlier.append(as_earlier(answered, unchanged))
    assert first is not None
    if first_unchanged is not None:
        at = next(at for at, one in enumerate(tries) if one.noted)
        tries[at] = replace(tries[at], kept=True)
        first = first_unchanged
    result = first if len(tries) == 1 else with_all_tries(first, tries)
    yield result if first_unchanged is not None else keep(result)


def why_unchanged(edit: Edit) -> str:
    """The finding of an answer without a change; "" for any other answer."""
    return next((one.text for one in edit.findings if one.kind in UNCHANGED), "")
