"""A work tree while an edit is tried in it: the originals in the journal first, then all back.

One trial at a time in a work tree (a lock that dies with its holder). What is written is marked in
the journal as being tried until it is kept or taken out again, so that a run which was killed is
known by its mark, and `undo` takes its try out. Knows Sources, bytes and the journal; does not know
what judges.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from specedit.errors import InputError, UsageError
from specedit.files import atomic, regular, replacement
from specedit.files.journal import Entry, JournalRun, alone, digest, draft_of, load
from specedit.files.lock import Lock
from specedit.files.place import marks
from specedit.files.recorder import Recorder, Wish
from specedit.files.source import Source

UNLOCKABLE = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Settled:
    """A file after its trial: what it holds, and where a text lies that was neither."""

    path: Path
    data: bytes
    aside: str = ""
    changed: bool = False  # the command made something else of it


class Trial:
    """The lock on a work tree, and what is tried in it now. Leaving it takes out what is not kept.

    Built for one run; `put`, then `keep` or `take_out`, and again."""

    def __init__(self, store: Path, root: Path, command: str, wish: Wish | None = None) -> None:
        self._store = store
        self._root = root
        self._recorder = Recorder(store, command, wish, trying=str(root))
        self._lock = Lock(_lock_of(store, str(root)))
        self._put: dict[str, bytes] = {}  # by the entries' paths
        self._tested: dict[str, tuple[int, int, bytes]] = {}  # second, size and text, by path

    def __enter__(self) -> Trial:
        try:
            free = self._lock.take()
        except OSError as error:  # a network's file system may know no locks
            if error.errno not in UNLOCKABLE:
                raise
            free = True
        if not free:
            raise UsageError(
                f"Another run of specedit tries an edit in {self._root} at this moment.",
                hint="Wait until it is done, or end it. Nothing was changed.",
            )
        left = next((run for run in _marked(self._store) if run.tree == self._root), None)
        if left is not None:
            self._lock.release()
            raise UsageError(
                f"A try of {left.said} is still in {self._root}: that run was killed.",
                hint=f"specedit undo --run {left.name} takes it out. Nothing was changed.",
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.take_out()
        finally:
            self._lock.release()

    def put(self, texts: Sequence[tuple[Source, bytes]]) -> None:
        """Write a try: every file journalled, marked, then written; all of them or none."""
        try:
            for source, after in texts:
                path = str(replacement.check_writable(source).resolve())
                self._put[path] = after
                self._recorder.write(source, after)
                self._wait(Path(path), after)
        except BaseException:
            self.take_out()
            raise

    def keep(self) -> list[Settled]:
        """What is there now stays; where the command took a file away, what was tried."""
        with replacement.undisturbed():
            found = []
            for path, after in self._put.items():
                place = Path(path)
                try:
                    now = regular.read(place)
                except OSError:
                    now = after
                    atomic.whole(place, after)
                found.append(Settled(place, now, changed=now != after))
            self._recorder.settle({str(one.path): one.data for one in found})
            self._put = {}
        return found

    def take_out(self) -> list[Settled]:
        """Every file as it was, whatever became of it; nothing when nothing is tried."""
        if not self._put:
            return []
        with replacement.undisturbed():
            run, self._put = self._recorder.run, {}
            found, stuck = [], list[InputError]()
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
                    found.append(Settled(path, data, aside, changed=bool(aside)))
            if stuck:
                raise stuck[0]
            self._recorder.withdraw()
        return found[::-1]

    def _wait(self, path: Path, data: bytes) -> None:
        """Two texts of one size in one second are the same file to whoever keeps what he made of
        it by second and size, as Python does: the later one waits for the next second."""
        status = path.stat()
        key = (int(status.st_mtime), status.st_size, data)
        before = self._tested.get(str(path))
        if before is not None and before[:2] == key[:2] and before[2] != data:
            time.sleep(max(0.0, key[0] + 1 - time.time()) + 0.002)
            with suppress(OSError):
                os.utime(path)
            key = (int(path.stat().st_mtime), *key[1:])
        self._tested[str(path)] = key


def put_back(run: JournalRun, entry: Entry) -> str:
    """Give a file of a trial the bytes it had, whatever stands there now. What is neither these nor
    what was tried is somebody's: it is kept aside, and where is returned."""
    before = (run.kept / entry.blob).read_bytes()
    if digest(before) != entry.before_sha256:
        raise InputError("its journal is damaged", file=entry.path)
    path, aside = Path(entry.path), ""
    try:
        if path.is_symlink() or not path.exists():
            atomic.whole(path, before)
        else:
            now = _read(path, entry.mode)
            if now != before and digest(now) != entry.after_sha256 and not entry.torn:
                aside = _aside(path, now)
            held = Source(entry.path, "", now, path)
            replacement.replace(held, before, draft_of(run, entry, "-undo"))
        regular.set_mode(path, entry.mode)
    except OSError as error:
        raise InputError(
            f"its text cannot be put back: {error.strerror or error}",
            file=entry.path,
            hint="It is in the journal; specedit undo tries again.",
        ) from error
    return aside


def _read(path: Path, mode: int) -> bytes:
    """What stands there; the command may have taken away everybody's right to read or write it."""
    with suppress(PermissionError):
        regular.set_mode(path, mode)
        return regular.read(path)
    path.chmod(mode)
    return regular.read(path)


def _aside(path: Path, data: bytes) -> str:
    handle, name = tempfile.mkstemp(prefix="specedit-aside-", suffix=f"-{path.name[-60:]}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return name


def unfinished(store: Path) -> Iterator[JournalRun]:
    """Runs that were killed while their try was in a work tree, the last one first."""
    return (run for run in _marked(store) if not at_work(store, run))


def _marked(store: Path) -> Iterator[JournalRun]:
    for mark in marks(store):
        run = load(mark.parent)
        if run is not None and run.files:
            yield run


def at_work(store: Path, run: JournalRun) -> bool:
    """Whether whoever tries it lives."""
    try:
        return Lock(_lock_of(store, str(run.tree))).is_held()
    except OSError:
        return False


def _lock_of(store: Path, root: str) -> Path:
    name = hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return store / "locks" / f"trial-{name}.lock"
