"""An edit from top to bottom: plan, locate, ask, check, ask again, confirm, write.

Every interface calls `run_edit` for one text or `run_files` for the files of a command. With the
setting `test` the user's command judges each try (`tested`), else the checks alone do (`again`).
An edit reaches a file only through `Recorder.write` and `write_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from specedit.check.finding import DECLINED, Finding
from specedit.edit.again import another, first_that_passes, until_one_passes
from specedit.edit.ask import Attempt, first_attempt
from specedit.edit.backend import Backend
from specedit.edit.confidence import rated, unconfirmed
from specedit.edit.job import Job
from specedit.edit.regions.locate import locate
from specedit.edit.report import (
    Edit,
    Figures,
    Report,
    as_written,
    failed,
    guarded,
    outcome,
    put_back,
    with_others_failed,
)
from specedit.edit.request import Request, not_done
from specedit.edit.sink import Begun, Finished, Question, Reply, Sink
from specedit.errors import FileError, InputError, Skipped
from specedit.files.atomic import check_writable
from specedit.files.journal import home
from specedit.files.recorder import Recorder
from specedit.files.source import Source
from specedit.files.undo import undo
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.check.project_checks import Verification


def run_edit(
    source: Source,
    request: Request,
    backend: Backend,
    sink: Sink,
    journal: Callable[[], Recorder] | None = None,
) -> Edit:
    """Edit one text; the Edit is `failed` where the file cannot be done. Nothing is written without
    a `journal`, which is opened for the first file that is written."""
    settings = request.settings
    if settings.test:
        from specedit.edit.tested import tested_edits  # 5 modules, 2 ms

        request = replace(request, read=lambda name: source)
        return tested_edits([source.name], request, backend, sink)[0]
    try:
        sink.emit(Begun(source.name))
        # 1 plan: what to ask, and about which part of the file
        job = request.planner(source)
        if isinstance(job, Edit):
            return job
        # 2 locate: the regions of a large file that may change; all else stays as it is
        located = None
        if job.divisible:
            job, located = locate(job, backend, settings, sink)
        # 3 ask and check: one answer, and what stands against it
        attempts = [first_attempt(job, backend, settings, sink)]
        # 4 ask again, where the first answer does not pass
        if not attempts[0].passes(alone=request.alone):
            attempts = until_one_passes(attempts[0], backend, settings, sink, alone=request.alone)
        # 5 confirm: how likely it is right, and what the user says
        edit = first_that_passes(attempts, keeps=request.keeps)
        edit = _rated(job, edit, located, backend, settings)
        edit = _confirmed(attempts, edit, located, request, backend, sink)
        # 6 write, with the original in the journal
        if journal is None or not edit.changed:
            return edit
        edit = as_written(edit, source.name in request.uncommitted())
        try:
            journal().write(source, edit.after)
        except KeyboardInterrupt:  # one that waited for the write: the file is done
            if any(entry.path == str(source.path) for entry in journal().run.files):
                sink.emit(Finished(edit))
            raise
        return edit
    except FileError as problem:
        return not_done(source.name, problem, request)


def run_files(names: Sequence[str], request: Request, backend: Backend, sink: Sink) -> Report:
    """Edit the files of a command. A file that fails does not stop the others."""
    if request.settings.test:
        from specedit.edit.tested import tested_edits

        edits = tested_edits(names, request, backend, sink)
        return Report(request.command, tuple(edits), backend.model, backend.server)
    writes = request.writes and not request.together
    journal = cache(lambda: Recorder(home(), request.command, request.wish))
    sources: list[Source | None] = []
    edits = []
    for name in names:
        source = None
        try:
            if sink.skip_rest:
                raise Skipped(sink.skip_rest)
            source = request.read(name)
            if request.writes:
                check_writable(source)
            edit = run_edit(source, request, backend, sink, journal if writes else None)
        except FileError as problem:
            edit = failed(name, problem)
        sink.emit(Finished(edit))
        sources.append(source)
        edits.append(edit)
    if request.writes and request.together:
        edits = _written_together(sources, edits, request)
    return Report(request.command, tuple(edits), backend.model, backend.server)


def _confirmed(
    attempts: list[Attempt],
    edit: Edit,
    located: Figures | None,
    request: Request,
    backend: Backend,
    sink: Sink,
) -> Edit:
    """The Edit as the sink decides: all of it, what the user chose of it, or another answer; else
    it is refused. An edit that is not unsure takes effect unless the user decides otherwise."""
    job = attempts[0].job
    while edit.changed:
        unsure = request.confirms_unsure and edit.sure is False
        unrated = request.confirms_unsure and edit.unrated
        reply = sink.ask(Question(job, edit, unsure, unrated))
        if reply.decision == "yes":
            return _as_chosen(job, edit, reply)
        if reply.decision == "no":
            return unconfirmed(edit, in_file=job.source.path is not None)
        other = another(attempts, backend, request.settings, sink)
        if other is not None:
            edit = _rated(job, other, located, backend, request.settings)
    return edit


def _rated(
    job: Job, edit: Edit, located: Figures | None, backend: Backend, settings: Settings
) -> Edit:
    """The Edit with how sure it is, and with what the question about places cost."""
    if located is not None:
        edit = replace(edit, figures=edit.figures.beside(located))
    return rated(job, edit, backend.model, settings)


def _as_chosen(job: Job, edit: Edit, reply: Reply) -> Edit:
    """The proposed edit, or the text that the user chose instead, checked again."""
    if reply.text is None:
        return edit
    chosen = replace(outcome(job.source, reply.text, edit.figures), hunks=reply.hunks)
    checked = guarded(job.source, job.instruction, job.checks, reply.text)
    if checked.problems:
        findings = (*edit.findings, *checked.problems)
        return replace(chosen, status="refused", findings=findings)
    chosen = replace(chosen, findings=edit.findings, compared=edit.compared, sure=True)
    return chosen if chosen.changed else chosen.noting(Finding(DECLINED, "no hunk was applied"))


def _written_together(
    sources: Sequence[Source | None], edits: list[Edit], request: Request
) -> list[Edit]:
    """Write the files that are one change: all of them or none."""
    changed = [at for at, edit in enumerate(edits) if edit.changed]
    if not changed:
        return edits
    texts = [(source, edits[at].after) for at in changed if (source := sources[at]) is not None]
    broken = next((edit.path for edit in edits if edit.status in ("refused", "failed")), "")
    uncommitted = set() if broken else request.uncommitted()
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
            edits[at] = as_written(edits[at], edits[at].path in uncommitted)
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
