"""While the model works: what the user waits for, how far it is, and the change so far.

Silent unless the console is a terminal. Everything it draws is removed at the end: what stays is
printed by `specedit.view.diff_view` and `summary`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.filesize import decimal
from rich.live import Live as Screen
from rich.text import Text

from specedit.decode import Tally
from specedit.edit.backend import Loading, Ready, Written
from specedit.edit.job import Job
from specedit.edit.report import Baseline, CommandRunning, Tried, Trying
from specedit.edit.sink import Answered, Begun, EditEvent, Finished, Planned, Sink
from specedit.engines.base import Prefill
from specedit.syntax.lines import Hunk, hunks, opcodes
from specedit.view import colours, diff_view, terminal
from specedit.view import provenance as prov

# Characters beyond which comparing again and again would slow the model
MAX_COMPARED_CHARACTERS = 200_000
MAX_LINES_LEFT_OUT = 200  # lines that an answer may have left out


class ChangeSoFar:
    """Collects an answer and renders the last hunks of its change, rarely where that is slow."""

    def __init__(
        self, console: Console, path: str, before: str, numbers: Sequence[int] = ()
    ) -> None:
        self._numbers = numbers  # the line of the file of each line of `before`; none: the same
        self._console = console
        self._path = path
        self._before = before
        self._written: list[Written] = []
        self._length = 0
        self._rendered: list[Text] = []
        self._of: tuple[int, int] = (0, 0)  # events and height that were rendered
        self._next = 0.0

    def restart(self) -> None:
        """The answer starts over."""
        self._written, self._length = [], 0
        self._rendered, self._next = [], 0.0

    def add(self, event: Written) -> None:
        self._written.append(event)
        self._length += len(event.text)

    @property
    def share(self) -> float:
        """The share of the answer that is written, if it gets as long as the old text."""
        return min(1.0, self._length / len(self._before))

    def rows(self, height: int) -> list[Text]:
        """The last `height` rows of the change so far."""
        state = (len(self._written), height)
        started = time.monotonic()
        if (
            state != self._of
            and started >= self._next
            and len(self._before) <= MAX_COMPARED_CHARACTERS
        ):
            self._of = state
            self._rendered = self._render(height)
            ended = time.monotonic()
            self._next = ended + max(0.1, 15 * (ended - started))
        return self._rendered

    def _render(self, height: int) -> list[Text]:
        provenance = prov.of(self._written)
        answer = provenance.text[: provenance.text.rfind("\n") + 1]
        changed = so_far(self._before, answer)
        if not changed or height < 2:
            return []
        texts = (self._before, answer)
        frame = diff_view.Frame(self._console, self._path, texts, provenance, whole=False)
        frame.digits = max(frame.digits, *(len(str(number)) for number in self._numbers[-1:]), 0)
        rows: list[Text] = []
        for hunk in reversed(changed):
            if self._numbers:
                first = min(hunk.before[0], len(self._numbers) - 1)
                frame.shift = self._numbers[first] - first - 1
            last = replace(hunk, lines=hunk.lines[-height:])  # more would be cut off again
            rows = [*diff_view.rows(last, frame), *rows]
            if len(rows) >= height:
                break
        explained = diff_view.legend(self._console, frame.kinds(changed))
        return [explained, *rows[1 - height :]]


def so_far(before: str, answer: str) -> list[Hunk]:
    """The hunks of an unfinished answer (whole lines of it) against as much of the old text as it
    has reached, which is a guess."""
    new = answer.split("\n")[:-1]
    old = before.removesuffix("\n").split("\n")[: len(new) + MAX_LINES_LEFT_OUT] if before else []
    end = "\0"  # so that the answer's last lines are not matched with the file's last
    codes = opcodes(old, [*new, end])
    tag, a, _, c, d = codes[-1] if codes else ("equal", 0, 0, 0, 0)
    reached = a + (d - c - 1) if tag in ("replace", "insert") else a
    reached = min(len(old), max(reached, a))
    return hunks("".join(line + "\n" for line in old[:reached]), answer)


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

    def __init__(
        self,
        console: Console,
        files: Sequence[str] = (),
        *,
        quiet: bool = False,
        compares: bool = False,
    ) -> None:
        self._compares = compares  # a second answer is the same one, without drafts
        self.console = console
        # rich takes FORCE_COLOR for a terminal.
        self.enabled = not quiet and console.is_terminal and console.file.isatty()
        self._files, self._finished = len(files), 0
        self._path = ""
        self._phase = _Phase("starting")
        self._drafted = Tally()
        self._tokens = 0
        self._passes = 0
        self._answered = False  # the answer is complete; with `compares` it is decoded again
        self._change: ChangeSoFar | None = None
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
                    if event.name != self._path:
                        self._path, self._change = event.name, None
                case Planned():
                    self._begin(event.job)
                case Loading():
                    self._advance(event.what, event.done, event.done, event.total)
                case Ready():
                    self._restart()
                case Prefill():
                    if event.total > event.reused:
                        self._advance(READING, event.reused, event.done, event.total)
                case Written():
                    self._write(event)
                case Answered():
                    self._phase, self._answered = _Phase("checking"), True
                case CommandRunning():  # the output of the user's command; any other event ends it
                    if self._phase.what != TESTING:
                        self._phase = _Phase(TESTING)
                    self._testing = event
                case Trying() | Baseline() | Tried():
                    self._phase = _Phase("starting")
                case Finished():
                    self._finished += 1
                    self._change, self._phase = None, _Phase("starting")
        if isinstance(event, Planned | CommandRunning):
            self._start()

    def _begin(self, job: Job) -> None:
        """The text that the answer will replace, and where in the file each line of it is."""
        self._path, self._phase, self._answered = job.source.name, _Phase("starting"), False
        before = job.before
        self._change = (
            ChangeSoFar(self.console, self._path, before, job.numbers) if before else None
        )

    def _restart(self) -> None:
        """The model can answer, maybe for the second time."""
        self._phase = _Phase("reading the prompt")
        if self._answered and not self._compares:  # another question about the same file
            self._answered = False
        self._drafted, self._tokens, self._passes = Tally(), 0, 0
        if self._change and not self._answered:
            self._change.restart()

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
        if self._change and not self._answered:
            self._change.add(event)

    def _draw(self) -> RenderableType:
        with self._lock:
            parts: list[RenderableType] = []
            if self._change:
                parts += self._change.rows(self.console.height - 4)
            if self._phase.seconds > SILENT_WAIT_S or self._phase.what in (READING, DECODING):
                parts.append(_Line(self._spinner, list(self._words())))
            return Group(*parts)

    def _words(self) -> Iterator[Text]:
        """The progress line, most important words first."""
        phase = self._phase
        if self._files > 1:
            yield Text(f"[{min(self._finished + 1, self._files)}/{self._files}]", "bold")
        if phase.what == DECODING:
            if self._path:
                yield Text(terminal.name(self._path), "bold")
            pace = self._tokens / max(phase.seconds, 1e-6)
            what = "decoding again without drafts" if self._answered else DECODING
            yield Text(f"{what}, {colours.count(self._tokens, 'token')}")
            yield Text(f"{pace:.0f} tokens/s", "cyan")
            if self._drafted.proposed:
                yield Text(f"{self._drafted.accepted / self._tokens:.0%} copied", "green")
            yield Text(colours.count(self._passes, "pass", "passes"), "dim")
            if self._change and not self._answered:
                yield bar(self._change.share, self.console)
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


@dataclass
class _Line:
    """A spinner and as many of the words as one line holds."""

    spinner: str  # one character of it at a time
    words: list[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        frame = int(time.monotonic() * TURNS) % len(self.spinner)
        line = Text(self.spinner[frame], no_wrap=True, overflow="ellipsis")
        gap = " "
        for word in self.words:
            if line.cell_len + len(gap) + word.cell_len > options.max_width - 1:
                if line.cell_len < 4:
                    word.truncate(options.max_width - 4, overflow="ellipsis")
                else:
                    continue
            line.append(gap).append_text(word)
            gap = "  "
        yield line
