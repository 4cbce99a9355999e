"""The attempts of a run: how each try differs, its Job, one answer to it, and the tries of a run
that the checks alone judge.

The first attempt is what a run without tries asks for. With a test command later ones sample from
the same prompt, or show the model what was wrong with the try before; without one a second try
shows the model why the first was refused.
Seeds are fixed (the settings' seed and the number of the try): the same command line gives the same
tries. Earlier answers are predictions of later ones, which changes the speed and never the text.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from specedit.check.finding import NOTHING
from specedit.edit import prompt
from specedit.edit.attempt import Answered, answered, once
from specedit.edit.backend import Backend, Event
from specedit.edit.job import Job, Planned, sampling_of
from specedit.edit.outcome import keep
from specedit.edit.report import Edit, Figures, Finding, Judgement, Tried, Try, Trying
from specedit.errors import TooLong
from specedit.import_time import frozen
from specedit.settings import Settings

DEFAULT_TRIES = 6  # with a test command, where the settings do not say how many
UNTESTED_TRIES = 2  # without one: the second is greedy and sees why the first was refused
TOP_P = 0.95  # of a sampled try, where the settings do not say
MOST_PREDICTIONS = 8  # earlier answers that are followed; the newest
# The least temperature of the second try and those after it, and whether the model sees what was
# wrong (docs/research/2026-11-tries.md).
VARIATIONS = (
    *((0.8, False), (1.0, False), (0.8, False), (1.0, False)),
    *((0.8, True), (1.2, False), (1.0, True)),
)


@frozen
class Earlier:
    """An earlier answer, and what was wrong with it."""

    text: str
    problem: str = ""


def attempts(settings: Settings) -> Iterator[Trying]:
    """The tries, in order. Without a test command none but the first is sampled: what passes the
    checks by luck is worse than no answer."""
    first = sampling_of(settings)
    usual = 1 if settings.compare else DEFAULT_TRIES if settings.test else UNTESTED_TRIES
    most = settings.tries or usual
    most = most if settings.test else min(most, UNTESTED_TRIES)
    yield Trying(1, most, first)
    for number in range(2, most + 1):
        if not settings.test:
            yield Trying(number, most, replace(first, temperature=0.0), with_feedback=True)
            continue
        least, with_feedback = VARIATIONS[(number - 2) % len(VARIATIONS)]
        temperature = max(least, settings.temperature)
        top_p = settings.top_p if settings.top_p < 1 else TOP_P
        seed = (settings.seed + number - 1) % (1 << 63)
        sampled = replace(first, temperature=temperature, top_p=top_p, seed=seed)
        yield Trying(number, most, sampled, with_feedback)


def job_of(job: Job, attempt: Trying, earlier: Sequence[Earlier]) -> Job:
    """The Job of one try: the first one's, with its own sampling, predictions and feedback."""
    plan = replace(job.plan, sampling=attempt.sampling)
    if plan.prediction is not None:
        texts = (*(one.text for one in reversed(earlier)), *plan.predictions)
        plan = replace(plan, predictions=tuple(dict.fromkeys(texts))[:MOST_PREDICTIONS])
    feedback = earlier[-1].problem if attempt.with_feedback and earlier else ""
    if feedback:
        plan = replace(plan, messages=prompt.with_feedback(plan.messages, feedback))
    return replace(job, plan=plan, feedback=feedback)


def answer(
    job: Job, attempt: Trying, earlier: Sequence[Earlier], backend: Backend, settings: Settings
) -> Generator[Planned | Event, None, Answered]:
    """Run one try. The first may narrow its Job, and the others use what it was narrowed to. Where
    the longer prompt of a try with feedback does not fit the window, the first one's is used."""
    work = job_of(job, attempt, earlier)
    if not earlier:
        return (yield from answered(work, backend, settings))
    try:
        return (yield from once(work, backend, settings))
    except TooLong:
        plain = job_of(job, replace(attempt, with_feedback=False), earlier)
        return (yield from once(plain, backend, settings))


def as_earlier(answered: Answered, problem: str = "") -> Earlier:
    """An answer as later tries use it: a prediction, and feedback."""
    problems = problem or "\n".join(_line(one) for one in answered.edit.findings if one.refuses)
    return Earlier(answered.answer.text, problems)


def _line(finding: Finding) -> str:
    lines = sorted({spot.line for spot in finding.places})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}: " if lines else ""
    return f"{where}{finding.text}"


def try_of(attempt: Trying, answered: Answered, earlier: Sequence[Try]) -> Try:
    """A try with the verdict of the checks."""
    edit = answered.edit
    same = (one.number for one in earlier if one.after_sha256 == edit.after_sha256)
    return Try(
        number=attempt.number,
        seed=attempt.sampling.seed,
        temperature=attempt.sampling.temperature,
        with_feedback=bool(answered.job.feedback),
        figures=edit.figures,
        after_sha256=edit.after_sha256,
        refused="; ".join(edit.problems),
        same_as=next(same, None),
    )


def with_all_tries(edit: Edit, tries: Sequence[Try]) -> Edit:
    """The Edit with the figures of all tries."""
    own = edit.figures
    spent = sum((one.figures for one in tries), Figures())
    spent = replace(spent, logits_digest=own.logits_digest, regions=own.regions)
    return replace(edit, tries=tuple(tries), figures=spent)


UNCHANGED = (NOTHING, "whitespace")  # kinds of finding of an answer without a change
# Another answer would be cut off as well, and each takes the longest time; where a part of a change
# belongs, the model is asked once.
LAST = ("cut-off", "ambiguous")


def checked_tries(
    job: Job, backend: Backend, settings: Settings, *, alone: bool
) -> Generator[Planned | Event | Trying | Tried | Edit, None, None]:
    """Try until an answer passes its checks; the Edit comes last: that of the first answer that
    passed, otherwise that of the first. `alone`: an answer without a change does not pass."""
    tries: list[Try] = []
    edits: list[Edit] = []  # one for each try
    earlier: list[Earlier] = []
    for attempt in attempts(settings):
        if tries:
            yield attempt
        answered = yield from answer(job, attempt, earlier, backend, settings)
        edit = answered.edit
        job = job if tries else answered.job
        unchanged = _why_unchanged(edit) if alone and not edit.problems else ""
        passed = not (edit.problems or unchanged)
        tries.append(replace(try_of(attempt, answered, tries), noted=unchanged, kept=passed))
        edits.append(edit)
        asked_again = job.known is None and attempt.most > 1
        if asked_again and (tries[-1].line or len(tries) > 1):
            yield Tried(tries[-1], attempt.most)
        if passed or job.known is not None:  # there is no other answer
            break
        if any(one.kind in LAST for one in edit.findings):
            break
        earlier.append(as_earlier(answered, unchanged))
    kept = [n for n, one in enumerate(tries) if one.kept or one.noted]
    at = next((n for n in kept if tries[n].kept), kept[0] if kept else 0)
    tries[at] = replace(tries[at], kept=bool(kept))
    result = edits[at] if len(tries) == 1 else with_all_tries(edits[at], tries)
    yield result if kept else keep(result)


def _why_unchanged(edit: Edit) -> str:
    """The finding of an answer without a change; "" for any other answer."""
    return next((one.text for one in edit.findings if one.kind in UNCHANGED), "")


def whole_of(parts: Sequence[Try], names: Sequence[str]) -> Try:
    """One try over all files, from what it was for each of them."""
    named = "{name}: {why}" if len(names) > 1 else "{why}"
    refused = [
        named.format(name=name, why=one.refused)
        for name, one in zip(names, parts, strict=True)
        if one.refused
    ]
    return replace(
        parts[0],
        figures=sum((one.figures for one in parts), Figures()),
        after_sha256=" ".join(one.after_sha256 for one in parts),
        refused="; ".join(refused),
        with_feedback=any(one.with_feedback for one in parts),
        same_as=None,
    )


def best(wholes: Sequence[Try]) -> int:
    """The index of the best try: the fewest failures; where none are counted, the first that the
    command judged."""
    uncounted = float("inf")

    def rank(at: int) -> tuple[bool, bool, float, int]:
        one = wholes[at]
        failures = one.test.failed if one.test and one.test.failed is not None else uncounted
        return bool(one.refused), one.same_as is not None, failures, at

    return min(range(len(wholes)), key=rank)


def none_passes(wholes: Sequence[Try], command: str, before: Judgement) -> str:
    """Why nothing is kept: what stands against the best of the tries."""
    nearest = wholes[best(wholes)]
    if nearest.refused:  # and so is every other: the command judged none of them
        return f"the checks refuse all {len(wholes)} tries; the first: {nearest.refused}"
    message = f"no try of {len(wholes)} passes {command!r}"
    if not before.passed:
        message += ", which failed before the edit, too"
    return f"{message}: {nearest.line}"
