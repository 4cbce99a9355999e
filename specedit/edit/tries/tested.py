"""Tries that the user's own command judges: all files of a session are one try.

The originals are journalled, a try is written, the command runs, and its exit code decides whether
the try stays or is taken out again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specedit.check.finding import Finding
from specedit.edit.attempt import Answered
from specedit.edit.backend import Backend, Event
from specedit.edit.inputs import Input, Planner
from specedit.edit.job import Job, Planned
from specedit.edit.joint_write import held_uncommitted, held_with
from specedit.edit.outcome import aside, failed
from specedit.edit.report import Edit, Judgement, Try
from specedit.edit.tries.attempts import (
    Earlier,
    answer,
    as_earlier,
    attempts,
    max_tries,
    try_of,
    trying,
    with_all_tries,
)
from specedit.edit.tries.command import Ran, running
from specedit.edit.tries.items import Baseline, Judging, Tried, TryItem
from specedit.edit.tries.verdicts import Failures, best, none_passes, whole_of
from specedit.errors import FileError, UsageError
from specedit.files import worktree
from specedit.files.journal import home
from specedit.files.recorder import Wish
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.trial import Settled, Trial
from specedit.settings import Settings

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


class TestedTries:
    """`writes`: the try that passed stays; otherwise it is only returned, and the work tree is
    unchanged. `together`: all files are one change."""

    __test__ = False  # the name is not a test's

    def __init__(
        self,
        command: str,
        inputs: Sequence[Input],
        planner: Planner,
        backend: Backend,
        settings: Settings,
        *,
        wish: Wish | None = None,
        writes: bool = False,
        together: bool = False,
    ) -> None:
        self._command = command
        self._inputs = inputs
        self._planner = planner
        self._backend = backend
        self._settings = settings
        self._wish = wish
        self._writes = writes
        self._together = together
        self._failures = Failures()

    def items(self) -> Items:
        """Everything that happens; each file's last item is its Edit."""
        files: list[_TriedFile] = []
        broken = ""
        for one in self._inputs:
            planned = self._planned(one)
            if isinstance(planned, _TriedFile):
                files.append(planned)
                continue
            if planned.status in ("refused", "failed"):
                broken = broken or planned.path
            yield one.name, planned
        if broken and self._together:  # one change, of which a part cannot be done
            for file in files:
                yield file.name, Edit(file.name, "refused", findings=(held_with(broken),))
            return
        if not files:
            return
        root = root_of([file.source for file in files])
        with Trial(home(), root, self._command, self._wish) as trial:
            yield from self._tried(files, root, trial)

    def _planned(self, one: Input) -> _TriedFile | Edit:
        try:
            source = one.read()
            check_writable(source)
            job = self._planner(source)
        except FileError as problem:
            return failed(one.name, problem)
        return job if isinstance(job, Edit) else _TriedFile(one, source, job)

    def _tried(self, files: list[_TriedFile], root: Path, trial: Trial) -> Items:
        name = files[0].name
        trial.put([(file.source, file.source.data) for file in files])  # the command may write
        before = yield from self._run(name, 0, root)
        self._take_out(files, trial.take_out())
        yield name, Baseline(before, self._failures.seconds)
        if not before.passed and self._settings.require_green:
            raise UsageError(
                f"The test command fails before any edit: {before.line}",
                hint="Fix that first, or run without --require-green. Nothing was changed.",
            )
        wholes: list[Try] = []
        for attempt in attempts(self._settings):
            yield name, trying(attempt, self._settings)
            for file in files:
                answers = answer(file.job, attempt, file.earlier, self._backend, self._settings)
                answered = yield from _named(file.name, answers)
                if attempt.number == 1:
                    file.job = answered.job
                file.tries.append(try_of(attempt, answered, file.tries))
                file.edits.append(answered.edit)
                file.earlier.append(as_earlier(answered))
            whole = yield from self._judged(files, before, wholes, root, trial)
            wholes.append(whole)
            yield name, Tried(whole, max_tries(self._settings))
            if whole.kept:
                yield from self._ended(files, attempt.number - 1)
                return
            if all(file.job.known is not None for file in files):
                break  # there is no other answer
            for file in files:  # feedback for the next try
                last = file.earlier[-1]
                problem = last.problem or self._failures.text(whole)
                file.earlier[-1] = replace(last, problem=problem)
        yield from self._none_passed(files, wholes, before, trial)

    def _judged(
        self,
        files: list[_TriedFile],
        before: Judgement,
        wholes: Sequence[Try],
        root: Path,
        trial: Trial,
    ) -> Generator[tuple[str, Judging], None, Try]:
        """This try's verdict over all files; one that does not pass is taken out again."""
        parts, names = [file.tries[-1] for file in files], [file.name for file in files]
        whole = whole_of(parts, names)
        if whole.refused:
            return whole
        same = next((one for one in wholes if one.after_sha256 == whole.after_sha256), None)
        if same is not None:
            return self._recorded(files, replace(whole, test=same.test, same_as=same.number))
        changed = [file for file in files if file.edits[-1].changed]
        if not changed:
            kept = before.passed
            return self._recorded(files, replace(whole, test=before, same_as=0, kept=kept))
        trial.put([(file.source, file.edits[-1].after) for file in changed])
        verdict = yield from self._run(files[0].name, whole.number, root)
        if verdict.passed and self._writes:
            self._keep(changed, trial.keep())
        else:
            self._take_out(changed, trial.take_out())
        whole = replace(whole, test=verdict, test_s=self._failures.seconds, kept=verdict.passed)
        return self._recorded(files, whole)

    def _recorded(self, files: Sequence[_TriedFile], whole: Try) -> Try:
        for file in files:
            file.tries[-1] = replace(
                file.tries[-1], test=whole.test, test_s=whole.test_s, kept=whole.kept
            )
        return whole

    def _run(
        self, name: str, number: int, root: Path
    ) -> Generator[tuple[str, Judging], None, Judgement]:
        command = self._settings.test
        output = running(command, root, self._settings.test_timeout)
        try:
            while True:
                yield name, Judging(number, command, next(output))
        except StopIteration as end:
            ran: Ran = end.value
        finally:
            output.close()
        return self._failures.verdict(ran, root, number)

    def _keep(self, changed: Sequence[_TriedFile], settled: Sequence[Settled]) -> None:
        for file, one in _paired(changed, settled):
            file.edits[-1] = replace(file.edits[-1], status="edited", written=True)
            if one.changed:
                file.edits[-1] = _as_left(file.source, file.edits[-1], one.data)
            if file.input.uncommitted:
                file.edits[-1] = file.edits[-1].noting(held_uncommitted())

    def _take_out(self, changed: Sequence[_TriedFile], settled: Sequence[Settled]) -> None:
        for file, one in _paired(changed, settled):
            if one.aside:
                message = f"the test command changed it; its version is in {one.aside}"
                file.notes.append(Finding(CHANGED_BY_TEST, message))

    def _ended(
        self, files: Sequence[_TriedFile], at: int, why: Finding | None = None
    ) -> Iterator[tuple[str, Edit]]:
        """Each file's Edit: that of the try at index `at`, with the figures of all tries."""
        for file in files:
            edit = with_all_tries(file.edits[at].noting(*file.notes), file.tries)
            if why is not None and edit.status != "unchanged":
                edit = edit.noting(why)
            yield file.name, edit

    def _none_passed(
        self, files: Sequence[_TriedFile], wholes: Sequence[Try], before: Judgement, trial: Trial
    ) -> Iterator[tuple[str, Edit]]:
        """No try passed: nothing is written, except the best try with --keep-best."""
        at = best(wholes)
        why = Finding("test", none_passes(wholes, self._settings.test, before), refuses=True)
        changed = [file for file in files if file.edits[at].changed]
        if self._settings.keep_best and self._writes and changed and not wholes[at].refused:
            trial.put([(file.source, file.edits[at].after) for file in changed])
            settled = trial.keep()
            for file, _ in _paired(changed, settled):
                file.edits[at] = replace(file.edits[at], status="edited", written=True)
            for file in files:
                file.tries[at] = replace(file.tries[at], kept=True)
        else:
            some = any(_changes(file.edits[at]) for file in files)
            for file in files:
                if _changes(file.edits[at]) or not some:
                    file.edits[at] = _refused(file.edits[at])
        yield from self._ended(files, at, why)


def root_of(sources: Sequence[Source]) -> Path:
    """The folder that the command runs in: the work tree of the files, or else this folder."""
    tops = {worktree.top_of(worktree.real(source.path or source.name).parent) for source in sources}
    if len(tops) > 1:
        raise UsageError(
            "--test runs in one work tree, and the files are in several.",
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
    from specedit.edit.outcome import outcome

    message = "the test command changed it after the edit; the command's version is kept"
    try:
        text = Source.from_bytes(source.name, data).text
        left = outcome(source, text, edit.figures)
    except FileError as problem:
        left, message = edit, f"{message}: {problem.reason}"
    return replace(left, after=data, status="edited", written=True, findings=edit.findings).noting(
        Finding(CHANGED_BY_TEST, message)
    )


def _changes(edit: Edit) -> bool:
    """Whether an answer changes its file, or was refused."""
    return edit.after != edit.before or bool(edit.problems)


def _refused(edit: Edit) -> Edit:
    """A refused Edit, whose answer is stored for the user to look at."""
    stored = aside(edit.path, edit.after, "refused") if edit.after != edit.before else ""
    return replace(edit, status="refused", kept=stored, written=False)


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
