"""Colours and signs for the terminal and the page, the console, numbers as text, and lines of code
that are wrapped to a width.

Every difference that a colour makes is also made by a sign, for NO_COLOR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import chop_cells
from rich.console import Console
from rich.text import Text

from specedit.view import provenance as prov


@dataclass(frozen=True, slots=True)
class Sign:
    """One kind of origin: its sign (and the sign for terminals without Unicode), its colours, and
    what it means."""

    sign: str
    ascii: str
    style: str  # rich
    page: str  # CSS, on white and on black
    meaning: str


LOOKS = {
    prov.COPIED: Sign("·", ".", "bright_black", "#8b949e", "copied from the prediction"),
    prov.FOUND: Sign("»", ">", "cyan", "#1b9aaa", "found again after a divergence"),
    prov.LOOKED: Sign("≈", "~", "magenta", "#a05bd6", "looked up"),
    prov.DRAFTED: Sign("◇", "d", "blue", "#3b7dd8", "drafted by a model"),
    prov.BRANCHED: Sign("◈", "c", "bright_blue", "#5a67d8", "among a model's candidates"),
    prov.GUESSED: Sign("△", "h", "green", "#2da44e", "guessed by heads"),
    prov.FREE: Sign("●", "*", "yellow", "#d98a00", "decoded freely"),
}


def terminal() -> Console:
    """The console for messages: stderr, without markup in texts."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def say(console: Console, text: Text) -> None:
    """Print a message: broken between words on a terminal, whole elsewhere, and where it has a
    path or a command so long that it would be broken: it is to be copied."""
    longest = max(map(len, re.findall(r"`[^`]*`|\S+", text.plain)), default=0)
    console.print(text, soft_wrap=longest > console.width // 2 or not console.is_terminal)


def unicode(console: Console) -> bool:
    return not console.options.ascii_only


def sign(kind: str, console: Console) -> str:
    look = LOOKS[kind]
    return look.sign if unicode(console) else look.ascii


def seconds(value: float) -> str:
    """A duration for reading."""
    if value >= 60:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest:02d} s"
    return f"{value:.1f} s" if value >= 0.095 else f"{value * 1000:.0f} ms"


def count(number: int, word: str, plural: str = "") -> str:
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


TAB = 4
MAX_LINE_CHARACTERS = 2000  # characters of a line that are shown


def folded(text: Text, width: int) -> Iterator[Text]:
    """The text in pieces of at most `width` cells; at least one."""
    text.expand_tabs(TAB)
    if text.cell_len <= width:
        yield text
        return
    if len(text) > MAX_LINE_CHARACTERS:
        more = len(text) - MAX_LINE_CHARACTERS
        text = text[:MAX_LINE_CHARACTERS]
        text.append(f" …and {more:,} more characters", "dim")
    pieces = chop_cells(text.plain, max(2, width))
    yield from text.divide(accumulate(map(len, pieces[:-1])))
