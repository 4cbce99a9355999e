"""A run over texts, files and standard input alike: read, plan, ask, judge, journal, write.

Knows Sources, Jobs, backends and the journal. Does not know git, flags or the terminal: what
happens goes out by `yield`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from specedit.edit import joint
from specedit.edit.answering import perform
from specedit.edit.backend import Backend, Event, Ready
from specedit.edit.job import Job, Planned
from specedit.edit.judge import failed, guarded, outcome
from specedit.edit.tries.items import TryItem
from specedit.errors import FileError, UsageError
from specedit.files import source as sources
from specedit.files.recorder import Recorder
from specedit.files.replacement import check_writable
from specedit.files.source import Source
from specedit.files.worktree import check_within
from specedit.report import Edit, Finding, ModelLine, Report
from specedit.settings import Settings

Planner = Callable[[Source], Job | Edit]


@dataclass(frozen=True)
class Input:
    """A text to edit, not read yet."""

    name: str
    read: Callable[[], Source]
    uncommitted: bool = False  # it is in no commit, so git could not bring it back


@dataclass(frozen=True)
class Proposed:
    """A change that passed its checks. Nothing is written before the next item is asked for."""

    job: Job
    edit: Edit


Item = Planned | Event | Proposed | TryItem | Edit
# What becomes of one source: `one` below asks once; the tries take its place.
Asking = Callable[[Source, Planner, Backend, Settings], Iterator[Planned | Event | TryItem | Edit]]


def of_files(
    names: Iterable[str],
    uncommitted: Collection[str] = (),
    beyond: Mapping[str, Path] = MappingProxyType({}),
) -> list[Input]:
    """`beyond`: the links out of a work tree that may be followed, each with its target."""
    return [
        Input(name, partial(_read, name, beyond.get(name)), name in uncommitted) for name in names
    ]


def _read(name: str, allowed: Path | None) -> Source:
    source = sources.read(name)
    check_within(name, allowed)
    return source


def of_stdin(data: bytes, name: str) -> Input:
    """Standard input, a text without a file."""
    name = name or "stdin"
    if Path(name).name == "":
        raise UsageError(f"--stdin-filename {name!r} names no file.")
    return Input(name, partial(Source.from_bytes, name, data))


class Run:
    """One command over its inputs. Iterate it once: each input's last item is its Edit, and an
    input that fails leaves the others be.

    `ask` says what becomes of one Source; without it, it is asked about once.
    Files are written when `recorder` is given, which journals them first. Who is shown a
    `Proposed` may `take` a part of it, and may `leave` the inputs that follow as they are.
    `together`: what is written is one change, so that nothing is where one input cannot be done."""

    def __init__(
        self,
        command: str,
        inputs: Sequence[Input],
        planner: Planner,
        backend: Backend,
        settings: Settings,
        recorder: Recorder | None = None,
        ask: Asking | None = None,
        together: bool = False,
    ) -> None:
        self._ask = ask or one
        self._command = command
        self._inputs = inputs
        self._planner = planner
        self._backend = backend
        self._settings = settings
        self._recorder = recorder
        self._started = time.perf_counter()
        self._model: ModelLine | None = None
        self._edits: list[Edit] = []
        self._taken: str | None = None
        self._left = ""
        self._together = together
        self._held: list[joint.ToWrite] = []

    @property
    def names(self) -> list[str]:
        return [given.name for given in self._inputs]

    @property
    def not_done(self) -> list[str]:
        held = self._together and self._recorder is not None  # nothing of it is written yet
        return self.names if held else self.names[len(self._edits) :]

    def report(self) -> Report:
        """What has become of the inputs so far."""
        wall_s = time.perf_counter() - self._started
        edits, server = tuple(self._edits), self._backend.server
        return Report(self._command, edits, self._model, server, wall_s)

    def take(self, text: str) -> None:
        """The person wants this text instead of the one that was proposed."""
        self._taken = text

    def leave(self, why: str) -> None:
        """No other input is looked at."""
        self._left = why

    def __iter__(self) -> Generator[tuple[str, Item], None, None]:
        for given in self._inputs:
            for item in self._one(given):
                if isinstance(item, Ready):
                    self._model = item.model
                elif isinstance(item, Edit):
                    self._edits.append(item)
                yield given.name, item
        self._write_held()

    def _one(self, given: Input) -> Iterator[Item]:
        if self._left:
            yield Edit(given.name, "unchanged", findings=(Finding("skipped", self._left),))
            return
        try:
            source = given.read()
            if self._recorder is not None:
                check_writable(source)
            job: Job | None = None
            for item in self._ask(source, self._planner, self._backend, self._settings):
                if isinstance(item, Planned):
                    job = item.job
                elif isinstance(item, Edit) and item.changed and job is not None:
                    self._taken = None
                    yield Proposed(job, item)
                    item = self._written(given, source, self._kept(job, item))
                yield item
        except FileError as problem:
            yield failed(given.name, problem)

    def _kept(self, job: Job, edit: Edit) -> Edit:
        """The part of a change that a person took, checked again."""
        if self._taken is None:
            return edit
        kept = outcome(job.source, self._taken, edit.figures)
        verdict = guarded(job.source, job.instruction, job.checks, self._taken)
        if verdict.problems:
            findings = (*edit.findings, *verdict.problems)
            return replace(kept, status="refused", findings=findings)
        return replace(kept, findings=edit.findings, compared=edit.compared)

    def _written(self, given: Input, source: Source, edit: Edit) -> Edit:
        if self._recorder is None or not edit.changed:
            return edit
        if self._together:
            self._held.append(joint.ToWrite(source, edit, given.uncommitted))
            return edit
        return joint.put(self._recorder, joint.ToWrite(source, edit, given.uncommitted))

    def _write_held(self) -> None:
        """Write what was held for each other, all of it or nothing."""
        held = self._held
        if not held or self._recorder is None:
            return
        broken = next((one.path for one in self._edits if one.status in ("refused", "failed")), "")
        now = joint.written(self._recorder, held, broken)
        self._together = False
        self._edits = [now.get(one.path, one) for one in self._edits]


def one(
    source: Source, planner: Planner, backend: Backend, settings: Settings
) -> Iterator[Planned | Event | Edit]:
    """Everything that happens to one source, the Edit last. Nothing is written."""
    job = planner(source)
    if isinstance(job, Edit):
        yield job
    else:
        yield from perform(job, backend, settings)
