"""Applies the hook's rules to staged files.

The model sees staged content only. A fix is written to the work tree only, and never staged;
unstaged changes of the file stay.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from rich.console import Console

from specedit.edit.backend import Backend
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit, Finding
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Answered, Begun, EditEvent, Finished, Sink
from specedit.errors import DONE, FAILED, WOULD_CHANGE, FileError, GitError, RefusedEdit, UsageError
from specedit.files import git, regular
from specedit.files.git import check_within
from specedit.files.journal import home
from specedit.files.recorder import Recorder
from specedit.files.source import UTF16, Source
from specedit.integrations.hook.hook_rules import CHECK, FIX, CleanFiles, Rule, Step
from specedit.settings import Settings
from specedit.view.live import Live
from specedit.view.terminal import name as shown

BY_MODEL = "?"  # after the digest of a text that no model changed: nothing else was checked
NOT_THERE = "the work tree does not hold what is staged, or another step changed it"


@dataclass
class _StagedFile:
    """A staged file while the rules are applied to it."""

    entry: git.Staged
    staged: bytes = b""  # the staged content as a checkout would write it
    fixed: bytes = b""  # after the fixes so far
    # Answered steps, each with the text that it did not change; None: it changed the text.
    answered: list[tuple[Step, bytes | None]] = field(default_factory=list)
    by_model: list[Step] = field(default_factory=list)  # those for which the model changed nothing


class _OutOfTime(Exception):
    """A rule took more seconds than a commit waits for it."""


class _Limited(Sink):
    """Passes events on, and cancels the run when its time is over."""

    def __init__(self, to: Sink, limit: float) -> None:
        self._to = to
        self._limit = limit  # of time.perf_counter

    def emit(self, event: EditEvent) -> None:
        if time.perf_counter() > self._limit and not isinstance(event, Begun | Answered):
            raise _OutOfTime
        self._to.emit(event)


@dataclass(eq=False)
class HookRun:
    """One run of the hook over staged files."""

    root: Path
    rules: Sequence[Rule]
    backend: Backend
    settings: Settings
    clean: CleanFiles
    sink: HookDisplay
    _rule_seconds: defaultdict[Rule, float] = field(default_factory=lambda: defaultdict(float))
    _recorder: Recorder | None = None
    _plan: tuple[object, Job | Edit] | None = None  # the last one, and what it is of

    def run(self, entries: Iterable[git.Staged]) -> None:
        """Apply the rules to one entry after another. A failure ends one file, not the run."""
        done: list[_StagedFile] = []
        for entry in entries:
            if entry.conflicted:
                self.sink.note(entry.name, "in conflict")
                continue
            try:
                check_within(self.root / entry.name)
                self._file(file := _StagedFile(entry))
                done.append(file)
            except FileError as problem:
                self.sink.note(entry.name, problem.reason)
            except GitError as problem:
                self.sink.note(entry.name, problem.message)
            except OSError as problem:
                self.sink.note(entry.name, problem.strerror or str(problem))
        for file in done:
            self._name_uses(file, {each.entry.name: each.fixed for each in done if each.staged})

    def _file(self, file: _StagedFile) -> None:
        name = file.entry.name
        for rule in (rule for rule in self.rules if rule.wants(name)):
            for step in rule.steps:
                if file.fixed == file.staged and (key := self._key(file, step)) in self.clean:
                    continue
                if file.fixed == file.staged and key + BY_MODEL in self.clean:
                    self.sink.note(name, _undecided(step))
                    continue
                if self._rule_seconds[rule] >= rule.max_seconds:
                    self.sink.note(name, _out_of_time(rule, step))
                    continue
                if not file.staged:
                    file.staged = file.fixed = git.content(self.root, file.entry)
                data = file.staged  # no rule applies to an empty or binary file
                if data and (b"\0" not in data or data.startswith(tuple(UTF16))):
                    self._step(file, rule, step)
        if file.fixed != file.staged:
            self.sink.note(name, *self._fix(file))
        self._record(file)

    def _step(self, file: _StagedFile, rule: Rule, step: Step) -> None:
        name = file.entry.name
        if rule.test and not self._as_on_disk(file):
            self.sink.note(name, f"not tested for “{step.title}”: {NOT_THERE}")
            return
        unmet = self._unmet(file, rule, step, file.fixed)
        if unmet == "":  # nothing to ask a model for
            file.answered.append((step, file.fixed))
            return
        try:
            edit = self._answer(file, rule, step)
        except _OutOfTime:
            self.sink.note(name, _out_of_time(rule, step))
            return
        if edit.status == "unchanged":
            self.sink.note(name, _undecided(step, unmet or ""))
            if not unmet:
                file.answered.append((step, file.fixed))
                file.by_model.append(step)
            return
        unsure = edit.changed and not (step.old and self._is_known(edit))
        if unsure and (still := self._unmet(file, rule, step, edit.after)):
            edit = _refused(edit, still)
        self.sink.step(name, step, edit, rule.mode)
        if edit.changed and rule.mode != CHECK:
            file.fixed = edit.after
            file.answered.append((step, None))

    def _unmet(self, file: _StagedFile, rule: Rule, step: Step, data: bytes) -> str | None:
        """Where a rename's old name is left; "" if nowhere; None if only a model can tell."""
        if step.instruction:
            return None
        from specedit.rename.tree import old_name_left

        name = file.entry.name
        try:
            source = Source.from_bytes(name, data, self.root / name)
            work = self._planned(source, rule, step)
            if isinstance(work, Job) and work.known is None:  # words of prose may stay
                work = _planned(source, step, replace(self._settings_of(rule), no_model=True))
        except RefusedEdit:
            return None
        return old_name_left(source, step.old) if isinstance(work, Job) else ""

    def _planned(self, source: Source, rule: Rule, step: Step) -> Job | Edit:
        """The plan of a step, made once for a text: a rename's takes seconds in a large file."""
        of = source.name, source.data, rule, step
        if self._plan is None or self._plan[0] != of:
            self._plan = None
            self._plan = of, _planned(source, step, self._settings_of(rule))
        return self._plan[1]

    def _is_known(self, edit: Edit) -> bool:
        """Whether an edit is what its plan said, which was then no question to a model."""
        work = self._plan[1] if self._plan is not None else None
        return isinstance(work, Job) and work.known is not None and edit.before == work.source.data

    def _settings_of(self, rule: Rule) -> Settings:
        return replace(self.settings, test=rule.test, tries=rule.tries or self.settings.tries)

    def _answer(self, file: _StagedFile, rule: Rule, step: Step) -> Edit:
        """The step's Edit; a rule's test command leaves the work tree as it was."""
        name = file.entry.name
        source = Source.from_bytes(name, file.fixed, self.root / name)
        started = time.perf_counter()
        limit = started + rule.max_seconds - self._rule_seconds[rule]
        request = Request(
            "hook run",
            lambda source: self._planned(source, rule, step),
            self._settings_of(rule),
            alone=False,
            confirms_unsure=True,
        )
        try:
            return run_edit(source, request, self.backend, _Limited(self.sink, limit))
        except UsageError as problem:
            message = f"The rule “{step.title}”: {problem.message}"
            raise UsageError(message, hint=problem.hint) from None
        finally:
            self._rule_seconds[rule] += time.perf_counter() - started

    def _as_on_disk(self, file: _StagedFile) -> bool:
        """Whether the work tree holds the step's text; only then a test command can judge it."""
        with suppress(OSError):
            return regular.read(self.root / file.entry.name) == file.fixed
        return False

    def _fix(self, file: _StagedFile) -> tuple[str, bool]:
        """Write the fix, or nothing; what was done, and whether the work tree holds the fix."""
        path = self.root / file.entry.name
        if path.is_symlink():
            return "not rewritten: a link is in its place in the work tree", False
        try:
            current = Source(file.entry.name, "", regular.read(path), path.resolve(strict=True))
        except OSError:
            return "not rewritten: it is not in the work tree", False
        after: bytes | None = file.fixed
        if current.data != file.staged:
            after = git.merge(self.root, current.data, file.staged, file.fixed)
        if after is None:
            return "not rewritten: the same lines have changes that are not staged", False
        steps = " and ".join(f"“{step.title}”" for step, text in file.answered if text is None)
        if after == current.data:
            return f"the work tree has the change of {steps} already; it is not staged", True
        if self._recorder is None:
            self._recorder = Recorder(home(), "hook run")
        self._recorder.write(current, after)
        partly = "; its unstaged changes are kept: git add -p stages the fix alone"
        unstaged = "" if current.data == file.staged else partly
        return f"rewritten by {steps}, not staged{unstaged}", True

    def _name_uses(self, file: _StagedFile, fixed: Mapping[str, bytes]) -> None:
        """Name the files that use a declaration by its old name, which this commit renames.
        `fixed`: what staged files hold after the rules."""
        from specedit.rename.tree import uses_of_old_name

        name, root = file.entry.name, self.root
        rules = (rule for rule in self.rules if rule.wants(name))
        for step in {step: None for rule in rules for step in rule.steps if step.old}:
            now = fixed.get(name) or git.content(root, file.entry)
            before = (
                file.staged if now != file.staged and file.staged else git.committed(root / name)
            )
            old = step.old.rpartition(".")[2].encode()
            if before is None or old not in before or step.new.encode() not in now:
                continue
            known = {**fixed, name: now}
            texts = {x.name: partial(_text, root, x, known.get(x.name)) for x in self._index}
            earlier = {**texts, name: partial(_text, root, file.entry, before)}
            if lines := uses_of_old_name(root, earlier, texts, name, step.old, step.new):
                self.sink.uses(name, step, lines)

    @cached_property
    def _index(self) -> list[git.Staged]:
        return git.indexed(self.root)

    def _key(self, file: _StagedFile, step: Step, blob: str = "") -> str:
        return self.clean.key(blob or file.entry.blob, file.entry.name, step)

    def _record(self, file: _StagedFile) -> None:
        """Record that a step has nothing to do for a text that it did not change, and for a text
        that it wrote: otherwise an instruction could stop the commit of its own fix for ever."""
        if not file.answered:
            return
        final = ""
        if file.fixed != file.staged:
            final = git.blob_of(self.root, file.entry.name, file.fixed)
        for step, text in file.answered:
            mark = BY_MODEL if step in file.by_model else ""
            if text == file.staged:
                self.clean.add(self._key(file, step) + mark)
            if text is None or text == file.fixed:
                self.clean.add(self._key(file, step, final) + mark)


def _out_of_time(rule: Rule, step: Step) -> str:
    return f"unchecked for “{step.title}”: over {rule.max_seconds:g} s"


def _undecided(step: Step, unmet: str = "") -> str:
    """That the model changed nothing, which does not tell that a file meets the rule."""
    then = f", though {unmet}" if unmet else "; look whether something is missing"
    return f"unchecked for “{step.title}”: the model changed nothing{then}"


def _planned(source: Source, step: Step, settings: Settings) -> Job | Edit:
    if step.instruction:
        return plan_edit(source, step.instruction, settings)
    from specedit.rename.tree import plan_rename

    return plan_rename(source, step.old, step.new, settings, absent_ok=True)


def _refused(edit: Edit, reason: str) -> Edit:
    """The Edit, refused because it does not meet its rule."""
    from specedit.edit.report import keep

    finding = Finding("old-name", f"the answer does not meet the rule: {reason}", refuses=True)
    return keep(replace(edit, status="refused", findings=(*edit.findings, finding)))


def _text(root: Path, entry: git.Staged, data: bytes | None) -> str:
    """The text of `data`, or else of what the index holds of a file."""
    return Source.from_bytes(entry.name, data or git.content(root, entry)).text


class HookDisplay(Live):
    """Shows a run of the hook, and keeps what is said about it at the end."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(Console(stderr=True, highlight=False), files)
        self.lines: list[str] = []
        self.code = DONE
        self.rewritten = False  # the work tree holds something to stage

    def step(self, name: str, step: Step, edit: Edit, mode: str) -> None:
        """A step has edited a file, or failed. `mode`: of the rule; FIX writes the edit."""
        self.emit(Finished(replace(edit, path=name)))
        self._show(edit)
        self.code = max(self.code, WOULD_CHANGE if edit.changed else FAILED)
        self.lines += _about(step, edit, mode)

    def uses(self, name: str, step: Step, lines: Mapping[str, Sequence[int]]) -> None:
        """Other files use by its old name what a file declares."""
        self.code = max(self.code, WOULD_CHANGE)
        self.lines.append(shown(f"{name}: “{step.title}”: other files use the old name; rename it"))
        for path, numbers in lines.items():
            command = shlex.join(["specedit", "rename", step.old, step.new, path])
            self.lines.append(shown(f"  {path}:{','.join(map(str, numbers))}: {command}"))

    def note(self, name: str, text: str, fixed: bool = False) -> None:
        """Say why a file was not checked or rewritten, or with `fixed` what its work tree holds."""
        self.rewritten = self.rewritten or fixed
        self.lines.append(shown(f"{name}: {text}"))

    def _show(self, edit: Edit) -> None:
        """The diff on stdout: coloured on a terminal, else a patch."""
        if edit.changed and sys.stdout.isatty():
            from specedit.view import diff_view

            diff_view.show(Console(highlight=False), edit)
        elif edit.changed:
            sys.stdout.flush()
            sys.stdout.buffer.write(edit.diff.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()


def _about(step: Step, edit: Edit, mode: str) -> list[str]:
    head, title = shown(edit.path), shown(step.title)
    if edit.changed:
        mode = "check: not written" if mode == CHECK else FIX
        return [f"{head}: “{title}”: +{edit.added} -{edit.removed} ({mode})"]
    saved = [f"{head}: the answer is kept in {edit.kept}"] if edit.kept else []
    return [f"{head}: “{title}”: {problem}" for problem in edit.problems] + saved
