"""Signals that ask the process to end: all of them behave like Ctrl-C, and wait for a file's write.

A module of its own because every command imports it first."""

from __future__ import annotations

import atexit
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # SIGBREAK: Windows, CTRL_BREAK
ENDING = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))


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
