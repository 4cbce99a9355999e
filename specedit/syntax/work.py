"""The work of merging a change, counted: a limit that does not depend on the machine, so that no
change keeps the program busy for minutes, and a look at whether the result is still wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from specedit.errors import InputError

MAX_STEPS = 2_000_000  # of about a microsecond each
Check = Callable[[], None]  # raises where the result is no longer wanted


@dataclass
class Work:
    check: Check
    steps: float = 0.0


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


def wanted() -> None:
    """The check of a caller who never cancels."""


@contextmanager
def limited(check: Check) -> Iterator[None]:
    """Count the work that is done meanwhile; an error where it is too much."""
    token = _WORK.set(Work(check))
    try:
        yield
    finally:
        _WORK.reset(token)


def spend(steps: float) -> None:
    """Count steps that are done next, or were done just now."""
    if (work := _WORK.get()) is not None:
        work.check()
        work.steps += steps
        if work.steps > MAX_STEPS:
            why = "merging this change takes too much work; nothing was written"
            raise InputError(why, hint="Split the change, and show only the lines that change.")
