"""A work tree while an edit is tried in it: the originals in the journal first, then all restored.

One trial at a time in a work tree (a lock that dies with its holder). The journal has a run that
tries marked as unfinished until the try is kept or taken out again: where the process is killed,
the next command reverts it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.files import atomic, regular, replacement
from specedit.files.journal import alone
from specedit.files.lock import UNLOCKABLE, Lock
from specedit.files.recorder import Recorder, Wish
from specedit.files.replacement import put_back
from specedit.files.source import Source
from specedit.files.startup import undisturbed
from specedit.files.undo import unfinished


@dataclass(frozen=True, slots=True)
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
            after_of = {str(replacement.check_writable(s).resolve()): after for s, after in texts}
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
