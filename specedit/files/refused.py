"""Refused answers, kept in the store for the user to look at: the newest few, for some days."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from specedit.files.regular import NO_LINK

FOLDER = "refused"
MOST = 20
DAYS = 7
LONGEST = 60  # characters of a file's name


def keep(store: Path, name: str, data: bytes) -> str:
    """Write an answer that must not go to the file of this name; its path, or "" where the store
    cannot be written."""
    path = store / FOLDER / f"{time.time_ns()}-{(Path(name).name or 'answer')[-LONGEST:]}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK | getattr(os, "O_BINARY", 0)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(data)
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return ""
    clear(store)
    return os.fspath(path)


def clear(store: Path) -> None:
    """Remove the answers that are old, and all but the newest."""
    with contextlib.suppress(OSError):
        written = {path: path.lstat().st_mtime for path in (store / FOLDER).iterdir()}
        newest = sorted(written, key=lambda path: (written[path], path.name), reverse=True)
        for number, path in enumerate(newest):
            if number >= MOST or written[path] < time.time() - DAYS * 24 * 3600:
                path.unlink(missing_ok=True)
