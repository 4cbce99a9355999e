"""Run a command over its files, or as a filter, and show the session while it runs."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from specedit.cli.streams import put, put_json, put_patch, say
from specedit.cli.targets import STDIN, ResolvedTargets, allowed_links, confirmed
from specedit.errors import FAILED, INTERRUPTED, SpeceditError, UsageError

if TYPE_CHECKING:
    from specedit.edit.backend import Backend
    from specedit.edit.inputs import Planner
    from specedit.edit.job import Job
    from specedit.edit.report import Edit, Report
    from specedit.edit.session import EditSession, Item, Proposed
    from specedit.files.recorder import Wish
    from specedit.settings import Settings
    from specedit.view.screen import Screen

LONG_S = 60.0  # a run that likely takes longer is announced


def work(
    command: str,
    targets: ResolvedTargets,
    planner: Planner,
    wish: Wish | None = None,
    *,
    together: bool = False,
) -> int:
    """Run one command over its files, or as a filter; returns the exit code. `together`: all files
    are one change."""
    settings = targets.settings
    if targets.names == STDIN:
        return _filter(command, planner, settings)
    from specedit.server.connect import connect

    with closing(connect(settings)) as backend:
        return _over_files(command, targets, planner, backend, wish, together)


def _over_files(
    command: str,
    targets: ResolvedTargets,
    planner: Planner,
    backend: Backend,
    wish: Wish | None,
    together: bool,
) -> int:
    from specedit.edit.inputs import of_files, uncommitted
    from specedit.edit.session import EditSession

    names, settings = targets.names, targets.settings
    writes = not (settings.check or settings.diff)
    dirty = uncommitted(names, settings) if settings.clean_only or writes else set()
    skips = targets.searched and not settings.strict
    inputs = of_files(names, dirty, allowed_links(names), skips=skips)
    session = EditSession(
        command, inputs, planner, backend, settings, writes=writes, wish=wish, together=together
    )
    why, broken = "", None  # why the session ended before its files did
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not targets.confirmed
    with Follower(session, settings, asks=asks) as follower:
        try:
            with closing(follower.edits()) as edits:
                for edit in edits:
                    if settings.diff and edit.changed:
                        put_patch(edit.diff)
        except KeyboardInterrupt:
            why = "interrupted"
        except SpeceditError as problem:  # not of one file: the model, the server, the settings
            if not session.report().edits:
                raise
            why, broken = "broken off", problem
        follower.report(why)
    report = session.report()
    if settings.json:
        put_json(report)
    if broken is not None:
        raise broken
    return INTERRUPTED if why else report.exit_code(check=settings.check)


def _filter(command: str, planner: Planner, settings: Settings) -> int:
    """Read all of stdin, then write exactly one text: the new one or, on any failure, the old."""
    data = sys.stdin.buffer.read()
    out, code = data, FAILED
    report: Report | None = None
    is_text = not (settings.check or settings.diff or settings.json)
    try:
        from specedit.edit.inputs import of_stdin
        from specedit.edit.session import EditSession
        from specedit.server.connect import connect

        one = of_stdin(data, settings.stdin_filename)
        with closing(connect(settings)) as backend:
            session = EditSession(command, [one], planner, backend, settings)
            with Follower(session, settings) as follower:
                for _ in follower.edits():
                    pass
                follower.report(on_stdout=is_text)
        report = session.report()
        code = report.exit_code(check=settings.check)
        if code != FAILED:
            out = report.edits[0].after
    except SpeceditError as error:
        say(str(error))
    except KeyboardInterrupt:
        say("interrupted; the text is unchanged")
        code = INTERRUPTED
    except Exception as error:  # guarantee 5: the text is always returned
        say(f"unexpected {type(error).__name__}: {error}")
    if report is not None and settings.json:
        put_json(report)
    elif report is not None and settings.diff:
        put("".join(edit.diff for edit in report.edits if edit.changed))
    elif not (settings.json or settings.diff):
        sys.stdout.buffer.write(data if settings.check else out)
        sys.stdout.buffer.flush()
    return code


class Follower(ExitStack):
    """Passes a session's items to the screen, and the user's choices back.

    The screen is created at the backend's first event: a warm server reads the prompt while this
    process imports what displays and checks its answer (60 ms)."""

    def __init__(self, session: EditSession, settings: Settings, *, asks: bool = False) -> None:
        super().__init__()
        self._asks = asks
        self._announced = False
        self._session = session
        self._settings = settings

    @cached_property
    def _screen(self) -> Screen:
        from importlib import import_module

        from specedit.view.screen import Screen

        import_module("specedit.check.answer")  # while the model loads
        return self.enter_context(Screen(self._settings, self._session.names))

    def edits(self) -> Generator[Edit, None, None]:
        """Run to the end; yields every Edit after it was shown."""
        with closing(iter(self._session)) as items:  # a try is taken out of the work tree at once
            yield from self._shown(items)

    def _shown(self, items: Iterator[tuple[str, Item]]) -> Iterator[Edit]:
        from specedit.edit.job import Planned
        from specedit.edit.report import Edit, TryItem
        from specedit.edit.session import Proposed

        pending: list[tuple[str, Planned]] = []
        for name, item in items:
            if isinstance(item, Planned):
                self._announce(name, item.job)
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

    def _announce(self, name: str, job: Job) -> None:
        """Say before a long run how long it will likely take; at a terminal the user decides."""
        if self._announced or self._session.command not in ("edit", "refine"):
            return
        self._announced = True
        from specedit.server.connect import run_seconds

        others = [one for one in self._session.names if one != name]
        seconds = run_seconds(job, others, self._settings)
        if seconds is None or seconds < LONG_S or (self._settings.quiet and not self._asks):
            return
        subject = name if not others else f"{1 + len(others)} files"
        minutes = max(1, round(seconds / 60))
        faster = "" if job.regions else "; --symbol NAME or --selected TEXT is faster"
        message = f"about {minutes} min for {subject}{faster}."
        if "_screen" in self.__dict__:
            self._screen.pause()
        if not self._asks:
            say(message)
        elif not confirmed(f"{message} Continue?"):
            raise UsageError("Cancelled; nothing was changed.")

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
