"""Looking at staged files: each rule's question about each file, and what it means for the file.

Knows rules, git's index, the run of one Job. Only staged content is asked about; only the work
tree is written, and what is not staged stays in it. Does not know the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from specedit.edit.backend import Backend, Event
from specedit.edit.job import Job, Planned, plan_edit
from specedit.edit.report import Edit, Finding
from specedit.edit.session import run_one
from specedit.edit.tries.items import TryItem
from specedit.errors import FileError, RefusedEdit, UsageError
from specedit.files import git, regular
from specedit.files.journal import home
from specedit.files.recorder import Recorder
from specedit.files.source import UTF16, Source
from specedit.files.worktree import check_within
from specedit.integrations.hook.clean_files import Seen
from specedit.integrations.hook.hook_rules import CHECK, FIX, Rule, Step, identity
from specedit.settings import Settings

NOT_THERE = "the work tree does not hold what is staged, or another step changed it"


@dataclass(frozen=True)
class Asked:
    """The model is at work on a file."""

    name: str
    event: Event


@dataclass(frozen=True)
class Objection:
    """What a step wants of a file's staged content, or why it could not be asked."""

    step: Step
    edit: Edit
    mode: str = FIX  # of its rule: whether what it wants is written


@dataclass(frozen=True)
class Fixed:
    """A file of the work tree holds the fix: it was written, beside unstaged changes (`partly`)
    or not, or it was there already (`before`). `steps`: what wrote it."""

    name: str
    steps: tuple[Step, ...] = ()
    partly: bool = False
    before: bool = False


@dataclass(frozen=True)
class Left:
    """A file that was not looked at, or not rewritten, and why."""

    name: str
    why: str


Seeing = Asked | Objection | Fixed | Left


@dataclass
class _Spent:
    """What a rule has cost this commit."""

    rule: Rule
    spent: float = 0.0

    @property
    def left(self) -> float:
        return self.rule.max_seconds - self.spent


@dataclass
class _File:
    """One staged file on its way through the rules."""

    entry: git.Staged
    base: bytes = b""  # what is staged, as a checkout would write it
    now: bytes = b""  # after the fixes so far
    # Steps answered, each with the text it left alone; None: it made text, and stands by it.
    settled: list[tuple[Step, bytes | None]] = field(default_factory=list)
    read: bool = False


class Look:
    """One run of the hook over staged files."""

    def __init__(
        self, root: Path, rules: Sequence[Rule], backend: Backend, settings: Settings, seen: Seen
    ) -> None:
        self._root = root
        self._clocks = [_Spent(rule) for rule in rules]
        self._backend = backend
        self._settings = settings
        self._seen = seen
        self._recorder: Recorder | None = None

    def over(self, entries: Iterable[git.Staged]) -> Iterator[Seeing]:
        """Every entry in turn; a file that cannot be looked at leaves the others be."""
        for entry in entries:
            clocks = [clock for clock in self._clocks if clock.rule.wants(entry.name)]
            if clocks and entry.conflicted:
                yield Left(entry.name, "in conflict")
                continue
            try:
                check_within(self._root / entry.name)
                yield from self._file(_File(entry), clocks)
            except FileError as problem:
                yield Left(entry.name, problem.reason)
            except OSError as problem:
                yield Left(entry.name, problem.strerror or str(problem))

    def _file(self, file: _File, clocks: Sequence[_Spent]) -> Iterator[Seeing]:
        for clock in clocks:
            for step in clock.rule.steps:
                whole = not file.read or file.now == file.base
                if whole and self._key(file, step, file.entry.blob) in self._seen:
                    continue
                if clock.left <= 0:
                    yield Left(file.entry.name, _over(clock, step))
                    continue
                if not file.read:
                    self._read(file)
                if _is_text(file.base):
                    yield from self._step(file, clock, step)
        if file.now != file.base:
            yield self._fix(file)
        self._remember(file)

    def _read(self, file: _File) -> None:
        """What is staged. Where the work tree holds the same, its bytes are the checkout's."""
        path = self._root / file.entry.name
        file.base = git.content(self._root, file.entry) if file.entry.partly else regular.read(path)
        file.now, file.read = file.base, True

    def _step(self, file: _File, clock: _Spent, step: Step) -> Iterator[Seeing]:
        if clock.rule.test and not self._as_on_disk(file):
            yield Left(file.entry.name, f"not tested for “{step.said}”: {NOT_THERE}")
            return
        lacks = self._unmet(file, step, file.now)
        if lacks == "":  # nothing to ask a model for
            file.settled.append((step, file.now))
            return
        edit = yield from self._asked(file, clock, step)
        if edit is None:
            yield Left(file.entry.name, _over(clock, step))
            return
        if edit.status == "unchanged" and lacks:
            yield Left(file.entry.name, f"“{step.said}” changed nothing, though {lacks}")
            return
        if edit.status == "unchanged":
            file.settled.append((step, file.now))
            return
        if edit.changed and (still := self._unmet(file, step, edit.after)):
            edit = _refused(edit, still)
        yield Objection(step, edit, clock.rule.mode)
        if edit.changed and clock.rule.mode != CHECK:
            file.now = edit.after
            file.settled.append((step, None))

    def _unmet(self, file: _File, step: Step, data: bytes) -> str | None:
        """Where the old name of a rename still stands, as a clause; "" when nowhere; None where
        only a model can tell."""
        if step.instruction:
            return None
        from specedit.rename.planning import old_name_left

        name = file.entry.name
        try:
            source = Source.from_bytes(name, data, self._root / name)
            return old_name_left(source, step.old, step.new, self._settings)
        except RefusedEdit:
            return None

    def _asked(self, file: _File, clock: _Spent, step: Step) -> Generator[Asked, None, Edit | None]:
        """The step's Edit; None when the rule's time ran out over it."""
        from specedit.edit.judge import failed

        name = file.entry.name
        source = Source.from_bytes(name, file.now, self._root / name)
        started = time.perf_counter()
        items = self._items(source, clock.rule, step)
        try:
            for item in items:
                if isinstance(item, Edit):
                    return item
                if time.perf_counter() - started > clock.left:
                    return None
                if not isinstance(item, Planned | TryItem):
                    yield Asked(file.entry.name, item)
        except UsageError as problem:
            said = f"The rule “{step.said}”: {problem.message}"
            raise UsageError(said, hint=problem.hint) from None
        except RefusedEdit as problem:
            return failed(file.entry.name, problem)
        finally:
            items.close()  # which cancels the answer within a pass, and takes a try out
            clock.spent += time.perf_counter() - started
        return None

    def _as_on_disk(self, file: _File) -> bool:
        """Whether the work tree holds what the step is about: only that can be tried there."""
        try:
            return regular.read(self._root / file.entry.name) == file.now
        except OSError:
            return False

    def _items(
        self, source: Source, rule: Rule, step: Step
    ) -> Generator[Planned | Event | TryItem | Edit, None, None]:
        """What becomes of the source. A rule's command judges it in the work tree, which is then as
        it was: what passed is written as every fix is."""
        settings = replace(self._settings, test=rule.test)
        settings = replace(settings, tries=rule.tries or settings.tries)

        def planner(source: Source) -> Job | Edit:
            return _planned(source, step, settings)

        yield from run_one("hook run", source, planner, self._backend, settings, alone=False)

    def _fix(self, file: _File) -> Fixed | Left:
        """Put the fix into the work tree; its unstaged changes stay, or nothing is written."""
        path = self._root / file.entry.name
        by = tuple(step for step, text in file.settled if text is None)
        try:
            held = Source(file.entry.name, "", regular.read(path), path.resolve(strict=True))
        except OSError:
            return Left(file.entry.name, "not rewritten: it is not in the work tree")
        after: bytes | None = file.now
        if held.data != file.base:
            after = git.merge(self._root, held.data, file.base, file.now)
        if after is None:
            return Left(
                file.entry.name, "not rewritten: the same lines have changes that are not staged"
            )
        if after == held.data:
            return Fixed(file.entry.name, by, before=True)
        if self._recorder is None:
            self._recorder = Recorder(home(), "hook run")
        self._recorder.write(held, after)
        return Fixed(file.entry.name, by, held.data != file.base)

    def _key(self, file: _File, step: Step, blob: str) -> str:
        return self._seen.key(blob, file.entry.name, identity(step))

    def _remember(self, file: _File) -> None:
        """A step is settled for the text it left alone, and for the one it made itself: staging a
        fix must not ask the same question again, or an instruction could hold up a commit for ever.
        """
        if not file.settled:
            return
        final = file.entry.blob
        if file.now != file.base:
            final = git.blob_of(self._root, file.entry.name, file.now)
        for step, text in file.settled:
            if text == file.base:
                self._seen.add(self._key(file, step, file.entry.blob))
            if text is None or text == file.now:
                self._seen.add(self._key(file, step, final))


def _is_text(data: bytes) -> bool:
    """Nothing is asked about an empty file or a binary one, and nothing needs saying either."""
    return bool(data) and (b"\0" not in data or data.startswith(tuple(UTF16)))


def _planned(source: Source, step: Step, settings: Settings) -> Job | Edit:
    if step.instruction:
        return plan_edit(source, step.instruction, settings)
    from specedit.rename.planning import plan_rename

    return plan_rename(source, step.old, step.new, settings, absent_ok=True)


def _refused(edit: Edit, lacks: str) -> Edit:
    """The Edit that does not do what its rule is for."""
    from specedit.edit.judge import keep

    found = Finding("old-name", f"the answer does not meet the rule: {lacks}", refuses=True)
    return keep(replace(edit, status="refused", findings=(*edit.findings, found)))


def _over(clock: _Spent, step: Step) -> str:
    return f"not looked at for “{step.said}”: over {clock.rule.max_seconds:g} s"
