"""What a system offers beyond `rename`: two names that change places, and a file kept from writers.

Knows system calls, and says where there are none. Does not know what is exchanged, nor why.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from pathlib import Path

# The system, the file system or a container's guard knows no such call. EPERM is the guard's word;
# where a permission is missing, `rename` says so better.
UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)
AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # linux/fcntl.h, linux/fs.h; sys/stdio.h


def exchange(first: Path, second: Path) -> bool:
    """Let two names change places in one step. False: not done, for it cannot be done here."""
    if sys.platform not in ("linux", "darwin"):
        return False
    try:
        import ctypes
    except ImportError:  # a Python that was built without it
        return False
    library = ctypes.CDLL(None, use_errno=True)
    one, other = os.fsencode(first), os.fsencode(second)
    if sys.platform == "darwin":
        if not hasattr(library, "renamex_np"):
            return False
        failed = library.renamex_np(one, other, ctypes.c_uint(RENAME_SWAP))
    else:
        if not hasattr(library, "renameat2"):  # glibc before 2.28
            return False
        failed = library.renameat2(AT_FDCWD, one, AT_FDCWD, other, ctypes.c_uint(RENAME_EXCHANGE))
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(second))


if sys.platform == "win32":

    def take_turn(handle: int) -> bool | None:
        """None: a lock there is one against readers too."""
        return None

else:
    from specedit.files.lock import lock_now

    def take_turn(handle: int) -> bool | None:
        """Hold the file against others who ask for a turn, until `handle` closes. False: one of
        them has it. None: the file system knows no such thing."""
        try:
            return lock_now(handle)
        except OSError:
            return None


if sys.platform == "linux":
    import fcntl

    def keep_from_writers(handle: int) -> bool | None:
        """Let nobody open the file for writing until `handle` closes, or `open_again`.

        False: somebody has it open for writing. None: no such thing here, or not our file."""
        return _lease(handle, fcntl.F_RDLCK)

    def keep_from_all(handle: int) -> bool | None:
        """The same for readers too, and for a handle that writes."""
        return _lease(handle, fcntl.F_WRLCK)

    def is_waited_for(handle: int) -> bool:
        """Whether somebody waits to open what is kept."""
        return fcntl.fcntl(handle, fcntl.F_GETLEASE) == fcntl.F_UNLCK

    def open_again(handle: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    def _lease(handle: int, kind: int) -> bool | None:
        try:
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # the usual SIGIO ends a process
            fcntl.fcntl(handle, fcntl.F_SETLEASE, kind)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True

else:

    def keep_from_writers(handle: int) -> bool | None:
        return None

    def keep_from_all(handle: int) -> bool | None:
        return None

    def is_waited_for(handle: int) -> bool:
        return False

    def open_again(handle: int) -> None:
        pass
