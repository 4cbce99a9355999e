"""One run of the user's own command in a folder, with a limit on its time and output; and of that
output the most telling line, and what to show a model.

The command is a line for the user's shell, with their environment but for our keys; nothing of a
model is ever part of it. On Linux it runs below a `supervisor`, which ends every process that it
started. On other POSIX systems those in its process group end, on Windows those of `taskkill /T`.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from specedit.check.external import SECRETS
from specedit.edit import supervisor
from specedit.edit.report import CommandResult

HEAD_BYTES = 64 << 10  # of the output that are kept: its beginning,
TAIL_BYTES = 192 << 10  # and its end
LOOK = 0.05  # seconds between two looks
TERM_TO_KILL_S = 0.5  # seconds between SIGTERM and SIGKILL
SUPERVISOR_WAIT_S = 12.0  # seconds for the supervisor to end everything
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


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
                    room = HEAD_BYTES - len(self._head)
                    self._head += data[:room] if room > 0 else b""
                    self._tail += data[max(room, 0) :]
                    if (over := len(self._tail) - TAIL_BYTES) > 0:
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


def run_command(
    command: str, folder: Path, timeout_s: float, report: Callable[[str], None]
) -> CommandResult:
    """Run it, and `report` the last line of its output again and again. Where `report` raises, the
    command is ended."""
    started = time.monotonic()
    ours, theirs = os.pipe()
    try:
        child = _begun(command, folder, theirs)
    except OSError as error:
        os.close(ours)
        problem = f"cannot be started: {error.strerror or error}"
        return CommandResult(None, problem, text=problem)
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
    output.thread.join(TERM_TO_KILL_S)  # a process that escaped may hold the pipe for ever
    seconds = time.monotonic() - started
    if child.returncode == 0 and not problem:
        return CommandResult(0, seconds=seconds)
    summary, text, failed = read(output.text(), folder)
    line = summary or f"exit code {child.returncode}"
    if problem:
        line = f"{problem}; its last line: {summary}" if summary else problem
    text = "\n".join(filter(None, (problem, text or line)))
    return CommandResult(None if problem else child.returncode, line, failed, seconds, text)


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
            child.wait(SUPERVISOR_WAIT_S)
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
            child.wait(TERM_TO_KILL_S)
    _signal(child, signal.SIGKILL)
    child.wait()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


COUNTS = (
    re.compile(r"^=+ .*?\b(?P<n>\d+) failed\b"),  # pytest
    re.compile(r"^=+ .*?\b(?P<n>\d+) errors?\b"),
    re.compile(r"^(?P<n>\d+) failed\b"),  # pytest -q
    re.compile(r"^(?P<n>\d+) errors? in\b"),
    re.compile(r"^FAILED \((?:failures|errors)=(?P<n>\d+)"),  # unittest
    re.compile(r"^test result: FAILED\. \d+ passed; (?P<n>\d+) failed"),  # cargo
    re.compile(r"^Failed!\s+- Failed:\s+(?P<n>\d+)"),  # dotnet
    re.compile(r"^Tests:\s+(?P<n>\d+) failed"),  # jest
    re.compile(r"^Found (?P<n>\d+) errors?\b"),  # tsc, ruff, mypy
)


def counted(lines: Sequence[str]) -> int | None:
    """The number of failures that the tool itself says."""
    for pattern in COUNTS:
        results = [int(hit["n"]) for line in lines if (hit := pattern.search(line))]
        if results:
            return sum(results) if "test result" in pattern.pattern else results[-1]
    return None


class Form:
    """How a tool reports failures: as passages of an output, each with a line that tells most. The
    group `name` of a `passage` is shown as a title above `body`. `tells`: the groups `why` and `at`
    of a passage; one without them is left out. `drops`: what is not shown."""

    def __init__(
        self, passage: str, tells: str, drops: str = r"(?!)", *, last: bool = False
    ) -> None:
        self._passage = re.compile(passage, re.MULTILINE)
        self._tells = re.compile(tells, re.MULTILINE)
        self._drops = re.compile(drops, re.MULTILINE)
        self._last = last  # the last passage tells most, and only the last three are shown

    def read(self, text: str) -> tuple[str, list[str]]:
        """The most telling line of an output, and its passages; none where it has another form."""
        passages, tellings = [], []
        for hit in self._passage.finditer(text):
            parts = hit.groupdict("")
            body = self._drops.sub("", parts["body"])
            if (telling := self._tells.search(body)) is None:
                continue
            why = telling.groupdict("")
            tellings.append(": ".join(filter(None, (why["why"], why.get("at", "")))))
            passages.append(
                "\n".join(
                    filter(None, (parts.get("name", "") and f"{parts['name']}:", body.strip("\n")))
                )
            )
        if self._last:
            return "".join(tellings[-1:]), passages[-3:]
        return "".join(tellings[:1]), passages


_PLACE = (  # of compilers and linters; go build, go vet, ruff and pyflakes do not say `error`
    r"\S[^:(\n]*\(\d+(?:,\d+)?(?:-\d+)?\): (?:fatal )?error\b.*"
    r"|\S[^:\n]*:\d+(?::\d+)?(?: -|:) (?:fatal )?error\b.*"
    r"|\S+\.(?:\w+:\d+|go):\d+: \S.*"
)
FORMS = (
    Form(  # pytest: sections between underscored titles; lines that begin with E say why
        r"^_{3,} (?P<name>.+?) _{3,}$(?P<body>(?:\n(?!_{3,} .+ _{3,}$|={3,}.*={3,}$).*)*)",
        r"^E +(?P<why>.+)",
        r"^(?!(?:>|E) |\S+:\d+: ).*\n?",
    ),
    Form(r"^(?P<body>(?:FAILED|ERROR) \S.*)", r" - (?P<why>.+)"),  # its summary
    Form(  # rustc
        r"^(?P<body>error(?:\[E\d+\])?: .+\n +--> .*(?:\n.+)*)", r"\A(?P<why>.+)"
    ),
    Form(  # a panicking test of cargo
        r"^(?P<body>thread '.+' (?:\(\d+\) )?panicked at .+(?:\n.+)*)",
        r"panicked at (?P<at>.+?):?(?:\n(?P<why>.+))?$",
        r"^note: .*\n?",
    ),
    Form(r"^(?P<body>panic: .+(?:\n(?!exit status|FAIL\b).*)*)", r"\A(?P<why>.+)"),  # go
    Form(  # go test, dotnet test, jest: a failed test's name, then its own words
        r"^[ \t]*(?:--- FAIL: |Failed (?=\S+ \[)|● (?=.+ › ))(?P<name>.+?)(?: [\[(][^\])]*[\])])?$"
        r"(?P<body>(?:\n(?!(?:FAIL|PASS|ok)\b|[ \t]*(?:--- (?:FAIL|PASS)|=== |Failed \S+ \[|● )"
        r"|Tests?:).*)*)",
        r"^(?P<why>.+)",
        r"^[ \t]*(?:(?:Error Message:|Stack Trace:|at .+|Standard Output.*)?(?:\n|\Z))?",
    ),
    Form(  # Python's tracebacks, without the interpreter's own frames, which have no file
        r"^[ \t]*Traceback \(most recent call last\):(?P<body>(?:\n(?: .*)?)*\n\S.*)",
        # of a bare AssertionError what was asserted says more
        r"(?:^ +(?P<at>\S.*)\n(?:[ ^~]+\n)?(?=[^:\n]*\Z))?^(?P<why>\S.*)\Z",
        r'^  File "<.*\n(?:    .*\n)*',
        last=True,
    ),
    Form(  # a compiler's place and message, with the line of source and the mark below it
        rf"^[ \t]*(?P<body>(?:{_PLACE})(?:\n\n?(?:[ \t|]|\d+ ).*){{0,4}})", r"\A(?P<why>.+)"
    ),
)
MOST_LINES, MOST_CHARS = 40, 2400  # of what is shown
MAX_LINE_CHARACTERS = 200  # characters of a line
FAILS = re.compile(
    r"(?i)\b(error|errors|failed|failure|failures|exception|panic|assert\w*|fatal)\b"
)


def read(output: str, folder: Path) -> tuple[str, str, int | None]:
    """Of the output of a command that failed in `folder`: the most telling line, what is worth
    showing, and how many failures it counted."""
    lines = [line.rstrip() for line in output.replace(f"{folder}/", "").splitlines()]
    for form in FORMS:
        telling, passages = form.read("\n".join(lines))
        if passages:
            shown = _bounded("\n\n".join(dict.fromkeys(passages)).splitlines())
            return _short(telling), shown, counted(lines)
    held = [line for line in lines if line.strip()]
    telling = next(
        (line for line in reversed(held) if FAILS.search(line)), held[-1] if held else ""
    )
    return _short(telling), _bounded(held[-20:], end=True), counted(lines)


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[: MAX_LINE_CHARACTERS - 1]}…"


def _bounded(lines: Sequence[str], *, end: bool = False) -> str:
    """The first (or the last) lines, within what is worth showing."""
    kept: list[str] = []
    size = 0
    for line in reversed(lines) if end else lines:
        line = line if len(line) <= MAX_LINE_CHARACTERS else f"{line[: MAX_LINE_CHARACTERS - 1]}…"
        size += len(line) + 1
        if len(kept) >= MOST_LINES or size > MOST_CHARS:
            break
        kept.append(line)
    return "\n".join(reversed(kept) if end else kept)
