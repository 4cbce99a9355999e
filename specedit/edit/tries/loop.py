"""The tries of an edit: how each differs, one answer to it, and the loop that ends when a judge
keeps one. The checks alone judge here; the user's command does in `tested`.

The first try is what a run without tries asks for. With a test command later ones sample from
the same prompt, or show the model what was wrong with the try before; without one a second try
shows the model why the first was refused. Where the first changed nothing, the second takes the
model's second choice where it was least sure (docs/research/2026-11-second-choice.md).
Seeds are fixed (the settings' seed and the number of the try): the same command line gives the same
tries. Earlier answers are predictions of later ones, which changes the speed and never the text.
A sampled answer begins as the one before it does and differs from all earlier ones from where the
model's distribution allows another token, so that no try repeats one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from specedit.check.finding import NOTHING
from specedit.edit import prompt
from specedit.edit.ask import Answered, ask, narrow
from specedit.edit.backend import Backend
from specedit.edit.job import Job, sampling_of
from specedit.edit.outcome import keep
from specedit.edit.regions.locate import widened
from specedit.edit.report import Edit, Figures, Finding, Judgement, Tried, Try, Trying
from specedit.edit.sink import Sink
from specedit.engines.base import Sampling
from specedit.errors import TooLong
from specedit.files.source import Source
from specedit.settings import Settings

DEFAULT_TRIES = 6  # with a test command, where the settings do not say how many
UNTESTED_TRIES = 2  # without one: the second is greedy and sees why the first was refused
TOP_P = 0.95  # of a sampled try, where the settings do not say
SECOND = 2  # the number of the try that opens more of the file where the first proved too narrow
TOO_NARROW = frozenset({"repeated", "lost-definition", "lost-lines", "undefined", "placeholder"})
UNCHANGED = (NOTHING, "whitespace")  # kinds of finding of an answer without a change
MAX_OTHER_ANSWERS = 3  # in a row, until one passes its checks
MOST_PREDICTIONS = 8  # earlier answers that are followed; the newest
# The least temperature of the second try and those after it, and whether the model sees what was
# wrong (docs/research/2026-11-tries.md).
VARIATIONS = (
    *((0.8, False), (1.0, False), (0.8, False), (1.0, False)),
    *((0.8, True), (1.2, False), (1.0, True)),
)


@dataclass(frozen=True, slots=True)
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
        sampled, with_feedback = varied(settings, number)
        yield Trying(number, most, sampled, with_feedback)


def varied(settings: Settings, number: int) -> tuple[Sampling, bool]:
    """How a later try is sampled, and whether the model sees what was wrong with the one before."""
    least, with_feedback = VARIATIONS[(number - 2) % len(VARIATIONS)]
    temperature = max(least, settings.temperature)
    seed = (settings.seed + number - 1) % (1 << 63)
    first = sampling_of(settings)
    return replace(first, temperature=temperature, top_p=TOP_P, seed=seed), with_feedback


def job_of(job: Job, attempt: Trying, earlier: Sequence[Earlier]) -> Job:
    """The Job of one try: the first one's, with its own sampling, predictions and feedback."""
    plan = replace(job.plan, sampling=attempt.sampling)
    newest_first = tuple(dict.fromkeys(answer.text for answer in reversed(earlier)))
    if plan.prediction is not None:
        texts = dict.fromkeys((*newest_first, *plan.predictions))
        plan = replace(plan, predictions=tuple(texts)[:MOST_PREDICTIONS])
    if attempt.sampling.temperature > 0 and len(job.questions) <= 1:
        plan = replace(plan, unlike=newest_first)
    feedback = earlier[-1].problem if attempt.with_feedback and earlier else ""
    if feedback and plan.messages:
        plan = replace(plan, messages=prompt.with_feedback(plan.messages, feedback))
    return replace(job, plan=plan, feedback=feedback)


def ask_try(
    job: Job,
    attempt: Trying,
    earlier: Sequence[Earlier],
    backend: Backend,
    settings: Settings,
    sink: Sink,
) -> Answered:
    """Run one try. The first may narrow its Job to what fits the window, and the others use what it
    was narrowed to. Where the longer prompt of a try with feedback does not fit, the first one's is
    used."""
    own = job_of(job, attempt, earlier)
    try:
        return ask(own, backend, settings, sink)
    except TooLong as problem:
        if earlier:
            smaller = job_of(job, replace(attempt, with_feedback=False), earlier)
        else:
            smaller = narrow(own, settings, problem)
        return ask(smaller, backend, settings, sink)


def as_earlier(answered: Answered) -> Earlier:
    """An answer as later tries use it: a prediction, and feedback."""
    problems = "\n".join(_line(finding) for finding in answered.edit.findings if finding.refuses)
    return Earlier(answered.answer.text, problems)


def _line(finding: Finding) -> str:
    lines = sorted({spot.line for spot in finding.places})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}: " if lines else ""
    return f"{where}{finding.text}"


def try_of(attempt: Trying, answered: Answered, earlier: Sequence[Try]) -> Try:
    """A try with the verdict of the checks."""
    edit = answered.edit
    same = (attempt.number for attempt in earlier if attempt.after_sha256 == edit.after_sha256)
    return Try(
        number=attempt.number,
        seed=attempt.sampling.seed,
        temperature=attempt.sampling.temperature,
        with_feedback=bool(answered.job.feedback),
        second_choice=attempt.sampling.second_at is not None,
        figures=edit.figures,
        after_sha256=edit.after_sha256,
        refused="; ".join(edit.problems),
        same_as=next(same, None),
    )


def with_all_tries(edit: Edit, tries: Sequence[Try]) -> Edit:
    """The Edit with the figures of all tries."""
    own = edit.figures
    spent = sum((attempt.figures for attempt in tries), Figures())
    return replace(edit, tries=tuple(tries), figures=spent.of_answer(own))


@dataclass
class TriedFile:
    """One file through all tries."""

    source: Source
    job: Job
    uncommitted: bool = False
    tries: list[Try] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)  # one for each try
    earlier: list[Earlier] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def proved_narrow(self) -> bool:
        """Whether the last answer failed for a reason that a wider region may remove."""
        kinds = {finding.kind for finding in self.edits[-1].findings}
        return bool(self.job.regions) and not kinds.isdisjoint(TOO_NARROW)

    @property
    def may_take_second_choice(self) -> bool:
        """Whether the last answer changes nothing, and the model said how sure it was."""
        edit = self.edits[-1]
        return bool(_why_unchanged(edit)) and edit.figures.certainty is not None

    def second_choice(self, attempt: Trying) -> tuple[Job, Trying]:
        """The Job and the try that ask for the same once more, with the model's second choice where
        it was least sure; of several regions only the one where that was."""
        certainty = self.edits[-1].figures.certainty
        assert certainty is not None
        sampling = replace(attempt.sampling, second_at=certainty.least_at)
        text = "the likeliest answer changes nothing; this is the second choice of the model"
        questions = self.job.questions
        job = replace(
            self.job,
            regions=questions[certainty.part] if questions else (),
            findings=(*self.job.findings, Finding("second-choice", text)),
        )
        return job, replace(attempt, sampling=sampling, with_feedback=False)

    def another(self, settings: Settings) -> tuple[Job, Trying]:
        """The Job and the try that ask for one more answer: the model's second choice first, if it
        is known, then sampled ones."""
        number = len(self.tries) + 1
        text = "not the likeliest answer: you asked for another one"
        job = replace(self.job, findings=(*self.job.findings, Finding("second-choice", text)))
        certainty = self.edits[-1].figures.certainty
        if number == SECOND and certainty is not None and len(job.questions) <= 1:
            sampling = replace(sampling_of(settings), temperature=0.0, second_at=certainty.least_at)
        else:
            sampling = varied(settings, number)[0]
        return job, Trying(number, number, sampling)


class TryJudge(Protocol):
    """Decides which try is kept."""

    def begins(self, attempt: Trying) -> None:
        """A try begins."""
        ...

    def keeps(self, attempt: Trying) -> bool:
        """Whether the try that was just answered, over all files, is kept. What was wrong with it
        is noted for the next one."""
        ...

    def ends(self) -> bool:
        """Whether no further try is worth asking for."""
        ...


def try_until_kept(
    files: Sequence[TriedFile], judge: TryJudge, backend: Backend, settings: Settings, sink: Sink
) -> int | None:
    """Ask for all files, try after try, until one is kept; its index, None where none is."""
    for attempt in attempts(settings):
        judge.begins(attempt)
        for file in files:
            own = attempt
            if attempt.number == SECOND and not settings.test and file.may_take_second_choice:
                file.job, own = file.second_choice(attempt)
            elif attempt.number == SECOND and file.proved_narrow:
                file.job = widened(file.job)
            sink.file(file.name)
            answered = ask_try(file.job, own, file.earlier, backend, settings, sink)
            if attempt.number == 1:
                file.job = answered.job
            file.tries.append(try_of(own, answered, file.tries))
            file.edits.append(answered.edit)
            file.earlier.append(as_earlier(answered))
        if judge.keeps(attempt):
            return attempt.number - 1
        if judge.ends() or all(file.job.known is not None for file in files):
            return None  # there is no other answer
    return None


# Another answer would be cut off as well, and each takes the longest time; where a part of a change
# belongs, the model is asked once.
FINAL_KINDS = ("cut-off", "ambiguous")


def checked_edit(
    file: TriedFile, backend: Backend, settings: Settings, sink: Sink, *, alone: bool
) -> Edit:
    """The Edit of the first answer that passes its checks, otherwise that of the first. `alone`: an
    answer without a change does not pass."""
    try_until_kept([file], _Checks(file, sink, alone), backend, settings, sink)
    tries = file.tries
    kept = [at for at, tried in enumerate(tries) if tried.kept or tried.noted]
    at = next((at for at in kept if tries[at].kept), kept[0] if kept else 0)
    tries[at] = replace(tries[at], kept=bool(kept))
    edit = file.edits[at] if len(tries) == 1 else with_all_tries(file.edits[at], tries)
    return edit if kept else keep(edit)


def other_edit(file: TriedFile, backend: Backend, settings: Settings, sink: Sink) -> Edit | None:
    """The Edit of one more answer that passes its checks and is unlike all earlier ones; None where
    MAX_OTHER_ANSWERS do not."""
    for _ in range(MAX_OTHER_ANSWERS):
        job, attempt = file.another(settings)
        sink.trying(attempt)
        answered = ask_try(job, attempt, file.earlier, backend, settings, sink)
        tried = try_of(attempt, answered, file.tries)
        edit = answered.edit
        kept = edit.changed and tried.same_as is None
        if kept:
            file.tries = [replace(earlier, kept=False) for earlier in file.tries]
        file.tries.append(replace(tried, kept=kept, noted=_why_unchanged(edit)))
        file.edits.append(edit)
        file.earlier.append(as_earlier(answered))
        sink.tried(Tried(file.tries[-1], attempt.most))
        if kept:
            return with_all_tries(edit, file.tries)
    return None


class _Checks:
    """Keeps the first answer to one file that passes its checks."""

    def __init__(self, file: TriedFile, sink: Sink, alone: bool) -> None:
        self._file = file
        self._sink = sink
        self._alone = alone

    def begins(self, attempt: Trying) -> None:
        if attempt.number > 1:
            self._sink.trying(attempt)

    def keeps(self, attempt: Trying) -> bool:
        file, edit = self._file, self._file.edits[-1]
        unchanged = _why_unchanged(edit) if self._alone and not edit.problems else ""
        passed = not (edit.problems or unchanged)
        file.tries[-1] = tried = replace(file.tries[-1], noted=unchanged, kept=passed)
        file.earlier[-1] = replace(file.earlier[-1], problem=unchanged or file.earlier[-1].problem)
        asked_again = file.job.known is None and attempt.most > 1
        if asked_again and (tried.line or len(file.tries) > 1):
            self._sink.tried(Tried(tried, attempt.most))
        return passed

    def ends(self) -> bool:
        return any(finding.kind in FINAL_KINDS for finding in self._file.edits[-1].findings)


def _why_unchanged(edit: Edit) -> str:
    """The finding of an answer without a change; "" for any other answer."""
    return next((finding.text for finding in edit.findings if finding.kind in UNCHANGED), "")


def whole_of(parts: Sequence[Try], names: Sequence[str]) -> Try:
    """One try over all files, from what it was for each of them."""
    named = "{name}: {why}" if len(names) > 1 else "{why}"
    refused = [
        named.format(name=name, why=part.refused)
        for name, part in zip(names, parts, strict=True)
        if part.refused
    ]
    return replace(
        parts[0],
        figures=sum((part.figures for part in parts), Figures()),
        after_sha256=" ".join(part.after_sha256 for part in parts),
        refused="; ".join(refused),
        with_feedback=any(part.with_feedback for part in parts),
        same_as=None,
    )


def best(wholes: Sequence[Try]) -> int:
    """The index of the best try: the fewest failures; where none are counted, the first that the
    command judged."""
    uncounted = float("inf")

    def rank(at: int) -> tuple[bool, bool, float, int]:
        whole = wholes[at]
        failures = whole.test.failed if whole.test and whole.test.failed is not None else uncounted
        return bool(whole.refused), whole.same_as is not None, failures, at

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
