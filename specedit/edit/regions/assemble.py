"""A file edited in regions: they are asked about together, or long ones each on its own, and the
answers make one text.

Each run is plain decoding's run of its own prompt, so drafts change its speed and never its text.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit import prompt
from specedit.edit.backend import Answer, Backend, Certainty, Emit, Event, Plan, Ready
from specedit.edit.job import Job
from specedit.edit.regions.blocks import TARGET, Block, blocks_of
from specedit.edit.regions.together import Group, RegionJob, divided, shown
from specedit.edit.report import EditedRegion, Figures
from specedit.edit.sink import Sink
from specedit.edit.splice import fitted, joined, part_of_changed, region_of, taken
from specedit.files.source import Source
from specedit.syntax import trees
from specedit.syntax.outline import CALLABLE

# Of the second and further regions that are asked about together
NOTHING_MORE = Answer("", "stop", closed=True)


@dataclass(frozen=True, slots=True)
class _Done:
    """One region's answer, and what it cost."""

    target: RegionJob
    answer: Answer
    text: str  # what the answer puts in the region
    figures: Figures


def answer_regions(job: Job, backend: Backend, sink: Sink) -> tuple[Answer, Figures]:
    """The whole new text as one Answer, from the answers of a Job's regions."""
    started = time.perf_counter()
    done: list[_Done] = []
    for group in job.questions:
        plan = plan_of(job, group)
        emit = _later(sink.emit) if done else sink.emit
        group_started = time.perf_counter()
        answer = backend.run(plan, emit)
        figures = Figures.of(answer, time.perf_counter() - group_started)
        for target, text in zip(group, _texts_of(job, group, answer), strict=True):
            done.append(_Done(target, answer, text, figures))
            answer, figures = NOTHING_MORE, Figures()  # the first region's are those of the group
        if done[-len(group)].answer.reason == "length":
            break
    whole = _one_answer(job.about, done)
    figures = _figures(job.about, done, time.perf_counter() - started, whole.logits_digest)
    return whole, replace(figures, certainty=whole.certainty)


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
    text = shown(source, group, [taken(source, target.region) for target in group])
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


def region_job(source: Source, blocks: Sequence[Block], chance: float) -> RegionJob:
    """The region of consecutive blocks."""
    return RegionJob(region_of(source, (blocks[0].first, blocks[-1].last)), tuple(blocks), chance)


def region_name(symbol: str, lines: tuple[int, int]) -> str:
    """A region as the report names it."""
    where = f"lines {lines[0]}:{lines[1]}"
    return f"{symbol} ({where})" if symbol else where


def _one_answer(source: Source, done: Sequence[_Done]) -> Answer:
    answers = [answer.answer for answer in done]
    digests = [answer.logits_digest for answer in answers if answer.logits_digest is not None]
    return Answer(
        text=joined(source, [(answer.target.region, answer.text) for answer in done]),
        reason="length" if any(answer.reason == "length" for answer in answers) else "stop",
        closed=all(answer.closed for answer in answers),
        prompt=sum(answer.prompt for answer in answers),
        reused=sum(answer.reused for answer in answers),
        completion=sum(answer.completion for answer in answers),
        prefill_s=sum(answer.prefill_s for answer in answers),
        decode_s=sum(answer.decode_s for answer in answers),
        logits_digest=hashlib.sha256("".join(digests).encode()).hexdigest() if digests else None,
        passes=sum(answer.passes for answer in answers),
        load_s=sum(answer.load_s for answer in answers),
        reasoning=sum(answer.reasoning for answer in answers),
        certainty=_certainty(answers),
    )


def _certainty(answers: Sequence[Answer]) -> Certainty | None:
    asked = [answer for answer in answers if answer is not NOTHING_MORE]
    parts = [
        replace(answer.certainty, part=part)
        for part, answer in enumerate(asked)
        if answer.certainty is not None
    ]
    return sum(parts[1:], parts[0]) if parts else None


def _figures(source: Source, done: Sequence[_Done], total_s: float, digest: str | None) -> Figures:
    regions = []
    for target, text, figures in ((answer.target, answer.text, answer.figures) for answer in done):
        before = taken(source, target.region)
        changed = fitted(before, text) != before
        about = target.lines, target.symbol, target.chance
        regions.append(EditedRegion(*about, changed, figures.passes, target.why))
    total = sum((answer.figures for answer in done), Figures())
    return replace(total, total_s=total_s, logits_digest=digest, regions=tuple(regions))
