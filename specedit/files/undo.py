"""Undoing a run, every file as it was before it or none touched; and taking out a try."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.files import atomic, moves, regular, replacement
from specedit.files.journal import (
    PRIVATE,
    Entry,
    JournalRun,
    alone,
    clear_up,
    digest,
    draft_of,
    original,
    save,
)
from specedit.files.lock import Lock
from specedit.files.replacement import put_back
from specedit.files.source import Source
from specedit.files.startup import JOURNAL, undisturbed

RESTORED, AS_BEFORE, REFUSED, LEFT = "restored", "as-before", "refused", "left"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file of an undone run."""

    path: str
    status: str  # RESTORED | AS_BEFORE | REFUSED | LEFT, since another was refused
    problem: str = ""
    aside: str = ""  # where the text lies that was there, when it was neither text of the run


@dataclass(frozen=True, slots=True)
class Undone:
    run: JournalRun
    files: tuple[Outcome, ...]

    @property
    def refused(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.files if o.status == REFUSED)


@dataclass(frozen=True, slots=True)
class _Step:
    """A file that can be restored, and the temporary file for it."""

    entry: Entry
    now: bytes
    mode: int
    before: bytes
    draft: Path

    def source(self, held: bytes) -> Source:
        return Source(self.entry.path, "", held, Path(self.entry.path))

    def restore(self, *, is_staged: bool = False) -> None:
        held = self.source(self.now)
        replacement.replace(held, self.before, self.draft, is_staged=is_staged)
        self._set_mode(self.entry.mode)

    def take_back(self) -> None:
        """Give the file its new text again."""
        replacement.replace(self.source(self.before), self.now, self.draft)
        self._set_mode(self.mode)

    def _set_mode(self, mode: int) -> None:
        try:
            regular.set_mode(Path(self.entry.path), mode)
        except OSError as error:
            why = f"its mode cannot be set: {error.strerror}"
            raise InputError(why, file=self.entry.path) from error


def undo(store: Path, name: str | None = None, *, partly: bool = False) -> Undone:
    """Restore what the last run (or the run called `name`) changed, the last file first.

    If one file changed since, none is touched; `partly`, the others are restored. What was not
    restored stays in the journal."""
    with alone(store), undisturbed():
        run = _picked(store, name)
        return _taken_out(run) if run.unfinished and run.tree else revert(run, partly=partly)


def forget(store: Path, name: str | None = None) -> JournalRun:
    """Drop the last run (or `name`) from the journal; no file is touched."""
    with alone(store):
        run = _picked(store, name)
        shutil.rmtree(run.path, ignore_errors=True)
        return run


def revert(run: JournalRun, *, partly: bool = False) -> Undone:
    """`undo` of one run, for a caller that holds `alone`."""
    moved = moves.take_back(run.moves)
    results = list(_looked_at(run))
    steps = [result for result in results if isinstance(result, _Step)]
    if partly or not any(isinstance(o, Outcome) and o.status == REFUSED for o in results):
        marked = run.unfinished
        lock = _marked(run, steps)
        try:
            outcomes = [_restored(result) for result in results] if partly else _wholly(results)
        finally:
            lock.release()
        if not marked or partly:
            run.mark.unlink(missing_ok=True)
    else:
        outcomes = [Outcome(o.entry.path, LEFT) if isinstance(o, _Step) else o for o in results]
    outcomes.reverse()  # as the run wrote them
    if moved and not partly and any(outcome.status == REFUSED for outcome in outcomes):
        moves.make(moved)
    elif moved:
        back = {old for old, _ in moved}
        same = (outcome.status == AS_BEFORE and outcome.path in back for outcome in outcomes)
        outcomes = [
            replace(one, status=RESTORED) if is_back else one
            for one, is_back in zip(outcomes, same, strict=True)
        ]
    left = [e for e, o in zip(run.files, outcomes, strict=True) if o.status == REFUSED]
    if left and partly:
        save(replace(run, files=tuple(left)))
    elif not left:
        shutil.rmtree(run.path, ignore_errors=True)
    return Undone(run, tuple(outcomes))


def is_mixed(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether each byte of `now` is one of the two texts': what a killed write in place leaves."""
    if not min(len(before), len(after)) <= len(now) <= max(len(before), len(after)):
        return False
    both = zip_longest(now, before[: len(now)], after[: len(now)])
    return all(one in (b, a) for one, b, a in both)


def _picked(store: Path, name: str | None) -> JournalRun:
    """The last run, or the one called `name`; an error where its process still writes or tests,
    and needs the originals."""
    runs = clear_up(store)
    run = next((one for one in runs if name in (None, one.name)), None)
    if not runs:
        raise UsageError("There is nothing to undo.", hint=f"No run is in {store / JOURNAL}.")
    if run is None:
        raise UsageError(
            f"There is no run {name!r} to undo.", hint="`specedit undo --list` names them."
        )
    if run.unfinished and run.at_work:
        raise UsageError(
            f"The run of {run.label} is still running.",
            hint="Wait until it is done, or end it; then run specedit undo again.",
        )
    return run


def _marked(run: JournalRun, steps: Sequence[_Step]) -> Lock:
    """Mark an undo of several files, so that the next command completes it where this process is
    killed. A full disk must not stop an undo: then there is no mark."""
    lock = Lock(run.mark)
    shared = {step.entry for step in steps if replacement.is_shared(Path(step.entry.path))}
    if len(steps) > 1 or shared:
        with suppress(OSError):
            for step in steps:
                if step.entry in shared and not step.entry.torn:
                    atomic.whole(run.path / f"{step.entry.blob}.after", step.now, PRIVATE)
            files = tuple(replace(e, torn=True) if e in shared else e for e in run.files)
            save(replace(run, files=files, whole=True))
            lock.take()
    return lock


def _taken_out(run: JournalRun) -> Undone:
    """Undo a killed run's try. What its command made of the files is kept aside."""
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
    if not any(outcome.status == REFUSED for outcome in outcomes):
        shutil.rmtree(run.path, ignore_errors=True)
    return Undone(run, tuple(outcomes))


def _looked_at(run: JournalRun) -> Iterator[_Step | Outcome]:
    """What to do with each file, the last one first: a run may have written one twice."""
    will_hold: dict[tuple[int, int], bytes] = {}
    for entry in reversed(run.files):
        path = Path(entry.path)
        try:
            status = path.lstat()
            same = (status.st_dev, status.st_ino)
            now = will_hold[same] if same in will_hold else regular.read(path)
        except OSError as error:
            is_gone = isinstance(error, FileNotFoundError)
            yield _refused(entry, "is gone" if is_gone else f"cannot be read: {error.strerror}")
            continue
        result = _one(run, entry, now, status)
        if isinstance(result, _Step):
            will_hold[same] = result.before
        yield result


def _one(run: JournalRun, entry: Entry, now: bytes, status: os.stat_result) -> _Step | Outcome:
    if stat.S_ISLNK(status.st_mode):
        return _refused(entry, "became a symlink since")
    if digest(now) == entry.before_sha256:
        return Outcome(entry.path, AS_BEFORE)
    if digest(now) != entry.after_sha256 and not entry.torn:
        return _refused(entry, "changed since the run wrote it")
    try:
        before = original(run, entry)
        after = regular.read(run.path / f"{entry.blob}.after") if entry.torn else now
    except InputError as error:
        return _refused(entry, error.reason)
    except OSError as error:
        return _refused(entry, f"its journal cannot be read: {error.strerror}")
    if digest(after) != entry.after_sha256:
        return _refused(entry, "its journal is damaged")
    if not is_mixed(now, before, after):
        return _refused(entry, "changed since the run wrote it")
    return _Step(entry, now, stat.S_IMODE(status.st_mode), before, draft_of(run, entry, "-undo"))


def _restored(one: _Step | Outcome) -> Outcome:
    if isinstance(one, Outcome):
        return one
    try:
        one.restore()
    except InputError as error:
        return _refused(one.entry, error.reason)
    return Outcome(one.entry.path, RESTORED)


def _wholly(results: list[_Step | Outcome]) -> list[Outcome]:
    """Every file, or, when one cannot be written after all, those before it as they were again."""
    steps = [result for result in results if isinstance(result, _Step)]
    done = 0
    try:
        texts = [(one.source(one.now), one.before, one.draft) for one in steps]
        with replacement.staged(texts):
            for step in steps:
                step.restore(is_staged=True)
                done += 1
    except InputError as error:
        stuck = dict(_taken_back(steps[:done]))
        left = (one.entry for one in steps[done:] if one.entry.path == error.file)
        stuck[next(left, steps[-1].entry)] = error.reason
        kept = {one.entry: Outcome(one.entry.path, LEFT) for one in steps}
        kept |= {entry: _refused(entry, why) for entry, why in stuck.items()}
        return [result if isinstance(result, Outcome) else kept[result.entry] for result in results]
    return [o if isinstance(o, Outcome) else Outcome(o.entry.path, RESTORED) for o in results]


def _taken_back(done: list[_Step]) -> Iterator[tuple[Entry, str]]:
    """Give files their new text again after a failed undo; those where that failed, and why."""
    for step in reversed(done):
        try:
            step.take_back()
        except InputError as error:
            yield step.entry, f"was put back, and stays so: {error.reason}"


def _refused(entry: Entry, why: str) -> Outcome:
    return Outcome(entry.path, REFUSED, why)
