"""Text of others made harmless, and what a terminal shows of a patch, a manual page and a table.

rich is imported when something is rendered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

# Characters that move the cursor, ring, change the reading order or are not seen are shown as
# symbols; joiners stay, which scripts and emoji are written with.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, 0x2028, 0x2029)
_UNSEEN = (0xAD, 0x180E, 0x200B, *range(0x2060, 0x2065), 0xFEFF, *range(0xE0000, 0xE0080))
_HARMLESS = {
    **dict(enumerate(range(0x2400, 0x2420))),
    **{0x09: 0x09, 0x0A: 0x0A},  # a tab and a line's end stay
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((*_BIDI, *_UNSEEN), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def harmless(text: str) -> str:
    """The same characters, those that a terminal would obey replaced one for one."""
    return text.translate(_HARMLESS)


def name(path: str) -> str:
    """A file's name on one line."""
    return harmless(path.replace("\n", "\u240a").replace("\t", "\u2409"))


def between_words(text: str, stream: TextIO, indent: int = 2) -> str:
    """The lines of a text, broken between words where the stream is a terminal, but not in a path,
    nor in a command in backticks. `indent`: of the lines after a break."""
    if not stream.isatty():
        return text
    from shutil import get_terminal_size
    from textwrap import TextWrapper

    lines = TextWrapper(
        get_terminal_size().columns,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    whole = re.sub("`[^`\n]*`", lambda command: command[0].replace(" ", "\0"), text)
    return "\n".join(map(lines.fill, whole.split("\n"))).replace("\0", " ")


def typed() -> str | None:
    """The line that the user types at a question; None at the end of the input. The message after
    an interrupt begins a line of its own."""
    try:
        return input()
    except (EOFError, KeyboardInterrupt) as end:
        print(file=sys.stderr)
        if isinstance(end, KeyboardInterrupt):
            raise
        return None


MAX_PAGE_COLUMNS = 100  # columns of a page: longer lines are hard to read
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((\w+)\.md\)")
_HEAD_STYLES = (("diff ", "bold"), ("--- ", "bold"), ("+++ ", "bold"))
_LINE_STYLES = (("@@", "cyan"), ("+", "green"), ("-", "red"), ("\\", "dim"))


def show_patch(patch: str) -> None:
    """Print a patch on a terminal, coloured as git colours it."""
    from rich.console import Console
    from rich.text import Text

    out = Console(markup=False, emoji=False, highlight=False)
    head = True
    for line in patch.removesuffix("\n").split("\n"):
        head = line.startswith("diff ") or (head and not line.startswith("@@"))
        rules = (*_HEAD_STYLES, *_LINE_STYLES) if head else _LINE_STYLES
        style = next((s for start, s in rules if line.startswith(start)), "")
        out.print(Text(harmless(line), style), soft_wrap=True)


def show_page(text: str) -> None:
    """Print a page of Markdown on stdout: rendered on a terminal, otherwise as it is. Pictures are
    left out, and a link to another page becomes the command that shows it."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(markup=False, emoji=False, highlight=False)
    shown = _LINK.sub(r"`specedit help \1`", _PICTURE.sub("", text))
    page = Markdown(shown, code_theme="ansi_dark", inline_code_theme=None, hyperlinks=False)
    console.print(page, width=min(console.width, MAX_PAGE_COLUMNS))


def show_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> None:
    """Print a table on stdout. Columns that are `whole` are not broken between words."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        justify: Any = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, no_wrap=heading in whole)
    for cells in rows:
        table.add_row(*map(Text, cells))  # Text: a file's content has no markup
    console.print(table)
