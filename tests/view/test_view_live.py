"""The display while a run works: nothing without a terminal, and removed at the end."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from command_line import Terminal
from events import feed
from rich.console import Console

from specedit.decode import Chunk
from specedit.edit.backend import Answer, Event, Loading, ModelInfo, Ready, Written
from specedit.edit.job import plan_edit
from specedit.edit.report import CommandRunning, Edit, Tried, Try
from specedit.edit.sink import Finished, Planned
from specedit.engines.base import Prefill
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.view.live import Live

BEFORE = "".join(f"line {n}\n" for n in range(30))
AFTER = BEFORE.replace("line 3\n", "LINE 3\n").replace("line 20\n", "a\nb\n")
CONTROL = re.compile(r"\r|\x1b\[[0-9;?]*[A-Za-z]")


def written(text: str) -> Written:
    return Written(Chunk((1, 2), 4, 1, "prediction", False, 0.01), (text[:1], text[1:]))


# The end of an empty answer of a named server: tokens of the prediction were rejected
NOTHING_ACCEPTED = Written(Chunk((), 4, 0, "prediction", False, 0.0), ())


def planned(name: str, text: str = BEFORE) -> Planned:
    source = Source.from_bytes(name, text.encode())
    return Planned(plan_edit(source, "Change it", Settings(whole=True)))


READY = Ready(ModelInfo("tiny"), 1.0)
EVENTS: list[Event] = [
    Loading("Fetching tiny", 0, 2_000_000),
    Loading("Fetching tiny", 1_000_000, 2_000_000),
    READY,
    Prefill(64, 128, 0, 0.1),
    Prefill(128, 128, 0, 0.2),
    *[written(line + "\n") for line in AFTER.splitlines()],
    Answer(AFTER, "stop", True, 128, 0, 60, 0.2, 0.3),
]


def terminal(width: int = 100, height: int = 24) -> Console:
    return Console(
        file=Terminal(),
        force_terminal=True,
        width=width,
        height=height,
        markup=False,
        highlight=False,
        color_system=None,
    )


def drawn(to: Console) -> str:
    return to.file.getvalue()  # type: ignore[attr-defined,no-any-return]


class Clock:
    """The time that the display reads; it passes only where a test lets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Screen:
    """A display at a terminal, and what it shows in the end."""

    def __init__(self, to: Console, display: Live) -> None:
        self._to, self._display = to, display
        self.emit = display.emit

    def rows(self) -> list[str]:
        """The rows that stand there now: the last that are drawn before all are removed."""
        self._display.stop()
        frames = re.split(r"(?:\r|\x1b\[2K|\x1b\[1A)+", drawn(self._to))
        shown = [CONTROL.sub("", frame) for frame in frames]
        return next((f.strip("\n").split("\n") for f in reversed(shown) if f.strip()), [""])

    @property
    def line(self) -> str:
        return self.rows()[-1]


@contextmanager
def display(*files: str, width: int = 100, height: int = 24) -> Iterator[Screen]:
    to = terminal(width, height)
    with Live(to, files) as live:
        yield Screen(to, live)


@pytest.mark.parametrize(
    ("to", "quiet"),
    [
        pytest.param(Console(file=io.StringIO()), False, id="a file"),
        pytest.param(Console(file=io.StringIO(), force_terminal=True), False, id="FORCE_COLOR"),
        pytest.param(terminal(), True, id="quiet"),
    ],
)
def test_nothing_is_drawn_without_a_terminal(to, quiet):
    with Live(to, quiet=quiet) as live:
        live.emit(planned("a.py"))
        feed(live, "a.py", *EVENTS)
    assert drawn(to) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize("colours", [True, False], ids=["colours", "NO_COLOR"])
def test_at_a_terminal_all_but_the_result_is_removed(script, tmp_path, colours):
    import pty

    lines = "".join(f"def get_{n}(user):\n    return user.username\n\n" for n in range(12))
    (tmp_path / "a.py").write_text(lines)
    (hold := tmp_path / "hold").touch()
    script(replace=[["username", "email"]], hold=str(hold), rated=True)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "specedit", "edit", "Say email", "a.py", "--whole"]
    environment = {**os.environ, "TERM": "xterm-256color"} | ({} if colours else {"NO_COLOR": "1"})
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    child = subprocess.Popen(command, cwd=tmp_path, env=environment, **streams)
    os.close(theirs)
    shown = b""
    while b"decoding, " not in shown:
        shown += os.read(ours, 1 << 16)
    hold.unlink()
    while piece := read(ours):
        shown += piece
    assert child.wait() == 0, shown.decode()
    text = shown.decode()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") >= 1, "the cursor is shown again"
    stays = text.rpartition("\x1b[?25h")[2]
    assert "decoding, " not in stays
    assert re.search(r"a\.py\S*: .*edited.*, 1 hunk, \+12 -12", stays)
    assert bool(re.search(r"\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]", text)) is colours


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux reports the closed other end so
        return b""


@pytest.mark.parametrize(
    ("first", "seconds", "then", "words"),
    [
        (EVENTS[0], 2, EVENTS[1], "Fetching tiny  50%  2.0 s left  1.0 MB of 2.0 MB  500.0 kB/s"),
        (
            Prefill(0, 128, 0, 0.1),
            1,
            Prefill(64, 128, 0, 0.1),
            "a.py  reading 128 ids, about 2 s  ━",
        ),
        (written("0\n"), 0.02, written("1\n"), "decoding, 4 tokens  133 tokens/s  50% copied"),
        (NOTHING_ACCEPTED, 1, NOTHING_ACCEPTED, "decoding, 0 tokens  0 tokens/s  0% copied"),
        (Loading("starting"), 0.1, Loading("starting"), ""),
        (Loading("starting"), 1, Loading("starting"), "starting  1.0 s"),
        (
            CommandRunning(1, "pytest -q", "collected 7 items"),
            1,
            CommandRunning(1, "pytest -q", "tests/test_a.py .....\x1b[31m"),
            "try 1: pytest -q  1.0 s  tests/test_a.py .....\u241b[31m",
        ),
        (CommandRunning(1, "true"), 1, Tried(Try(1), 6), ""),
    ],
    ids=[
        *("a download", "prefill", "decoding", "an empty answer"),
        "a short wait is not worth a word",
        *("a long wait", "a test's last line", "a test is over"),
    ],
)
def test_the_progress_line(first, seconds, then, words, clock):
    with display() as screen:
        screen.emit(planned("a.py"))
        screen.emit(first)
        clock.now += seconds
        screen.emit(then)
        shown = screen.line
    assert words in shown
    assert words or not shown.strip()


@pytest.mark.parametrize(
    ("width", "height"), [(10, 24), (20, 24), (40, 24), (60, 24), (200, 24), (100, 6), (100, 4)]
)
def test_any_terminal_holds_the_rows(width, height, clock):
    with display(width=width, height=height) as screen:
        screen.emit(planned("a/long/path/to/some/file.py"))
        for event in EVENTS[2:-1]:
            screen.emit(event)
        clock.now += 1
        rows = screen.rows()
    assert all(len(row) <= width for row in rows)
    assert len(rows) < height or width < 20  # there each row is folded


def test_over_files_the_line_says_which_of_them_is_at_work():
    for done in range(4):
        with display("a", "b", "c") as screen:
            for name in "abc"[:done]:
                screen.emit(Finished(Edit(name, "edited")))
            screen.emit(written("x\n"))
            assert f"[{min(done + 1, 3)}/3]" in screen.line
