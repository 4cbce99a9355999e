"""The first item of a run, before the screen that shows it.

A warm server reads the prompt while this process imports what shows and judges the answer: 60 ms
that nobody waits for. In this process the screen comes first, for a model takes its time to load.
Knows the order of the two; does not know what either does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specedit.edit.backend import Backend, Event
    from specedit.edit.plan import Job
    from specedit.edit.run import Planner
    from specedit.files.source import Source
    from specedit.report import Edit
    from specedit.view.screen import Screen

    Items = Iterator[tuple[str, Event | Edit]]
    Shown = tuple[Screen, Items]


class Early:
    """A planner that may work before there is a screen to watch it."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._planned: list[tuple[Source, Job | Edit]] | None = []

    def __call__(self, source: Source) -> Job | Edit:
        job = self._planner(source)
        if self._planned is not None:
            self._planned.append((source, job))
        return job

    def shown(self, items: Items, backend: Backend, make: Callable[[], Screen]) -> Shown:
        """The screen, and the items it is to be fed."""
        first = list(islice(items, 1)) if backend.server else []
        screen = make()
        for source, job in self._planned or ():
            screen.watch(_known(job))(source)
        self._planned, self._planner = None, screen.watch(self._planner)
        return screen, chain(first, items)


def _known(job: Job | Edit) -> Planner:
    return lambda source: job
