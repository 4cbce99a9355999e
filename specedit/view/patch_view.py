"""A patch on a terminal: the same lines, coloured as git colours them.

Where a program reads stdout, nobody calls this.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from specedit.view import code

STYLES = (
    *(("diff ", "bold"), ("--- ", "bold"), ("+++ ", "bold")),
    *(("@@", "cyan"), ("+", "green"), ("-", "red"), ("\\", "dim")),
)


def for_people() -> bool:
    """Whether stdout is a terminal, where a person reads the patch."""
    return sys.stdout.isatty()


def show(patch: str) -> None:
    """Print a patch on stdout, for a person."""
    out = Console(markup=False, emoji=False, highlight=False)
    head = True
    for line in patch.removesuffix("\n").split("\n"):
        head = line.startswith("diff ") or (head and not line.startswith("@@"))
        rules = STYLES if head else STYLES[3:]
        style = next((s for start, s in rules if line.startswith(start)), "")
        out.print(Text(code.harmless(line), style), soft_wrap=True)
