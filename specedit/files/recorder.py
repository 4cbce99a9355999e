"""How a run writes: each original into the journal, then the new text. `undo` puts originals back.

A run is recorded *before* it writes, so that an interrupted one can be undone as well. What a Trial
writes is tried in the work tree, and kept or taken out again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.files import atomic, regular
from specedit.files.journal import (
    ORIGINALS,
    OTHER_RUN_WAIT_S,
    PRIVATE,
    Entry,
    JournalRun,
    alone,
    delete,
    digest,
    draft_of,
    load,
    new_folders,
    new_name,
    prune,
    save,
    unwritable,
)
from specedit.files.regular import UNLOCKABLE, Lock
from specedit.files.source import Source
from specedit.files.startup import JOURNAL, undisturbed
from specedit.files.undo import finish, is_mixed, make_moves, put_back, revert, unfinished


@dataclass(frozen=True, slots=True)
class Wish:
    """The request of a run, as its journal keeps it (`journal.JournalRun`)."""

    instruction: str = ""
    part: str = ""
    refines: str = ""
    root: Path = Path()  # the folder that it was asked in


class Recorder:
    """The journal of one run, and its way to write. Nothing is on the disk until the first file.

    `tree`: the work tree in which what it writes is tried. Then `write_all` leaves the run marked
    as unfinished until `settle` keeps the try or `remove` says that all is as it was."""

    def __init__(
        self, store: Path, command: str, wish: Wish | None = None, *, tree: str = ""
    ) -> None:
        self._store = store
        wish = wish or Wish()
        self.run = JournalRun(  # what is journalled so far
            name=new_name(store),
            command=command,
            when=time.time(),
            folder=str(wish.root.absolute()),
            files=(),
            place=store / JOURNAL,
            instruction=wish.instruction,
            part=wish.part,
            refines=wish.refines,
            tree=tree,
        )
        self._lock = Lock(self.run.mark)
        self._count = self._end = 0  # of the entries; of the originals

    def write(self, source: Source, after: bytes) -> None:
        """Journal what the file holds, then put `after` there; all of it, or neither."""
        with alone(self._store), undisturbed():
            if not self._count:
                prune(self._store)
            entry = self.add(atomic.check_unchanged(source), source.data, after)
            if not entry.torn:
                with suppress(OSError):  # a killed write is cleared up all the same
                    self._lock.take()
            try:
                atomic.replace(source, after, draft_of(self.run, entry))
            except BaseException:
                self._drop_unwritten(entry, source.data, after)
                raise
            self._finish()

    def write_all(
        self, texts: Sequence[tuple[Source, bytes]], moves: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Write several files as one change: all of them or none. `moves`: of files among them,
        from one absolute path to another, after the last one is written.

        All originals and a mark are in the journal before the first byte is written. The mark goes
        after the last one; a try's stays. Where this process is killed in between, the next command
        reverts the change. An interrupt comes between two files and reverts it as well."""
        for source, _ in texts:
            atomic.check_unchanged(source)
        written = 0
        try:
            self.run = replace(self.run, moves=tuple(moves), made=new_folders(moves))
            with undisturbed():
                self._begin(texts)
            of_entries = zip(texts, self.run.files, strict=True)
            steps = [(*text, draft_of(self.run, entry)) for text, entry in of_entries]
            with atomic.staged(steps):
                for step in steps:
                    with alone(self._store), undisturbed():
                        atomic.replace(*step, is_staged=True)
                    written += 1
            if not self.run.tree:
                with alone(self._store), undisturbed():
                    make_moves(moves)
                    self._finish()
        except BaseException:
            if not self.run.tree:
                self._revert(written)
            raise

    def add(self, path: Path, before: bytes, after: bytes) -> Entry:
        """Journal a file that is about to be written: from then on the run can be undone."""
        entry = self._entry(path, before, after)
        result = load(self.run.path)
        if result is None:  # the first file, or what was before is undone
            self._become_newest()
        folder = self.run.path
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic.sync(self._stored(entry, before, after))
            earlier = result.files if result else ()
            if entry.torn and not any(other.torn for other in earlier):  # else it is held already
                self._lock.take(OTHER_RUN_WAIT_S)
            self._save((*earlier, entry))
        except OSError as error:
            raise unwritable(folder, error) from error
        return entry

    def settle(self, texts: Mapping[str, bytes]) -> None:
        """The try is kept. `texts`: what files (by their entries' paths) hold now."""
        with alone(self._store):
            old = self.run.files
            self._save(tuple(replace(e, after_sha256=digest(texts[e.path])) for e in old))
            self._finish()

    def leave(self) -> None:
        """A try stays, for it could not be taken out: the next command reverts it."""
        self._lock.release()

    def _begin(self, texts: Sequence[tuple[Source, bytes]]) -> None:
        """Journal all files of one change, and mark it; other runs leave it alone from then on."""
        folder = self.run.path
        try:
            with alone(self._store):
                prune(self._store)
                self._become_newest()
                folder = self.run.path
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.run = replace(self.run, whole=True)
                self._lock.take(OTHER_RUN_WAIT_S)
                self._save(())
            entries, originals = list[Entry](), set[Path]()
            for source, after in texts:
                entry = self._entry(atomic.check_writable(source), source.data, after)
                originals |= self._stored(entry, source.data, after)
                entries.append(entry)
            atomic.sync([*originals, folder, folder.parent])
            self._save(tuple(entries))
        except OSError as error:
            self.remove()
            raise unwritable(folder, error) from error

    def _become_newest(self) -> None:
        """Take a name before the first file: runs are in the order in which they write."""
        self.run = replace(self.run, name=new_name(self._store))
        self._lock = Lock(self.run.mark)

    def _entry(self, path: Path, before: bytes, after: bytes) -> Entry:
        try:
            mode, shared = stat.S_IMODE(path.stat().st_mode), atomic.is_shared(path)
        except OSError as error:
            raise InputError(
                "deleted since it was read; nothing was written", file=str(path)
            ) from error
        held = (str(path.resolve()), digest(before), digest(after), mode, len(before))
        entry = Entry(*held, str(self._count), shared, self._end)
        self._count, self._end = self._count + 1, self._end + len(before)
        return entry

    def _stored(self, entry: Entry, before: bytes, after: bytes) -> set[Path]:
        """Write what a file held into the journal; nothing reads it before `run.json` names it."""
        texts = {ORIGINALS: (entry.start, before)}
        if entry.torn:
            texts[f"{entry.blob}.after"] = (0, after)
        for name, (start, data) in texts.items():
            handle = regular.opened(self.run.path / name, os.O_WRONLY | os.O_CREAT, PRIVATE)
            with os.fdopen(handle, "wb") as file:
                file.seek(start)
                file.write(data)
        return {self.run.path / name for name in texts}

    def _finish(self) -> None:
        """All is written: remove the mark. For a caller that holds `alone`."""
        self._lock.release()
        self.run = finish(self.run)

    def remove(self) -> None:
        """Every file is as it was: there is nothing to undo. For a caller that holds `alone`."""
        self._lock.release()
        delete(self.run)
        self.run = replace(self.run, files=())

    def _revert(self, written: int) -> None:
        """Restore the files of a change that cannot be written whole: the `written` ones, and the
        next if it is torn. Those that changed since stay, and in the journal."""
        with undisturbed(), alone(self._store):
            self._lock.release()
            files = self.run.files
            touched = files[:written] + tuple(filter(_is_begun, files[written : written + 1]))
            if touched:
                revert(replace(self.run, files=touched), partly=True)
                self.run = replace(self.run, files=())
            elif files:
                self.remove()

    def _drop_unwritten(self, entry: Entry, before: bytes, after: bytes) -> None:
        """A write that did not happen leaves the journal; a torn one stays, to be undone."""
        self._lock.release()
        with suppress(OSError):
            now = regular.read(Path(entry.path))
            if now == after or (entry.torn and now != before and is_mixed(now, before, after)):
                return
            if files := self.run.files[:-1]:
                self.run.mark.unlink(missing_ok=True)
                self._save(files)
            else:
                self.remove()

    def _save(self, files: tuple[Entry, ...]) -> None:
        self.run = replace(self.run, files=files)
        save(self.run)


def _is_begun(entry: Entry) -> bool:
    """Whether a file holds something of its new text."""
    with suppress(OSError):
        now = digest(regular.read(Path(entry.path)))
        return now == entry.after_sha256 or (entry.torn and now != entry.before_sha256)
    return False


@dataclass(frozen=True, slots=True)
class Settled:
    """A file after its trial: what it holds, and where a text lies that was neither."""

    path: Path
    data: bytes
    aside: str = ""
    changed: bool = False  # the command made something else of it


class Trial:
    """The lock on a work tree, and what is tried in it now. Leaving it takes out what is not kept.

    Built for one run; `put`, then `keep` or `take_out`, and again. The journal has a run that tries
    marked as unfinished until then: where the process is killed, the next command reverts it."""

    def __init__(self, store: Path, root: Path, command: str, wish: Wish | None = None) -> None:
        self._store = store
        self._root = root
        self._recorder = Recorder(store, command, wish, tree=str(root))
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._lock = Lock(store / "locks" / f"trial-{name}.lock")
        self._put: dict[str, bytes] = {}  # by the entries' paths
        self._stamped: dict[tuple[str, int, int], bytes] = {}  # texts by path, second and size

    def __enter__(self) -> Trial:
        try:
            free = self._lock.take()
        except OSError as error:  # a network's file system may know no locks
            if error.errno not in UNLOCKABLE:
                raise
            free = True
        if not free:
            raise UsageError(
                f"Another run of specedit is testing an edit in {self._root}.",
                hint="Wait until it is done, or end it. Nothing was changed.",
            )
        here = str(self._root)
        left = next((run for run in unfinished(self._store) if run.tree == here), None)
        if left is not None:
            self._lock.release()
            raise UsageError(
                f"{left.label} was killed during a test; its edit is still in {self._root}.",
                hint=f"specedit undo --run {left.name} restores the files. Nothing was changed.",
            )
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.take_out()
        finally:
            self._lock.release()

    def put(self, texts: Sequence[tuple[Source, bytes]]) -> None:
        """Write a try: every file journalled, marked, then written; all of them or none."""
        try:
            after_of = {str(atomic.check_writable(s).resolve()): after for s, after in texts}
            self._put = after_of
            self._recorder.write_all(texts)
            for path, after in after_of.items():
                self._wait(Path(path), after)
        except BaseException:
            self.take_out()
            raise

    def keep(self) -> list[Settled]:
        """Keep what is there now; where the command removed a file, what was tried."""
        with undisturbed():
            results = []
            for path, after in self._put.items():
                place = Path(path)
                try:
                    now = regular.read(place)
                except OSError:  # it is gone, or not a regular file
                    now = after
                    atomic.whole(place, after)
                results.append(Settled(place, now, changed=now != after))
            self._recorder.settle({str(result.path): result.data for result in results})
            self._put = {}
        return results

    def take_out(self) -> list[Settled]:
        """Every file as it was, whatever the command made of it; nothing when nothing is tried."""
        if not self._put:
            return []
        with undisturbed():
            run, self._put = self._recorder.run, {}
            result, stuck = [], list[InputError]()
            with alone(self._store):
                for entry in reversed(run.files):
                    path = Path(entry.path)
                    try:
                        aside = put_back(run, entry)
                        data = regular.read(path)
                    except InputError as error:
                        stuck.append(error)  # the others are put back all the same
                        continue
                    self._wait(path, data)
                    result.append(Settled(path, data, aside, changed=bool(aside)))
                if not stuck:
                    self._recorder.remove()
            if stuck:
                self._recorder.leave()
                raise stuck[0]
        return result[::-1]

    def _wait(self, path: Path, data: bytes) -> None:
        """Wait for the next second where a file gets another text of the same size: caches that
        compare seconds and sizes, as Python's does, take both for the same file."""
        status = path.stat()
        second, size = int(status.st_mtime), status.st_size
        if self._stamped.get((str(path), second, size), data) != data:
            time.sleep(max(0.0, second + 1 - time.time()) + 0.002)
            now = time.time_ns()  # the clock that stamps files may be several milliseconds late
            with suppress(OSError):
                os.utime(path, ns=(now, now))
            second = int(path.stat().st_mtime)
        self._stamped[str(path), second, size] = data
