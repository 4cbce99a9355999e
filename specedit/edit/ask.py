"""One answer to a Job: asked for, measured, checked, and concluded as an Edit."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.check.finding import Finding
from specedit.edit import prompt
from specedit.edit.backend import Answer, Backend, Emit, Event, Plan, Ready
from specedit.edit.job import Job
from specedit.edit.regions.blocks import TARGET, Block, blocks_of
from specedit.edit.regions.locate import in_parts
from specedit.edit.regions.together import Group, divided, shown
from specedit.edit.report import (
    Checked,
    Compared,
    Edit,
    EditedRegion,
    Figures,
    Try,
    conclude,
    counted,
)
from specedit.edit.sink import Answered, Planned, Sink
from specedit.edit.splice import fitted, joined, part_of_changed, symbol_names
from specedit.errors import TooLong
from specedit.files.source import LINE_END, Source
from specedit.settings import Settings
from specedit.syntax import trees
from specedit.syntax.outline import CALLABLE


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
    """The attempt that is made whether or not others follow. A file that does not fit the model's
    window is asked about in parts, where the instruction is about all of it."""
    if settings.check_with:
        from specedit.check.external import remarks

        remarks.cache_clear()  # the file's neighbours may have changed since an earlier run
    try:
        return attempt(job, 1, backend, settings, sink)
    except TooLong as problem:
        source, hint = job.about, problem.hint
        if job.divisible:
            if (parts := in_parts(job)) is not None:
                return attempt(parts, 1, backend, settings, sink)
            hint = (
                "Name a part of it in the instruction, with --symbol or with --lines A:B. "
                f"It defines: {symbol_names(source)}"
            )
        raise TooLong(problem.reason, file=source.name, hint=hint) from problem


def attempt(job: Job, number: int, backend: Backend, settings: Settings, sink: Sink) -> Attempt:
    """Ask for one answer and check it. A refused answer is not kept yet."""
    sink.emit(Planned(job))
    answer, figures = measured(job, backend, sink)
    edit = replace(conclude(job.source, checked(job, answer), figures), place=job.place)
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
    text = joined(job.about, [(job.region, LINE_END.sub("\n", answer.text))])
    if job.tidies:
        from specedit.edit import reverting  # with what it needs 9 ms

        for revert in (reverting.without_instruction, reverting.without_form_changes):
            text, reverted = revert(job.about.text, text, job.about.language, job.instruction)
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
    audited = own.logits_digest is not None
    return Compared.of(
        own,
        plain.decode_s,
        plain.prefill_s + plain.decode_s,
        plain.passes,
        identical=answer.text == again.text and answer.completion == again.completion,
        digests_equal=own.logits_digest == plain.logits_digest if audited else None,
    )


def answer_regions(job: Job, backend: Backend, sink: Sink) -> tuple[Answer, Figures]:
    """The whole new text as one Answer, from the answers of a Job's regions."""
    started = time.perf_counter()
    answers: list[Answer] = []
    parts: list[tuple[slice, str]] = []
    regions: list[EditedRegion] = []
    for group in job.questions:
        answer = backend.run(plan_of(job, group), _later(sink.emit) if answers else sink.emit)
        answers.append(answer)
        passes = answer.passes  # the first region's are those of the group
        for target, text in zip(group, _texts_of(job, group, answer), strict=True):
            before = job.about.text[target.region]
            about = target.lines, target.symbol, target.chance
            changed = fitted(before, text) != before
            regions.append(EditedRegion(*about, changed, passes, target.why))
            parts.append((target.region, text))
            passes = 0
        if answer.reason == "length":
            break
    whole = _one_answer(joined(job.about, parts), answers)
    figures = Figures.of(whole, time.perf_counter() - started)
    return whole, replace(figures, regions=tuple(regions))


def _later(emit: Emit) -> Emit:
    """Report a region's run as a part of the run that the first region began: without its first
    `Ready`, for another says that the run started over."""
    is_ready = False

    def emit_later(event: Event) -> None:
        nonlocal is_ready
        if is_ready or not isinstance(event, Ready):
            emit(event)
        is_ready = is_ready or isinstance(event, Ready)

    return emit_later


def _texts_of(job: Job, group: Group, answer: Answer) -> list[str]:
    """The texts that an answer puts in the regions that it is for."""
    if len(group) > 1:
        return divided(job.about, group, answer.text)
    target = group[0]
    text = answer.text
    if len(target.blocks) == 1 and target.blocks[0].kind == TARGET:
        text = _definition_alone(job.about, target.symbol, text)
    return [text]


def _definition_alone(source: Source, symbol: str, answer: str) -> str:
    """The answer for the region of one definition, without the class that it repeats around it, and
    without the other definitions of the file that it repeats next to it."""
    known = {other.qualified for other in trees.symbols(source.text, source.language)}
    holder, _, name = symbol.rpartition(".")
    symbols = trees.symbols(answer, source.language)
    own = [other for other in symbols if other.own_name == name]
    if len(own) != 1 or symbol not in known:
        return answer
    blocks = blocks_of(answer, source.language)
    path = own[0].qualified.rpartition(".")[0].split(".")
    if own[0].depth and path[-1] == holder.rpartition(".")[2]:
        lines = [n for block in blocks if block.name == own[0].qualified for n in _lines(block)]
        return _picked(answer, lines)
    others = {
        other.qualified
        for other in symbols
        if other.kind in CALLABLE and not other.depth and other is not own[0]
    }
    repeated = {name for name in others if name in known or f"{holder}.{name}" in known}
    kept = [n for block in blocks if block.name not in repeated for n in _lines(block)]
    return _picked(answer, kept) if repeated else answer


def _picked(text: str, numbers: Sequence[int]) -> str:
    """These lines of a text, without blank ones around them."""
    lines = text.split("\n")
    return "\n".join(lines[n - 1] for n in numbers if n <= len(lines)).strip("\n") + "\n"


def _lines(block: Block) -> range:
    return range(block.first, block.last + 1)


def plan_of(job: Job, group: Group) -> Plan:
    """The Plan of regions that are asked about together: the Job's own, with their texts."""
    source = job.about
    text = shown(source, group, [source.text[target.region] for target in group])
    marks = prompt.fence(text)

    def finished(texts: Sequence[str]) -> tuple[str, ...]:
        """The texts of the regions in earlier answers to the whole file."""
        parts = (
            [part_of_changed(source.text, target.region, text) for target in group]
            for text in texts
        )
        return tuple(dict.fromkeys(prompt.finished(shown(source, group, part)) for part in parts))

    name = group[0].symbol.rpartition(".")[2]
    part = f"only `{name}`" if name and len(job.regions) > len(group) else prompt.A_PART
    if len(group) > 1 or len(group[0].names) > 1:
        part = ""  # several definitions are asked about as a file is
    messages = prompt.messages(source.name, text, job.instruction, part=part, beside=job.beside)
    return replace(
        job.plan,
        messages=prompt.with_feedback(messages, job.feedback) if job.feedback else messages,
        opening=prompt.opening(marks),
        closing=marks,
        prediction=None if job.plan.prediction is None else prompt.finished(text),
        predictions=finished(job.plan.predictions),
        unlike=finished(job.plan.unlike),
        least=prompt.finished(text),
    )


def _one_answer(text: str, answers: Sequence[Answer]) -> Answer:
    """The answers to the questions about one file as one answer of this text."""
    digests = [answer.logits_digest for answer in answers if answer.logits_digest is not None]
    certainties = [
        replace(answer.certainty, part=part)
        for part, answer in enumerate(answers)
        if answer.certainty is not None
    ]
    return Answer(
        text,
        "length" if any(answer.reason == "length" for answer in answers) else "stop",
        all(answer.closed for answer in answers),
        **counted(answers),
        logits_digest=hashlib.sha256("".join(digests).encode()).hexdigest() if digests else None,
        reasoning=sum(answer.reasoning for answer in answers),
        certainty=sum(certainties[1:], certainties[0]) if certainties else None,
    )
