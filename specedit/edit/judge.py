"""Work: runs a Job, judges the answer, says what the file would become; writes it when told.

Knows Jobs, backends, the guard. Does not know the terminal; what happens goes out by `yield`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.decode.events import FREE
from specedit.edit.backend import Answer, Backend, Event, Loading, Ready, Written
from specedit.edit.plan import Job, job
from specedit.edit.splice import named_symbol, region_of, spliced, symbol_names, taken, whole
from specedit.engines.base import Prefill
from specedit.errors import InputError, TooLong
from specedit.files.source import Source
from specedit.files.worktree import patch_name
from specedit.report import Compared, Edit, Figures, Tally
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.syntax.guard import Problem

NO_FIGURES = Figures()


@dataclass(frozen=True)
class Judged:
    """An answer after the checks: the whole new text, and what stands against writing it."""

    text: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def perform(work: Job, backend: Backend, settings: Settings) -> Iterator[Event | Edit]:
    """The backend's events, then the Edit. Nothing is written."""
    try:
        edit = yield from _ask(work, backend, settings)
    except TooLong as problem:
        narrowed = narrow(work, settings, problem)
        edit = yield from _ask(narrowed, backend, settings)
    yield edit


def _ask(work: Job, backend: Backend, settings: Settings) -> Generator[Event, None, Edit]:
    answer, figures = yield from measured(work, backend)
    edit = conclude(work, judge(work, answer), figures)
    edit = replace(edit, notes=(*edit.notes, *backend.notes))
    if settings.compare:
        bare = replace(work, plan=replace(work.plan, prediction=None, draft=()))
        again, plain = yield from measured(bare, backend)
        edit = replace(edit, compared=_compare(answer, figures, again, plain))
    return edit


def measured(work: Job, backend: Backend) -> Generator[Event, None, tuple[Answer, Figures]]:
    """Run the plan; returns its Answer and what it cost, folded from the events."""
    started = time.perf_counter()
    fold = Fold()
    for event in backend.run(work.plan):
        fold.add(event)
        yield event
    if fold.answer is None:
        raise InputError(f"{work.source.name}: the backend gave no answer.")
    return fold.answer, fold.figures(time.perf_counter() - started)


class Fold:
    """Every number of one run, from its events."""

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self._passes = 0
        self._load_s = 0.0
        self._drafts: dict[str, Tally] = {}

    def add(self, event: Event) -> None:
        match event:
            case Ready():  # again: the run started over elsewhere, and what came before is void
                self._load_s, self._passes, self._drafts = event.load_s, 0, {}
            case Written():
                chunk = event.chunk
                self._passes += 1
                if chunk.source != FREE:
                    tally = Tally(chunk.proposed, chunk.accepted)
                    self._drafts[chunk.source] = self._drafts.get(chunk.source, Tally()) + tally
            case Answer():
                self.answer = event
            case Loading() | Prefill():
                pass

    def figures(self, total_s: float) -> Figures:
        a = self.answer
        assert a is not None
        return Figures(
            prompt=a.prompt,
            reused=a.reused,
            completion=a.completion,
            passes=self._passes,
            drafts=self._drafts,
            load_s=self._load_s,
            prefill_s=a.prefill_s,
            decode_s=a.decode_s,
            total_s=total_s,
            logits_digest=a.logits_digest,
        )


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


def judge(work: Job, answer: Answer) -> Judged:
    """The whole new text of the file, and everything that stands against it."""
    source = work.source
    if answer.reason == "length":
        return Judged(
            source.text,
            (f"cut off by the limit after {answer.completion} tokens; raise --max-tokens",),
        )
    text = spliced(source, work.region, answer.text)
    notes = list(work.notes)
    if not answer.closed:
        notes.append("the model ended without closing its block")
    if work.rename is not None:
        return _judge_rename(work, text, notes)
    return _checked(work, text, notes)


def _checked(work: Job, text: str, notes: list[str]) -> Judged:
    found = _found(work, text)
    notes += [str(p) for p in found if not p.refuses]
    return Judged(text, tuple(str(p) for p in found if p.refuses), tuple(notes))


def _found(work: Job, text: str) -> list[Problem]:
    """What the guard says of `text` as this job's outcome."""
    from specedit.syntax import guard

    source = work.source
    return guard.check(source.text, text, source.language, work.instruction, work.allow_extra)


def _judge_rename(work: Job, text: str, notes: list[str]) -> Judged:
    """What the model wants beyond the places that the scope allows is dropped and listed."""
    from specedit.rename.planning import settle

    settled, said = settle(work, text)
    return _checked(work, settled, [*notes, *said])


def recheck(work: Job, text: str) -> tuple[str, ...]:
    """What stands against writing `text`, a part of an edit that had passed its checks."""
    return tuple(str(p) for p in _found(work, text) if p.refuses)


def conclude(work: Job, judged: Judged, figures: Figures) -> Edit:
    """The Edit of a judged answer, not written."""
    source = work.source
    edit = outcome(source, judged.text, figures)
    notes = judged.notes
    if judged.problems:
        return replace(edit, notes=notes, kept=_keep(source, judged.text)).refused(*judged.problems)
    return replace(edit, notes=notes)


def outcome(source: Source, text: str, figures: Figures = NO_FIGURES) -> Edit:
    """What it means for the file to hold `text`."""
    from specedit.text import diff

    after = source.data if text == source.text else source.encode(text)
    counts = diff.counts(source.text, text)
    return Edit(
        path=source.name,
        status="unchanged" if after == source.data else "would-edit",
        before=source.data,
        after=after,
        diff=diff.patch(patch_name(source.name, source.path), source.data, after).decode(
            "utf-8", "surrogateescape"
        ),
        added=counts.added,
        removed=counts.removed,
        hunks=counts.hunks,
        figures=figures,
        before_sha256=source.sha256,
        after_sha256=hashlib.sha256(after).hexdigest(),
    )


def failed(name: str, problem: str) -> Edit:
    return Edit(path=name, status="failed", problems=(problem,))


def _keep(source: Source, text: str) -> str:
    """A refused answer, where a person can look at it."""
    if text == source.text:
        return ""
    stem = Path(source.name).name or "answer"
    handle, path = tempfile.mkstemp(prefix="specedit-refused-", suffix="-" + stem[-60:])
    with os.fdopen(handle, "wb") as file:
        file.write(source.encode(text))
    return path


def write(source: Source, edit: Edit) -> Edit:
    """Put the new bytes in place, whole, unless the file changed meanwhile."""
    from specedit.files.atomic import replace as put

    if edit.status != "would-edit":
        return edit
    put(source, edit.after)
    return replace(edit, status="edited", written=True)


def narrow(work: Job, settings: Settings, problem: TooLong) -> Job:
    """A file larger than the window: the smallest definition that the instruction names."""
    source = work.source
    if work.region != whole(source) or work.rename is not None:
        raise problem
    best = named_symbol(source, work.instruction)
    if best is None:
        raise TooLong(
            f"{source.name}: {problem.message}",
            hint="Name a part of it in the instruction, with --symbol or with --lines A:B. "
            f"It defines: {symbol_names(source)}",
        ) from problem
    region = region_of(source, (best.first_line, best.last_line))
    expected = None if work.plan.prediction is None else taken(source, region)
    smaller = job(work.command, source, region, work.instruction, settings, expected)
    lines = f"lines {best.first_line}:{best.last_line}"
    note = f"too long for the window: only {best.qualified} was edited ({lines})"
    return replace(smaller, notes=(*work.notes, note))
