"""Runs an edit: plan, locate, ask, check, propose, write. Every interface calls these functions.

`run_edit` is for one text, `run_files` for the files of a command. With the setting `test` the
user's command judges each try, else the checks alone do (`tries`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from specedit.check.finding import DECLINED, Finding
from specedit.edit.backend import Backend
from specedit.edit.confidence import rated, unconfirmed
from specedit.edit.job import Job
from specedit.edit.outcome import (
    as_written,
    failed,
    guarded,
    outcome,
    put_back,
    with_others_failed,
)
from specedit.edit.regions.locate import locate
from specedit.edit.report import Edit, Report
from specedit.edit.request import Input, Request
from specedit.edit.sink import Sink
from specedit.edit.tries.loop import TriedFile, checked_edit, other_edit
from specedit.errors import FileError, InputError, NotDefined, Skipped
from specedit.files.journal import home
from specedit.files.recorder import Recorder
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.undo import undo

if TYPE_CHECKING:
    from specedit.check.project_checks import Verification


def run_edit(
    source: Source,
    request: Request,
    backend: Backend,
    sink: Sink,
    recorder: Recorder | None = None,
    is_uncommitted: Callable[[], bool] = bool,
) -> Edit:
    """Edit one text; the Edit is `failed` where the file cannot be done. Nothing is written without
    a `recorder`."""
    if request.settings.test:
        unread = Input(source.name, lambda: source, is_uncommitted)
        return _tested([unread], request, backend, sink)[0]
    try:
        sink.file(source.name)
        planned = request.planner(source)
        if isinstance(planned, Edit):
            return planned
        job, located = locate(planned, backend, request.settings, sink)
        file = TriedFile(source, job)
        edit = checked_edit(file, backend, request.settings, sink, alone=request.alone)
        edit = rated(file.job, edit, backend.model)
        if request.confirms_unsure:
            edit = _confirmed(file, edit, backend, request, sink)
        if located is not None:
            edit = replace(edit, figures=edit.figures.beside(located))
        if not edit.changed:
            return edit
        edit = _as_chosen(file.job, edit, sink.proposed(file.job, edit))
        if recorder is None or not edit.changed:
            return edit
        uncommitted = is_uncommitted()
        recorder.write(source, edit.after)
        return as_written(edit, uncommitted)
    except FileError as problem:
        if isinstance(problem, NotDefined) and not request.alone:
            problem = Skipped(problem.reason)  # the instruction is about another file
        return failed(source.name, problem)


def run_files(inputs: Sequence[Input], request: Request, backend: Backend, sink: Sink) -> Report:
    """Edit the files of a command. A file that fails does not stop the others."""
    if request.settings.test:
        edits = _tested(inputs, request, backend, sink)
        return Report(request.command, tuple(edits), backend.model, backend.server)
    writes = request.writes and not request.together
    recorder = Recorder(home(), request.command, request.wish) if writes else None
    sources: list[Source | None] = []
    edits = []
    for unread in inputs:
        source = None
        try:
            if sink.skip_rest:
                raise Skipped(sink.skip_rest)
            source = unread.read()
            if request.writes:
                check_writable(source)
            edit = run_edit(source, request, backend, sink, recorder, unread.is_uncommitted)
        except FileError as problem:
            edit = failed(unread.name, problem)
        sink.done(edit)
        sources.append(source)
        edits.append(edit)
    if request.writes and request.together:
        edits = _written_together(sources, edits, request, inputs)
    return Report(request.command, tuple(edits), backend.model, backend.server)


def _confirmed(file: TriedFile, edit: Edit, backend: Backend, request: Request, sink: Sink) -> Edit:
    """The Edit if it is sure or the user confirms it, or another answer that the user confirms
    instead; else it is refused."""
    while edit.changed and edit.sure is False:
        confirmation = sink.confirms(file.job, edit)
        if confirmation == "no":
            return unconfirmed(edit)
        if confirmation == "yes":
            break
        other = other_edit(file, backend, request.settings, sink)
        if other is not None:
            edit = rated(file.job, other, backend.model)
    return edit


def _as_chosen(job: Job, edit: Edit, chosen_text: str | None) -> Edit:
    """The proposed edit, or the text that the user chose instead, checked again."""
    if chosen_text is None:
        return edit
    chosen = outcome(job.source, chosen_text, edit.figures)
    verdict = guarded(job.source, job.instruction, job.checks, chosen_text)
    if verdict.problems:
        findings = (*edit.findings, *verdict.problems)
        return replace(chosen, status="refused", findings=findings)
    chosen = replace(chosen, findings=edit.findings, compared=edit.compared, sure=True)
    return chosen if chosen.changed else chosen.noting(Finding(DECLINED, "no hunk was applied"))


def _written_together(
    sources: Sequence[Source | None], edits: list[Edit], request: Request, inputs: Sequence[Input]
) -> list[Edit]:
    """Write the files that are one change: all of them or none."""
    changed = [at for at, edit in enumerate(edits) if edit.changed]
    if not changed:
        return edits
    texts = [(source, edits[at].after) for at in changed if (source := sources[at]) is not None]
    broken = next((edit.path for edit in edits if edit.status in ("refused", "failed")), "")
    uncommitted = {at for at in changed if not broken and inputs[at].is_uncommitted()}
    if not broken:
        try:
            recorder = Recorder(home(), request.command, request.wish)
            recorder.write_all(texts, request.moves)
        except FileError as problem:  # a full disk, a file that another program changed
            broken = f"{problem.file or edits[changed[0]].path} ({problem.reason})"
        else:
            if request.verification and (errors := _new_errors(request.verification, recorder)):
                return [put_back(edit, errors) if edit.changed else edit for edit in edits]
    for at in changed:
        if broken:
            edits[at] = with_others_failed(edits[at], broken)
        else:
            edits[at] = as_written(edits[at], at in uncommitted)
    return edits


def _new_errors(verification: Verification, recorder: Recorder) -> str:
    """Return what checkers report of the written files and did not before; then put them back, as
    after an interrupt."""
    errors = "the check was interrupted"
    try:
        errors = verification.broken()
    finally:
        undone = undo(home(), recorder.run.name) if errors else None
    if undone is not None and undone.refused:
        left = undone.refused[0]
        raise InputError(
            f"{errors}; and the change could not be undone: {left.problem}",
            file=left.path,
            hint="`specedit undo --partly` puts back the other files.",
        )
    return errors


def _tested(inputs: Sequence[Input], request: Request, backend: Backend, sink: Sink) -> list[Edit]:
    from specedit.edit.tries.tested import tested_edits  # 5 modules, 2 ms

    return tested_edits(inputs, request, backend, sink)
