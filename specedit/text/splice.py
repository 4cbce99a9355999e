"""A region of lines, taken out for an edit and put back with every other byte as it was.

Knows lines and symbols. Does not know models; `before` and `after` are context to show, never to
write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from specedit.errors import UsageError
from specedit.text import syntax
from specedit.text.languages import Language
from specedit.text.lines import lines_of

SEEN = 40  # symbols named in an error; more would be a wall


@dataclass(frozen=True)
class Region:
    """Lines `first` to `last` of a text, from 1, both included."""

    first: int
    last: int
    text: str  # what is edited, with its final newline if it has one
    before: str  # what stands above it
    after: str  # what stands below it

    def splice(self, text: str) -> str:
        """The whole text with the region replaced; its final newline stays as it was."""
        if self.text.endswith("\n"):
            text = text if text.endswith("\n") or not text else text + "\n"
        else:
            text = text.removesuffix("\n")
        return self.before + text + self.after

    def context(self, lines: int) -> tuple[str, str]:
        """At most so many lines above and below."""
        above, below = lines_of(self.before), lines_of(self.after)
        return "".join(above[max(0, len(above) - lines) :]), "".join(below[:lines])


def region(text: str, first: int, last: int) -> Region:
    """Lines `first` to `last`; an error when the text has no such lines."""
    lines = lines_of(text)
    if not 1 <= first <= last:
        raise UsageError(f"lines {first}:{last} are no range", hint="Write --lines FIRST:LAST.")
    if first > len(lines):
        raise UsageError(f"line {first} is past the end: the text has {len(lines)} lines")
    last = min(last, len(lines))
    return Region(
        first,
        last,
        "".join(lines[first - 1 : last]),
        "".join(lines[: first - 1]),
        "".join(lines[last:]),
    )


def symbol_region(text: str, language: Language | None, name: str) -> Region:
    """The lines of one function, method or class; `Class.member` where a name is not enough."""
    if language is None or not language.grammar:
        raise UsageError(
            f"no grammar finds the symbol {name!r} here", hint="Use --lines FIRST:LAST instead."
        )
    found = syntax.find_symbol(text, language, name)
    if not found:
        raise UsageError(f"no symbol {name!r} in the file", hint=known_symbols(text, language))
    if len(found) > 1:
        listed = ", ".join(f"{one.qualified} (line {one.first_line})" for one in found)
        raise UsageError(
            f"{name!r} names {len(found)} symbols: {listed}",
            hint="Say which: Class.member, or --lines FIRST:LAST.",
        )
    return region(text, found[0].first_line, found[0].last_line)


def known_symbols(text: str, language: Language | None) -> str:
    """What an error says when a symbol is missing or a file too long."""
    known = [one.qualified for one in syntax.symbols(text, language)]
    if not known:
        return "The file has no symbols; use --lines FIRST:LAST."
    more = f" and {len(known) - SEEN} more" if len(known) > SEEN else ""
    return f"Symbols in it: {', '.join(known[:SEEN])}{more}."


def mentioned_symbols(
    text: str, language: Language | None, instruction: str
) -> list[syntax.Symbol]:
    """The symbols an instruction names: for a file that is larger than the window."""
    words = set(re.findall(r"[^\W\d][\w.]*", instruction))
    return [
        one for one in syntax.symbols(text, language) if one.name in words or one.qualified in words
    ]
