"""One run as the user follows it: the wait, each change, the questions, the report, the trace.

Everything goes to stderr; answers come from stdin.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from specedit.edit.backend import Ready, Written
from specedit.edit.hunk_choice import HELP, Chosen, HunkQuestion, choose, choose_whole
from specedit.edit.report import Baseline, Edit, Report, Tried
from specedit.edit.sink import Answered, Begun, EditEvent, Finished, Planned, Question, Reply, Sink
from specedit.engines.base import Prefill
from specedit.files.source import Source
from specedit.files.startup import undisturbed
from specedit.settings import Settings
from specedit.syntax.lines import hunks
from specedit.view import colours, diff_view, summary, terminal
from specedit.view import provenance as prov
from specedit.view.trace import TraceWriter

if TYPE_CHECKING:
    from specedit.view.live import Live

CONFIRM_HELP = """\
y  write it; `specedit undo` takes it back
n  write nothing; the answer is kept, and the message names its file
o  ask the model for another answer
h  choose among its hunks
q  as n, for the later files, too
"""


QUIT = "not looked at: you quit"


class Screen(Sink):
    """The screen of commands that run over files. `asks`: a user is there to answer."""

    def __init__(self, settings: Settings, names: Sequence[str], *, asks: bool) -> None:
        self._settings = settings
        self._asks = asks
        self._trace = TraceWriter(settings.trace, names) if settings.trace else None
        self._live: Live | None = None
        if sys.stderr.isatty():
            from specedit.view.live import Live

            self._live = Live(self._console, names, quiet=settings.quiet).__enter__()
        self._written: list[Written] = []
        self._answered = False  # `--compare` runs the file again, without drafts
        self._explained: set[str] = set()  # origins of lines
        self._shown = False  # the change was shown with a question
        self._name = ""  # of the file at work

    @cached_property
    def _console(self) -> Console:
        return colours.terminal()

    def close(self) -> None:
        self.pause()
        if self._trace:
            self._trace.close()

    def pause(self) -> None:
        """Remove the display of progress until the next event."""
        if self._live:
            self._live.stop()

    def emit(self, event: EditEvent) -> None:
        match event:
            case Begun() if event.name != self._name:
                self._name, self._written, self._answered = event.name, [], False
            case Planned():
                self._written, self._answered = [], False
            case Ready() if not self._answered:
                self._written = []  # where the run started over
            case Written() if not self._answered:
                self._written.append(event)
        if self._live:
            self._live.emit(event)
        again = self._answered and isinstance(event, Ready | Prefill | Written | Answered)
        if self._trace and not again:
            self._trace.emit(event)
        match event:
            case Answered():
                self._answered = True
            case Baseline():
                self._print_lasting(summary.before_the_edit(event, self._settings.test))
            case Tried():
                self._print_lasting(summary.line_of_try(event))
            case Finished():
                self._show(event.edit)

    def _print_lasting(self, text: Text) -> None:
        """A line that stays."""
        if not self._settings.quiet:
            self.pause()
            self._print(text)

    def ask(self, question: Question) -> Reply:
        if self._settings.ask:  # each hunk is asked about
            return self._choose_hunks(question)
        if self._asks and (question.unsure or question.unrated):
            return self._confirm(question)
        return Reply("no" if question.unsure else "yes")

    def _confirm(self, question: Question) -> Reply:
        """Show a change that is not known to be likely right, and ask whether it is written."""
        edit = question.edit
        self.pause()
        with undisturbed():
            diff_view.show(self._console, edit, prov.of(self._written), self._explained)
        self._shown = True
        chance = "unsure. " if question.unsure else "not rated: read it. "
        if edit.confidence is not None:
            chance = f"unsure: right in {edit.confidence:.0%} of such edits. "
        while True:
            answer = self._read(Text(f"{chance}Write it? [y/n/o/h/q/?] ", "bold yellow"), "n")
            if answer in ("y", "yes"):
                return Reply("yes")
            if answer == "h":
                reply = self._choose_hunks(question)
                return Reply("no") if reply.text == question.job.source.text else reply
            if answer == "q":
                self.skip_rest = QUIT
            if answer in ("n", "no", "q"):
                return Reply("no")
            if answer == "o":
                return Reply("another")
            self._print(Text(CONFIRM_HELP))

    def _choose_hunks(self, question: Question) -> Reply:
        chosen = self.choose(question.job.source, question.edit)
        if chosen.quit:
            self.skip_rest = QUIT
        return Reply("yes", chosen.text, chosen.applied)

    def choose(self, source: Source, edit: Edit) -> Chosen:
        """The part of a change that the user chooses."""
        self.pause()
        after = Source.from_bytes(source.name, edit.after, any_encoding=True).text
        texts = source.text, after
        frame = diff_view.Frame(self._console, edit.path, texts, prov.of(self._written))
        self._print(diff_view.title(edit.path, hunks(*texts)))
        frame.explain(hunks(*texts), self._explained)

        def answer(question: HunkQuestion) -> str:
            if question.why:
                self._print(Text(question.why, "yellow"))
            shown = hunks(*texts) if question.whole else (question.hunk,)
            for hunk in () if question.help or (question.whole and question.why) else shown:
                frame.print(hunk)
            if question.help:
                self._print(Text(HELP))
            return self._read(Text(question.prompt, "bold"), "q")

        self._shown = True
        if edit.changes:  # of a rename
            chosen = choose_whole(source.text, after, answer)
        else:
            chosen = choose(source.text, after, answer)
        if not chosen.whole:
            self._print(Text(f"{chosen.applied} of {colours.count(chosen.of, 'hunk')} applied"))
        return chosen

    def _read(self, prompt: Text, at_end: str) -> str:
        """The answer to a prompt; `at_end`: where the input ends."""
        self._console.print(prompt, end="")
        answer = terminal.typed()
        return at_end if answer is None else answer.strip().lower()

    def _show(self, edit: Edit) -> None:
        """Show the file's change, unless it was shown already."""
        self.pause()
        settings = self._settings
        patch_on_screen = settings.diff and sys.stdout.isatty()
        brief = bool(edit.changes) and not settings.verbose  # a rename: the report lists its files
        if edit.changed and not (settings.quiet or self._shown or patch_on_screen or brief):
            with undisturbed():  # Ctrl-C leaves no title without its change
                diff_view.show(self._console, edit, prov.of(self._written), self._explained)
        self._shown = False
        self._written = []

    def report(self, report: Report, not_done: Sequence[str] = (), why: str = "") -> None:
        """The end of the output. `why` some files were `not_done`."""
        self.pause()
        settings = self._settings
        if not_done:
            names = ", ".join(terminal.name(n) for n in not_done[: summary.MAX_NAMED_FILES])
            if len(not_done) > summary.MAX_NAMED_FILES:
                names += f" and {len(not_done) - summary.MAX_NAMED_FILES} more"
            self._print(Text(f"{why}; nothing half-written. Not done: {names}", "red"))
        verbose, quiet = settings.verbose, settings.quiet
        summary.show(self._console, report, verbose=verbose, quiet=quiet, check=settings.check)
        if self._trace and self._trace.begun and not quiet:
            words = f"trace: {settings.trace}   (specedit view makes it a page)"
            self._print(Text(terminal.name(words), "dim"))

    def _print(self, text: Text) -> None:
        colours.say(self._console, text)
