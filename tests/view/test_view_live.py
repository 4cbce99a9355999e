"""The display while a run works: nothing without a terminal, and removed at the end."""

import io
import time

import pytest
from events import feed
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scripted_backend import Scripted

from specedit.decode import Chunk
from specedit.edit.backend import Answer, Event, Loading, ModelInfo, Ready, Written
from specedit.edit.job import plan_edit
from specedit.edit.regions.locate import locate
from specedit.edit.report import Judging, Tried, Try
from specedit.edit.sink import Sink
from specedit.engines.base import Prefill
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.diff import hunks
from specedit.view import live
from specedit.view.live import ChangeSoFar, so_far

BEFORE = "".join(f"line {n}\n" for n in range(30))
AFTER = BEFORE.replace("line 3\n", "LINE 3\n").replace("line 20\n", "a\nb\n")


def written(text: str) -> Written:
    return Written(Chunk((1, 2), 4, 1, "prediction", False, 0.01), (text[:1], text[1:]))


EVENTS: list[Event] = [
    Loading("Fetching tiny", 0, 2_000_000, "bytes"),
    Loading("Fetching tiny", 1_000_000, 2_000_000, "bytes"),
    Ready(ModelInfo("tiny"), 1.0),
    Prefill(64, 128, 0, 0.1),
    Prefill(128, 128, 0, 0.2),
    *[written(line + "\n") for line in AFTER.splitlines()],
    Answer(AFTER, "stop", True, 128, 0, 60, 0.2, 0.3),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(width: int = 100, height: int = 24, encoding: str = "utf-8") -> Console:
    return Console(
        file=Terminal(),
        force_terminal=True,
        width=width,
        height=height,
        markup=False,
        highlight=False,
        color_system=None,
    )


def line(display: live.Live) -> str:
    """The progress line as it would be drawn now."""
    with display.console.capture() as drawn:
        display.console.print(display._draw())
    return drawn.get().rstrip("\n").split("\n")[-1]


@pytest.mark.parametrize(
    "to",
    [
        pytest.param(Console(file=io.StringIO()), id="a file"),
        pytest.param(Console(file=io.StringIO(), force_terminal=True), id="a file, FORCE_COLOR"),
    ],
)
def test_nothing_is_drawn_without_a_terminal(to):
    with live.Live(to) as display:
        display.begin("a.py", BEFORE)
        feed(display, "a.py", *EVENTS)
    assert to.file.getvalue() == ""  # type: ignore[attr-defined]


def test_quiet_draws_nothing():
    to = terminal()
    with live.Live(to, quiet=True) as display:
        feed(display, "a.py", *EVENTS)
    assert to.file.getvalue() == ""  # type: ignore[attr-defined]


def test_all_is_removed_at_the_end():
    to = terminal()
    with live.Live(to) as display:
        display.begin("a.py", BEFORE)
        feed(display, "a.py", *EVENTS[:-1])
        display._screen.refresh()  # type: ignore[union-attr]
    drawn = to.file.getvalue()  # type: ignore[attr-defined]
    assert "LINE 3" in drawn
    assert drawn.endswith("\x1b[?25h") or "\x1b[?25h" in drawn[-200:]
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1


PART = """\
class Cart:
    def total(self):
        prices = self.items
        return sum(prices)

    def count(self):
        return len(self.items)


class Order:
    def ship(self):
        return True
"""


@pytest.mark.parametrize(
    ("instruction", "symbol", "answer", "line", "rows"),
    [
        (
            "Return 0",
            "Cart.total",
            "def total(self):\n    prices = self.items\n    return 0\n",
            4,
            ["-     return sum(prices)", "+     return 0"],
        ),
        (
            "Let `total` and `ship` return None",
            None,
            "    # (1 lines of the file are not shown here)\n"
            "    def total(self):\n        prices = self.items\n        return sum(prices)\n"
            "    # (6 lines of the file are not shown here)\n"
            "    def ship(self):\n        return None\n",
            12,
            ["-         return True", "+         return None"],
        ),
    ],
    ids=["a part", "regions"],
)
def test_the_change_so_far_of_a_part_has_the_file_s_lines_and_no_false_indentation(
    instruction, symbol, answer, line, rows
):
    source, settings = Source.from_bytes("a.py", PART.encode()), Settings(focus="1")
    job = plan_edit(source, instruction, settings, symbol=symbol)
    if symbol is None:
        job, _ = locate(job, Scripted(""), settings, Sink())
        assert len(job.regions) == 2
    growing = ChangeSoFar(terminal(), "a.py", job.before, job.numbers)
    for piece in answer.splitlines(keepends=True):
        growing.add(written(piece))
    caption, *drawn = (str(row) for row in growing.rows(20))
    assert f"line {line} " in caption
    drawn = [row.lstrip(" 0123456789●·").rstrip() for row in drawn]
    assert [row for row in drawn if row[:1] in ("+", "-")] == rows


def test_a_download_shows_bytes_rate_and_time_left():
    display = live.Live(terminal())
    feed(display, "a.py", EVENTS[0])
    display._phase.since -= 2
    feed(display, "a.py", EVENTS[1])
    text = line(display)
    assert "Fetching tiny  50%  2.0 s left  1.0 MB of 2.0 MB  500.0 kB/s" in text


def test_a_resumed_download_counts_only_what_it_fetched():
    display = live.Live(terminal())
    feed(display, "a.py", Loading("Fetching tiny", 800, 1000, "bytes"))
    display._phase.since -= 10
    feed(display, "a.py", Loading("Fetching tiny", 900, 1000, "bytes"))
    assert "10.0 s left" in line(display) and "10 bytes/s" in line(display)


def test_prefill_has_a_bar_and_decoding_its_pace():
    display = live.Live(terminal())
    display.begin("a.py", BEFORE)
    feed(display, "a.py", Prefill(64, 128, 0, 0.1))
    assert "prefill  50%" in line(display) and "━" in line(display)
    feed(display, "a.py", written("line 0\n"), written("line 1\n"))
    text = line(display)
    for words in ("a.py", "4 tokens", "tokens/s", "25% accepted", "2 passes"):
        assert words in text


def test_a_short_wait_is_not_worth_a_word():
    display = live.Live(terminal())
    assert line(display) == ""
    display._phase.since = time.monotonic() - 1
    assert "starting" in line(display)


def test_several_files_are_counted():
    display = live.Live(terminal(), files=["a.py", "b.py", "c.py"])
    display.finish("a.py")
    feed(display, "a.py", Prefill(1, 2, 0, 0.1))
    assert "[2/3]" in shown(display, display.console)


def test_a_run_that_starts_over_grows_anew():
    display = live.Live(terminal())
    display.begin("a.py", BEFORE)
    feed(display, "a.py", EVENTS[2], written("first try\n"), EVENTS[2], *EVENTS[5:9])
    assert display._change is not None
    rows = "\n".join(row.plain for row in display._change.rows(20))
    assert "LINE 3" in rows and "first try" not in rows


@pytest.mark.parametrize("width", [10, 20, 40, 60, 200])
def test_any_width_holds_the_line(width):
    display = live.Live(terminal(width))
    display.begin("a/long/path/to/some/file.py", BEFORE)
    for event in EVENTS[:-1]:
        feed(display, "a.py", event)
        rows = line(display).split("\n")
        assert all(len(row) <= width for row in rows)


@pytest.mark.parametrize("height", [3, 6, 24])
def test_the_growing_change_leaves_room_for_the_line(height):
    to = terminal(height=height)
    growing = ChangeSoFar(to, "a.py", BEFORE)
    for one in AFTER.splitlines():
        growing.add(written(one + "\n"))
    rows = growing.rows(height - 3)
    assert len(rows) <= max(0, height - 3)
    if height == 24:
        assert "+ b" in "\n".join(r.plain for r in rows)


def test_what_is_not_written_yet_is_not_shown_as_removed():
    for end in range(1, AFTER.count("\n")):
        answer = "".join(part + "\n" for part in AFTER.split("\n")[:end])
        shown = [one.text for h in so_far(BEFORE, answer) for one in h.lines if one.kind == "-"]
        assert set(shown) <= {"line 3", "line 20", "line 21"}


@given(
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12),
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12),
)
def test_the_added_lines_so_far_are_lines_of_the_answer(old, new):
    before, answer = ("".join(one + "\n" for one in side) for side in (old, new))
    result = so_far(before, answer)
    assert sum(h.added for h in result) <= len(new)
    assert sum(h.removed for h in result) <= len(old)
    if before == answer:
        assert result == hunks(before, answer) == []


def test_while_the_test_command_runs_its_last_line_is_shown():
    with live.Live(terminal()) as display:
        feed(display, "a.py", *EVENTS)
        display.judging(Judging(1, "pytest -q", "collected 7 items"))
        display.judging(Judging(1, "pytest -q", "tests/test_a.py .....\x1b[31m"))
        display._phase.since -= 1.0
        text = line(display)
        assert "try 1: pytest -q" in text and "tests/test_a.py ....." in text and "\x1b" not in text
        display.tried(Tried(Try(1), 6))
        assert "pytest" not in line(display)
        display.judging(Judging(0, "pytest -q"))
        display._phase.since -= 1.0
        assert "before the edit: pytest -q" in line(display)


def shown(display: live.Live, console: Console) -> str:
    console.begin_capture()
    console.print(display._draw())
    return console.end_capture()


def test_a_second_question_about_a_file_is_no_comparison():
    console = terminal()
    with live.Live(console, ["a.py"]) as display:
        display.begin("a.py", BEFORE)
        feed(display, "a.py", *EVENTS, *EVENTS[2:-1])
        assert "decoding, " in shown(display, console)
        assert "without drafts" not in shown(display, console)
    with live.Live(console, ["a.py"], compares=True) as display:
        display.begin("a.py", BEFORE)
        feed(display, "a.py", *EVENTS, *EVENTS[2:-1])
        assert "decoding again without drafts" in shown(display, console)


def test_over_several_files_each_bar_has_a_line_of_its_own():
    display = live.Live(terminal(160), ["a.py", "b.py"])
    display.begin("a.py", BEFORE)
    feed(display, "a.py", *EVENTS[:-1])
    lines = shown(display, display.console).splitlines()
    assert sum("of 2 files" in line for line in lines) == 1
    assert not any("of 2 files" in line and "decoding" in line for line in lines)
