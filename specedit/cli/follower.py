"""A run as it is shown: the screen is made when there is something to show.

Until the backend's first event nothing is: a warm server reads the prompt while this process
imports what shows and judges its answer, 60 ms that nobody waits for. Knows the order of things;
what is shown is the screen's to say.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from specedit.edit.job import Planned
from specedit.edit.run import Item, Proposed, Run
from specedit.edit.tries.items import TryItem
from specedit.report import Edit
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.view.screen import Screen


class Follower:
    """Feeds a run's items to the screen, and brings back what the person there wants."""

    def __init__(self, run: Run, settings: Settings) -> None:
        self._run = run
        self._settings = settings
        self._stack = ExitStack()

    def __enter__(self) -> Follower:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @cached_property
    def _screen(self) -> Screen:
        from importlib import import_module

        from specedit.view.screen import Screen

        import_module("specedit.check.answer")  # while the model loads
        return self._stack.enter_context(Screen(self._settings, self._run.names))

    def edits(self) -> Generator[Edit, None, None]:
        """Run to the end: every Edit, as it is done and shown."""
        with closing(iter(self._run)) as items:  # what is tried is put back at once, not later
            yield from self._shown(items)

    def _shown(self, items: Iterator[tuple[str, Item]]) -> Iterator[Edit]:
        held: list[tuple[str, Planned]] = []
        for name, item in items:
            if isinstance(item, Planned):
                held.append((name, item))
                continue
            for planned in held:
                self._screen.planned(*planned)
            held.clear()
            if isinstance(item, Edit):
                self._screen.edit(name, item)
                yield item
            elif isinstance(item, TryItem):
                self._screen.tries(name, item)
            elif not isinstance(item, Proposed):
                self._screen.event(name, item)
            elif self._settings.ask:
                self._ask(item)

    def _ask(self, proposed: Proposed) -> None:
        chosen = self._screen.ask(proposed.job.source, proposed.edit)
        self._run.take(chosen.text)
        if chosen.quit:
            self._run.leave("not looked at: you quit")

    def report(self, why: str = "", *, given_out: bool = False) -> None:
        """The last words; `why` the run ended before its inputs did. `given_out`: what changed is
        on stdout, so that it is done."""
        report = self._run.report()
        if given_out:
            done = (replace(e, status="edited") if e.changed else e for e in report.edits)
            report = replace(report, edits=tuple(done))
        self._screen.report(report, self._run.not_done if why else [], why)
