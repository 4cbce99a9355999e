"""Runs the tests of an edited file apart from everything else.

A process of its own in a temporary folder, with limits on time and memory, and without a network
where the system lets a user take it away. Knows Python programs; knows no models. It keeps
accidents in, not attackers: run only tests that you would run by hand.
"""

from __future__ import annotations

import contextlib
import functools
import os
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

_LIMITED = """
import resource, runpy, sys
def limit(what, most):
    resource.setrlimit(what, (most, most))
limit(resource.RLIMIT_CPU, int(sys.argv[2]))
limit(resource.RLIMIT_AS, int(sys.argv[3]))
limit(resource.RLIMIT_FSIZE, 1 << 24)
limit(resource.RLIMIT_CORE, 0)
runpy.run_path(sys.argv[1], run_name="__main__")
sys.exit(int(sys.argv[4]))
"""
ENDED = 86  # the exit code of a program that ran to its last line; its own `exit(0)` is none


@dataclass(frozen=True)
class Verdict:
    """What became of a program's tests."""

    passed: bool
    why: str = ""  # the last line said, or "time"


def program(code: str, tests: str, context: str = "") -> str:
    """The edited code where it belongs, its tests, and the call that runs them."""
    placed = context.replace(MARK, code) if MARK in context else f"{context}\n{code}"
    return f"{placed}\n\n{tests}\n\ncheck()\n"


def run(text: str, *, seconds: int = SECONDS, memory: int = MEMORY) -> Verdict:
    """Whether a program runs to its last line within its limits."""
    with tempfile.TemporaryDirectory(prefix="specedit-tests-") as folder:
        path = Path(folder) / "main.py"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        command = [
            *(offline() or ()),
            *(sys.executable, "-I", "-c", _LIMITED, str(path), str(seconds), str(memory)),
            str(ENDED),
        ]
        environment = {"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as child:
            try:
                said = child.communicate(timeout=seconds)[1]
            except subprocess.TimeoutExpired:
                return Verdict(False, f"took more than {seconds} s")
            finally:
                _end(child)
    if child.returncode == ENDED:
        return Verdict(True)
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return Verdict(False, lines[-1] if lines else f"ended early, exit code {child.returncode}")


def _end(child: subprocess.Popen[bytes]) -> None:
    """The program and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


@functools.cache
def offline() -> tuple[str, ...] | None:
    """The command that takes the network away from a process; None where there is none."""
    found = shutil.which("unshare")
    if found is None:
        return None
    command = (found, "--user", "--map-root-user", "--net")
    try:
        done = subprocess.run([*command, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return command if done.returncode == 0 else None


def caution() -> str:
    """What a person should know before foreign tests run here; "" when nothing."""
    if offline() is not None:
        return ""
    return "the tests run with this machine's network: unshare cannot take it away here"
