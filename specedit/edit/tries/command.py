"""One run of the user's own command: in a folder, with a limit on its time and on what is kept.

The command is a line for the user's shell (`sh -c`, on Windows `cmd /c`), as they typed it, with
their environment; nothing of a model is ever part of it. It is a process group of its own: when it
ends, runs too long or is given up, whatever it started ends with it. Knows processes; knows no
tries.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HEAD, TAIL = 64 << 10, 192 << 10  # bytes of the output that are kept: its beginning and its end
LOOK = 0.05  # seconds between two looks
GRACE = 0.5  # seconds that a command has to end when it is asked to
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


@dataclass(frozen=True)
class Ran:
    """What became of a command. `code` is None when it had to be ended."""

    code: int | None
    output: str
    seconds: float
    problem: str = ""  # why it has no code


class _Output:
    """What a process says, read by a thread: its first bytes and its last."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._head, self._tail = bytearray(), bytearray()
        self._cut = 0
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._read, name="test output", daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with suppress(OSError), os.fdopen(self._pipe, "rb", buffering=0) as file:
            while data := file.read(1 << 16):
                with self._lock:
                    room = HEAD - len(self._head)
                    self._head += data[:room] if room > 0 else b""
                    self._tail += data[max(room, 0) :]
                    if (over := len(self._tail) - TAIL) > 0:
                        self._cut += over
                        del self._tail[:over]

    def text(self) -> str:
        with self._lock:
            cut = f"\n… {self._cut:,} bytes left out …\n".encode() if self._cut else b""
            data = bytes(self._head) + cut + bytes(self._tail)
        return plain(data)

    def last_line(self) -> str:
        with self._lock:
            data = bytes((self._tail or self._head)[-400:])
        lines = [line for line in plain(data).splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""


def plain(data: bytes) -> str:
    """Output as text: no colours, a line for each that was written over another."""
    text = ESCAPES.sub("", data.decode("utf-8", "replace"))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def running(command: str, folder: Path, timeout_s: float) -> Generator[str, None, Ran]:
    """Run it. Yields the last line it said, again and again; closing the generator ends it."""
    started = time.monotonic()
    ours, theirs = os.pipe()
    try:
        child = _begun(command, folder, theirs)
    except OSError as error:
        os.close(ours)
        return Ran(None, "", 0.0, f"cannot be started: {error.strerror or error}")
    finally:
        os.close(theirs)
    said = _Output(ours)
    problem = ""
    try:
        while child.poll() is None:
            if timeout_s and time.monotonic() - started > timeout_s:
                problem = f"took more than {timeout_s:g} s"
                break
            yield said.last_line()
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK)
    finally:
        _end(child)
    said.thread.join(GRACE)  # somebody who got away may hold the pipe for ever
    code = None if problem else child.returncode
    return Ran(code, said.text(), time.monotonic() - started, problem)


def _begun(command: str, folder: Path, output: int) -> subprocess.Popen[bytes]:
    how: dict[str, object] = {"start_new_session": True}
    if sys.platform == "win32":
        how = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        command,
        shell=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        **how,
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """The command, if it still runs, and whatever it left behind."""
    if sys.platform == "win32":
        if child.poll() is None:
            with suppress(OSError, subprocess.TimeoutExpired):
                words = ["taskkill", "/F", "/T", "/PID", str(child.pid)]
                subprocess.run(words, capture_output=True, timeout=10, check=False)
            child.kill()
        child.wait()
        return
    if child.poll() is None:
        _signal(child, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
    _signal(child, signal.SIGKILL)
    child.wait()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
