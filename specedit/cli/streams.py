"""The standard streams as this process was given them: some closed, some full, some broken.

What is said to a person may get lost; what belongs on stdout may not, and the exit code says so.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import IO

from specedit.errors import DONE, FAILED, WOULD_CHANGE


def fill() -> None:
    """Give what is closed a place of its own, or the next file opened would take its number.

    stdin and stdout get one that cannot be read and written: to use them is an error."""
    for number, way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)  # takes the lowest number that is free: this one
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name comes out as the bytes it is
        sys.stdout.reconfigure(errors="surrogateescape")


def end(code: int) -> int:
    """Let everything out; the exit code that is then true."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except OSError as error:
        if code in (DONE, WOULD_CHANGE):
            code = FAILED
            with contextlib.suppress(OSError):
                print(f"specedit: stdout: {error.strerror}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        _drain(stream)
    return code


def _drain(stream: IO[str] | None) -> None:
    """Python tries once more when it exits, and would exit with a code of its own."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
