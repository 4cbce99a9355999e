"""Tries that the user's own command judges: all files of a session are one try.

The originals are journalled, a try is written, the command runs, and its exit code decides whether
the try stays or is taken out again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from specedit.check.finding import Finding
from specedit.edit.attempt import Answered
from specedit.edit.backend import Event
from specedit.edit.inputs import Input, SessionRequest
from specedit.edit.job import Job, Planned
from specedit.edit.outcome import as_written, failed, keep, outcome, with_others_failed
from specedit.edit.report import Baseline, Edit, Judgement, Judging, Tried, Try, TryItem
from specedit.edit.tries.attempts import (
    Earlier,
    answer,
    as_earlier,
    attempts,
    best,
    none_passes,
    try_of,
    whole_of,
    with_all_tries,
)
from specedit.edit.tries.command import running
from specedit.edit.tries.failure import Failures
from specedit.errors import FileError, UsageError
from specedit.files import worktree
from specedit.files.journal import home
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.trial import Settled, Trial

CHANGED_BY_TEST = "test-changed"  # the kind of a finding: the command wrote to a file of the try

Items = Generator[tuple[str, Planned | Event | TryItem | Edit], None, None]


@dataclass
class _TriedFile:
    """One file through all tries."""

    input: Input
    source: Source
    job: Job
    tries: list[Try] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)  # one for each try
    earlier: list[Earlier] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.input.name


def tested_tries(request: SessionRequest) -> Items:
    """Everything that happens; each file's last item is its Edit."""
    files: list[_TriedFile] = []
    broken = ""
    for one in request.inputs:
        try:
            source = one.read()
            check_writable(source)
            planned = request.planner(source)
        except FileError as problem:
            planned = failed(one.name, problem)
        if isinstance(planned, Job):
            files.append(_TriedFile(one, source, planned))
            continue
        if planned.status in ("refused", "failed"):
            broken = broken or planned.path
        yield one.name, planned
    if broken and request.together:  # one change, of which a part cannot be done
        for file in files:
            yield file.name, with_others_failed(Edit(file.name, "refused"), broken)
    elif files:
        root = root_of([file.source for file in files])
        with Trial(home(), root, request.command, request.wish) as trial:
            yield from _Tries(request, files, root, trial).items()


class _Tries:
    """All files of a session through its tries."""

    def __init__(
        self, request: SessionRequest, files: Sequence[_TriedFile], root: Path, trial: Trial
    ) -> None:
        self._request = request
        self._settings = request.settings
        self._files = files
        self._root = root
        self._trial = trial
        self._name = files[0].name  # of the file that items about all of them go with
        self._failures = Failures()
        self._before = Judgement(None)  # of the work tree as it was
        self._wholes: list[Try] = []  # each try, over all files

    def items(self) -> Items:
        files, settings = self._files, self._settings
        # The command may write: the originals are put, and so journalled, before it runs.
        self._trial.put([(file.source, file.source.data) for file in files])
        self._before = yield from self._run(0)
        self._take_out(files)
        yield self._name, Baseline(self._before, self._failures.seconds)
        if not self._before.passed and settings.require_green:
            raise UsageError(
                f"The test command fails before any edit: {self._before.line}",
                hint="Fix that first, or run without --require-green. Nothing was changed.",
            )
        for attempt in attempts(settings):
            yield self._name, attempt
            for file in files:
                answers = answer(file.job, attempt, file.earlier, self._request.backend, settings)
                answered = yield from _named(file.name, answers)
                if attempt.number == 1:
                    file.job = answered.job
                file.tries.append(try_of(attempt, answered, file.tries))
                file.edits.append(answered.edit)
                file.earlier.append(as_earlier(answered))
            whole = yield from self._judged()
            self._wholes.append(whole)
            yield self._name, Tried(whole, attempt.most)
            if whole.kept:
                yield from self._ended(attempt.number - 1)
                return
            if all(file.job.known is not None for file in files):
                break  # there is no other answer
            for file in files:  # feedback for the next try
                last = file.earlier[-1]
                problem = last.problem or self._failures.text(whole)
                file.earlier[-1] = replace(last, problem=problem)
        yield from self._none_passed()

    def _judged(self) -> Generator[tuple[str, Judging], None, Try]:
        """This try's verdict over all files; one that does not pass is taken out again."""
        files = self._files
        whole = whole_of([file.tries[-1] for file in files], [file.name for file in files])
        if whole.refused:
            return whole
        same = next((one for one in self._wholes if one.after_sha256 == whole.after_sha256), None)
        changed = [file for file in files if file.edits[-1].changed]
        if same is not None:
            whole = replace(whole, test=same.test, same_as=same.number)
        elif not changed:
            whole = replace(whole, test=self._before, same_as=0, kept=self._before.passed)
        else:
            self._trial.put([(file.source, file.edits[-1].after) for file in changed])
            verdict = yield from self._run(whole.number)
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

    def _run(self, number: int) -> Generator[tuple[str, Judging], None, Judgement]:
        """Run the command on what is in the work tree now."""
        command = self._settings.test
        output = running(command, self._root, self._settings.test_timeout)
        with closing(output):
            try:
                while True:
                    yield self._name, Judging(number, command, next(output))
            except StopIteration as end:
                return self._failures.verdict(end.value, self._root, number)

    def _keep(self, changed: Sequence[_TriedFile]) -> None:
        for file, one in _paired(changed, self._trial.keep()):
            edit = file.edits[-1]
            if one.changed:
                edit = _as_left(file.source, edit, one.data)
            file.edits[-1] = as_written(edit, file.input.uncommitted)

    def _take_out(self, tried: Sequence[_TriedFile]) -> None:
        for file, one in _paired(tried, self._trial.take_out()):
            if one.aside:
                message = f"the test command changed it; its version is in {one.aside}"
                file.notes.append(Finding(CHANGED_BY_TEST, message))

    def _ended(self, at: int, why: Finding | None = None) -> Iterator[tuple[str, Edit]]:
        """Each file's Edit: that of the try at index `at`, with the figures of all tries."""
        for file in self._files:
            edit = with_all_tries(file.edits[at].noting(*file.notes), file.tries)
            if why is not None and edit.status != "unchanged":
                edit = edit.noting(why)
            yield file.name, edit

    def _none_passed(self) -> Iterator[tuple[str, Edit]]:
        """No try passed: nothing is written, except the best try with --keep-best."""
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
        yield from self._ended(at, Finding("test", message, refuses=True))


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
    files: Sequence[_TriedFile], settled: Sequence[Settled]
) -> Iterator[tuple[_TriedFile, Settled]]:
    by = {str(one.path): one for one in settled}
    for file in files:
        one = by.get(str(worktree.real(file.source.path or file.source.name)))
        if one is not None:
            yield file, one


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


def _named(
    name: str, answers: Generator[Planned | Event, None, Answered]
) -> Generator[tuple[str, Planned | Event], None, Answered]:
    """The events of one file's answer, each with the file's name."""
    while True:
        try:
            yield name, next(answers)
        except StopIteration as end:
            result: Answered = end.value
            return result
