"""Tries that the user's own command judges: all files of a command are one try.

The originals are journalled, a try is written, the command runs, and its exit code decides whether
the try stays or is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specedit.check.finding import Finding
from specedit.edit.again import SECOND, again, most_tries, trying, wider, with_all_tries
from specedit.edit.ask import Attempt, first_attempt
from specedit.edit.backend import Backend
from specedit.edit.confidence import rated
from specedit.edit.job import Job
from specedit.edit.regions.locate import locate
from specedit.edit.report import (
    Baseline,
    CommandResult,
    CommandRunning,
    Edit,
    Figures,
    Tried,
    Try,
    Trying,
    as_written,
    keep,
    outcome,
    with_others_failed,
)
from specedit.edit.request import Request, not_done
from specedit.edit.sink import Begun, Finished, Sink
from specedit.edit.user_command import run_command
from specedit.errors import FileError, UsageError
from specedit.files import git
from specedit.files.atomic import check_writable
from specedit.files.journal import home
from specedit.files.recorder import Settled, Trial
from specedit.files.source import Source

NOT_DONE = ("refused", "failed")  # statuses of an Edit
CHANGED_BY_TEST = "test-changed"  # the kind of a finding: the command wrote to a file of the try


@dataclass
class TestedFile:
    """One file of the tries: its Job, and an attempt for each try."""

    source: Source
    job: Job
    uncommitted: bool
    located: Figures | None = None  # the cost of the question about places
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)

    @property
    def edit(self) -> Edit:
        """That of the last attempt."""
        return self.attempts[-1].edit

    def update(self, at: int, edit: Edit | None = None, **record: object) -> None:
        """Replace the Edit of an attempt, and fields of its record."""
        made = self.attempts[at]
        changed = replace(made.record, **record)  # type: ignore[arg-type]
        self.attempts[at] = replace(made, edit=edit or made.edit, record=changed)


def tested_edits(
    names: Sequence[str], request: Request, backend: Backend, sink: Sink
) -> list[Edit]:
    """The Edit of each file, in the order of the names."""
    files: list[TestedFile] = []
    edits: dict[str, Edit] = {}
    for name in names:
        try:
            source = request.read(name)
            check_writable(source)
            planned = request.planner(source)
        except FileError as problem:
            planned = not_done(name, problem, request)
        if isinstance(planned, Job):
            files.append(TestedFile(source, planned, name in request.uncommitted()))
        else:
            edits[name] = planned
    broken = next((edit.path for edit in edits.values() if edit.status in NOT_DONE), "")
    if broken and request.together:  # one change, of which a part cannot be done
        for file in files:
            name = file.source.name
            edits[name] = with_others_failed(Edit(name, "refused"), broken)
    elif files:
        root = root_of([file.source for file in files])
        with Trial(home(), root, request.command, request.wish) as trial:
            edits |= _Tries(request, files, root, trial, sink).run(backend)
    for edit in edits.values():
        sink.emit(Finished(edit))
    return [edits[name] for name in names]


@dataclass
class _Tries:
    """All files through all tries, until the user's command passes one."""

    request: Request
    files: Sequence[TestedFile]
    root: Path
    trial: Trial
    sink: Sink
    before: CommandResult = field(init=False)  # of the work tree as it was
    wholes: list[Try] = field(default_factory=list)  # each try, over all files
    edits: dict[str, Edit] = field(default_factory=dict)  # of the files that are done

    def run(self, backend: Backend) -> dict[str, Edit]:
        """Try until the command passes; the Edit of each file."""
        self._check_baseline()
        passed = self._try_until_passed(backend)
        at, why = (len(self.wholes) - 1, None) if passed or not self.files else self._none_passed()
        for file in self.files:
            edit = with_all_tries(file.attempts[at].edit.noting(*file.notes), file.attempts)
            if file.located is not None:
                edit = replace(edit, figures=edit.figures.beside(file.located))
            edit = rated(file.job, edit, backend.model, self.request.settings)
            if why is None:
                edit = replace(edit, sure=True)  # the user's own command says so
            elif edit.status != "unchanged":
                edit = edit.noting(why)
            self.edits[file.source.name] = edit
        return self.edits

    def _check_baseline(self) -> None:
        """Run the command before anything is edited."""
        # The command may write: the originals are put, and so journalled, before it runs.
        self.trial.put([(file.source, file.source.data) for file in self.files])
        self.before = self._run_command(0)
        self._take_out(self.files)
        self.sink.emit(Baseline(self.before))

    def _try_until_passed(self, backend: Backend) -> bool:
        """Ask for all files, try after try, until the command passes one."""
        for number in range(1, most_tries(self.request.settings) + 1):
            how = trying(self.request.settings, number)
            self.sink.emit(how)
            for file in self.files:
                self.sink.emit(Begun(name := file.source.name))
                try:
                    file.attempts.append(self._attempt(file, how, backend))
                except FileError as error:
                    if self.request.together:
                        raise
                    self.edits[name] = not_done(name, error, self.request)
            self.files = [file for file in self.files if file.source.name not in self.edits]
            if not self.files:
                return False
            whole = self._judge()
            self.wholes.append(whole)
            self.sink.emit(Tried(whole, how.most))
            for file in self.files:  # feedback for the next try
                made = file.attempts[-1]
                problem = made.problem or (whole.test.text if whole.test else whole.line)
                file.attempts[-1] = replace(made, problem=problem)
            if whole.kept:
                return True
            if all(file.job.known is not None for file in self.files):
                return False  # there is no other answer
        return False

    def _attempt(self, file: TestedFile, how: Trying, backend: Backend) -> Attempt:
        settings = self.request.settings
        if how.number == 1:
            file.job, file.located = locate(file.job, backend, settings, self.sink)
            made = first_attempt(file.job, backend, settings, self.sink)
            file.job = made.job
            return made
        if how.number == SECOND:
            file.job = wider(file.attempts[0])
        return again(file.job, how, file.attempts, backend, settings, self.sink)

    def _judge(self) -> Try:
        """The last try over all files, as the checks and the command judge it; one that does not
        pass is taken out again."""
        files = self.files
        whole = whole_of([file.attempts[-1].record for file in files], files)
        if whole.refused:
            return whole
        same = next((old for old in self.wholes if old.after_sha256 == whole.after_sha256), None)
        changed = [file for file in files if file.edit.changed]
        if same is not None:
            whole = replace(whole, test=same.test, same_as=same.number)
        elif not changed:
            whole = replace(whole, test=self.before, same_as=0, kept=self.before.passed)
        else:
            self.trial.put([(file.source, file.edit.after) for file in changed])
            result = self._run_command(whole.number)
            if result.passed and self.request.writes:
                self._keep(changed)
            else:
                self._take_out(changed)
            whole = replace(whole, test=result, test_s=result.seconds, kept=result.passed)
        for file in files:
            file.update(-1, test=whole.test, test_s=whole.test_s, kept=whole.kept)
        return whole

    def _run_command(self, number: int) -> CommandResult:
        """Run the command on what is in the work tree now."""
        command = self.request.settings.test

        def report(line: str) -> None:
            self.sink.emit(CommandRunning(number, command, line))

        return run_command(command, self.root, self.request.settings.test_timeout, report)

    def _keep(self, changed: Sequence[TestedFile]) -> None:
        for file, result in _paired(changed, self.trial.keep()):
            edit = file.edit
            if result.changed:
                edit = _as_left(file.source, edit, result.data)
            file.update(-1, as_written(edit, file.uncommitted))

    def _take_out(self, tried: Sequence[TestedFile]) -> None:
        for file, result in _paired(tried, self.trial.take_out()):
            if result.aside:
                message = f"the test command changed it; its version is in {result.aside}"
                file.notes.append(Finding(CHANGED_BY_TEST, message))

    def _none_passed(self) -> tuple[int, Finding]:
        """No try passed: nothing is written, except the best try with --keep-best. The index of the
        try to report, and the finding."""
        files, settings, at = self.files, self.request.settings, best(self.wholes)
        message = none_passes(self.wholes, settings.test, self.before)
        changed = [file for file in files if file.attempts[at].edit.changed]
        if settings.keep_best and self.request.writes and changed and not self.wholes[at].refused:
            self.trial.put([(file.source, file.attempts[at].edit.after) for file in changed])
            for file, _ in _paired(changed, self.trial.keep()):
                file.update(at, replace(file.attempts[at].edit, status="edited", written=True))
            message += f"; try {at + 1} is kept, though it fails"
            for file in files:
                file.update(at, kept=True)
        else:
            some = any(_changes(file.attempts[at].edit) for file in files)
            for file in files:
                edit = file.attempts[at].edit
                if _changes(edit) or not some:
                    file.update(at, keep(replace(edit, status="refused", written=False)))
        return at, Finding("test", message, refuses=True)


def whole_of(parts: Sequence[Try], files: Sequence[TestedFile]) -> Try:
    """One try over all files, from what it was for each of them."""
    named = "{name}: {why}" if len(files) > 1 else "{why}"
    refused = [
        named.format(name=file.source.name, why=part.refused)
        for file, part in zip(files, parts, strict=True)
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


def none_passes(wholes: Sequence[Try], command: str, before: CommandResult) -> str:
    """Why nothing is kept: what stands against the best of the tries."""
    nearest = wholes[best(wholes)]
    if nearest.refused:  # and so is every other: the command judged none of them
        return f"the checks refuse all {len(wholes)} tries; the first: {nearest.refused}"
    message = f"no try of {len(wholes)} passes {command!r}"
    if not before.passed:
        message += ", which failed before the edit, too"
    return f"{message}: {nearest.line}"


def root_of(sources: Sequence[Source]) -> Path:
    """The folder that the command runs in: the work tree of the files, or else this folder."""
    tops = {git.top_of(git.real(source.path or source.name).parent) for source in sources}
    if len(tops) > 1:
        raise UsageError(
            "--test runs in one work tree, but the files are in several.",
            hint="Run it once for each of them.",
        )
    return tops.pop() or sources[0].root.absolute()


def _paired(
    files: Sequence[TestedFile], settled: Sequence[Settled]
) -> Iterator[tuple[TestedFile, Settled]]:
    by = {str(result.path): result for result in settled}
    for file in files:
        result = by.get(str(git.real(file.source.path or file.source.name)))
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
