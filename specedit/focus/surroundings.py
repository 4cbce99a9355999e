"""What is shown around a region: imports, the definitions it stands in and uses, who calls it.

Lines of the file in their order, gaps marked; what all regions of a file share stands first, so
that a cache serves them all. Knows blocks and lines; knows no prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.focus.blocks import Block
from specedit.focus.listing import title
from specedit.text.lines import lines_of

IMPORTS = 40  # lines of imports that are shown
NEAR = 6  # lines right above and below the region
USED = 16  # definitions that the region uses, their first lines
CALLS = 4  # lines that call what the region defines
HOLDERS = 3  # definitions around each other that are shown
WIDE = 200  # characters of a line beyond which it is left out
GAP = "[other lines]\n"
HERE = "[the region to edit]\n"
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def surroundings(text: str, found: Sequence[Block], region: Sequence[Block]) -> str:
    """The lines that say what stands around a region, the region itself marked."""
    lines = lines_of(text)
    first, last = region[0].first, region[-1].last
    shown = set(_imports(found))
    shown |= set(_holders(found, region, lines))
    shown |= set(_used(found, lines, first, last))
    shown |= set(_callers(lines, region))
    shown |= {*range(first - NEAR, first), *range(last + 1, last + NEAR + 1)}
    shown -= set(range(first, last + 1))
    kept = sorted(n for n in shown if 1 <= n <= len(lines) and len(lines[n - 1]) <= WIDE)
    parts: list[str] = []
    at, marked = 1, False
    for number in [*kept, len(lines) + 1]:
        if not marked and number > last:
            if at < first:
                parts.append(GAP)
            parts.append(HERE)
            at, marked = last + 1, True
        if number > at:
            parts.append(GAP)
        if number <= len(lines):
            parts.append(lines[number - 1].removesuffix("\n") + "\n")
        at = number + 1
    return "".join(parts)


def holders(text: str, found: Sequence[Block], region: Sequence[Block]) -> str:
    """Only the first lines of the definitions that a region stands in, the region marked."""
    lines, first = lines_of(text), region[0].first
    numbers = sorted(n for n in set(_holders(found, region, lines)) if n < first)
    return "".join(f"{lines[n - 1].rstrip()}\n{GAP}" for n in numbers[-HOLDERS:]) + HERE


def _imports(found: Sequence[Block]) -> list[int]:
    numbers = [n for one in found if one.kind == "imports" for n in range(one.first, one.last + 1)]
    return numbers[:IMPORTS]


def _holders(found: Sequence[Block], region: Sequence[Block], lines: Sequence[str]) -> list[int]:
    """The first line of every definition that the region stands in."""
    names = {one.name for one in region}
    return [
        title(one, lines)[0]
        for one in found
        if one.head
        and one.name
        and any(n.startswith(f"{one.name}.") or n == one.name for n in names)
    ]


def _used(found: Sequence[Block], lines: Sequence[str], first: int, last: int) -> list[int]:
    """The first lines of definitions that the region names."""
    here = set(_NAME.findall("".join(lines[first - 1 : last])))
    others = [
        one
        for one in found
        if one.head and one.name.rpartition(".")[2] in here and not first <= one.first <= last
    ]
    return [title(one, lines)[0] for one in others[:USED]]


def _callers(lines: Sequence[str], region: Sequence[Block]) -> list[int]:
    """Lines elsewhere that call what the region defines."""
    names = [one.name.rpartition(".")[2] for one in region if one.head and one.name]
    calls = re.compile(r"(?<![\w$])(?:" + "|".join(map(re.escape, names)) + r")\s*\(")
    if not names:
        return []
    return [n for n, line in enumerate(lines, 1) if calls.search(line)][:CALLS]
