"""The command line for tests: in this process, or in a process of its own."""

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import typer.main

Done = subprocess.CompletedProcess[bytes]
Specedit = Callable[..., Done]


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal, and keeps what is written."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def _streams(files: list[BinaryIO]) -> Iterator[None]:
    """Use `files` as stdin, stdout and stderr, for Python and for child processes."""
    before, saved = (sys.stdin, sys.stdout, sys.stderr), [os.dup(fd) for fd in range(3)]
    sys.stdout.flush()
    sys.stderr.flush()
    for fd, file in enumerate(files):
        os.dup2(file.fileno(), fd)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        for fd, copy in enumerate(saved):
            os.dup2(copy, fd)
            os.close(copy)


@contextlib.contextmanager
def log_restored() -> Iterator[None]:
    """Undo what `--verbose` does to the log of this process."""
    log = logging.getLogger("specedit")
    handlers, level, propagate = list(log.handlers), log.level, log.propagate
    yield
    log.handlers, log.propagate = handlers, propagate
    log.setLevel(level)


_BUILD, _FSYNC = typer.main.get_command, os.fsync
_built: list[Any] = []


def _command(app: typer.Typer) -> Any:
    """The command line with every command, built once; `every_command` changes what it gets."""
    if sys._getframe(1).f_code.co_name == "every_command":
        return _BUILD(app)
    if not _built:
        from specedit.cli import every_command

        every_command()
        _built.append(_BUILD(app))
    return _built[0]


def in_this_process(
    *arguments: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run one command line. A process of its own takes 0.5 s more, with torch 2 s."""
    from specedit.cli import run

    with contextlib.ExitStack() as stack:
        files: list[BinaryIO] = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin)
        files[0].seek(0)
        stack.enter_context(mock.patch.dict(os.environ, env or {}))
        stack.enter_context(contextlib.chdir(cwd or "."))
        if "--help-all" not in arguments:  # which changes the commands
            stack.enter_context(mock.patch.object(typer.main, "get_command", _command))
        if os.fsync is _FSYNC:  # nothing here is to outlast a crash of the machine
            stack.enter_context(mock.patch.object(os, "fsync", lambda file: None))
        with _streams(files), log_restored():
            code = run([str(word) for word in arguments])
        for file in files:
            file.seek(0)
        return Done(arguments, code, files[1].read(), files[2].read())


def at_a_terminal(typed: bytes, *arguments: str | Path, cwd: Path | None = None) -> tuple[int, str]:
    """Run one command line with all streams at a terminal where the answer is typed ahead.

    Returns the exit code and what the terminal shows.
    """
    import pty

    from specedit.cli import run

    ours, theirs = pty.openpty()
    os.write(ours, typed)
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux reports the closed other end so
            while piece := os.read(ours, 1 << 16):
                shown.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    terminal = os.fdopen(theirs, "r+b", buffering=0)
    with terminal, contextlib.chdir(cwd or "."), _streams([terminal] * 3), log_restored():
        code = run([str(word) for word in arguments])
    reader.join()
    os.close(ours)
    return code, shown.decode("utf-8", "replace")


def child_at_a_terminal(
    *arguments: str, until: bytes, **environment: str
) -> tuple["subprocess.Popen[bytes]", int]:
    """A process of its own whose streams are a terminal, once that shows `until`; and the
    terminal's other end. Ctrl-C reaches it as SIGINT."""
    import pty

    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "specedit", *arguments],
        env={**os.environ, **environment},
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),  # type: ignore[call-overload]
        preexec_fn=interruptible,
    )
    shown = b""
    while until not in shown:
        shown += os.read(ours, 1 << 16)
    return child, ours


def in_its_own_process(
    *arguments: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> Done:
    """Run one command line as the user does."""
    return subprocess.run(
        [sys.executable, "-m", "specedit", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=timeout,
        check=False,
    )


def interruptible() -> None:
    """For `preexec_fn`: a shell's background job ignores Ctrl-C, and so would its child."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
