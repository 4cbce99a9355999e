"""A regular file, opened as itself: no pipe in its place keeps us waiting, no link leads away.

For files in folders where somebody else may put another thing under the name at any moment. What
is asked and set goes by the open file, not by its name. Knows kinds of files; knows no contents.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # the name itself is no link, or it is not opened


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """A handle on a regular file; an OSError for anything else."""
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except BlockingIOError:  # somebody has a lease on it, which only regular files have: wait
        handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return handle


def read(path: Path, most: int | None = None) -> bytes:
    """The bytes of a regular file; an OSError where there are more than `most`."""
    with os.fdopen(opened(path), "rb") as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return data


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
