"""Restoring a file of a try, whatever the test command put in its place."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from specedit.errors import InputError
from specedit.files import atomic, regular, replacement
from specedit.files.journal import Entry, JournalRun, digest, draft_of, original
from specedit.files.source import Source


def put_back(run: JournalRun, entry: Entry) -> str:
    """Give a file of a try its original bytes, whatever is there now. Bytes that are neither these
    nor the try's are kept in a temporary file; its path is returned."""
    before = original(run, entry)
    path, aside = Path(entry.path), ""
    try:
        if not os.path.lexists(path) or not stat.S_ISREG(path.lstat().st_mode):
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
    """What the file holds; a test command may have removed the right to read or write it."""
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
