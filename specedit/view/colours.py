"""Colours and signs for the terminal and the page, the console, numbers as text, and lines of code:
coloured, harmless, and wrapped to a width.

Every difference that a colour makes is also made by a sign, for NO_COLOR.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from rich.console import Console
from rich.style import Style
from rich.text import Span, Text

from specedit.view import provenance as prov
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from rich.syntax import Syntax


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


@dataclass(frozen=True, slots=True)
class Tint:
    """Backgrounds of old and new lines, and of the words in them that changed."""

    old: Style
    new: Style
    old_word: Style
    new_word: Style
    code: str  # the name of the syntax theme


# The backgrounds of old and new lines, and of the words in them that changed
DARK = "#2d1618", "#10261a", "#7d2a30", "#1f6f3a"
LIGHT = "#ffebe9", "#e6ffec", "#ffc1bc", "#a6ebb5"
# Of 256 colours, the nearest to a dark green is black.
DARK_256 = "color(52)", "color(22)", "color(88)", "color(28)"
LIGHT_256 = "color(224)", "color(194)", "color(217)", "color(157)"


def terminal() -> Console:
    """The console for messages: stderr, without markup in texts."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def tint(console: Console) -> Tint:
    """Backgrounds if the terminal has enough shades; otherwise changed words are underlined."""
    if console.no_color or console.color_system in (None, "standard", "windows"):
        underlined = Style(underline=True, bold=True)
        return Tint(Style(), Style(), underlined, underlined, "ansi_dark")
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    light, many = background in ("7", "15"), console.color_system == "truecolor"
    if light:
        old, new, old_word, new_word = LIGHT if many else LIGHT_256
    else:
        old, new, old_word, new_word = DARK if many else DARK_256
    return Tint(
        Style(bgcolor=old),
        Style(bgcolor=new),
        Style(bgcolor=old_word, bold=True),
        Style(bgcolor=new_word, bold=True),
        "ansi_light" if light else "ansi_dark",
    )


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
MAX_COLOURED_CHARACTERS = 400_000  # characters of a text that are coloured


def code_lines(text: str, path: str, theme: str | None) -> list[Text]:
    """The lines of a text, coloured as a whole, because a string may span several."""
    text = harmless(text)
    syntax = _syntax(path, theme) if theme and len(text) <= MAX_COLOURED_CHARACTERS else None
    plain = text.split("\n")
    if syntax:
        coloured = syntax.highlight(text)
        coloured.spans = [Span(s.start, s.end, _ink(s.style)) for s in coloured.spans]
        coloured.style = ""
        results = list(coloured.split("\n", allow_blank=True))
        if [line.plain for line in results[: len(plain)]] == plain:
            return results[: len(plain)]
    return [Text(line, end="") for line in plain]


@lru_cache(maxsize=512)
def _ink(style: str | Style) -> Style:
    """Colour and slant only: backgrounds and underlines say what changed."""
    if isinstance(style, str):
        return Style.null()
    return Style(color=style.color, bold=style.bold, italic=style.italic, dim=style.dim)


@lru_cache(maxsize=8)
def _syntax(path: str, theme: str) -> Syntax | None:
    from pygments.lexers import (  # type: ignore[import-untyped]
        get_lexer_by_name,
        get_lexer_for_filename,
    )
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]
    from rich.syntax import Syntax

    from specedit.syntax.languages import language_of

    language = language_of(path)
    try:  # a search by file name compiles a thousand patterns first
        if language:
            lexer = get_lexer_by_name(language.lexer, stripnl=False, ensurenl=True)
        else:
            lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None
    return Syntax("", lexer, theme=theme, background_color="default")


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
