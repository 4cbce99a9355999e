"""A lock between processes; the system frees it when its holder ends, however that happens.

The one implementation, for the store, the journal and the servers. `release` leaves the file:
deleting it while others wait would let two processes hold two files of one name.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import time
from pathlib import Path
from typing import IO

from specedit.files import regular

RETRY_S = 0.01  # seconds between two tries, where a wait has an end
UNLOCKABLE = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)  # there are no locks


class Lock:
    """Held between `take` and `release`; as a context manager it waits for as long as it takes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def take(self, wait: float = 0.0) -> bool:
        """Take it, if it is free within `wait` seconds."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(regular.opened(self._path, os.O_RDWR | os.O_CREAT), "r+b", buffering=0)
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
            file = os.fdopen(regular.opened(self._path, os.O_RDWR), "r+b", buffering=0)
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
