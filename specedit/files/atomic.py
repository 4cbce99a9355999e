"""A file of our own, written whole or not at all: the one way this package writes one.

A user's file, which another program may be writing at this moment, is `replacement`'s.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def draft_of(path: Path, mark: str = "") -> Path:
    """The temporary file for new bytes, beside the file; `mark` is part of its name."""
    return path.with_name(f".specedit-{mark or os.urandom(8).hex()}.tmp")


def whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """All of `data` or nothing, even if the machine stops in between."""
    with drafted(path, mode) as file:
        file.write(data)


@contextlib.contextmanager
def drafted(path: Path, mode: int | None = None, draft: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write, which becomes `path` at the end. `mode`: at most these bits. `draft`: the
    temporary file, where the caller holds a lock; what is in it already can be continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = draft or draft_of(path)
    flags = os.O_RDWR | os.O_CREAT | (0 if draft else os.O_EXCL)
    handle = os.open(place, flags | getattr(os, "O_BINARY", 0), 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "r+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        place.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            place.unlink()
        raise
    sync_folder(path.parent)


def aside(name: str | Path, data: bytes, why: str) -> str:
    """Bytes that must not go to a file of that name, in a temporary one; its path."""
    suffix = f"-{(Path(name).name or 'answer')[-60:]}"
    handle, path = tempfile.mkstemp(prefix=f"specedit-{why}-", suffix=suffix)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return path


def sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some systems cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
