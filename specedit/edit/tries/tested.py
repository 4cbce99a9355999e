"""Tries that the user's own command judges: all files of a command are one try.

The originals are journalled, a try is written, the command runs, and its exit code decides whether
the try stays or is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from specedit.check.finding import Finding
from specedit.edit.backend import Backend
from specedit.edit.confidence import rated
from specedit.edit.job import Job
from specedit.edit.outcome import as_written, failed, keep, outcome, with_others_failed
from specedit.edit.regions.locate import locate
from specedit.edit.report import Baseline, Edit, Figures, Judgement, Judging, Tried, Try, Trying
from specedit.edit.request import Input, Request
from specedit.edit.sink import Sink
from specedit.edit.tries.command import Failures, run_command
from specedit.edit.tries.loop import (
    TriedFile,
    best,
    none_passes,
    try_until_kept,
    whole_of,
    with_all_tries,
)
from specedit.errors import FileError, UsageError
from specedit.files import worktree
from specedit.files.journal import home
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.trial import Settled, Trial

NOT_DONE = ("refused", "failed")  # statuses of an Edit
CHANGED_BY_TEST = "test-changed"  # the kind of a finding: the command wrote to a file of the try


def tested_edits(
    inputs: Sequence[Input], request: Request, backend: Backend, sink: Sink
) -> list[Edit]:
    """The Edit of each file, in the order of the inputs."""
    files: list[TriedFile] = []
    edits: dict[str, Edit] = {}
    for unread in inputs:
        try:
            source = unread.read()
            check_writable(source)
            planned = request.planner(source)
        except FileError as problem:
            planned = failed(unread.name, problem)
        if isinstance(planned, Job):
            files.append(TriedFile(source, planned, unread.is_uncommitted()))
        else:
            edits[unread.name] = planned
    broken = next((edit.path for edit in edits.values() if edit.status in NOT_DONE), "")
    if broken and request.together:  # one change, of which a part cannot be done
        for file in files:
            edits[file.name] = with_others_failed(Edit(file.name, "refused"), broken)
    elif files:
        root = root_of([file.source for file in files])
        with Trial(home(), root, request.command, request.wish) as trial:
            edits |= _tried(files, request, backend, sink, root, trial)
    for edit in edits.values():
        sink.done(edit)
    return [edits[unread.name] for unread in inputs]


def _tried(
    files: Sequence[TriedFile],
    request: Request,
    backend: Backend,
    sink: Sink,
    root: Path,
    trial: Trial,
) -> dict[str, Edit]:
    """Locate, then try until the command passes; the Edit of each file."""
    settings = request.settings
    judge = _Command(request, files, root, trial, sink)
    judge.check_baseline()
    located: dict[str, Figures] = {}
    for file in files:
        sink.file(file.name)
        file.job, figures = locate(file.job, backend, settings, sink)
        if figures is not None:
            located[file.name] = figures
    at = try_until_kept(files, judge, backend, settings, sink)
    why = None
    if at is None:
        at, why = judge.none_passed()
    edits = {}
    for file in files:
        edit = with_all_tries(file.edits[at].noting(*file.notes), file.tries)
        if file.name in located:
            edit = replace(edit, figures=edit.figures.beside(located[file.name]))
        edit = rated(file.job, edit, backend.model)
        if why is None:
            edit = replace(edit, sure=True)  # the user's own command says so
        elif edit.status != "unchanged":
            edit = edit.noting(why)
        edits[file.name] = edit
    return edits


class _Command:
    """Keeps the first try that the user's command passes."""

    def __init__(
        self,
        request: Request,
        files: Sequence[TriedFile],
        root: Path,
        trial: Trial,
        sink: Sink,
    ) -> None:
        self._request = request
        self._settings = request.settings
        self._files = files
        self._root = root
        self._trial = trial
        self._sink = sink
        self._failures = Failures()
        self._before = Judgement(None)  # of the work tree as it was
        self._wholes: list[Try] = []  # each try, over all files

    def check_baseline(self) -> None:
        """Run the command before anything is edited."""
        # The command may write: the originals are put, and so journalled, before it runs.
        self._trial.put([(file.source, file.source.data) for file in self._files])
        self._before = self._run(0)
        self._take_out(self._files)
        self._sink.baseline(Baseline(self._before, self._failures.seconds))

    def begins(self, attempt: Trying) -> None:
        self._sink.trying(attempt)

    def keeps(self, attempt: Trying) -> bool:
        whole = self._judged()
        self._wholes.append(whole)
        self._sink.tried(Tried(whole, attempt.most))
        for file in self._files:  # feedback for the next try
            last = file.earlier[-1]
            problem = last.problem or self._failures.text(whole)
            file.earlier[-1] = replace(last, problem=problem)
        return whole.kept

    def ends(self) -> bool:
        return False

    def _judged(self) -> Try:
        """This try's verdict over all files; one that does not pass is taken out again."""
        files = self._files
        whole = whole_of([file.tries[-1] for file in files], [file.name for file in files])
        if whole.refused:
            return whole
        same = next(
            (attempt for attempt in self._wholes if attempt.after_sha256 == whole.after_sha256),
            None,
        )
        changed = [file for file in files if file.edits[-1].changed]
        if same is not None:
            whole = replace(whole, test=same.test, same_as=same.number)
        elif not changed:
            whole = replace(whole, test=self._before, same_as=0, kept=self._before.passed)
        else:
            self._trial.put([(file.source, file.edits[-1].after) for file in changed])
            verdict = self._run(whole.number)
            if verdict.passed and self._request.writes:
                self._keep(changed)
            else:
                self._take_out(changed)
            whole = replace(whole, test=verdict, test_s=self._failures.seconds, kept=verdict.passed)
        for file in files:
            file.tries[-1] = replace(
                file.tries[-1], test=whole.test, test_s=whole.test_s, kept=whole.kept
            )
        return whole

    def _run(self, number: int) -> Judgement:
        """Run the command on what is in the work tree now."""
        command = self._settings.test

        def report(line: str) -> None:
            self._sink.judging(Judging(number, command, line))

        ran = run_command(command, self._root, self._settings.test_timeout, report)
        return self._failures.verdict(ran, self._root, number)

    def _keep(self, changed: Sequence[TriedFile]) -> None:
        for file, result in _paired(changed, self._trial.keep()):
            edit = file.edits[-1]
            if result.changed:
                edit = _as_left(file.source, edit, result.data)
            file.edits[-1] = as_written(edit, file.uncommitted)

    def _take_out(self, tried: Sequence[TriedFile]) -> None:
        for file, result in _paired(tried, self._trial.take_out()):
            if result.aside:
                message = f"the test command changed it; its version is in {result.aside}"
                file.notes.append(Finding(CHANGED_BY_TEST, message))

    def none_passed(self) -> tuple[int, Finding]:
        """No try passed: nothing is written, except the best try with --keep-best. The index of the
        try to report, and the finding."""
        files, settings, at = self._files, self._settings, best(self._wholes)
        message = none_passes(self._wholes, settings.test, self._before)
        changed = [file for file in files if file.edits[at].changed]
        if settings.keep_best and self._request.writes and changed and not self._wholes[at].refused:
            self._trial.put([(file.source, file.edits[at].after) for file in changed])
            for file, _ in _paired(changed, self._trial.keep()):
                file.edits[at] = replace(file.edits[at], status="edited", written=True)
            for file in files:
                file.tries[at] = replace(file.tries[at], kept=True)
        else:
            some = any(_changes(file.edits[at]) for file in files)
            for file in files:
                if _changes(file.edits[at]) or not some:
                    file.edits[at] = keep(replace(file.edits[at], status="refused", written=False))
        return at, Finding("test", message, refuses=True)


def root_of(sources: Sequence[Source]) -> Path:
    """The folder that the command runs in: the work tree of the files, or else this folder."""
    tops = {worktree.top_of(worktree.real(source.path or source.name).parent) for source in sources}
    if len(tops) > 1:
        raise UsageError(
            "--test runs in one work tree, but the files are in several.",
            hint="Run it once for each of them.",
        )
    return tops.pop() or sources[0].root.absolute()


def _paired(
    files: Sequence[TriedFile], settled: Sequence[Settled]
) -> Iterator[tuple[TriedFile, Settled]]:
    by = {str(result.path): result for result in settled}
    for file in files:
        result = by.get(str(worktree.real(file.source.path or file.source.name)))
        if result is not None:
            yield file, result


def _as_left(source: Source, edit: Edit, data: bytes) -> Edit:
    """The Edit of a file that the command changed after it was written, and passed."""
    message = "the test command changed it after the edit; the command's version is kept"
    try:
        text = Source.from_bytes(source.name, data).text
        left = outcome(source, text, edit.figures)
    except FileError as problem:
        left, message = edit, f"{message}: {problem.reason}"
    findings = (*edit.findings, Finding(CHANGED_BY_TEST, message))
    return replace(left, after=data, findings=findings)


def _changes(edit: Edit) -> bool:
    """Whether an answer changes its file, or was refused."""
    return edit.after != edit.before or bool(edit.problems)
