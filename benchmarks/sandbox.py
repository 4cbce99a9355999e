"""Run the tests of an edited file apart from everything else.

The program runs in a process of its own in a temporary folder, with limits on time and memory, and
where the system allows it without a network and without processes that outlive it. A random word
comes back through a pipe after the program's last line: no exit code and no output can say that the
tests passed. This contains accidents, not attackers: run only tests that you would run by hand.

    python benchmarks/sandbox.py CASE.json     exit 0 if the case's `file` passes its tests
"""

from __future__ import annotations

import contextlib
import functools
import json
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
LAST = 60  # lines of a program's output

LIMITED = """
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
    """Whether a program's tests passed, and else the last lines of its output."""

    passed: bool
    output: str = ""

    @property
    def reason(self) -> str:
        return self.output.rpartition("\n")[2]


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
        python = (sys.executable, "-I", "-c", LIMITED, str(path), str(seconds), str(memory))
        word = secrets.token_hex(16).encode()
        with subprocess.Popen(
            [*(isolation() or ()), *python, str(theirs)],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(theirs,),
        ) as child:
            os.close(theirs)
            try:
                output = child.communicate(word, timeout=seconds)[1]
            except subprocess.TimeoutExpired:
                os.close(answer)
                return Verdict(False, f"took more than {seconds} s")
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
    if _read(answer) == word:
        return Verdict(True)
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return Verdict(False, "\n".join(lines[-LAST:]) or f"ended early, exit code {child.returncode}")


def _read(pipe: int) -> bytes:
    """What is in the pipe now: a process that escaped may hold its other end open."""
    os.set_blocking(pipe, False)
    with open(pipe, "rb", buffering=0) as file:
        return file.read(64) or b""


@functools.cache
def isolation() -> tuple[str, ...] | None:
    """The command that takes the network away from a process and, where possible, ends what the
    process leaves behind; None where the system does not allow it."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    offline = (unshare, "--user", "--map-root-user", "--net")
    for command in ((*offline, "--pid", "--kill-child"), offline):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            probe = [*command, "true"]
            if not subprocess.run(probe, capture_output=True, timeout=10, check=False).returncode:
                return command
    return None


def main(case: str) -> int:
    """The test command of `benchmarks.quality`."""
    record = json.loads(Path(case).read_text("utf-8"))
    code = Path(record["file"]).read_text("utf-8", errors="surrogatepass")
    verdict = run(program(code, record["tests"], record["context"]))
    print(verdict.output, file=sys.stderr)
    return 0 if verdict.passed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
