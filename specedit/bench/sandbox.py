"""Runs the tests of an edited file apart from everything else.

A process of its own in a temporary folder, with limits on time and memory, and where the system
lets a user take them away, without a network and without processes that outlive it. Whether the
tests passed is a random word that comes back through a pipe of its own, after their last line; no
exit code and no output says it. It keeps accidents in, not attackers: the program reads and writes
what its user can, and code that looks for the word can find it. Run only tests that you would run
by hand. Knows Python programs; knows no models.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SECONDS = 10
MEMORY = 2 << 30  # bytes of address space
MARK = "{{Code}}"
KEPT = 60  # lines of what a program said

_LIMITED = """
import os, resource, runpy, sys
def limit(what, most):
    resource.setrlimit(what, (most, most))
def main(path, seconds, memory, answer):
    word = os.read(0, 64)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.set_inheritable(int(answer), False)
    limit(resource.RLIMIT_CPU, int(seconds))
    limit(resource.RLIMIT_AS, int(memory))
    limit(resource.RLIMIT_FSIZE, 1 << 24)
    limit(resource.RLIMIT_CORE, 0)
    sys.argv[:] = [path]
    runpy.run_path(path, run_name="__main__")
    os.write(int(answer), word)
main(*sys.argv[1:])
"""


@dataclass(frozen=True)
class Verdict:
    """What became of a program's tests."""

    passed: bool
    why: str = ""  # the last line said, or "time"
    said: str = ""  # the end of what it said


def program(code: str, tests: str, context: str = "") -> str:
    """The edited code where it belongs, its tests, and the call that runs them."""
    placed = context.replace(MARK, code) if MARK in context else f"{context}\n{code}"
    return f"{placed}\n\n{tests}\n\ncheck()\n"


def run(text: str, *, seconds: int = SECONDS, memory: int = MEMORY) -> Verdict:
    """Whether a program runs to its last line within its limits."""
    with tempfile.TemporaryDirectory(prefix="specedit-tests-") as folder:
        path = Path(folder) / "main.py"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        answer, theirs = os.pipe()
        command = [
            *(apart() or ()),
            *(sys.executable, "-I", "-c", _LIMITED, str(path), str(seconds), str(memory)),
            str(theirs),
        ]
        word = secrets.token_hex(16).encode()
        environment = {"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(theirs,),
        ) as child:
            os.close(theirs)
            try:
                said = child.communicate(word, timeout=seconds)[1]
            except subprocess.TimeoutExpired:
                os.close(answer)
                return Verdict(False, f"took more than {seconds} s")
            finally:
                _end(child)
    if _read(answer) == word:
        return Verdict(True)
    lines = said.decode("utf-8", "replace").strip().splitlines()
    why = lines[-1] if lines else f"ended early, exit code {child.returncode}"
    return Verdict(False, why, "\n".join(lines[-KEPT:]))


def _read(pipe: int) -> bytes:
    """What is in the pipe now: a process that got away may hold its other end for ever."""
    os.set_blocking(pipe, False)
    with open(pipe, "rb", buffering=0) as file:
        return file.read(64) or b""


def _end(child: subprocess.Popen[bytes]) -> None:
    """The program and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


@functools.cache
def apart() -> tuple[str, ...] | None:
    """The command that takes the network away from a process, and ends what it leaves behind where
    that can be; None where neither can."""
    found = shutil.which("unshare")
    if found is None:
        return None
    offline = (found, "--user", "--map-root-user", "--net")
    for command in ((*offline, "--pid", "--kill-child"), offline):
        try:
            done = subprocess.run([*command, "true"], capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return command
    return None


def caution() -> str:
    """What a person should know before foreign tests run here; "" when nothing."""
    if apart() is not None:
        return ""
    return "the tests run with this machine's network: unshare cannot take it away here"
