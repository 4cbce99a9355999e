"""A page of Markdown in a terminal.

What a terminal cannot show (pictures) is left out, and a link to another page becomes the command
that shows it. Where no person reads, the Markdown itself is the text.
"""

from __future__ import annotations

import re
import sys

WIDEST = 100  # columns: longer lines are hard to read
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_PAGE = re.compile(r"\[[^\]]*\]\((\w+)\.md\)")


def show(text: str) -> None:
    """Print a page on stdout: rendered for people, as it is for programs."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(markup=False, emoji=False, highlight=False)
    shown = _PAGE.sub(r"`specedit help \1`", _PICTURE.sub("", text))
    page = Markdown(shown, code_theme="ansi_dark", inline_code_theme=None, hyperlinks=False)
    console.print(page, width=min(console.width, WIDEST))
