"""The one way by which a run writes: each file journalled first, and both or neither.

A run is recorded *before* it writes, so that an interrupted one can be undone as well. Knows
Sources, the journal and the atomic write. Does not know edits.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from specedit.errors import InputError
from specedit.files import regular, replacement
from specedit.files.journal import (
    Entry,
    JournalRun,
    alone,
    digest,
    draft_of,
    keep,
    load,
    prune,
    save,
    unwritable,
)
from specedit.files.source import Source


@dataclass(frozen=True)
class Wish:
    """What a run was asked, as its journal keeps it (`journal.JournalRun`)."""

    instruction: str = ""
    part: str = ""
    refines: str = ""


class Recorder:
    """The journal of one run, and its way to write. Nothing is on the disk until the first file.

    `trying`: the work tree in which what it writes is tried first. The run is marked so before its
    first file is written; `settle` says that the try is kept, `withdraw` that all is as it was."""

    def __init__(
        self, store: Path, command: str, wish: Wish | None = None, *, trying: str = ""
    ) -> None:
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S.%f")
        self._store = store
        name = f"{stamp}-{os.getpid()}"
        place = store / "journal"
        said = wish or Wish()
        self._run = JournalRun(
            *(name, command, now, str(Path.cwd()), (), place),
            *(said.instruction, said.part, said.refines),
        )
        self._trying = trying
        self._count = 0

    @property
    def store(self) -> Path:
        """Where the journal lies."""
        return self._store

    @property
    def run(self) -> JournalRun:
        """What is journalled of this run so far."""
        return self._run

    def write(self, source: Source, after: bytes) -> None:
        """Journal what the file holds, then put `after` there; all of it, or neither."""
        replacement.check_writable(source)
        with alone(self._store), replacement.undisturbed():
            if not self._count:
                prune(self._store)
            try:
                path = replacement.check_unchanged(source)  # a write that cannot be has no entry
            except OSError as error:
                raise InputError(f"not written: {error.strerror}", file=source.name) from error
            entry = self.add(path, source.data, after)
            try:
                replacement.replace(source, after, draft_of(self._run, entry))
            except BaseException:
                self._settle(entry, source.data, after)
                raise
            if entry.torn:
                with contextlib.suppress(OSError):  # a full disk: undo looks at the bytes then
                    self._save((*self._run.files[:-1], replace(entry, torn=False)))
                    (self._run.kept / f"{entry.blob}.after").unlink(missing_ok=True)

    def add(self, path: Path, before: bytes, after: bytes) -> Entry:
        """Journal a file that is about to be written: from then on the run can be undone."""
        kept = self._run.kept
        try:
            mode, shared = stat.S_IMODE(path.stat().st_mode), replacement.is_shared(path)
        except OSError as error:
            raise InputError("gone from the disk; nothing was written", file=str(path)) from error
        blob, self._count = str(self._count), self._count + 1
        entry = Entry(
            str(path.resolve()), digest(before), digest(after), mode, len(before), blob, shared
        )
        try:
            if (found := load(kept)) is None:  # the first file, or what was before is undone
                kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep(kept / blob, before)
            if shared:
                keep(kept / f"{blob}.after", after)
            self._save((*(found.files if found else ()), entry))
            if self._trying:
                keep(self._run.mark, self._trying.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise unwritable(kept, error) from error
        return entry

    def settle(self, held: Mapping[str, bytes]) -> None:
        """The try is kept. `held`: what files (by their entries' paths) hold now."""
        with alone(self._store):
            files = tuple(
                replace(entry, after_sha256=digest(held[entry.path])) for entry in self._run.files
            )
            self._save(files)
            self._run.mark.unlink(missing_ok=True)

    def withdraw(self) -> None:
        """Every file is as it was: there is nothing to undo."""
        with alone(self._store):
            shutil.rmtree(self._run.kept, ignore_errors=True)
            self._run = replace(self._run, files=())

    def _settle(self, entry: Entry, before: bytes, after: bytes) -> None:
        """A write that did not happen leaves the journal; a torn one stays, to be undone."""
        with contextlib.suppress(OSError):
            now = regular.read(Path(entry.path))
            if now == after or (entry.torn and now != before and is_mixed(now, before, after)):
                return
            if files := self._run.files[:-1]:
                self._save(files)
            else:
                shutil.rmtree(self._run.kept, ignore_errors=True)

    def _save(self, files: tuple[Entry, ...]) -> None:
        self._run = replace(self._run, files=files)
        save(self._run)


def is_mixed(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether each byte of `now` is one of the two texts': what a killed write in place leaves."""
    if not min(len(before), len(after)) <= len(now) <= max(len(before), len(after)):
        return False
    both = zip_longest(now, before[: len(now)], after[: len(now)])
    return all(one in (b, a) for one, b, a in both)
