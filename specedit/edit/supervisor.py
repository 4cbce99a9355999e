"""Run one shell command, and end every process that it started. Linux; a program of its own.

    python -I -S supervisor.py PIPE COMMAND

Orphans of the command become children of this process, a subreaper. PIPE is a descriptor whose
other end the parent holds: when it closes, everything is ended. The exit code is the command's, 128
and the number for a signal. Imports nothing of the package.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
TERM_TO_KILL_S = 0.5  # seconds between SIGTERM and SIGKILL
KILL_WAIT_S = 10.0  # seconds until processes that SIGKILL does not end are given up


def main(pipe: int, command: str) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    child = os.fork()
    if not child:
        _begin(command)
    codes: dict[int, int] = {}
    while child not in codes and not _is_over(pipe, ended):
        _reap(codes)
    if child not in codes:
        _signal_all(signal.SIGTERM)
        end = time.monotonic() + TERM_TO_KILL_S
        while _reap(codes) and time.monotonic() < end:
            time.sleep(0.01)
    end = time.monotonic() + KILL_WAIT_S
    while _reap(codes) and time.monotonic() < end:
        _signal_all(signal.SIGKILL)
        time.sleep(0.001)
    code = codes.get(child, -signal.SIGKILL)
    return code if code >= 0 else 128 - code


def _begin(command: str) -> None:
    """In the child: become the command."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
        os.setpgid(0, 0)
        os.execv("/bin/sh", ["sh", "-c", command])
    finally:
        os._exit(127)


def _is_over(pipe: int, ended: int) -> bool:
    """Wait for a signal or for the parent; whether it is the end that the parent wants."""
    ready, _, _ = select.select([pipe, ended], [], [])
    if ended in ready:
        numbers = os.read(ended, 4096)
        return bool(set(numbers) - {signal.SIGCHLD})
    return True


def _reap(codes: dict[int, int]) -> bool:
    """Note the exit codes of children that ended; whether there are others."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return True
            codes[pid] = os.waitstatus_to_exitcode(status)
    return False


def _signal_all(number: int) -> None:
    """Every process below this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (pathlib takes 10 ms to import)
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    below = [os.getpid()]
    for pid in below:
        below += children.get(pid, ())
    for pid in below[1:]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
