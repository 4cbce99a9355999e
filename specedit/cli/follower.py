"""Shows a session while it runs.

The screen is created at the backend's first event: a warm server reads the prompt while this
process imports what displays and checks its answer (60 ms)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from specedit.edit.job import Planned
from specedit.edit.report import Edit
from specedit.edit.session import EditSession, Item, Proposed
from specedit.edit.tries.items import TryItem
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.view.screen import Screen


class Follower:
    """Passes a session's items to the screen, and the user's choices back."""

    def __init__(self, session: EditSession, settings: Settings) -> None:
        self._session = session
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
        return self._stack.enter_context(Screen(self._settings, self._session.names))

    def edits(self) -> Generator[Edit, None, None]:
        """Run to the end; yields every Edit after it was shown."""
        with closing(iter(self._session)) as items:  # a try is taken out of the work tree at once
            yield from self._shown(items)

    def _shown(self, items: Iterator[tuple[str, Item]]) -> Iterator[Edit]:
        pending: list[tuple[str, Planned]] = []
        for name, item in items:
            if isinstance(item, Planned):
                pending.append((name, item))
                continue
            for planned in pending:
                self._screen.planned(*planned)
            pending.clear()
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
        self._session.replace_text(chosen.text)
        if chosen.quit:
            self._session.skip_rest("not looked at: you quit")

    def report(self, why: str = "", *, on_stdout: bool = False) -> None:
        """Show the report; `why` the session ended before its inputs did. `on_stdout`: the changed
        text was written to stdout."""
        report = self._session.report()
        if on_stdout:
            done = (replace(e, status="edited") if e.changed else e for e in report.edits)
            report = replace(report, edits=tuple(done))
        self._screen.report(report, self._session.not_done if why else [], why)
