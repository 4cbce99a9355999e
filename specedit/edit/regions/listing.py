"""The outline of a file as the model reads it, and which blocks its answer names.

A line for each block: its name and how it begins. A name in the answer that is not in the outline
counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.edit.regions.blocks import Block
from specedit.syntax.lines import lines_of

WIDE = 80  # characters of a definition's line that are shown
MOST = 300  # lines of a listing; of a longer one those of the likeliest blocks
NAMED = 3  # places that an answer may name
_NOTE = ("#", "//", "*", "/*", "@", "[", '"""', "'''")


@dataclass(frozen=True)
class BlockListing:
    """The blocks that are listed, in the file's order, each under its name."""

    names: tuple[str, ...]
    beginnings: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        pairs = zip(self.names, self.beginnings, strict=True)
        return "".join(f"{name}: {beginning}\n" for name, beginning in pairs)

    def named(self, answer: str) -> list[Block]:
        """The blocks that an answer names, in its order, with or without what holds a member and
        outer underscores."""
        known: dict[str, Block] = {}
        for name, one in zip(self.names, self.blocks, strict=True):
            known.setdefault(name, one)
        for name, one in zip(self.names, self.blocks, strict=True):
            known.setdefault(_loosely(name), one)
        blocks: list[Block] = []
        for line in answer.splitlines():
            text = re.sub(r"^[\s\-*`\d.)]*(?=[^\s\-*`\d.)])", "", line)
            name = re.split(r":(?!:)|`|\(| - ", text)[0].strip()
            block = known.get(name) or known.get(_loosely(name))
            if block is not None and block not in blocks:
                blocks.append(block)
        return blocks[:NAMED]


def _loosely(name: str) -> str:
    """The last part of a name, in lower case and without outer underscores."""
    return re.split(r"\.|::", name)[-1].strip("_").lower()


def listing_of(
    text: str, blocks: Sequence[Block], only: frozenset[Block] | None = None
) -> BlockListing:
    """Each definition, and what stands outside of any. `only`: of these blocks."""
    lines = lines_of(text)
    names, beginnings, listed = [], [], []
    for one in blocks:
        beginning = title(one, lines)[1].strip()[:WIDE]
        if beginning and one.head and (only is None or one in only):
            names.append(one.name or f"{one.kind} {one.first}-{one.last}")
            beginnings.append(beginning)
            listed.append(one)
    return BlockListing(tuple(names), tuple(beginnings), tuple(listed))


def title(one: Block, lines: Sequence[str]) -> tuple[int, str]:
    """The line that tells what a block is, with its number: its definition's, else the first one
    that has any text."""
    name = re.escape(one.own_name)
    holds = re.compile(rf"(?<![\w$]){name}(?![\w$])" if name else r"\w")
    for number in range(one.first, one.last + 1):
        line = lines[number - 1].rstrip()
        if holds.search(line) and not line.lstrip().startswith(_NOTE):
            return number, line
    number = next((n for n in range(one.first, one.last + 1) if lines[n - 1].strip()), one.first)
    return number, lines[number - 1].rstrip()
