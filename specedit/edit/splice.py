"""The part of a file that an edit is for: named by lines or by a symbol, taken out, put back.

Everything outside the part stays as it is, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from specedit.errors import InputError, UsageError, listed
from specedit.syntax import trees
from specedit.syntax.lines import common, opcodes, places_of
from specedit.syntax.lines import lines_of as split_lines

if TYPE_CHECKING:
    from specedit.files.source import Source
    from specedit.syntax.outline import Symbol

MAX_LISTED_NAMES = 40  # definitions that an error lists


def whole(source: Source) -> slice:
    """All characters of a source's text."""
    return slice(0, len(source.text))


def region_of(
    source: Source, lines: tuple[int, int] | None = None, symbol: str | None = None
) -> slice:
    """The characters of whole lines that a flag names; the whole file without one."""
    if lines and symbol is not None:
        raise UsageError("--lines and --symbol both name the part to edit; use one.")
    if symbol is not None:  # an empty one, as of a variable that is not set, opens nothing
        lines = _symbol_lines(source, symbol)
    if not lines:
        return whole(source)
    starts = _line_starts(source.text)
    first, last = lines
    count = len(starts) - (1 if source.text.endswith("\n") else 0)
    if not 1 <= first <= last <= count:
        raise InputError(
            f"has lines 1:{count}; --lines {first}:{last} is not a part of it.", file=source.name
        )
    return slice(starts[first - 1], starts[last] if last < len(starts) else len(source.text))


@lru_cache(maxsize=2)  # a long file has thousands of regions
def _line_starts(text: str) -> tuple[int, ...]:
    """Where each line begins; one more where the text ends in a newline."""
    return (0, *map(re.Match.end, re.finditer("\n", text)))


def fitted(before: str, answer: str) -> str:
    """The answer as it stands for a part: as deep as the part, and with its final newlines, for
    models drop and add them freely."""
    newlines = before[len(before.rstrip("\n")) :]
    body = _indented(answer.rstrip("\n"), indentation(before))
    return body + newlines if body or not before.strip() else body


def dedented(text: str) -> str:
    """A part as the model is shown it: a small model often drops the first line of code that begins
    with white space. `fitted` puts the indentation back."""
    depth = len(indentation(text))
    lines = text.split("\n")
    return "\n".join(line[depth:] if line.strip() else line for line in lines)


def indentation(text: str) -> str:
    """The white space with which all lines of a text begin, blank ones not counted."""
    lines = filter(str.strip, text.split("\n"))
    margins = [line[: len(line) - len(line.lstrip())] for line in lines]
    if not margins:
        return ""
    first, last = min(margins), max(margins)  # in order: all begin with what these two share
    return first[: common(first, last)]


def _indented(text: str, wanted: str) -> str:
    own = indentation(text) if wanted else ""
    if own == wanted or not wanted.startswith(own):
        return text
    more = wanted[len(own) :]
    return "\n".join(more + line if line.strip() else line for line in text.split("\n"))


def joined(source: Source, parts: Sequence[tuple[slice, str]]) -> str:
    """The whole text with several parts replaced, none of which overlaps another."""
    pieces: list[str] = []
    at = 0
    for region, answer in sorted(parts, key=lambda part: part[0].start):
        pieces += [source.text[at : region.start], fitted(source.text[region], answer)]
        at = region.stop
    return "".join([*pieces, source.text[at:]])


def part_of_changed(before: str, region: slice, after: str) -> str:
    """The text of a region of `before` in `after`, where only regions were changed."""
    old, new = split_lines(before), split_lines(after)
    first = before.count("\n", 0, region.start)
    last = first + len(split_lines(before[region]))
    start, end = 0, len(new)
    for tag, a, b, c, d in opcodes(old, new):
        if a <= first < b or (a == first == b):
            start = c + (first - a if tag == "equal" else 0)
        if a < last <= b:
            end = c + last - a if tag == "equal" else d
    if last == len(old):
        end = len(new)  # with what was added after it
    return "".join(new[start : max(start, end)])


def symbol_names(source: Source) -> str:
    """The names for --symbol, in one line."""
    names = list(dict.fromkeys(s.qualified for s in trees.symbols(source.text, source.language)))
    return listed(names, MAX_LISTED_NAMES) or "nothing that tree-sitter can name"


def _symbol_lines(source: Source, name: str) -> tuple[int, int]:
    result = trees.find_symbol(source.text, source.language, name)
    if len(result) > 1:  # a field of the same name is seldom the one to edit
        result = [symbol for symbol in result if symbol.kind not in ("value", "property")] or result
    if len(result) == 1 or _is_one(result, source):
        return result[0].first_line, result[-1].last_line
    if result:
        places = ", ".join(f"{s.qualified} (line {s.first_line})" for s in result)
        raise InputError(
            f"defines {name} {len(result)} times: {places}.",
            file=source.name,
            hint="Name it as Class.member, or use --lines A:B.",
        )
    raise InputError(
        f"defines no {name}.", file=source.name, hint=f"It defines: {symbol_names(source)}"
    )


def _is_one(result: Sequence[Symbol], source: Source) -> bool:
    """Whether definitions are overloads, or a property's getter and setter: of one name, and with
    no other between them."""
    if len({symbol.qualified for symbol in result}) != 1:
        return False
    span = range(result[0].first_line, result[-1].last_line + 1)
    level = [
        symbol
        for symbol in trees.symbols(source.text, source.language)
        if symbol.first_line in span and symbol.depth == result[0].depth
    ]
    return level == list(result)


def lines_of(text: str, selected: str, near: int | None = None) -> tuple[int, int]:
    """The lines (from 1, both in) that hold `selected`; of several places, the one nearest to
    line `near`. A selection that ends with a newline does not hold the line after it."""
    from specedit.files.source import LINE_END

    wanted = LINE_END.sub("\n", selected)
    if not wanted.strip():
        raise UsageError(
            "The selection is empty.", hint="Select what to edit, or edit the whole file."
        )
    results = list(_places(text, wanted))
    if not results:
        raise InputError(
            "The selected text is not in the file.",
            hint="Save the file first, or quote the lines as it has them.",
        )
    if near is None and len(results) > 1:
        lines = ", ".join(str(first) for first, _ in results)
        raise InputError(
            f"The selected text is in the file {len(results)} times, on lines {lines}.",
            hint="Choose one with --near LINE.",
        )
    return min(results, key=lambda place: _away(place, near or place[0]))


def _away(place: tuple[int, int], line: int) -> tuple[int, bool]:
    """Lines between; of several places that hold the line, the one that begins there."""
    return max(place[0] - line, line - place[1], 0), place[0] != line


def _places(text: str, wanted: str) -> list[tuple[int, int]]:
    height = wanted.removesuffix("\n").count("\n")
    starts = (match.start() for match in re.finditer(f"(?={re.escape(wanted)})", text))
    return [(first, first + height) for first, _ in places_of(text, starts)]
