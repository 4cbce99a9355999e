"""Colours and signs for the terminal and the page, the console, and numbers as text.

Every difference that a colour makes is also made by a sign, for NO_COLOR.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rich.console import Console
from rich.style import Style
from rich.text import Text

from specedit.view import provenance as prov

WIDE = 140  # columns from which old and new stand side by side


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Tint:
    """Backgrounds of old and new lines, and of the words in them that changed."""

    old: Style
    new: Style
    old_word: Style
    new_word: Style
    code: str  # the name of the syntax theme


def _tint(lines: tuple[str, str], words: tuple[str, str], code: str) -> Tint:
    old, new = (Style(bgcolor=colour) for colour in lines)
    old_word, new_word = (Style(bgcolor=colour, bold=True) for colour in words)
    return Tint(old, new, old_word, new_word, code)


DARK = _tint(("#2d1618", "#10261a"), ("#7d2a30", "#1f6f3a"), "ansi_dark")
LIGHT = _tint(("#ffebe9", "#e6ffec"), ("#ffc1bc", "#a6ebb5"), "ansi_light")
# Of 256 colours, the nearest to a dark green is black.
DARK_256 = _tint(("color(52)", "color(22)"), ("color(88)", "color(28)"), "ansi_dark")
LIGHT_256 = _tint(("color(224)", "color(194)"), ("color(217)", "color(157)"), "ansi_light")
UNDERLINED = Style(underline=True, bold=True)
PLAIN = Tint(Style(), Style(), UNDERLINED, UNDERLINED, "ansi_dark")


def terminal() -> Console:
    """The console for messages: stderr, without markup in texts."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def tint(console: Console) -> Tint:
    """Backgrounds if the terminal has enough shades; otherwise changed words are underlined."""
    if console.no_color or console.color_system in (None, "standard", "windows"):
        return PLAIN
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    light, many = background in ("7", "15"), console.color_system == "truecolor"
    if light:
        return LIGHT if many else LIGHT_256
    return DARK if many else DARK_256


def say(console: Console, text: Text) -> None:
    """Print a message: broken between words on a terminal, whole elsewhere."""
    console.print(text, soft_wrap=not console.is_terminal)


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
