"""One answer to a Job: asked, measured, judged, and concluded as an Edit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from specedit.check.finding import Finding, Spot
from specedit.edit.backend import Answer, Backend
from specedit.edit.job import Job, make_job
from specedit.edit.outcome import Judged, conclude
from specedit.edit.regions.assemble import answer_regions, part_of_changed
from specedit.edit.regions.locate import in_parts
from specedit.edit.regions.targets import definitions_named
from specedit.edit.report import Compared, Edit, Figures
from specedit.edit.sink import Sink
from specedit.edit.splice import region_of, spliced, symbol_names, taken, whole
from specedit.errors import TooLong
from specedit.settings import Settings
from specedit.syntax import trees


@dataclass(frozen=True, slots=True)
class Answered:
    """A Job as it was asked in the end, what was answered, and what that makes of the file."""

    job: Job
    answer: Answer
    edit: Edit


def ask(job: Job, backend: Backend, settings: Settings, sink: Sink) -> Answered:
    """Ask for one answer and judge it. A refused answer is not kept yet."""
    sink.planned(job)
    answer, figures = measured(job, backend, sink)
    edit = conclude(job.source, judge(job, answer), figures)
    edit = edit.noting(*(Finding("backend", note) for note in backend.notes))
    if settings.compare:
        undrafted = replace(job.plan, prediction=None, predictions=(), draft=())
        again, plain = measured(replace(job, plan=undrafted), backend, sink)
        edit = replace(edit, compared=_compare(answer, figures, again, plain))
    return Answered(job, answer, edit)


def judge(job: Job, answer: Answer) -> Judged:
    """The whole new text of the file, and everything that stands against it."""
    if answer.reason == "length" and not job.partial:
        message = f"cut off by the limit after {answer.completion} tokens; raise --max-tokens"
        return Judged(job.source.text, (Finding("cut-off", message, refuses=True),))
    results = list(job.findings)
    if not answer.closed:
        results.append(
            Finding(
                "unclosed",
                "the model stopped before it said that it was done: is the end missing?",
            )
        )
    if answer.reasoning:
        message = f"{answer.reasoning} tokens of reasoning were left out of the answer"
        results.append(Finding("reasoning", message))
    text = spliced(job.about, job.region, answer.text)
    if job.tidies:
        from specedit.edit.reverting import without_form_changes  # with what it needs 9 ms

        text, reverted = without_form_changes(
            job.about.text, text, job.about.language, job.instruction
        )
        results += reverted
    verdict = job.judge(text)
    return replace(verdict, findings=(*results, *verdict.findings))


def measured(job: Job, backend: Backend, sink: Sink) -> tuple[Answer, Figures]:
    """The answer to a Job, in regions where it has them, and what it cost."""
    if job.known is not None:
        return Answer(job.known, "stop", closed=True), Figures()
    if job.regions:
        answer, figures = answer_regions(job, backend, sink)
    else:
        started = time.perf_counter()
        answer = backend.run(job.plan, sink)
        figures = Figures.of(answer, time.perf_counter() - started)
    sink.answered(answer)
    return answer, figures


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


def narrow(job: Job, settings: Settings, problem: TooLong) -> Job:
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
    smaller = make_job(source, region, job.instruction, settings, expected, job.checks, job.beside)
    lines = f"lines {best.first_line}:{best.last_line}"
    message = f"too long for the window: only {best.qualified} was edited ({lines})"
    note = Finding("narrowed", message, (Spot(best.first_line),))
    others = (finding for finding in job.findings if finding.kind != "whole")
    earlier = (
        part_of_changed(source.text, region, prediction) for prediction in job.plan.predictions
    )
    plan = replace(smaller.plan, predictions=tuple(dict.fromkeys(earlier)))
    return replace(job, region=region, plan=plan, findings=(*others, note))
