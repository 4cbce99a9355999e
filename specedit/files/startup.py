"""The first steps of every command; imports nearly nothing.

Signals that ask the process to end behave like Ctrl-C, and wait for a file's write. The folders of
this user: the store, and the warm server's.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # SIGBREAK: Windows, CTRL_BREAK
ENDING = tuple(getattr(signal, name) for name in SIGNAL_NAMES if hasattr(signal, name))


def raise_interrupts() -> None:
    """Let each of them raise KeyboardInterrupt; one that is ignored (nohup) stays so."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    atexit.register(_ignore)


def _ignore() -> None:
    """The work is done; ending the interpreter takes 0.2 s more, and must not change the code."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let these signals wait until what was begun is whole. One without a handler does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    received: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {}
    for number in ENDING:
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda n, frame: received.append((n, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in received[:1]:
        before[number](number, frame)


JOURNAL = "journal"  # the folder of the runs, in the store
UNFINISHED = "unfinished"  # in a run's folder until all that it writes is written and judged


def expanded(path: str) -> Path:
    """The path with the user's folder for `~`; `~name` of an unknown user stays a name."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  (Path.expanduser raises)


def home() -> Path:
    """`SPECEDIT_HOME`, or the data folder this system gives a user."""
    if named := os.environ.get("SPECEDIT_HOME"):
        return expanded(named).absolute()
    from platformdirs import user_data_path

    return user_data_path("specedit", appauthor=False)


SERVER_RECORD = "server.json"  # in the runtime folder while a warm server runs


def runtime_path() -> Path:
    """The folder of this user's warm server; it may not exist."""
    if named := os.environ.get("SPECEDIT_RUNTIME"):
        return expanded(named).absolute()
    system = os.environ.get("XDG_RUNTIME_DIR")
    if system and Path(system).is_dir() and os.access(system, os.W_OK):
        return Path(system) / "specedit"
    import tempfile

    return Path(tempfile.gettempdir()) / f"specedit-{user_name()}"


def user_name() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def warm_server_may_run() -> bool:
    """Whether a warm server left its record: a look at one path, without the server's modules."""
    return os.path.exists(runtime_path() / SERVER_RECORD)  # noqa: PTH110  (never raises)


def marks(store: Path) -> list[Path]:
    """The marks of unfinished runs, those at work included; the newest first."""
    try:
        return sorted((store / JOURNAL).glob(f"*/{UNFINISHED}"), reverse=True)
    except OSError:
        return []
