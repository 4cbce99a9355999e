"""A file of our own, written whole or not at all: the one way this package writes one.

A user's file, which another program may be writing at this moment, is `replacement`'s.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from specedit.files import exchange

FEW = 8  # files and folders that are put on the disk one by one


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
    temporary file, where the caller holds a lock: what is in it can be continued, so that Ctrl-C
    leaves it, as a kill does."""
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
    except BaseException as error:
        if draft is None or isinstance(error, Exception):
            with contextlib.suppress(OSError):
                place.unlink()
        raise
    sync([path.parent])


def remove(paths: Collection[Path]) -> None:
    """Delete files that exist; many at once, for each may wait 3 ms for a busy disk."""
    if len(paths) <= FEW:
        for path in paths:
            path.unlink(missing_ok=True)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(partial(Path.unlink, missing_ok=True), paths))


def aside(name: Path, data: bytes) -> str:
    """Bytes that must not go to a file of that name, in a temporary one; its path."""
    handle, path = tempfile.mkstemp(prefix="specedit-aside-", suffix=f"-{name.name[-60:]}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return path


def sync(paths: Collection[Path]) -> None:
    """Put files and folders on the disk: a few one by one, many with their whole file system."""
    if len(paths) > FEW:
        systems = {path.stat().st_dev: path for path in paths}
        if all(exchange.sync_file_system(path) for path in systems.values()):
            return
    for path in paths:
        try:
            handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError:
            if not path.is_dir():  # some systems cannot open or sync a folder
                raise
