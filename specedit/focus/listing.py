"""The outline of a file as a model reads it, and which blocks its answer names.

A line a block: its name, then how it begins. The answer is names; one that is not in the list
counts for nothing. Knows blocks and texts; knows no prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.focus.blocks import Block
from specedit.text.lines import lines_of

WIDE = 80  # characters of a definition's line that are shown
MOST = 300  # lines of a listing; of a longer one those of the likeliest blocks
NAMED = 3  # places that an answer may name
_NOTE = ("#", "//", "*", "/*", "@", "[", '"""', "'''")


@dataclass(frozen=True)
class Contents:
    """The blocks that are listed, in the file's order, each under its name."""

    names: tuple[str, ...]
    begins: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        pairs = zip(self.names, self.begins, strict=True)
        return "".join(f"{name}: {begins}\n" for name, begins in pairs)

    def named(self, answer: str) -> list[Block]:
        """The blocks that an answer names, in its order; a class that it makes up before a
        member's name, and underscores that it leaves out, are looked past."""
        known: dict[str, Block] = {}
        for name, one in zip(self.names, self.blocks, strict=True):
            known.setdefault(name, one)
        for name, one in zip(self.names, self.blocks, strict=True):
            known.setdefault(_loosely(name), one)
        found: list[Block] = []
        for line in answer.splitlines():
            said = re.sub(r"^[\s\-*`\d.)]*(?=[^\s\-*`\d.)])", "", line)
            name = re.split(r":(?!:)|`|\(| - ", said)[0].strip()
            meant = known.get(name) or known.get(_loosely(name))
            if meant is not None and meant not in found:
                found.append(meant)
        return found[:NAMED]


def _loosely(name: str) -> str:
    """The last part of a name, as it is said aloud."""
    return re.split(r"\.|::", name)[-1].strip("_").lower()


def listing(text: str, found: Sequence[Block], kept: frozenset[Block] | None = None) -> Contents:
    """Each definition, and what stands outside of any. `kept`: only these."""
    lines = lines_of(text)
    names, begins, blocks = [], [], []
    for one in found:
        said = _begins(one, lines)
        if said and one.head and (kept is None or one in kept):
            names.append(name_of(one))
            begins.append(said)
            blocks.append(one)
    return Contents(tuple(names), tuple(begins), tuple(blocks))


def name_of(one: Block) -> str:
    """What a block is called: its definition's name, or its lines."""
    return one.name or f"{one.kind} {one.first}-{one.last}"


def _begins(one: Block, lines: Sequence[str]) -> str:
    """The line that says what a block is: its definition's, else the first that says anything."""
    return title(one, lines)[1].strip()[:WIDE]


def title(one: Block, lines: Sequence[str]) -> tuple[int, str]:
    """That line, and its number."""
    simple = one.name.rpartition(".")[2]
    holds = re.compile(rf"(?<![\w$]){re.escape(simple)}(?![\w$])") if simple else re.compile(r"\w")
    for number in range(one.first, one.last + 1):
        line = lines[number - 1].rstrip()
        if holds.search(line) and not line.lstrip().startswith(_NOTE):
            return number, line
    number = next((n for n in range(one.first, one.last + 1) if lines[n - 1].strip()), one.first)
    return number, lines[number - 1].rstrip()
