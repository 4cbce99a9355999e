"""One run as the user follows it: the wait, each change, the questions, the report, the trace.

Everything goes to stderr; answers come from stdin. While the model works, `Live` says what the user
waits for, and how far it is: nothing of that stays on the screen.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Self

from rich.console import Console
from rich.filesize import decimal
from rich.live import Live as LiveDisplay
from rich.text import Text

from specedit.decode import Tally
from specedit.edit.backend import Loading, Ready, Written
from specedit.edit.hunk_choice import HELP, Chosen, HunkQuestion, choose, choose_whole
from specedit.edit.report import Baseline, CommandRunning, Edit, Report, Tried, Trying
from specedit.edit.sink import Answered, Begun, EditEvent, Finished, Planned, Question, Reply, Sink
from specedit.engines.base import Prefill
from specedit.files.source import Source
from specedit.files.startup import undisturbed
from specedit.settings import Settings
from specedit.syntax.lines import hunks
from specedit.view import colours, diff_view, summary, terminal
from specedit.view import provenance as prov
from specedit.view.trace import TraceWriter

READING, DECODING, TESTING = "reading", "decoding", "testing"  # steps with words of their own
SILENT_WAIT_S = 0.4  # seconds before a wait is shown
BAR = 24  # cells
TURNS = 12  # steps of the spinner in a second


class _Phase:
    """One step that the user waits for."""

    def __init__(self, what: str, first: float = 0.0) -> None:
        self.what = what
        self.first = first  # `done` at its beginning, which the rate does not count
        self.since = time.monotonic()
        self.done = self.total = 0.0  # bytes; ids of a prompt

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.since


class Live(Sink):
    """The display of one run over files; it draws from a thread."""

    def __init__(self, console: Console, files: Sequence[str] = (), *, quiet: bool = False) -> None:
        self.console = console
        # rich takes FORCE_COLOR for a terminal.
        self.enabled = not quiet and console.is_terminal and console.file.isatty()
        self._files, self._finished = len(files), 0
        self._path = ""
        self._phase = _Phase("starting")
        self._drafted = Tally()
        self._tokens = 0
        self._passes = 0
        self._written = self._expected = 0  # characters: of the answer, of what it replaces
        self._testing: CommandRunning | None = None
        self._lock = threading.Lock()
        self._display: LiveDisplay | None = None
        self._entered = False
        self._spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" if colours.unicode(console) else "-\\|/"

    def __enter__(self) -> Self:
        self._entered = True
        self._start()
        return self

    def _start(self) -> None:
        """Show the display, again after a question or a report."""
        if self.enabled and self._entered and self._display is None:
            self._display = LiveDisplay(
                get_renderable=self._draw,
                console=self.console,
                refresh_per_second=8,
                transient=True,
                redirect_stdout=False,
                vertical_overflow="crop",
            )
            self._display.start()

    def __exit__(self, *_: object) -> None:
        self._entered = False
        self.stop()

    def stop(self) -> None:
        """Remove the display, for a question or for good."""
        if self._display:
            self._display.stop()
            self._display = None

    def emit(self, event: EditEvent) -> None:
        """Show what happens; a new step begins with most events."""
        if not self.enabled:
            return
        with self._lock:
            match event:
                case Begun():
                    self._path = event.name
                case Planned():
                    self._path, self._expected = event.job.source.name, len(event.job.before)
                    self._phase = _Phase("starting")
                case Loading():
                    self._advance(event.what, event.done, event.done, event.total)
                case Ready():  # maybe for the second time
                    self._phase = _Phase("reading the prompt")
                    self._drafted, self._tokens, self._passes, self._written = Tally(), 0, 0, 0
                case Prefill():
                    if event.total > event.reused:
                        self._advance(READING, event.reused, event.done, event.total)
                case Written():
                    self._write(event)
                case Answered():
                    self._phase = _Phase("checking")
                case CommandRunning():  # the output of the user's command; any other event ends it
                    if self._phase.what != TESTING:
                        self._phase = _Phase(TESTING)
                    self._testing = event
                case Trying() | Baseline() | Tried():
                    self._phase = _Phase("starting")
                case Finished():
                    self._finished += 1
                    self._phase = _Phase("starting")
        if isinstance(event, Planned | CommandRunning):
            self._start()

    def _advance(self, what: str, first: float, done: float, total: float) -> None:
        """The phase is as far as this; `first`: how far it was at its beginning."""
        if self._phase.what != what:
            self._phase = _Phase(what, first=first)
        self._phase.done, self._phase.total = done, total

    def _write(self, event: Written) -> None:
        chunk = event.chunk
        if self._phase.what != DECODING:
            self._phase = _Phase(DECODING)
            self._phase.since -= chunk.seconds
        self._tokens += len(chunk.tokens)
        self._passes += 1
        self._drafted += Tally(chunk.proposed, chunk.accepted)
        self._written += len(event.text)

    def _draw(self) -> Text:
        with self._lock:
            shown = self._phase.what in (READING, DECODING) or self._phase.seconds > SILENT_WAIT_S
            sign = self._spinner[int(time.monotonic() * TURNS) % len(self._spinner)]
            line = Text(f"{sign} " * shown, no_wrap=True, overflow="ellipsis")
            return line.append_text(Text("  ").join(self._words())) if shown else line

    def _words(self) -> Iterator[Text]:
        """The progress line, most important words first."""
        phase = self._phase
        if self._files > 1:
            yield Text(f"[{min(self._finished + 1, self._files)}/{self._files}]", "bold")
        if phase.what == DECODING:
            if self._path:
                yield Text(terminal.name(self._path), "bold")
            pace = self._tokens / max(phase.seconds, 1e-6)
            yield Text(f"{DECODING}, {colours.count(self._tokens, 'token')}")
            yield Text(f"{pace:.0f} tokens/s", "cyan")
            if self._drafted.proposed:
                yield Text(f"{self._drafted.accepted / self._tokens:.0%} copied", "green")
            yield Text(colours.count(self._passes, "pass", "passes"), "dim")
            if self._expected:
                yield bar(self._written / self._expected, self.console)
        elif phase.what == TESTING and self._testing is not None:
            number = self._testing.number
            what = f"try {number}: " if number else "before the edit: "
            yield Text.assemble(what, (terminal.name(self._testing.command), "bold"))
            yield Text(colours.seconds(phase.seconds), "dim")
            yield Text(terminal.name(self._testing.line))
        else:
            if self._path and phase.what == READING:
                yield Text(terminal.name(self._path), "bold")
            yield from _amount(phase, self.console)
            yield Text(colours.seconds(phase.seconds), "dim")


def _amount(phase: _Phase, console: Console) -> Iterator[Text]:
    """How far, how much longer and how fast, as far as it is known."""
    seconds = max(phase.seconds, 1e-6)
    rate = (phase.done - phase.first) / seconds if seconds > 0.2 else 0.0
    if phase.what == READING:
        ids = phase.total - phase.first
        about = f", about {max(1, round(ids / rate))} s" if rate > 0 else ""
        yield Text(f"{READING} {ids:,.0f} ids{about}")
        yield bar((phase.done - phase.first) / max(1, ids), console)
        return
    yield Text(phase.what)
    if phase.total:
        yield Text(f"{min(1.0, phase.done / phase.total):.0%}")
        if rate > 0 and phase.done < phase.total:
            yield Text(f"{colours.seconds((phase.total - phase.done) / rate)} left")
    if phase.done or phase.total:
        of = f" of {decimal(int(phase.total))}" if phase.total else ""
        yield Text(f"{decimal(int(phase.done))}{of}")
        if rate > 0:
            yield Text(f"{decimal(round(rate))}/s", "cyan")
    if phase.total:
        yield bar(phase.done / phase.total, console)


def bar(share: float, console: Console) -> Text:
    """A bar of BAR cells."""
    full, empty = ("━", "─") if colours.unicode(console) else ("#", ".")
    done = round(BAR * max(0.0, min(1.0, share)))
    return Text.assemble((full * done, "green"), (empty * (BAR - done), "bright_black"))


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
        self._names = names
        self._asks = asks
        self._console = colours.terminal()
        self._live = Live(self._console, names, quiet=settings.quiet)
        self._trace: TraceWriter | None = None
        self._written: list[Written] = []
        self._answered = False  # `--compare` runs the file again, without drafts
        self._explained: set[str] = set()  # origins of lines
        self._shown = False  # the change was shown with a question
        self._name = ""  # of the file at work

    def __enter__(self) -> Screen:
        if self._settings.trace:
            self._trace = TraceWriter(self._settings.trace, self._names)
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        if self._trace:
            self._trace.close()

    def pause(self) -> None:
        """Remove the display of progress until the next event."""
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
            self._live.stop()
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
        self._live.stop()
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
        self._live.stop()
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
        self._live.stop()
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
        self._live.stop()
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
