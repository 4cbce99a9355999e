"""A regular file, opened as itself: a pipe in its place never blocks, a link is not followed.

For every file that another program may replace by something else at any moment: the user's files,
settings, caches and the journal. Modes are read and set by the handle, not by the name. Here too is
the lock between processes.
"""

from __future__ import annotations

import contextlib
import errno
import math
import mmap
import os
import stat
import sys
import threading
import time
from pathlib import Path
from typing import IO, BinaryIO

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # a link is not opened


def opened(path: Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """A handle on a regular file; an OSError for anything else. `mode`: of a file it creates."""
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), mode)
    except BlockingIOError:  # a process has a lease on it, which only regular files have: wait
        handle = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return handle


def reading(path: Path) -> BinaryIO:
    return os.fdopen(opened(path), "rb")


def writing(path: Path) -> BinaryIO:
    """A regular file, open for writing from its beginning; created where there is none."""
    return os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb")


def appending(path: Path) -> BinaryIO:
    """A regular file, open for writing at its end; created where there is none."""
    return os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def read(path: Path, most: int | None = None) -> bytes:
    """The bytes of a regular file; an OSError where there are more than `most`."""
    with reading(path) as file:
        if most is None:
            return file.read()
        size = os.fstat(file.fileno()).st_size  # `read` takes memory for all that it may read
        data = file.read(min(most, size) + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


class LargeFile:
    """A large file, read by position while it stays as it was opened: of a mapping, a page that
    another program has cut off ends the process with SIGBUS. `whole`: the size that a file which
    still grows will have."""

    def __init__(self, path: Path, whole: int = 0) -> None:
        self.path, self._lock = path, threading.Lock()
        self._file = os.fdopen(opened(path), "rb", buffering=0)
        self._state = None if whole else self._now()
        self.size = whole or self._now()[0]

    def read(self, start: int, size: int) -> bytearray:
        """Bytes of the file; an OSError where another program has modified it."""
        result = bytearray(size)
        rest = memoryview(result)
        with self._lock:
            self._file.seek(start)
            while rest and (count := self._file.readinto(rest)):
                rest = rest[count:]
            if rest or self._state not in (None, self._now()):
                raise OSError(
                    errno.EIO, "another program modified it while it was read", os.fspath(self.path)
                )
        return result

    def _now(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def address(data: mmap.mmap) -> int:
    """Where a mapping begins in memory, which may be read only."""
    import ctypes

    number, size = ctypes.c_void_p, ctypes.c_ssize_t
    counts = [("itemsize", size), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int)]
    texts = [(name, number) for name in ("format", "shape", "strides", "suboffsets", "internal")]

    class Buffer(ctypes.Structure):  # Python's own Py_buffer
        _fields_ = (("buf", number), ("obj", ctypes.py_object), ("len", size), *counts, *texts)

    result, python = Buffer(), ctypes.pythonapi
    python.PyObject_GetBuffer(ctypes.py_object(data), ctypes.byref(result), ctypes.c_int(0))
    python.PyBuffer_Release(ctypes.byref(result))
    return int(result.buf or 0)


def release(data: mmap.mmap, start: int, size: int) -> None:
    """Let pages of a mapping go: what is read once does not stay resident."""
    if hasattr(data, "madvise"):
        at = start // mmap.PAGESIZE * mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, at, start + size - at)


def forget(file: BinaryIO) -> None:
    """Put a file on the disk and let the system's copy in memory go."""
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def set_mode(path: Path, mode: int) -> None:
    """Give the file at `path`, and none that a link there leads to, this mode."""
    if not hasattr(os, "fchmod"):  # Windows
        path.chmod(mode)
        return
    handle = opened(path, os.O_RDONLY | NO_LINK)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
            os.fchmod(handle, mode)
    finally:
        os.close(handle)


RETRY_S = 0.01  # seconds between two tries, where a wait has an end
UNLOCKABLE = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)  # there are no locks


class Lock:
    """A lock between processes, held between `take` and `release`; as a context manager it waits
    for as long as it takes. The system frees it when its holder ends, however that happens.

    `release` leaves the file: deleting it while others wait would let two processes hold two files
    of one name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def take(self, wait: float = 0.0) -> bool:
        """Take it, if it is free within `wait` seconds."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(opened(self._path, os.O_RDWR | os.O_CREAT), "r+b", buffering=0)
        end = time.monotonic() + wait
        try:
            while not lock_now(file):
                if time.monotonic() >= end:
                    file.close()
                    return False
                time.sleep(RETRY_S)
        except BaseException:
            file.close()
            raise
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                _unlock(self._file)
            self._file.close()
            self._file = None

    def is_held(self) -> bool:
        """Whether another process has it now. A file that is missing is not created."""
        try:
            file = os.fdopen(opened(self._path, os.O_RDWR), "r+b", buffering=0)
        except FileNotFoundError:
            return False
        with file:
            if not lock_now(file):
                return True
            _unlock(file)
            return False

    def __enter__(self) -> Lock:
        self.take(math.inf)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


if sys.platform == "win32":
    import msvcrt

    def lock_now(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:  # EACCES: held
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def lock_now(file: IO[bytes] | int) -> bool:
        """Lock an open file until it closes. False: another process holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
