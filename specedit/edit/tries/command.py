"""One run of the user's own command: in a folder, with a limit on its time and on what is kept.

The command is a line for the user's shell (`sh -c`, on Windows `cmd /c`), as they typed it, with
their environment but for our keys; nothing of a model is ever part of it. On Linux it runs below a
`supervisor`: when it ends, takes too long or this process ends, every process that it started ends.
On other POSIX systems those in its process group end, on Windows those that `taskkill /T` finds.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.edit.tries import supervisor

HEAD, TAIL = 64 << 10, 192 << 10  # bytes of the output that are kept: its beginning and its end
LOOK = 0.05  # seconds between two looks
GRACE = 0.5  # seconds between SIGTERM and SIGKILL
PATIENCE = 12.0  # seconds for the supervisor to end everything
SECRETS = ("SPECEDIT_API_KEY", "SPECEDIT_TOKEN")  # not for the command
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command. `code` is None when it had to be ended."""

    code: int | None
    output: str
    seconds: float
    problem: str = ""  # why it has no code


class _Output:
    """A process's output, read by a thread: its first bytes and its last."""

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


def run_command(command: str, folder: Path, timeout_s: float, report: Callable[[str], None]) -> Ran:
    """Run it, and `report` the last line of its output again and again. Where `report` raises, the
    command is ended."""
    started = time.monotonic()
    ours, theirs = os.pipe()
    try:
        child = _begun(command, folder, theirs)
    except OSError as error:
        os.close(ours)
        return Ran(None, "", 0.0, f"cannot be started: {error.strerror or error}")
    finally:
        os.close(theirs)
    output = _Output(ours)
    problem = ""
    try:
        while child.poll() is None:
            if timeout_s and time.monotonic() - started > timeout_s:
                problem = f"took more than {timeout_s:g} s"
                break
            report(output.last_line())
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK)
    finally:
        _end(child)
    output.thread.join(GRACE)  # a process that escaped may hold the pipe for ever
    code = None if problem else child.returncode
    return Ran(code, output.text(), time.monotonic() - started, problem)


def _begun(command: str, folder: Path, output: int) -> subprocess.Popen[bytes]:
    words: str | list[str] = command
    how: dict[str, Any] = {"shell": True, "stdin": subprocess.DEVNULL, "start_new_session": True}
    life: int | None = None
    if sys.platform == "win32":
        how["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
        del how["start_new_session"]
    elif sys.platform == "linux" and sys.executable:
        theirs, life = os.pipe()
        words = [sys.executable, "-I", "-S", supervisor.__file__, str(theirs), command]
        how |= {"shell": False, "pass_fds": (theirs,)}
    environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
    try:
        child = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, **how
        )
    except OSError:
        if life is not None:
            os.close(life)
        raise
    finally:
        if life is not None:
            os.close(theirs)
    if life is not None:
        child.stdin = os.fdopen(life, "wb")  # closed with the process object, or by `_end`
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    """The command, if it still runs, and the processes that it left."""
    if child.stdin is not None:
        child.stdin.close()  # the supervisor ends all of them
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
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
