"""Further attempts at an edit whose first answer is refused, changes nothing, fails the user's
test, or is not what the user wants.

With a test command they sample from the same prompt, or show the model what was wrong; without one
the second shows the model why the first was refused, or takes the model's second choice where that
changed nothing (docs/research/2026-11-second-choice.md). Seeds are fixed, and earlier answers are
predictions. A sampled answer begins as the one before it and then differs from all earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specedit.check.finding import Finding
from specedit.edit import prompt
from specedit.edit.ask import Attempt, attempt
from specedit.edit.backend import Backend
from specedit.edit.job import Job, sampling_of
from specedit.edit.regions.locate import widened
from specedit.edit.report import Edit, Figures, Tried, Trying, keep
from specedit.edit.sink import Sink
from specedit.engines.base import Sampling
from specedit.errors import TooLong
from specedit.settings import Settings

DEFAULT_TRIES = 6  # with a test command, where the settings do not say how many
UNTESTED_TRIES = 2  # without one: the second is greedy and sees why the first was refused
TOP_P = 0.95  # of a sampled attempt
SECOND = 2  # the attempt that opens more of the file where the first proved too narrow
TOO_NARROW = frozenset({"repeated", "lost-definition", "lost-lines", "undefined", "placeholder"})
# Another answer would be cut off as well, and each takes the longest time; where a part of a change
# belongs, the model is asked once.
FINAL_KINDS = ("cut-off", "ambiguous")
MAX_OTHER_ANSWERS = 3  # in a row, until one passes its checks
MAX_PREDICTIONS = 8  # earlier answers that are followed; the newest
# The least temperature of the second attempt and those after it, and whether the model sees what
# was wrong (docs/research/2026-11-tries.md).
VARIATIONS = (
    *((0.8, False), (1.0, False), (0.8, False), (1.0, False)),
    *((0.8, True), (1.2, False), (1.0, True)),
)


def most_tries(settings: Settings) -> int:
    """The attempts that an edit may take. Without a test command none but the first is sampled:
    what passes the checks by luck is worse than no answer."""
    usual = 1 if settings.compare else DEFAULT_TRIES if settings.test else UNTESTED_TRIES
    most = settings.tries or usual
    return most if settings.test else min(most, UNTESTED_TRIES)


def trying(settings: Settings, number: int) -> Trying:
    """How one of the attempts is sampled, and whether the model sees what was wrong before."""
    first, most = sampling_of(settings), most_tries(settings)
    if number == 1:
        return Trying(1, most, first)
    if not settings.test:
        return Trying(number, most, replace(first, temperature=0.0), with_feedback=True)
    sampling, with_feedback = _varied(settings, number)
    return Trying(number, most, sampling, with_feedback)


def _varied(settings: Settings, number: int) -> tuple[Sampling, bool]:
    least, with_feedback = VARIATIONS[(number - 2) % len(VARIATIONS)]
    temperature = max(least, settings.temperature)
    seed = (settings.seed + number - 1) % (1 << 63)
    first = sampling_of(settings)
    return replace(first, temperature=temperature, top_p=TOP_P, seed=seed), with_feedback


def until_one_passes(
    first: Attempt, backend: Backend, settings: Settings, sink: Sink, *, alone: bool
) -> list[Attempt]:
    """The first attempt, which does not pass its checks, and one more, where that can help."""
    attempts = [_judged(first, alone)]
    if first.job.known is not None or most_tries(settings) < SECOND:
        return attempts
    sink.emit(Tried(attempts[0].record, UNTESTED_TRIES))
    if any(finding.kind in FINAL_KINDS for finding in first.edit.findings):
        return attempts
    how = trying(settings, SECOND)
    sink.emit(how)
    certainty = first.edit.figures.certainty
    if first.edit.why_unchanged and certainty is not None:
        text = "the likeliest answer changes nothing; this is the second choice of the model"
        questions = first.job.questions
        regions = questions[certainty.part] if questions else ()  # where it was least sure
        job = _noting(replace(first.job, regions=regions), text)
        sampling = replace(how.sampling, second_at=certainty.least_at)
        how = replace(how, sampling=sampling, with_feedback=False)
    else:
        job = wider(first)
    attempts.append(_judged(again(job, how, attempts, backend, settings, sink), alone))
    sink.emit(Tried(attempts[1].record, UNTESTED_TRIES))
    return attempts


def _judged(made: Attempt, alone: bool) -> Attempt:
    """An attempt with what its checks say: that it passes, or why it is asked for again."""
    unchanged = made.edit.why_unchanged if alone and not made.edit.problems else ""
    record = replace(made.record, noted=unchanged, kept=made.passes(alone=alone))
    return replace(made, record=record, problem=unchanged or made.problem)


def first_that_passes(attempts: Sequence[Attempt], *, keeps: bool = True) -> Edit:
    """The Edit of the first answer that passes its checks, else of the first without a change, else
    of the first, whose text is kept for the user (`keeps`)."""
    best = next((made for made in attempts if made.record.kept), None)
    best = best or next((made for made in attempts if made.record.noted), None)
    edit = (best or attempts[0]).edit
    if len(attempts) > 1:
        marked = [
            replace(made, record=replace(made.record, kept=True)) if made is best else made
            for made in attempts
        ]
        edit = with_all_tries(edit, marked)
    return keep(edit) if keeps and not best else edit


def another(
    attempts: list[Attempt], backend: Backend, settings: Settings, sink: Sink
) -> Edit | None:
    """The Edit of one more answer that passes its checks and is unlike all earlier ones: the
    model's second choice, if it is known, then sampled ones; None where MAX_OTHER_ANSWERS do not.
    """
    for _ in range(MAX_OTHER_ANSWERS):
        number = len(attempts) + 1
        job = _noting(attempts[0].job, "not the likeliest answer: you asked for another one")
        certainty = attempts[-1].edit.figures.certainty
        if number == SECOND and certainty is not None and len(job.questions) <= 1:
            sampling = replace(sampling_of(settings), temperature=0.0, second_at=certainty.least_at)
        else:
            sampling = _varied(settings, number)[0]
        how = Trying(number, number, sampling)
        sink.emit(how)
        made = again(job, how, attempts, backend, settings, sink)
        kept = made.edit.changed and made.record.same_as is None
        if kept:
            attempts[:] = [
                replace(earlier, record=replace(earlier.record, kept=False)) for earlier in attempts
            ]
        record = replace(made.record, kept=kept, noted=made.edit.why_unchanged)
        attempts.append(replace(made, record=record))
        sink.emit(Tried(record, how.most))
        if kept:
            return with_all_tries(made.edit, attempts)
    return None


def again(
    job: Job,
    how: Trying,
    earlier: Sequence[Attempt],
    backend: Backend,
    settings: Settings,
    sink: Sink,
) -> Attempt:
    """One more attempt. Where the longer prompt of one with feedback does not fit the window, the
    first one's is used."""
    try:
        made = attempt(_asked_again(job, how, earlier), how.number, backend, settings, sink)
    except TooLong:
        job = _asked_again(job, replace(how, with_feedback=False), earlier)
        made = attempt(job, how.number, backend, settings, sink)
    after = made.record.after_sha256
    same = (old.record.number for old in earlier if old.record.after_sha256 == after)
    return replace(made, record=replace(made.record, same_as=next(same, None)))


def _asked_again(job: Job, how: Trying, earlier: Sequence[Attempt]) -> Job:
    """The Job with an attempt's own sampling, predictions and feedback."""
    plan = replace(job.plan, sampling=how.sampling)
    newest_first = tuple(dict.fromkeys(made.answer.text for made in reversed(earlier)))
    if plan.prediction is not None:
        texts = dict.fromkeys((*newest_first, *plan.predictions))
        plan = replace(plan, predictions=tuple(texts)[:MAX_PREDICTIONS])
    if how.sampling.temperature > 0 and len(job.questions) <= 1:
        plan = replace(plan, unlike=newest_first)
    feedback = earlier[-1].problem if how.with_feedback else ""
    if feedback and plan.messages:
        plan = replace(plan, messages=prompt.with_feedback(plan.messages, feedback))
    return replace(job, plan=plan, feedback=feedback)


def wider(made: Attempt) -> Job:
    """The Job of an attempt, with more of the file open where its answer failed for a reason that
    this may remove."""
    kinds = {finding.kind for finding in made.edit.findings}
    return made.job if not made.job.regions or kinds.isdisjoint(TOO_NARROW) else widened(made.job)


def _noting(job: Job, text: str) -> Job:
    return replace(job, findings=(*job.findings, Finding("second-choice", text)))


def with_all_tries(edit: Edit, attempts: Sequence[Attempt]) -> Edit:
    """The Edit with the figures of all attempts."""
    own, records = edit.figures, tuple(made.record for made in attempts)
    spent = sum((record.figures for record in records), Figures())
    return replace(edit, tries=records, figures=spent.of_answer(own))
