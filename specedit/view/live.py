"""While the model works: what the user waits for, and how far it is.

Silent unless the console is a terminal. Everything it draws is removed at the end: what stays is
printed by `specedit.view.diff_view` and `summary`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Self

from rich.console import Console
from rich.filesize import decimal
from rich.live import Live as Screen
from rich.text import Text

from specedit.decode import Tally
from specedit.edit.backend import Loading, Ready, Written
from specedit.edit.report import Baseline, CommandRunning, Tried, Trying
from specedit.edit.sink import Answered, Begun, EditEvent, Finished, Planned, Sink
from specedit.engines.base import Prefill
from specedit.view import colours, terminal

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
        self._screen: Screen | None = None
        self._entered = False
        self._spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" if colours.unicode(console) else "-\\|/"

    def __enter__(self) -> Self:
        self._entered = True
        self._start()
        return self

    def _start(self) -> None:
        """Show the display, again after a question or a report."""
        if self.enabled and self._entered and self._screen is None:
            self._screen = Screen(
                get_renderable=self._draw,
                console=self.console,
                refresh_per_second=8,
                transient=True,
                redirect_stdout=False,
                vertical_overflow="crop",
            )
            self._screen.start()

    def __exit__(self, *_: object) -> None:
        self._entered = False
        self.stop()

    def stop(self) -> None:
        """Remove the display, for a question or for good."""
        if self._screen:
            self._screen.stop()
            self._screen = None

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
                yield Text(f"{self._drafted.accepted / max(1, self._tokens):.0%} copied", "green")
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
