"""Commands of `check-with`, as words: for which language each is, and where the file goes.

Runs nothing.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

FILE = "{file}"


@dataclass(frozen=True)
class Checker:
    """One command for the files of one language, or of any."""

    command: str
    language: str = ""


def parsed(text: str) -> list[Checker]:
    """`ruff check {file}`, or a command a line, each behind its language: `go: go vet {file}`."""
    found = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        named = re.match(r"([a-z]+): (.*)", line)
        found.append(Checker(named[2], named[1]) if named else Checker(line))
    for one in found:
        try:
            words = shlex.split(one.command)
        except ValueError as problem:
            raise ValueError(f"{one.command!r} is no command: {problem}") from None
        if not any(FILE in word for word in words[1:]):
            raise ValueError(f"{one.command!r} has no {FILE} where the file's name goes")
    return found
