"""Undoing a run, every file as it was before it or none touched; and taking out a try.

Files are moved after a run's texts are written, and moved back before they are restored; the index
of git follows where it knows the file, as with `git mv`.

The next command completes or reverts the change that a killed process left unfinished. Reverting is
the default. A change is completed where every file has its new text already, so that nothing but
the mark is missing; and a single file where it was being written in place, for it has hard links.
What a living process writes is left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from specedit.errors import InputError, SpeceditError, UsageError
from specedit.files import atomic, git, regular
from specedit.files.git import ask
from specedit.files.journal import (
    PRIVATE,
    RECORD,
    Entry,
    JournalRun,
    alone,
    clear_up,
    damaged,
    delete,
    digest,
    draft_of,
    load,
    original,
    save,
)
from specedit.files.regular import Lock
from specedit.files.source import Source
from specedit.files.startup import JOURNAL, marks, undisturbed

Moves = Sequence[tuple[str, str]]  # absolute paths, from and to


def check_free(old: Path, new: Path) -> None:
    """An error where something else has the new name; another case of the same name is free."""
    if os.path.lexists(new) and not (new.exists() and old.samefile(new)):
        raise InputError("exists already; nothing was moved", file=str(new))


def make_moves(moves: Moves) -> None:
    """Move files; those that are there already stay."""
    for old, new in moves:
        if os.path.lexists(old):
            _move(Path(old), Path(new))


def take_back_moves(run: JournalRun) -> list[tuple[str, str]]:
    """Move files back, all or none, where their old names are free; those that were."""
    done = list[tuple[str, str]]()
    try:
        for old, new in reversed(run.moves):
            if os.path.lexists(old):
                if not os.path.lexists(new):  # a killed undo moved it, perhaps not in the index
                    _follow(Path(new), Path(old))
                continue
            if os.path.lexists(new):
                _move(Path(new), Path(old))
                done.append((old, new))
    except SpeceditError:
        make_moves(done)
        raise
    for folder in reversed(run.made):
        with suppress(OSError):  # it is not empty
            Path(folder).rmdir()
    return done


def _move(old: Path, new: Path) -> None:
    check_free(old, new)
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
    except OSError as error:
        raise InputError(f"cannot be moved to {new}: {error.strerror}", file=str(old)) from error
    _follow(old, new)


def _follow(old: Path, new: Path) -> None:
    """Give the index's entry the new name, with the content that is staged."""
    with suppress(SpeceditError, ValueError, OSError):  # the files are right without the index, too
        root = git.top(new.parent)
        names = [os.fsencode(place.relative_to(root.resolve()).as_posix()) for place in (old, new)]
        entry = ask(root, "ls-files", "-z", "--stage", "--", os.fsdecode(names[0]))[1]
        if entry:
            meta = entry.partition(b"\t")[0]
            removed = b"0 " + b"0" * len(meta.split()[1]) + b"\t" + names[0]
            lines = b"\0".join((removed, meta + b"\t" + names[1], b""))
            ask(root, "update-index", "-z", "--index-info", stdin=lines)


def absolute(root: Path, moves: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The moves of paths that count from a folder."""
    top = root.resolve()
    return tuple((str(top / old), str(top / new)) for old, new in moves)


def put_back(run: JournalRun, entry: Entry) -> str:
    """Give a file of a try its original bytes, whatever is there now. Bytes that are neither these
    nor the try's are kept in a temporary file; its path is returned."""
    before = original(run, entry)
    path, aside = Path(entry.path), ""
    try:
        if not os.path.lexists(path) or not stat.S_ISREG(path.lstat().st_mode):
            atomic.whole(path, before)
        else:
            with suppress(PermissionError):
                regular.set_mode(path, entry.mode)
            if not os.access(path, os.R_OK | os.W_OK):  # a test command took these rights away
                path.chmod(entry.mode)
            now = regular.read(path)
            if now != before and digest(now) != entry.after_sha256 and not entry.torn:
                aside = atomic.aside(path, now)
            held = Source(entry.path, "", now, path)
            atomic.replace(held, before, draft_of(run, entry, "-undo"))
        regular.set_mode(path, entry.mode)
    except OSError as error:
        raise InputError(
            f"its text cannot be put back: {error.strerror or error}",
            file=entry.path,
            hint="It is in the journal; specedit undo tries again.",
        ) from error
    return aside


RESTORED, AS_BEFORE, REFUSED, LEFT = "restored", "as-before", "refused", "left"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for one file of an undone run."""

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
        atomic.replace(held, self.before, self.draft, is_staged=is_staged)
        self._set_mode(self.entry.mode)

    def take_back(self) -> None:
        atomic.replace(self.source(self.before), self.now, self.draft)
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
        run = next((run for run in damaged(store) if run.name == name), None)
        run = run or _picked(store, name)
        delete(run)
        return run


def revert(run: JournalRun, *, partly: bool = False) -> Undone:
    """`undo` of one run, for a caller that holds `alone`."""
    marked, lock = run.unfinished, Lock(run.mark)
    try:
        if run.moves:
            _mark(run, lock)
        moved = take_back_moves(run)
        results = list(_looked_at(run))
        steps = [result for result in results if isinstance(result, _Step)]
        if partly or not any(isinstance(o, Outcome) and o.status == REFUSED for o in results):
            _mark(run, lock, steps)
            outcomes = [_restored(result) for result in results] if partly else _wholly(results)
        else:
            outcomes = [Outcome(o.entry.path, LEFT) if isinstance(o, _Step) else o for o in results]
        outcomes.reverse()  # as the run wrote them
        if moved and not partly and any(outcome.status == REFUSED for outcome in outcomes):
            make_moves(moved)
        elif moved:
            back = {old for old, _ in moved}
            same = (outcome.status == AS_BEFORE and outcome.path in back for outcome in outcomes)
            outcomes = [
                replace(outcome, status=RESTORED) if is_back else outcome
                for outcome, is_back in zip(outcomes, same, strict=True)
            ]
    finally:
        lock.release()
        if not marked or partly:
            run.mark.unlink(missing_ok=True)
    left = [e for e, o in zip(run.files, outcomes, strict=True) if o.status == REFUSED]
    if left and partly:
        save(replace(run, files=tuple(left)))
    elif not left:
        delete(run)
    return Undone(run, tuple(outcomes))


def is_mixed(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether each byte of `now` is one of the two texts': what a killed write in place leaves."""
    if not min(len(before), len(after)) <= len(now) <= max(len(before), len(after)):
        return False
    both = zip_longest(now, before[: len(now)], after[: len(now)])
    return all(byte in (b, a) for byte, b, a in both)


def _picked(store: Path, name: str | None) -> JournalRun:
    """The last run, or the one called `name`; an error while its process is at work."""
    runs = clear_up(store)
    run = next((run for run in runs if name in (None, run.name)), None)
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


def _mark(run: JournalRun, lock: Lock, steps: Sequence[_Step] = ()) -> None:
    """Mark an undo of several files or of moves, so that the next command completes it where this
    process is killed. A full disk must not stop an undo: then there is no mark."""
    shared = {step.entry for step in steps if atomic.is_shared(Path(step.entry.path))}
    if run.moves or len(steps) > 1 or shared:
        with suppress(OSError):
            for step in steps:
                if step.entry in shared and not step.entry.torn:
                    atomic.whole(run.path / f"{step.entry.blob}.after", step.now, PRIVATE)
            files = tuple(replace(e, torn=True) if e in shared else e for e in run.files)
            save(replace(run, files=files, whole=True))
            lock.take()


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
        delete(run)
    return Undone(run, tuple(outcomes))


def _looked_at(run: JournalRun) -> Iterator[_Step | Outcome]:
    """Decide what to do with each file, the last one first: a run may have written one twice."""
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


def _restored(step: _Step | Outcome) -> Outcome:
    if isinstance(step, Outcome):
        return step
    try:
        step.restore()
    except InputError as error:
        return _refused(step.entry, error.reason)
    return Outcome(step.entry.path, RESTORED)


def _wholly(results: list[_Step | Outcome]) -> list[Outcome]:
    """Every file, or, when one cannot be written after all, those before it as they were again."""
    steps = [result for result in results if isinstance(result, _Step)]
    done = 0
    try:
        texts = [(step.source(step.now), step.before, step.draft) for step in steps]
        with atomic.staged(texts):
            for step in steps:
                step.restore(is_staged=True)
                done += 1
    except InputError as error:
        stuck = dict(_taken_back(steps[:done]))
        left = (step.entry for step in steps[done:] if step.entry.path == error.file)
        stuck[next(left, steps[-1].entry)] = error.reason
        kept = {step.entry: Outcome(step.entry.path, LEFT) for step in steps}
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


def unfinished(store: Path) -> Iterator[JournalRun]:
    """Runs that were killed before their change was whole or their try judged, the newest first."""
    for mark in marks(store):
        run = load(mark.parent)
        if run is not None and not run.at_work:
            yield run


def recover(store: Path, *, but: str | None = None) -> list[str]:
    """Complete or revert every unfinished change of a killed process; a line about each. `but`:
    the name of a run that the caller undoes itself."""
    early = any(not (mark.parent / RECORD).exists() for mark in marks(store))
    lines = [
        f"the record of the run {run.name} is damaged, so its change cannot be reverted. "
        f"`specedit undo --forget --run {run.name}` keeps the files as they are"
        for run in damaged(store)
        if run.unfinished and run.name != but
    ]
    if not early and all(run.name == but for run in unfinished(store)):
        return lines
    try:
        with alone(store), undisturbed():
            clear_up(store)
            for run in unfinished(store):
                if run.name != but:
                    lines += _recovered(run)
    except (SpeceditError, OSError) as error:
        lines.append(f"an unfinished change cannot be reverted: {error}")
    return lines


def _recovered(run: JournalRun) -> Iterator[str]:
    if not run.files:  # killed before its originals were in the journal: nothing is written yet
        delete(run)
    elif not run.whole:
        yield from _completed_in_place(run)
    elif not run.tree and _is_whole(run):
        finish(run)
        yield f"completed the {_named(run)}: it was killed after it wrote the last file"
    else:
        yield from _reverted(run)


def finish(run: JournalRun) -> JournalRun:
    """Every file has its new text: remove the mark."""
    if torn := [entry for entry in run.files if entry.torn]:
        run = replace(run, files=tuple(replace(entry, torn=False) for entry in run.files))
        with suppress(OSError):  # a full disk: undo compares the bytes
            save(run)
            for entry in torn:
                (run.path / f"{entry.blob}.after").unlink(missing_ok=True)
    run.mark.unlink(missing_ok=True)
    return run


def _reverted(run: JournalRun) -> Iterator[str]:
    done = revert(run)
    if all(file.problem == "is gone" for file in done.files):
        run.mark.unlink(missing_ok=True)
    elif done.refused:
        first = done.refused[0]
        yield (
            f"the {_named(run)} was killed and cannot be reverted: {first.path} {first.problem}. "
            f"`specedit undo --partly --run {run.name}` puts back the other files, "
            f"`specedit undo --forget --run {run.name}` keeps them as they are"
        )
    elif any(file.status == RESTORED for file in done.files):
        why = "its test had judged it" if run.tree else "it had written all of its files"
        yield f"reverted the {_named(run)}: it was killed before {why}"


def _completed_in_place(run: JournalRun) -> Iterator[str]:
    """Write the file that a run of independent edits was writing when it was killed."""
    for entry in run.files:
        path = Path(entry.path)
        with suppress(OSError, SpeceditError):
            now, before = regular.read(path), original(run, entry)
            if not entry.torn or digest(now) in (entry.before_sha256, entry.after_sha256):
                continue
            after = regular.read(run.path / f"{entry.blob}.after")
            if digest(after) == entry.after_sha256 and is_mixed(now, before, after):
                atomic.replace(Source(entry.path, "", now, path), after, draft_of(run, entry))
                yield f"completed {path} of the {_named(run)}: it was killed while it wrote it"
    with suppress(OSError):
        if all(digest(regular.read(Path(e.path))) == e.before_sha256 for e in run.files):
            delete(run)  # it wrote nothing
            return
    finish(run)


def _named(run: JournalRun) -> str:
    kind = "try" if run.tree else "change"
    files = run.files[0].path if len(run.files) == 1 else f"{len(run.files)} files"
    return f"{kind} of {files} ({run.label})"


def _is_whole(run: JournalRun) -> bool:
    """Whether every file has its new text, and its new name."""
    if not all(os.path.lexists(new) and not os.path.lexists(old) for old, new in run.moves):
        return False
    now = dict(run.moves)
    with suppress(OSError):
        return all(
            digest(regular.read(Path(now.get(entry.path, entry.path)))) == entry.after_sha256
            for entry in run.files
        )
    return False
