"""Lines of code as rich Text: coloured, harmless, and wrapped to a width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from rich.style import Style
from rich.text import Span, Text

from specedit.view.terminal import harmless as harmless
from specedit.view.terminal import name as name

if TYPE_CHECKING:
    from rich.syntax import Syntax

TAB = 4
LONGEST = 2000  # characters of a line that are shown
MOST = 400_000  # characters of a text that are coloured


def lines(text: str, path: str, theme: str | None) -> list[Text]:
    """The lines of a text, coloured as a whole, because a string may span several."""
    text = harmless(text)
    syntax = _syntax(path, theme) if theme and len(text) <= MOST else None
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


@lru_cache(maxsize=4096)
def _one(text: str, path: str, theme: str | None) -> Text:
    return lines(text, path, theme)[0]


def line(text: str, path: str, theme: str | None) -> Text:
    """One line, coloured without its neighbours; cached, because it is shown again."""
    return _one(text, path, theme).copy()


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
    if len(text) > LONGEST:
        more = len(text) - LONGEST
        text = text[:LONGEST]
        text.append(f" …and {more:,} more characters", "dim")
    pieces = chop_cells(text.plain, max(2, width))
    yield from text.divide(accumulate(map(len, pieces[:-1])))
