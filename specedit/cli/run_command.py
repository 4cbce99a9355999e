"""Runs a command over its files, or as a filter, and shows the run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.streams import copy_stdin, put_json, put_patch, say
from specedit.cli.targets import STDIN, allowed_links, confirmed, is_confirmed
from specedit.edit.sink import Asked, Begun, EditEvent, Finished, Locating, Question, Reply, Sink
from specedit.errors import FAILED, INTERRUPTED, SpeceditError, UsageError
from specedit.syntax.lines import moved_patch

if TYPE_CHECKING:
    from specedit.check.project_checks import Verification
    from specedit.edit.backend import Plan
    from specedit.edit.job import Job
    from specedit.edit.report import Edit, Report
    from specedit.edit.request import Planner
    from specedit.files.recorder import Wish
    from specedit.settings import Settings
    from specedit.view.screen import Screen

LONG_S = 60.0  # a run that likely takes longer is announced
# Characters of one file whose edit takes less, also with a model of 7B on two cores
SHORT = 1_000


def run_command(
    command: str,
    names: Sequence[str],
    settings: Settings,
    planner: Planner,
    wish: Wish | None = None,
    *,
    searched: bool = False,
    together: bool = False,
    moves: Mapping[str, str] | None = None,
    verification: Verification | None = None,
) -> int:
    """Run one command over its files, or as a filter; returns the exit code. `searched`: a search
    chose the files; one that is not text stays. `together`: all files are one change. `moves`: the
    new names of files among them, which move with it. `verification`: it is undone where that finds
    something new."""
    from specedit.connect import connect
    from specedit.edit.report import Report
    from specedit.edit.request import Request, read_file, uncommitted
    from specedit.edit.run import run_files
    from specedit.files.undo import absolute

    if names == STDIN:
        return _filter(command, settings, planner)
    confirmed_all = is_confirmed(settings)
    writes = not (settings.check or settings.diff)
    dirty = cache(partial(uncommitted, names, settings)) if writes or settings.clean_only else set
    if settings.clean_only:
        dirty()  # an error if there are any
    skips = searched and not settings.strict
    request = Request(
        command,
        planner,
        settings,
        writes,
        wish,
        together,
        alone=len(names) == 1,
        moves=absolute(Path.cwd(), moves.items()) if moves else (),
        verification=verification,
        confirms_unsure=writes and not confirmed_all,
        read=partial(read_file, links=allowed_links(names), skips=skips),
        uncommitted=dirty,
    )
    why, broken = "", None  # why the run ended before its files did
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not confirmed_all
    with (
        closing(connect(settings)) as backend,
        closing(
            Display(command, names, settings, asks, backend.server, moves or {}, meanwhile=dirty)
        ) as display,
    ):
        try:
            report = run_files(names, request, backend, display)
        except KeyboardInterrupt:
            why = "interrupted"
        except SpeceditError as problem:  # not of one file: the model, the server, the settings
            if not display.edits:
                raise
            why, broken = "broken off", problem
        not_done: Sequence[str] = ()
        if why:
            report = Report(command, tuple(display.edits), backend.model, backend.server)
            not_done = names if together and writes else names[len(display.edits) :]
        display.report(report, not_done, why)
    if settings.json:
        put_json(report)
    if broken is not None:
        raise broken
    return INTERRUPTED if why else report.exit_code(check=settings.check)


def _filter(command: str, settings: Settings, planner: Planner) -> int:
    """Read all of stdin, then write exactly one text: the new one or, on any failure, the old."""
    from specedit.files.source import MAX_FILE_BYTES

    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)  # more is refused, and copied unread
    out, code = data, FAILED
    report: Report | None = None
    is_text = not (settings.check or settings.diff or settings.json)
    try:
        from specedit.connect import connect
        from specedit.edit.request import Request
        from specedit.edit.run import run_files
        from specedit.files.source import Source

        name = settings.stdin_filename or "stdin"
        if Path(name).name == "":
            raise UsageError(f"--stdin-filename {name!r} names no file.")
        unsure_too = not is_text or is_confirmed(settings)
        read = partial(Source.from_bytes, data=data)
        request = Request(command, planner, settings, confirms_unsure=not unsure_too, read=read)
        with (
            closing(connect(settings)) as backend,
            closing(Display(command, [name], settings, server=backend.server)) as display,
        ):
            report = run_files([name], request, backend, display)
            display.report(report, on_stdout=is_text)
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
    elif not (settings.json or settings.diff):
        sys.stdout.buffer.write(data if settings.check else out)
        sys.stdout.buffer.flush()
        copy_stdin()
    return code


def _about(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if seconds > 99 else f"{max(1, round(seconds))} s"


@dataclass
class Display(Sink):
    """Passes a run's events to the screen, and keeps the edits that are done. The screen is created
    when the backend reports something, after what is to be done `meanwhile`: a server reads the
    prompt while this process imports what displays and checks its answer (120 ms)."""

    command: str
    names: Sequence[str]
    settings: Settings
    asks: bool = False
    server: str | None = None  # that answers
    moves: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], object] = bool
    edits: list[Edit] = field(default_factory=list)  # of the files that are done
    _announced: bool = False
    _screen: Screen | None = None
    _early: list[EditEvent] = field(default_factory=list)  # events before there is a screen

    def close(self) -> None:
        if self._screen is not None:
            self._screen.close()

    def _open(self) -> Screen:
        """The screen, created at the first call."""
        if self._screen is None:
            from importlib import import_module

            from specedit.view.screen import Screen

            if self.server is not None:
                import_module("specedit.check.answer")
            self.meanwhile()
            self._screen = Screen(self.settings, self.names, asks=self.asks)
            while self._early:
                self._screen.emit(self._early.pop(0))
        return self._screen

    def emit(self, event: EditEvent) -> None:
        if isinstance(event, Asked):
            self._announce(event.job, event.question if isinstance(event, Locating) else None)
        if self._screen is None and isinstance(event, Begun | Asked):
            self._early.append(event)
            return
        self._open().emit(event)
        if isinstance(event, Finished):
            edit = event.edit
            self.edits.append(edit)
            if self.settings.diff and edit.changed:  # as soon as its file is done
                to = self.moves.get(edit.path)
                put_patch(edit.diff if to is None else moved_patch(edit.path, to, edit.diff))

    def ask(self, question: Question) -> Reply:
        screen = self._open()
        reply = screen.ask(question)
        self.skip_rest = screen.skip_rest
        return reply

    def _announce(self, job: Job, question: Plan | None = None) -> None:
        """Say before a long run how long it will likely take; at a terminal the user decides."""
        if self._announced or self.command not in ("edit", "refine"):
            return
        self._announced = question is None
        if len(self.names) == 1 and job.plan.draft and len(job.about.text) < SHORT:
            return
        from specedit.inference.estimate import run_seconds

        name = job.source.name
        others = [other for other in self.names if other != name]
        known = run_seconds(job, others, self.settings, question)
        if known is None or known[0] < LONG_S or (self.settings.quiet and not self.asks):
            return
        self._announced = True
        seconds, part = map(_about, known)
        subject = name if not others else f"{1 + len(others)} files"
        faster = "" if job.regions else f"; `--symbol NAME` takes about {part}"
        message = f"about {seconds} for {subject}{faster}."
        if self._screen is not None:
            self._screen.pause()
        if not self.asks:
            say(message)
        elif not confirmed(f"{message} Continue?"):
            raise UsageError("Cancelled; nothing was changed.")

    def report(
        self,
        report: Report,
        not_done: Sequence[str] = (),
        why: str = "",
        *,
        on_stdout: bool = False,
    ) -> None:
        """Show the report; `why` some files were `not_done`. `on_stdout`: the changed text was
        written to stdout."""
        if on_stdout:
            done = (replace(e, status="edited") if e.changed else e for e in report.edits)
            report = replace(report, edits=tuple(done))
        self._open().report(report, not_done, why)
