"""One run as the user follows it: the wait, each change, the questions, the report, the trace.

Everything goes to stderr; answers come from stdin.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from specedit.edit.backend import Answer, Event, Loading, Ready, Written
from specedit.edit.hunk_choice import HELP, Chosen, Question, choose
from specedit.edit.hunk_choice import shown as hunk_text
from specedit.edit.job import Planned
from specedit.edit.report import Edit, Report, Trying, TryItem
from specedit.errors import UsageError
from specedit.files.source import Source
from specedit.files.startup import undisturbed
from specedit.settings import Settings
from specedit.syntax.diff import Hunk, hunks
from specedit.view import colours, diff_view, summary, terminal, tries
from specedit.view import provenance as prov
from specedit.view.live import Live
from specedit.view.trace import TraceWriter


class Screen:
    """What `edit` and `rename` show. It is fed every item of a run, in order."""

    def __init__(self, settings: Settings, names: Sequence[str]) -> None:
        self._settings = settings
        self._names = names
        self._console = colours.terminal()
        self._live = Live(
            self._console,
            names,
            quiet=settings.quiet,
            compares=settings.compare,
            margin=settings.margin,
        )
        self._trace: TraceWriter | None = None
        self._written: list[Written] = []
        self._answered = False
        self._kinds: set[str] = set()
        self._asked = False
        self._path = ""
        self._steps: dict[str, float] = {}  # seconds of each step of loading
        self._step = ("", 0.0)

    def __enter__(self) -> Screen:
        if self._settings.trace:
            self._trace = TraceWriter(self._settings.trace, self._names)
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        if self._trace:
            self._trace.close()

    def planned(self, name: str, planned: Planned) -> None:
        """What the answer will replace."""
        if self._trace:
            self._trace.planned(name, planned.job.plan)
        self._begin(name, planned.job.before, planned.job.numbers)

    def pause(self) -> None:
        """Remove the display of progress until the next event."""
        self._live.stop()

    def event(self, name: str, event: Event) -> None:
        if name != self._path:
            self._begin(name, "")
        self._live.event(name, event)
        self._time(event)
        if self._answered:  # `--compare` runs the file again, without drafts
            return
        if self._trace:
            self._trace.event(name, event)
        if isinstance(event, Ready):  # again: the run started over
            self._written.clear()
        if isinstance(event, Written):
            self._written.append(event)
        self._answered = isinstance(event, Answer)

    def tries(self, name: str, item: TryItem) -> None:
        """A line for each try, as soon as it has its verdict."""
        self._live.tries(item)
        if self._trace and isinstance(item, Trying):
            self._trace.trying(item)
        text = tries.lasting(item, self._settings.test)
        if text is not None and not self._settings.quiet:
            self._live.stop()
            self._print(text)

    def _time(self, event: Event) -> None:
        """How long each step of loading takes."""
        what, since = self._step
        now = time.monotonic()
        if isinstance(event, Loading) and event.what == what:
            return
        if what:
            self._steps[what] = self._steps.get(what, 0.0) + now - since
        self._step = (event.what, now) if isinstance(event, Loading) else ("", now)

    def ask(self, source: Source, edit: Edit) -> Chosen:
        """The part of a change that the user chooses."""
        self._live.stop()
        after = Source.from_bytes(source.name, edit.after).text
        texts = source.text, after
        frame = diff_view.Frame(self._console, edit.path, texts, self._provenance())
        self._print(diff_view.title(edit.path, hunks(*texts)))

        def answer(question: Question) -> str:
            if question.why:
                self._print(Text(question.why, "yellow"))
            self._print(Text(HELP)) if question.help else frame.print(question.hunk)
            self._console.print(Text(question.prompt, "bold"), end="")
            try:
                return input()
            except EOFError:
                self._console.print()
                return "q"

        self._asked = True
        chosen = choose(source.text, after, answer, edited_by_user)
        if not chosen.whole:
            self._print(Text(f"{chosen.applied} of {colours.count(chosen.of, 'hunk')} applied"))
        return chosen

    def edit(self, name: str, edit: Edit) -> None:
        """This file is done: show its change, unless it was shown already."""
        self._live.finish(name)
        self._live.stop()
        settings = self._settings
        patch_on_screen = settings.diff and sys.stdout.isatty()
        if edit.changed and not (settings.quiet or self._asked or patch_on_screen):
            with undisturbed():  # Ctrl-C leaves no title without its change
                self._kinds |= diff_view.show(self._console, edit, self._provenance())
        self._asked = False
        self._written = []

    def _provenance(self) -> prov.Provenance | None:
        return prov.of(self._written) if self._settings.margin else None

    def report(self, report: Report, not_done: Sequence[str] = (), why: str = "") -> None:
        """The end of the output. `why` some files were `not_done`."""
        self._live.stop()
        settings = self._settings
        if self._kinds and not settings.quiet:
            self._print(diff_view.legend(self._console, self._kinds))
        if not_done:
            names = ", ".join(terminal.name(n) for n in not_done[: summary.NAMED])
            if len(not_done) > summary.NAMED:
                names += f" and {len(not_done) - summary.NAMED} more"
            self._print(Text(f"{why}; nothing half-written. Not done: {names}", "red"))
        verbose, quiet = settings.verbose, settings.quiet
        check = self._settings.check
        summary.show(self._console, report, verbose=verbose, quiet=quiet, check=check)
        if not quiet and (prepared := summary.prepared(self._steps)):
            self._print(prepared)
        if self._trace and self._trace.begun and not quiet:
            words = f"trace: {settings.trace}   (specedit view makes it a page)"
            self._print(Text(terminal.name(words), "dim"))

    def _begin(self, name: str, before: str, numbers: Sequence[int] = ()) -> None:
        self._path, self._written, self._answered = name, [], False
        self._live.begin(name, before, numbers)

    def _print(self, text: Text) -> None:
        colours.say(self._console, text)


def edited_by_user(hunk: Hunk) -> str:
    """The hunk's text after the user edited it in `VISUAL`, `EDITOR` or else `vi`."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    editor = editor or ("notepad" if sys.platform == "win32" else "vi")
    with tempfile.TemporaryDirectory(prefix="specedit-") as folder:
        path = Path(folder, "hunk.diff")
        path.write_text(hunk_text(hunk), "utf-8", newline="\n")
        try:
            words = shlex.split(editor, posix=sys.platform != "win32")
            done = subprocess.run([*words, str(path)], check=False)
        except OSError as error:
            raise UsageError(
                f"The editor {editor!r} cannot be started: {error.strerror or error}",
                hint="EDITOR names another one. Nothing of this file was written.",
            ) from error
        if done.returncode:
            raise UsageError(
                f"The editor {editor!r} ended with exit code {done.returncode}.",
                hint="Nothing of this file was written.",
            )
        return path.read_text("utf-8", "replace")
