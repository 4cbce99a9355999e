"""System calls that Python lacks: exchange two names in one step, lease a file against writers, and
put a whole file system on the disk.

Where the system has no such call, each function says so by its result.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.platform == "linux":
    import fcntl

# The system, the file system or a container's seccomp filter (EPERM) does not support the call.
# Where a permission is missing, the `rename` that follows says so.
UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)
AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # linux/fcntl.h, linux/fs.h; sys/stdio.h


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step. False: not supported here, nothing was done."""
    one, other = os.fsencode(first), os.fsencode(second)
    if (swap := _function("renamex_np")) is not None:
        failed = swap(one, other, RENAME_SWAP)
    elif (swap := _function("renameat2")) is not None:
        failed = swap(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
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
