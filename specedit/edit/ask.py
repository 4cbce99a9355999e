"""One answer to a Job: asked for, measured, checked, and concluded as an Edit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from specedit.check.finding import Finding, Spot
from specedit.edit.backend import Answer, Backend
from specedit.edit.job import Job, make_job
from specedit.edit.outcome import Checked, conclude
from specedit.edit.regions.assemble import answer_regions
from specedit.edit.regions.locate import in_parts
from specedit.edit.regions.targets import definitions_named
from specedit.edit.report import Compared, Edit, Figures, Try
from specedit.edit.sink import Answered, Planned, Sink
from specedit.edit.splice import part_of_changed, region_of, spliced, symbol_names, taken, whole
from specedit.errors import TooLong
from specedit.settings import Settings
from specedit.syntax import trees


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to a Job, as it was asked in the end, and the Edit that it makes. `problem`: what
    was wrong with it, as a later attempt is told."""

    job: Job
    answer: Answer
    edit: Edit
    record: Try
    problem: str = ""

    def passes(self, *, alone: bool) -> bool:
        """Whether the answer passes its checks. `alone`: one without a change does not."""
        return not self.edit.problems and not (alone and self.edit.why_unchanged)


def first_attempt(job: Job, backend: Backend, settings: Settings, sink: Sink) -> Attempt:
    """The attempt that is made whether or not others follow. A Job that does not fit the model's
    window is narrowed to a part that does."""
    try:
        return attempt(job, 1, backend, settings, sink)
    except TooLong as problem:
        return attempt(narrowed(job, settings, problem), 1, backend, settings, sink)


def attempt(job: Job, number: int, backend: Backend, settings: Settings, sink: Sink) -> Attempt:
    """Ask for one answer and check it. A refused answer is not kept yet."""
    sink.emit(Planned(job))
    answer, figures = measured(job, backend, sink)
    edit = conclude(job.source, checked(job, answer), figures)
    edit = edit.noting(*(Finding("backend", note) for note in backend.notes))
    if settings.compare:
        undrafted = replace(job.plan, prediction=None, predictions=(), draft=())
        again, plain = measured(replace(job, plan=undrafted), backend, sink)
        edit = replace(edit, compared=_compare(answer, figures, again, plain))
    sampling = job.plan.sampling
    record = Try(
        number=number,
        seed=sampling.seed,
        temperature=sampling.temperature,
        with_feedback=bool(job.feedback),
        second_choice=sampling.second_at is not None,
        figures=edit.figures,
        after_sha256=edit.after_sha256,
        refused="; ".join(edit.problems),
    )
    problem = "\n".join(_as_feedback(finding) for finding in edit.findings if finding.refuses)
    return Attempt(job, answer, edit, record, problem)


def checked(job: Job, answer: Answer) -> Checked:
    """The whole new text of the file, and everything that stands against it."""
    if answer.reason == "length" and not job.partial:
        message = f"cut off by the limit after {answer.completion} tokens; raise --max-tokens"
        return Checked(job.source.text, (Finding("cut-off", message, refuses=True),))
    findings = list(job.findings)
    if not answer.closed:
        message = "the model stopped before it said that it was done: is the end missing?"
        findings.append(Finding("unclosed", message))
    if answer.reasoning:
        message = f"{answer.reasoning} tokens of reasoning were left out of the answer"
        findings.append(Finding("reasoning", message))
    text = spliced(job.about, job.region, answer.text)
    if job.tidies:
        from specedit.edit.reverting import without_form_changes  # with what it needs 9 ms

        text, reverted = without_form_changes(
            job.about.text, text, job.about.language, job.instruction
        )
        findings += reverted
    result = job.check(text)
    return replace(result, findings=(*findings, *result.findings))


def measured(job: Job, backend: Backend, sink: Sink) -> tuple[Answer, Figures]:
    """The answer to a Job, in regions where it has them, and what it cost."""
    if job.known is not None:
        return Answer(job.known, "stop", closed=True), Figures()
    if job.regions:
        answer, figures = answer_regions(job, backend, sink)
    else:
        started = time.perf_counter()
        answer = backend.run(job.plan, sink.emit)
        figures = Figures.of(answer, time.perf_counter() - started)
    sink.emit(Answered(answer))
    return answer, figures


def _as_feedback(finding: Finding) -> str:
    """A finding as the model is told of it."""
    lines = sorted({spot.line for spot in finding.places})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}: " if lines else ""
    return f"{where}{finding.text}"


def _compare(answer: Answer, own: Figures, again: Answer, plain: Figures) -> Compared:
    ours, theirs = own.prefill_s + own.decode_s, plain.prefill_s + plain.decode_s
    audited = own.logits_digest is not None
    return Compared(
        decode_s=plain.decode_s,
        total_s=theirs,
        passes=plain.passes,
        identical=answer.text == again.text and answer.completion == again.completion,
        speedup_decode=plain.decode_s / own.decode_s if own.decode_s else 0.0,
        speedup_total=theirs / ours if ours else 0.0,
        digests_equal=own.logits_digest == plain.logits_digest if audited else None,
    )


def narrowed(job: Job, settings: Settings, problem: TooLong) -> Job:
    """A file larger than the window: the smallest definition that the instruction names, or, where
    it is about all of the file, one part after the other."""
    source = job.about
    if job.region != whole(source) or not job.divisible:
        raise TooLong(problem.reason, file=source.name, hint=problem.hint) from problem
    if (parts := in_parts(job)) is not None:
        return parts
    named = definitions_named(trees.symbols(source.text, source.language), job.instruction)
    best = min(named, key=lambda symbol: symbol.last_line - symbol.first_line, default=None)
    if best is None:
        raise TooLong(
            problem.reason,
            file=source.name,
            hint="Name a part of it in the instruction, with --symbol or with --lines A:B. "
            f"It defines: {symbol_names(source)}",
        ) from problem
    region = region_of(source, (best.first_line, best.last_line))
    expected = None if job.plan.prediction is None else taken(source, region)
    earlier = (part_of_changed(source.text, region, text) for text in job.plan.predictions)
    smaller = make_job(
        source,
        region,
        job.instruction,
        settings,
        expected,
        checks=job.checks,
        beside=job.beside,
        earlier=tuple(dict.fromkeys(earlier)),
    )
    lines = f"lines {best.first_line}:{best.last_line}"
    message = f"too long for the window: only {best.qualified} was edited ({lines})"
    note = Finding("narrowed", message, (Spot(best.first_line),))
    others = (finding for finding in job.findings if finding.kind != "whole")
    return replace(job, region=region, plan=smaller.plan, findings=(*others, note))
