"""While the model works: what is being waited for, and the change as it grows.

Silent unless the console is a terminal. Everything it draws is taken away again at the end: what
stays is printed by `specedit.view.diff_view` and `summary`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live as Screen
from rich.spinner import Spinner
from rich.text import Text

from specedit.edit.backend import Answer, Event, Loading, Ready, Written
from specedit.edit.report import Tally
from specedit.edit.tries.items import Judging, TryItem
from specedit.engines.base import Prefill
from specedit.view import code, colours
from specedit.view.growing import Growing
from specedit.view.progress import Progress, sizes

PATIENCE = 0.4  # seconds before a wait is worth a word
BAR = 24  # cells


@dataclass
class _Phase:
    """One thing that is waited for."""

    what: str
    done: float = 0.0
    total: float = 0.0
    unit: str = ""
    first: float = 0.0  # `done` when it began: what a resumed download had is not its rate
    since: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.since


class Live:
    """The display of one run over files, named or counted. Feed it events; it draws from a
    thread."""

    def __init__(
        self,
        console: Console,
        files: int | Sequence[str] = 1,
        *,
        quiet: bool = False,
        compares: bool = False,
        margin: bool = True,
    ) -> None:
        self._compares = compares  # an answer that comes again is the same one, without drafts
        self._margin = margin
        self.console = console
        self.enabled = not quiet and console.is_terminal and _is_terminal(console)
        names = [str(number) for number in range(files)] if isinstance(files, int) else files
        self._progress = Progress(sizes(names) if self.enabled else dict.fromkeys(names, 0))
        self._path = ""
        self._phase = _Phase("starting")
        self._drafted = Tally()
        self._tokens = 0
        self._passes = 0
        self._answered = False  # what comes now is the same answer again, for comparison
        self._growing: Growing | None = None
        self._tested: Judging | None = None
        self._lock = threading.Lock()
        self._screen: Screen | None = None
        self._entered = False
        self._spinner = Spinner("dots" if colours.unicode(console) else "line")

    def __enter__(self) -> Live:
        self._entered = True
        self._start()
        return self

    def _start(self) -> None:
        """Show the display; a question or a report has taken it away."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered = False
        self.stop()

    def stop(self) -> None:
        """Take the display away, for a question or for good."""
        if self._screen:
            self._screen.stop()
            self._screen = None

    def begin(self, path: str, before: str = "") -> None:
        """The next file, and the text that the answer will replace."""
        self._start()
        with self._lock:
            self._path = path
            self._phase = _Phase("starting")
            self._answered = False
            self._growing = Growing(self.console, path, before, self._margin) if before else None

    def waiting(self, what: str) -> None:
        """Something else takes its time: "checking", "reading"."""
        with self._lock:
            self._phase = _Phase(what)

    def tries(self, item: TryItem) -> None:
        """What the user's command says while it runs; anything else ends that."""
        with self._lock:
            if isinstance(item, Judging):
                if self._phase.what != "testing":
                    self._phase = _Phase("testing")
                self._tested = item
            else:
                self._phase = _Phase("starting")
        if isinstance(item, Judging):
            self._start()

    def event(self, path: str, event: Event) -> None:
        with self._lock:
            if path != self._path:
                self._path, self._growing = path, None
            if isinstance(event, Loading):
                if self._phase.what != event.what:
                    self._phase = _Phase(event.what, first=event.done)
                self._phase.done, self._phase.total = event.done, event.total
                self._phase.unit = event.unit
            elif isinstance(event, Ready):
                self._phase = _Phase("reading the prompt")
                if self._answered and not self._compares:  # another question about the same file
                    self._answered = False
                self._progress.begin()
                self._drafted, self._tokens, self._passes = Tally(), 0, 0
                if self._growing and not self._answered:  # whatever came before is void
                    self._growing = self._growing.anew()
            elif isinstance(event, Prefill):
                if self._phase.what != "prefill":
                    self._phase = _Phase("prefill", first=event.reused)
                self._phase.done, self._phase.total = event.done, event.total
                self._phase.unit = "tokens"
            elif isinstance(event, Written):
                self._write(event)
            elif isinstance(event, Answer):
                self._phase = _Phase("checking")
                self._answered = True

    def finish(self, path: str) -> None:
        """This file is done, whatever became of it."""
        with self._lock:
            self._progress.finish(path)
            self._growing = None
            self._phase = _Phase("starting")

    def _write(self, event: Written) -> None:
        chunk = event.chunk
        if self._phase.what != "decoding":
            self._phase = _Phase("decoding")
            self._phase.since -= chunk.seconds
        self._tokens += len(chunk.tokens)
        self._progress.decoded(len(chunk.tokens), chunk.seconds)
        self._passes += 1
        self._drafted += Tally(chunk.proposed, chunk.accepted)
        if self._growing and not self._answered:
            self._growing.add(event)

    def _draw(self) -> RenderableType:
        with self._lock:
            parts: list[RenderableType] = []
            if self._growing:
                room = self.console.height - 4
                parts += self._growing.rows(room)
            if self._phase.seconds > PATIENCE or self._phase.what in ("prefill", "decoding"):
                parts.append(_Line(self._spinner, list(self._words())))
                if self._progress.files > 1:
                    parts.append(_Line(self._spinner, list(self._over_files())))
            return Group(*parts)

    def _over_files(self) -> Iterator[Text]:
        """The bar over all files: how far, how much longer, how fast."""
        progress, share = self._progress, 0.0
        if self._growing and self._growing.share is not None:
            share = self._growing.share
        yield bar(progress.share(share, self._path), self.console)
        yield Text(f"{progress.finished} of {progress.files} files", "bold")
        left = progress.left(share, self._path)
        if left is not None:
            yield Text(f"{colours.seconds(left)} left")
        if progress.pace:
            yield Text(f"{progress.pace:.0f} tokens/s over all", "cyan")

    def _words(self) -> Iterator[Text]:
        """The progress line, most important words first."""
        phase = self._phase
        files = self._progress.files
        if files > 1:
            yield Text(f"[{min(self._progress.finished + 1, files)}/{files}]", "bold")
        if phase.what == "decoding":
            if self._path:
                yield Text(code.name(self._path), "bold")
            pace = self._tokens / max(phase.seconds, 1e-6)
            what = "decoding again without drafts" if self._answered else "decoding"
            yield Text(f"{what}, {colours.count(self._tokens, 'token')}")
            yield Text(f"{pace:.0f} tokens/s", "cyan")
            if self._drafted.proposed:
                yield Text(f"{self._drafted.rate:.0%} accepted", "green")
            yield Text(colours.count(self._passes, "pass", "passes"), "dim")
            if self._growing and self._growing.share is not None and not self._answered:
                yield bar(self._growing.share, self.console)
        elif phase.what == "testing" and self._tested is not None:
            number = self._tested.number
            what = f"try {number}: " if number else "before the edit: "
            yield Text.assemble(what, (code.name(self._tested.command), "bold"))
            yield Text(colours.seconds(phase.seconds), "dim")
            yield Text(code.name(self._tested.line))
        else:
            if self._path and phase.what == "prefill":
                yield Text(code.name(self._path), "bold")
            yield Text(phase.what)
            yield from _amount(phase, self.console)
            yield Text(colours.seconds(phase.seconds), "dim")


def _amount(phase: _Phase, console: Console) -> Iterator[Text]:
    """How far, how fast and how much longer, as far as anybody knows."""
    seconds = max(phase.seconds, 1e-6)
    rate = (phase.done - phase.first) / seconds if seconds > 0.2 else 0.0
    if phase.total:
        yield Text(f"{min(1.0, phase.done / phase.total):.0%}")
    if phase.total and rate > 0 and phase.done < phase.total:
        yield Text(f"{colours.seconds((phase.total - phase.done) / rate)} left")
    if phase.unit == "bytes":
        of = f" of {_bytes(phase.total)}" if phase.total else ""
        yield Text(f"{_bytes(phase.done)}{of}")
        if rate > 0:
            yield Text(f"{_bytes(rate)}/s", "cyan")
    elif phase.unit:
        yield Text(f"{phase.done:,.0f} of {phase.total:,.0f} {phase.unit}")
        if rate > 0:
            yield Text(f"{rate:,.0f} {phase.unit}/s", "cyan")
    if phase.total:
        yield bar(phase.done / phase.total, console)


def bar(share: float, console: Console, width: int = BAR) -> Text:
    """A bar of `width` cells."""
    full, empty = ("━", "─") if colours.unicode(console) else ("#", ".")
    done = round(width * max(0.0, min(1.0, share)))
    return Text.assemble((full * done, "green"), (empty * (width - done), "bright_black"))


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.2f} GB"


@dataclass
class _Line:
    """A spinner and as many of the words as one line holds; a word left out is no loss."""

    spinner: Spinner
    words: list[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        frame = self.spinner.render(time.monotonic())
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append_text(frame if isinstance(frame, Text) else Text("*"))
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


def _is_terminal(console: Console) -> bool:
    """The file itself, whatever FORCE_COLOR makes rich believe."""
    try:
        return console.file.isatty()
    except (AttributeError, ValueError):
        return False
