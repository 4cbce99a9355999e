"""Source files made to break a parser: repeated and nested pieces, and a process that reads them.

A reader is a forked process with a limit of time and memory. `read` gives what became of it.
"""

import contextlib
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from case_files import read_file

NAME, OTHER = "Username", "Email"

PIECES = read_file("hostile.toml")
REPEATED, NESTED = PIECES["repeated"], PIECES["nested"]


def repeated(piece: str, size: int) -> str:
    piece = piece.replace("@", NAME) if piece != "@Username\n" else piece
    return piece * (size // len(piece))


def nested(first: str, last: str, size: int) -> str:
    first, last = first.replace("@", NAME), last.replace("@", NAME)
    count = size // len(first + last)
    return first * count + NAME + last * count


def pieces() -> dict[str, Callable[[int], str]]:
    """Each hostile text by its name, as a function of its size in characters."""
    result: dict[str, Callable[[int], str]] = {}
    for piece in REPEATED:
        result[repr(piece)] = lambda size, piece=piece: repeated(piece, size)  # type: ignore[misc]
    for first, last in NESTED:
        result[f"{first!r} {last!r}"] = lambda size, first=first, last=last: nested(  # type: ignore[misc]
            first, last, size
        )
    return result


@dataclass(frozen=True)
class Frame:
    """Where hostile text stands in a file of one language: on its own, and in a function."""

    suffix: str
    alone: tuple[str, str]
    inside: tuple[str, str]


FRAMES = {name: Frame(**frame) for name, frame in PIECES["frames"].items()}
MEMORY_MB = 500
LONGEST_S = 3.0


@dataclass(frozen=True)
class Outcome:
    """How a reader ended."""

    code: int | None  # minus the signal that killed it; None: it ran past the limit
    seconds: float  # of processor time
    memory_mb: float
    output: str

    @property
    def problem(self) -> str:
        """What is wrong with it, or ""."""
        if self.code is None:
            return "time"
        if self.code < 0:
            return f"signal {signal.Signals(-self.code).name}"
        if "Traceback" in self.output or self.code not in (0, 1, 2):
            return "traceback"
        if self.memory_mb > MEMORY_MB:
            return "memory"
        return "slow" if self.seconds > LONGEST_S else ""


def read(work: Callable[[], int], limit: int = 30) -> Outcome:
    """Do `work` in a forked process; its result is the exit code. `limit`: of processor time."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        sys.stderr.flush()
        shared_mb = _resident_mb()
        pid = os.fork()
        if not pid:
            _work(work, limit, output.fileno())
        _, status, usage = os.wait4(pid, 0)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    memory_mb = max(0.0, usage.ru_maxrss / 1024 - shared_mb)
    return Outcome(None if code == -signal.SIGXCPU else code, seconds, memory_mb, text)


def _resident_mb() -> float:
    """What this process holds in memory, which a forked one begins with."""
    held = Path("/proc/self/statm")
    pages = int(held.read_text("ascii").split()[1]) if held.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _work(work: Callable[[], int], limit: int, output: int) -> None:
    """In the child: never returns."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        for stream in (1, 2):
            os.dup2(output, stream)
        code = work()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
    except BaseException:
        import traceback

        with contextlib.suppress(OSError):
            os.write(output, traceback.format_exc().encode())
    finally:
        os._exit(code)
