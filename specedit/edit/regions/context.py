"""What a region is shown with: imports, the definitions around it and those it uses, its callers.

Lines of the file in their order, gaps marked. What all regions of a file share stands first, so
that the prefix cache serves them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from specedit.check import placeholders
from specedit.edit.regions.blocks import Block
from specedit.edit.regions.listing import title
from specedit.syntax.lines import lines_of

IMPORTS = 40  # lines of imports that are shown
NEAR = 6  # lines right above and below the region
USED = 16  # definitions that the region uses, their first lines
CALLS = 4  # lines that call what the region defines
ENCLOSING = 3  # definitions around each other that are shown
WIDE = 200  # characters of a line beyond which it is left out
GAP, HERE = f"{placeholders.GAP}\n", f"{placeholders.HERE}\n"
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "init", "__new__"})
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def context_of(
    text: str,
    blocks: Sequence[Block],
    region: Sequence[Block],
    more: Iterable[int] = (),
    here: str = HERE,
) -> str:
    """The lines that a region is shown with, its own place marked with `here`. `more`: further
    lines."""
    lines = lines_of(text)
    first, last = region[0].first, region[-1].last
    shown = {*_imports(blocks), *more}
    shown |= set(_enclosing(blocks, region, lines))
    shown |= set(_used(blocks, lines, first, last))
    shown |= set(_callers(lines, region))
    shown |= {*range(first - NEAR, first), *range(last + 1, last + NEAR + 1)}
    shown -= set(range(first, last + 1))
    numbers = sorted(n for n in shown if 1 <= n <= len(lines) and len(lines[n - 1]) <= WIDE)
    parts: list[str] = []
    following, marked = 1, False  # the line behind the last one that is shown
    for number in [*numbers, len(lines) + 1]:
        if not marked and number > last:
            if following < first:
                parts.append(GAP)
            parts.append(here)
            following, marked = last + 1, True
        if number > following:
            parts.append(GAP)
        if number <= len(lines):
            parts.append(lines[number - 1].removesuffix("\n") + "\n")
        following = number + 1
    return "".join(parts)


def shown_behind(blocks: Sequence[Block], sibling: Block) -> list[int]:
    """What new code behind a definition is shown with: that definition, and the first lines of its
    class with the constructor."""
    holder = sibling.name.rpartition(".")[0]
    own = [one for one in blocks if holder and one.name == holder]
    makers = [one for one in blocks if one.name in {f"{holder}.{each}" for each in CONSTRUCTORS}]
    numbers = [n for one in (*own, *makers) for n in range(one.first, one.last + 1)][:IMPORTS]
    return [*numbers, *range(max(sibling.first, sibling.last - IMPORTS), sibling.last + 1)]


def enclosing(text: str, blocks: Sequence[Block], region: Sequence[Block]) -> str:
    """Only the first lines of the definitions that a region stands in, the region marked."""
    lines, first = lines_of(text), region[0].first
    numbers = sorted(n for n in set(_enclosing(blocks, region, lines)) if n < first)
    return "".join(f"{lines[n - 1].rstrip()}\n{GAP}" for n in numbers[-ENCLOSING:]) + HERE


def _imports(blocks: Sequence[Block]) -> list[int]:
    numbers = [n for one in blocks if one.kind == "imports" for n in range(one.first, one.last + 1)]
    return numbers[:IMPORTS]


def _enclosing(blocks: Sequence[Block], region: Sequence[Block], lines: Sequence[str]) -> list[int]:
    """The first line of every definition that the region stands in."""
    names = {one.name for one in region}
    return [
        title(one, lines)[0]
        for one in blocks
        if one.head
        and one.name
        and any(n.startswith(f"{one.name}.") or n == one.name for n in names)
    ]


def _used(blocks: Sequence[Block], lines: Sequence[str], first: int, last: int) -> list[int]:
    """The first lines of definitions that the region names."""
    here = set(_NAME.findall("".join(lines[first - 1 : last])))
    others = [
        one
        for one in blocks
        if one.head and one.own_name in here and not first <= one.first <= last
    ]
    return [title(one, lines)[0] for one in others[:USED]]


def _callers(lines: Sequence[str], region: Sequence[Block]) -> list[int]:
    """Lines elsewhere that call what the region defines."""
    names = [one.own_name for one in region if one.head and one.name]
    calls = re.compile(r"(?<![\w$])(?:" + "|".join(map(re.escape, names)) + r")\s*\(")
    if not names:
        return []
    return [n for n, line in enumerate(lines, 1) if calls.search(line)][:CALLS]
