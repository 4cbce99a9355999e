"""A session: one command over its inputs. Every interface runs its edits through this class.

Each input is read, planned, asked about, checked, journalled and written. Everything that happens
is yielded; nothing here depends on flags, git or the terminal. With the setting `test`, the user's
command judges each try (`tries.tested`), otherwise the checks alone do (`tries.attempts`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace

from specedit.check.finding import DECLINED, Finding
from specedit.edit.backend import Backend, Event, Ready
from specedit.edit.inputs import Input, Planner, SessionRequest
from specedit.edit.job import Job, Planned
from specedit.edit.outcome import as_written, failed, guarded, outcome, with_others_failed
from specedit.edit.report import Edit, ModelLine, Report, TryItem
from specedit.edit.tries.attempts import checked_tries
from specedit.errors import FileError, NotDefined, Skipped
from specedit.files.journal import home
from specedit.files.recorder import Recorder
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.import_time import frozen
from specedit.settings import Settings


@frozen
class Proposed:
    """A change that passed its checks. Nothing is written before the next item is requested."""

    job: Job
    edit: Edit


Item = Planned | Event | Proposed | TryItem | Edit


@dataclass(eq=False)
class EditSession(SessionRequest):
    """Iterate it once: each input's last item is its Edit, and an input that fails does not stop
    the others.

    `alone`: the instruction is for this one input, so that an answer without a change is asked for
    again (None: where there is one). The caller that sees a `Proposed` may `replace_text` and may
    `skip_rest`."""

    alone: bool | None = None

    def __post_init__(self) -> None:
        self._alone = len(self.inputs) == 1 if self.alone is None else self.alone
        writes = self.writes and not self.settings.test
        self._recorder = Recorder(home(), self.command, self.wish) if writes else None
        self._model: ModelLine | None = None
        self._edits: list[Edit] = []
        self._chosen_text: str | None = None
        self._skip_reason = ""
        self._pending: list[tuple[Input, Source, Edit]] = []

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.inputs]

    @property
    def not_done(self) -> list[str]:
        pending = self.together and self._recorder is not None  # nothing of it is written yet
        return self.names if pending else self.names[len(self._edits) :]

    def report(self) -> Report:
        """The results so far."""
        return Report(self.command, tuple(self._edits), self._model, self.backend.server)

    def replace_text(self, text: str) -> None:
        """Write this text instead of the one that was just proposed."""
        self._chosen_text = text

    def skip_rest(self, why: str) -> None:
        """Leave all further inputs unchanged."""
        self._skip_reason = why

    def __iter__(self) -> Generator[tuple[str, Item], None, None]:
        items: Generator[tuple[str, Item], None, None] = self._untested()
        if self.settings.test:
            from specedit.edit.tries.tested import tested_tries  # 5 modules, 2 ms

            items = tested_tries(self)
        with closing(items):  # a try is taken out of the work tree at once
            for name, item in items:
                if isinstance(item, Ready):
                    self._model = item.model
                elif isinstance(item, Edit):
                    self._edits.append(item)
                yield name, item
        self._write_pending()

    def _untested(self) -> Generator[tuple[str, Item], None, None]:
        for one in self.inputs:
            if self._skip_reason:
                yield one.name, failed(one.name, Skipped(self._skip_reason))
                continue
            try:
                source = one.read()
                if self.writes:
                    check_writable(source)
                job = self.planner(source)
                if isinstance(job, Edit):
                    yield one.name, job
                    continue
                tries = checked_tries(job, self.backend, self.settings, alone=self._alone)
                for item in tries:
                    if isinstance(item, Planned):
                        job = item.job
                    elif isinstance(item, Edit) and item.changed:
                        self._chosen_text = None
                        yield one.name, Proposed(job, item)
                        item = self._written(one, source, self._as_chosen(job, item))
                    yield one.name, item
            except FileError as problem:
                if isinstance(problem, NotDefined) and not self._alone:
                    problem = Skipped(problem.reason)  # the instruction is about another file
                yield one.name, failed(one.name, problem)

    def _as_chosen(self, job: Job, edit: Edit) -> Edit:
        """The proposed edit, or the text that the caller chose instead, checked again."""
        if self._chosen_text is None:
            return edit
        chosen = outcome(job.source, self._chosen_text, edit.figures)
        verdict = guarded(job.source, job.instruction, job.checks, self._chosen_text)
        if verdict.problems:
            findings = (*edit.findings, *verdict.problems)
            return replace(chosen, status="refused", findings=findings)
        chosen = replace(chosen, findings=edit.findings, compared=edit.compared)
        return chosen if chosen.changed else chosen.noting(Finding(DECLINED, "no hunk was applied"))

    def _written(self, one: Input, source: Source, edit: Edit) -> Edit:
        if self._recorder is None or not edit.changed:
            return edit
        if self.together:
            self._pending.append((one, source, edit))
            return edit
        self._recorder.write(source, edit.after)
        return as_written(edit, one.uncommitted)

    def _write_pending(self) -> None:
        """Write the files that are one change: all of them or none."""
        if not self._pending or self._recorder is None:
            return
        broken = next((one.path for one in self._edits if one.status in ("refused", "failed")), "")
        if not broken:
            try:
                self._recorder.write_all([(source, one.after) for _, source, one in self._pending])
            except FileError as problem:  # a full disk, a file that another program changed
                broken = f"{problem.file or self._pending[0][2].path} ({problem.reason})"
        written = {
            edit.path: with_others_failed(edit, broken)
            if broken
            else as_written(edit, one.uncommitted)
            for one, _, edit in self._pending
        }
        self._recorder = None  # there is nothing more to write
        self._edits = [written.get(one.path, one) for one in self._edits]


def run_one(
    command: str,
    source: Source,
    planner: Planner,
    backend: Backend,
    settings: Settings,
    *,
    alone: bool = True,
) -> Generator[Planned | Event | TryItem | Edit, None, None]:
    """A session over one text that was read already; nothing is written, the Edit comes last."""
    one = Input(source.name, lambda: source)
    session = EditSession(command, [one], planner, backend, settings, alone=alone)
    with closing(iter(session)) as items:
        for _, item in items:
            if not isinstance(item, Proposed):
                yield item
