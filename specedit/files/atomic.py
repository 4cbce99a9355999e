"""A file of our own, written whole or not at all: the one way this package writes one.

A user's file, which another program may be writing at this moment, is `replacement`'s. Here too are
the system calls for files that Python lacks: to exchange two names in one step, to lease a file
against writers, to put a whole file system on the disk. Where the system has no such call, each
function says so by its result.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import tempfile
from collections.abc import Collection, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

if sys.platform == "linux":
    import fcntl

# The system, the file system or a container's seccomp filter (EPERM) does not support the call.
# Where a permission is missing, the `rename` that follows says so.
UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)
AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # linux/fcntl.h, linux/fs.h; sys/stdio.h


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step. False: not supported here, nothing was done."""
    source, other = os.fsencode(first), os.fsencode(second)
    if (swap := _function("renamex_np")) is not None:
        failed = swap(source, other, RENAME_SWAP)
    elif (swap := _function("renameat2")) is not None:
        failed = swap(AT_FDCWD, source, AT_FDCWD, other, RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(second))


def sync_file_system(path: Path) -> bool:
    """Put all that the file system of `path` holds on the disk. False: not supported here."""
    if (sync := _function("syncfs")) is None:
        return False
    handle = os.open(path, os.O_RDONLY)
    try:
        return not sync(handle)
    finally:
        os.close(handle)


@cache
def _function(name: str) -> Any:
    """A function of the C library; None where it, or Python's way to call it, is missing."""
    try:
        import ctypes

        return getattr(ctypes.CDLL(None, use_errno=True), name, None)
    except (ImportError, OSError, TypeError):  # TypeError: Windows has no such library
        return None


def lease(handle: int, *, against_readers: bool = False) -> bool | None:
    """Keep other processes from opening the file for writing (or at all) until `handle` closes, or
    the lease is `released`. False: it is open so. None: not supported, or not our file."""
    if sys.platform != "linux":
        return None
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # the usual SIGIO ends a process
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK if against_readers else fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def released(handle: int) -> bool:
    """Release a lease that another process waits for, to open the file. False: none does."""
    if sys.platform != "linux" or fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_UNLCK:
        return False
    with contextlib.suppress(OSError):
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


MAX_SINGLE_SYNCS = 8  # files and folders that are put on the disk one by one


def draft_of(path: Path, mark: str = "") -> Path:
    """The temporary file for new bytes, next to the file; `mark` is part of its name."""
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
    if len(paths) <= MAX_SINGLE_SYNCS:
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
    if len(paths) > MAX_SINGLE_SYNCS:
        systems = {path.stat().st_dev: path for path in paths}
        if all(sync_file_system(path) for path in systems.values()):
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
