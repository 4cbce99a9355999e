"""Undoing a run: every file as it was before it, or none touched.

Knows journal entries, and what each file holds now. Does not know the command line.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.files import regular, replacement
from specedit.files.journal import Entry, JournalRun, alone, clear_up, digest, draft_of, pick, save
from specedit.files.recorder import is_mixed
from specedit.files.source import Source
from specedit.files.trial import at_work, put_back

RESTORED, AS_BEFORE, REFUSED, LEFT = "restored", "as-before", "refused", "left"


@dataclass(frozen=True)
class Outcome:
    """What became of one file of an undone run."""

    path: str
    status: str  # RESTORED | AS_BEFORE | REFUSED | LEFT, since another was refused
    problem: str = ""
    aside: str = ""  # where what stood there lies now, when it was neither text of the run


@dataclass(frozen=True)
class Undone:
    run: JournalRun
    files: tuple[Outcome, ...]

    @property
    def refused(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.files if o.status == REFUSED)


@dataclass(frozen=True)
class _Step:
    """A file that can be put back."""

    entry: Entry
    now: bytes
    mode: int
    before: bytes


def undo(store: Path, name: str | None = None, *, partly: bool = False) -> Undone:
    """Put back what the last run (or the run called `name`) changed, the last file first.

    One file that changed since, and none is touched; `partly`, the others are put back. What was
    not stays in the journal."""
    with alone(store), replacement.undisturbed():
        clear_up(store)
        run = pick(store, name)
        if run.trying:
            return _taken_out(store, run)
        found = list(_looked_at(run))
        able = partly or not any(isinstance(o, Outcome) and o.status == REFUSED for o in found)
        if able:
            outcomes = _partly(run, found) if partly else _wholly(run, found)
        else:
            outcomes = [_left(o.entry) if isinstance(o, _Step) else o for o in found]
        outcomes.reverse()  # as the run wrote them
        left = [e for e, o in zip(run.files, outcomes, strict=True) if o.status == REFUSED]
        if left and partly:
            save(replace(run, files=tuple(left)))
        elif not left:
            shutil.rmtree(run.kept, ignore_errors=True)
        return Undone(run, tuple(outcomes))


def forget(store: Path, name: str | None = None) -> JournalRun:
    """Drop the last run (or `name`) from the journal; no file is touched."""
    with alone(store):
        clear_up(store)
        run = pick(store, name)
        _check_over(store, run)
        shutil.rmtree(run.kept, ignore_errors=True)
        return run


def _check_over(store: Path, run: JournalRun) -> None:
    """An error where somebody tries this run's edit now, and needs the originals."""
    if run.trying and at_work(store, run):
        raise UsageError(
            f"The run of {run.said} is trying its edit at this moment.",
            hint="Wait until it is done, or end it; then run specedit undo again.",
        )


def _taken_out(store: Path, run: JournalRun) -> Undone:
    """A killed run's try. Whatever its command made of the files meanwhile lies beside them all."""
    _check_over(store, run)
    outcomes = []
    for entry in reversed(run.files):
        try:
            was = Path(entry.path)
            same = was.is_file() and digest(regular.read(was)) == entry.before_sha256
            aside = put_back(run, entry)
        except (OSError, InputError) as error:
            why = error.reason if isinstance(error, InputError) else error.strerror or str(error)
            outcomes.append(_refused(entry, why))
        else:
            outcomes.append(Outcome(entry.path, AS_BEFORE if same else RESTORED, aside=aside))
    outcomes.reverse()
    if not any(one.status == REFUSED for one in outcomes):
        shutil.rmtree(run.kept, ignore_errors=True)
    return Undone(run, tuple(outcomes))


def _looked_at(run: JournalRun) -> Iterator[_Step | Outcome]:
    """What is to be done for each file, the last one first: a run may have written one twice."""
    will_hold: dict[tuple[int, int], bytes] = {}
    for entry in reversed(run.files):
        path = Path(entry.path)
        try:
            status = path.lstat()
            same = (status.st_dev, status.st_ino)
            now = will_hold[same] if same in will_hold else regular.read(path)
        except FileNotFoundError:
            yield _refused(entry, "is gone")
            continue
        except OSError as error:
            yield _refused(entry, f"cannot be read: {error.strerror}")
            continue
        found = _one(run, entry, now, status)
        if isinstance(found, _Step):
            will_hold[same] = found.before
        yield found


def _one(run: JournalRun, entry: Entry, now: bytes, status: os.stat_result) -> _Step | Outcome:
    if stat.S_ISLNK(status.st_mode):
        return _refused(entry, "became a symlink since")
    if digest(now) == entry.before_sha256:
        return Outcome(entry.path, AS_BEFORE)
    if digest(now) != entry.after_sha256 and not entry.torn:
        return _refused(entry, "changed since the run wrote it")
    try:
        before = (run.kept / entry.blob).read_bytes()
        after = (run.kept / f"{entry.blob}.after").read_bytes() if entry.torn else now
    except OSError as error:
        return _refused(entry, f"its journal cannot be read: {error.strerror}")
    if digest(before) != entry.before_sha256 or digest(after) != entry.after_sha256:
        return _refused(entry, "its journal is damaged")
    if not is_mixed(now, before, after):
        return _refused(entry, "changed since the run wrote it")
    return _Step(entry, now, stat.S_IMODE(status.st_mode), before)


def _partly(run: JournalRun, found: Iterable[_Step | Outcome]) -> list[Outcome]:
    outcomes = []
    for one in found:
        try:
            outcomes.append(one if isinstance(one, Outcome) else _restored(run, one))
        except InputError as error:
            assert isinstance(one, _Step)
            outcomes.append(_refused(one.entry, error.reason))
    return outcomes


def _wholly(run: JournalRun, found: list[_Step | Outcome]) -> list[Outcome]:
    """Every file, or, when one cannot be written after all, those before it as they were again."""
    done: list[_Step] = []
    for one in found:
        if isinstance(one, _Step):
            try:
                _restored(run, one)
            except InputError as error:
                stuck = {step.entry: why for step, why in _taken_back(run, done)}
                stuck[one.entry] = error.reason
                return [o if isinstance(o, Outcome) else _kept(o, stuck) for o in found]
            done.append(one)
    return [o if isinstance(o, Outcome) else Outcome(o.entry.path, RESTORED) for o in found]


def _kept(step: _Step, stuck: Mapping[Entry, str]) -> Outcome:
    return _refused(step.entry, stuck[step.entry]) if step.entry in stuck else _left(step.entry)


def _restored(run: JournalRun, step: _Step) -> Outcome:
    _put(run, step.entry, step.now, step.before, step.entry.mode, "-undo")
    return Outcome(step.entry.path, RESTORED)


def _taken_back(run: JournalRun, done: list[_Step]) -> Iterator[tuple[_Step, str]]:
    """Put what was undone as it was; the ones where that failed, and why."""
    for step in reversed(done):
        try:
            _put(run, step.entry, step.before, step.now, step.mode, "")
        except InputError as error:
            yield step, f"was put back, and stays so: {error.reason}"


def _put(run: JournalRun, entry: Entry, now: bytes, then: bytes, mode: int, way: str) -> None:
    path = Path(entry.path)
    replacement.replace(Source(entry.path, "", now, path), then, draft_of(run, entry, way))
    try:
        regular.set_mode(path, mode)
    except OSError as error:
        raise InputError(f"its mode cannot be set: {error.strerror}", file=entry.path) from error


def _refused(entry: Entry, why: str) -> Outcome:
    return Outcome(entry.path, REFUSED, why)


def _left(entry: Entry) -> Outcome:
    return Outcome(entry.path, LEFT)
