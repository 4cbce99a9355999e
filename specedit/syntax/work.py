"""The work of merging a change, counted, so that no change keeps the program busy for minutes: a
limit that does not depend on the machine, and a look at whether the caller still wants the result.
"""

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
    """What was done, and what raises when it is to stop."""

    check: Check
    steps: float = 0.0


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


def wanted() -> None:
    """The check of a caller who never cancels."""


@contextmanager
def limited(check: Check = wanted) -> Iterator[Work]:
    """Count the work that is done meanwhile; an error where it is too much."""
    token = _WORK.set(work := Work(check))
    try:
        yield work
    finally:
        _WORK.reset(token)


def spend(steps: float) -> None:
    """Count steps that are done next, or were done just now."""
    if (work := _WORK.get()) is not None:
        work.check()
        work.steps += steps
        if work.steps > MAX_STEPS:
            raise InputError(
                "merging this change takes too much work; nothing was written",
                hint="Split the change, and show only the lines that change.",
            )
