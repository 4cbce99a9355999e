"""Tries where the user's own command judges: all files of a run are one try, kept or put back.

The originals are journalled, a try is written, the command runs, and what it says decides. Knows
Jobs, the backend, the trial and the command; knows no flags and no terminal.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specedit.edit.answering import Answered
from specedit.edit.backend import Backend, Ready
from specedit.edit.job import Job
from specedit.edit.joint import held_uncommitted, held_with
from specedit.edit.judge import aside, failed
from specedit.edit.run import Input, Item, Planner, Run
from specedit.edit.tries.asking import Earlier
from specedit.edit.tries.command import Ran, running
from specedit.edit.tries.items import Baseline, Judging, Tried
from specedit.edit.tries.refused import answer_of, asked, tried, trying
from specedit.edit.tries.verdicts import Failures, best, none_passes, whole_of
from specedit.edit.tries.ways import Way, most, ways
from specedit.errors import FileError, UsageError
from specedit.files import worktree
from specedit.files.recorder import Wish
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.trial import Settled, Trial
from specedit.report import Edit, Figures, Finding, Judgement, Try
from specedit.settings import Settings

NEITHER = "test-changed"  # the kind of a finding: the command wrote to a file that it judged


@dataclass
class _Work:
    """One file through all tries."""

    given: Input
    source: Source
    job: Job
    tries: list[Try] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)  # one for each try
    earlier: list[Earlier] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


class TestedRun(Run):
    """A Run whose edits a command judges. `writes`: what passed stays; else it is only shown, and
    the work tree is as it was."""

    def __init__(
        self,
        command: str,
        inputs: Sequence[Input],
        planner: Planner,
        backend: Backend,
        settings: Settings,
        store: Path,
        *,
        wish: Wish | None = None,
        writes: bool = True,
        together: bool = False,
    ) -> None:
        super().__init__(command, inputs, planner, backend, settings, together=together)
        self._store = store
        self._wish = wish
        self._writes = writes
        self._said = Failures()

    def __iter__(self) -> Generator[tuple[str, Item], None, None]:
        files: list[_Work] = []
        for given in self._inputs:
            found = self._planned(given)
            if isinstance(found, Edit):
                self._edits.append(found)
                yield given.name, found
            else:
                files.append(found)
        broken = next((one.path for one in self._edits if one.status in ("refused", "failed")), "")
        if broken and self._together:  # one change, of which a part cannot be done
            for file in files:
                edit = Edit(file.given.name, "refused", findings=(held_with(broken),))
                self._edits.append(edit)
                yield file.given.name, edit
            return
        if not files:
            return
        root = root_of([file.source for file in files])
        with Trial(self._store, root, self._command, self._wish) as trial:
            yield from self._tried(files, root, trial)

    def _planned(self, given: Input) -> _Work | Edit:
        try:
            source = given.read()
            check_writable(source)
            job = self._planner(source)
        except FileError as problem:
            return failed(given.name, problem)
        return job if isinstance(job, Edit) else _Work(given, source, job)

    def _tried(self, files: list[_Work], root: Path, trial: Trial) -> Iterator[tuple[str, Item]]:
        name = files[0].given.name
        trial.put([(file.source, file.source.data) for file in files])  # it may change them
        before = yield from self._run(name, 0, root)
        self._out(files, trial.take_out())
        yield name, Baseline(before, self._said.seconds)
        if not before.passed and self._settings.require_green:
            raise UsageError(
                f"The test command fails before any edit: {before.line}",
                hint="Mend that first, or run without --require-green. Nothing was changed.",
            )
        wholes: list[Try] = []
        for way in ways(self._settings):
            yield name, trying(way, self._settings)
            for file in files:
                found = yield from self._asked(file, way)
                if not way.number > 1:
                    file.job = found.job
                file.tries.append(tried(way, found, file.tries))
                file.edits.append(found.edit)
                file.earlier.append(answer_of(found))
            whole = yield from self._judged(files, before, wholes, root, trial)
            wholes.append(whole)
            yield name, Tried(whole, most(self._settings))
            if whole.kept:
                yield from self._ended(files, way.number - 1)
                return
            for file in files:  # what the next try is told
                last = file.earlier[-1]
                file.earlier[-1] = replace(last, said=last.said or self._said.text(whole))
        yield from self._none(files, wholes, before, trial)

    def _asked(self, file: _Work, way: Way) -> Generator[tuple[str, Item], None, Answered]:
        items = asked(file.job, way, file.earlier, self._backend, self._settings)
        while True:
            try:
                item = next(items)
            except StopIteration as end:
                found: Answered = end.value
                return found
            if isinstance(item, Ready):
                self._model = item.model
            yield file.given.name, item

    def _judged(
        self, files: list[_Work], before: Judgement, wholes: Sequence[Try], root: Path, trial: Trial
    ) -> Generator[tuple[str, Item], None, Try]:
        """This try's verdict over all files; what passed is kept, everything else is put back."""
        parts, names = [file.tries[-1] for file in files], [file.given.name for file in files]
        whole = whole_of(parts, names)
        if whole.refused:
            return whole
        same = next((one for one in wholes if one.after_sha256 == whole.after_sha256), None)
        if same is not None:
            return self._noted(files, replace(whole, test=same.test, same_as=same.number))
        changed = [file for file in files if file.edits[-1].changed]
        if not changed:
            kept = before.passed
            return self._noted(files, replace(whole, test=before, same_as=0, kept=kept))
        trial.put([(file.source, file.edits[-1].after) for file in changed])
        verdict = yield from self._run(files[0].given.name, whole.number, root)
        if verdict.passed and self._writes:
            self._keep(changed, trial.keep())
        else:
            self._out(changed, trial.take_out())
        whole = replace(whole, test=verdict, test_s=self._said.seconds, kept=verdict.passed)
        return self._noted(files, whole)

    def _noted(self, files: Sequence[_Work], whole: Try) -> Try:
        for file in files:
            file.tries[-1] = replace(
                file.tries[-1], test=whole.test, test_s=whole.test_s, kept=whole.kept
            )
        return whole

    def _run(
        self, name: str, number: int, root: Path
    ) -> Generator[tuple[str, Item], None, Judgement]:
        command = self._settings.test
        running_ = running(command, root, self._settings.test_timeout)
        try:
            while True:
                yield name, Judging(number, command, next(running_))
        except StopIteration as end:
            ran: Ran = end.value
        finally:
            running_.close()
        return self._said.verdict(ran, root, number)

    def _keep(self, changed: Sequence[_Work], settled: Sequence[Settled]) -> None:
        for file, one in _paired(changed, settled):
            file.edits[-1] = replace(file.edits[-1], status="edited", written=True)
            if one.changed:
                file.edits[-1] = _as_left(file.source, file.edits[-1], one.data)
            if file.given.uncommitted:
                file.edits[-1] = file.edits[-1].noting(held_uncommitted())

    def _out(self, changed: Sequence[_Work], settled: Sequence[Settled]) -> None:
        for file, one in _paired(changed, settled):
            if one.aside:
                said = f"the test command changed it; what it left is in {one.aside}"
                file.notes.append(Finding(NEITHER, said))

    def _ended(
        self, files: Sequence[_Work], at: int, why: Finding | None = None
    ) -> Iterator[tuple[str, Item]]:
        """Each file's Edit: that of the try number `at` (from 0), with what all tries cost."""
        for file in files:
            edit = file.edits[at].noting(*file.notes)
            spent = sum((one.figures for one in file.tries), Figures())
            own = edit.figures
            spent = replace(spent, logits_digest=own.logits_digest, regions=own.regions)
            edit = replace(edit, figures=spent, tries=tuple(file.tries))
            if why is not None and edit.status != "unchanged":
                edit = edit.noting(why)
            self._edits.append(edit)
            yield file.given.name, edit

    def _none(
        self, files: Sequence[_Work], wholes: Sequence[Try], before: Judgement, trial: Trial
    ) -> Iterator[tuple[str, Item]]:
        """No try passed: nothing is kept, unless the best of them is wanted."""
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
            some = any(_wants(file.edits[at]) for file in files)
            for file in files:
                if _wants(file.edits[at]) or not some:
                    file.edits[at] = _refused(file.edits[at])
        yield from self._ended(files, at, why)


def root_of(sources: Sequence[Source]) -> Path:
    """Where the command runs: the work tree that all the files are in; outside of any, here."""
    tops = {worktree.top_of(worktree.real(source.path or source.name).parent) for source in sources}
    if len(tops) > 1:
        raise UsageError(
            "--test runs in one work tree, and the files are in several.",
            hint="Run it once for each of them.",
        )
    return tops.pop() or Path.cwd()


def _paired(files: Sequence[_Work], settled: Sequence[Settled]) -> Iterator[tuple[_Work, Settled]]:
    by = {str(one.path): one for one in settled}
    for file in files:
        one = by.get(str(worktree.real(file.source.path or file.source.name)))
        if one is not None:
            yield file, one


def _as_left(source: Source, edit: Edit, data: bytes) -> Edit:
    """The Edit of a file that the command changed after it was written, and passed."""
    from specedit.edit.judge import outcome

    said = "the test command changed it after the edit; it is kept as the command left it"
    try:
        text = Source.from_bytes(source.name, data).text
        left = outcome(source, text, edit.figures)
    except FileError as problem:
        left, said = edit, f"{said}: {problem.reason}"
    return replace(left, after=data, status="edited", written=True, findings=edit.findings).noting(
        Finding(NEITHER, said)
    )


def _wants(edit: Edit) -> bool:
    """Whether an answer would have the file be another one."""
    return edit.after != edit.before or bool(edit.problems)


def _refused(edit: Edit) -> Edit:
    """An answer that no file holds; a person may want to look at it."""
    held = aside(edit.path, edit.after, "refused") if edit.after != edit.before else ""
    return replace(edit, status="refused", kept=held, written=False)
