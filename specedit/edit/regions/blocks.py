"""A file as blocks: consecutive parts that an edit may be about, together all of its lines.

A block is a definition's own lines with the comments above it. A long one is cut at blank lines.
Lines outside of definitions are blocks of their own, and so is the comment that a file begins with:
a model that writes the imports anew easily drops a licence.

The outline is what the model reads when it is asked which blocks are meant: a line for each, with
its name and how it begins. A name in its answer that is not in the outline counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from specedit.syntax import trees as syntax
from specedit.syntax.languages import Language
from specedit.syntax.lines import lines_of
from specedit.syntax.outline import CALLABLE, Symbol

MAX_BLOCK_LINES = 90  # lines of a block that is cut,
PIECE_LINES = 45  # and of the pieces it is cut into
MIN_OWN_BLOCK_LINES = 4  # lines from which a property or a value is a block of its own
TYPES = frozenset({"class", "interface", "enum"})
TARGET = "target"  # the kind of lines that the instruction names
COMMENT = "comment"  # the kind of the comment that a file begins with
_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:include|define|if|endif))|//|/\*|\*|--|<!--|@\w|\[\w)")
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|using\s+[\w.=\s]+;|#\s*include\b|use\s|require\b|package\b"
    r"|(?:const|let|var)\s.*\brequire\()"
)
_HEAD = re.compile(  # from a file's beginning on: line comments, blocks of them, blank lines
    r"(?:[ \t]*(?:(?:#(?!\s*(?:include|define|pragma|if|ifdef|ifndef|endif)\b|!?\[)|//|--)[^\n]*"
    r"|/\*(?:(?!\*/).)*\*/[ \t]*|<!--(?:(?!-->).)*-->[ \t]*)?(?:\n|\Z))+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines [first, last] of a file, from 1. `name`: of the definition that holds them, or ""."""

    first: int
    last: int
    name: str = ""  # "Class.member"
    kind: str = "lines"  # of the definition; "imports", "comment", or "lines" outside of any
    head: bool = True  # it holds the definition's first line
    why: str = ""  # of lines that the instruction points at: how

    @property
    def lines(self) -> int:
        return self.last - self.first + 1

    @property
    def own_name(self) -> str:
        """The name without what holds the definition."""
        return self.name.rpartition(".")[2]


def blocks_of(text: str, language: Language | None) -> list[Block]:
    """The file's blocks in order: together they are all of its lines, and none overlaps another."""
    lines = lines_of(text)
    if not lines:
        return []
    symbols = [symbol for symbol in syntax.symbols(text, language) if _stands_alone(symbol)]
    owner: list[int] = [-1] * (len(lines) + 1)
    for number, symbol in enumerate(symbols):  # outer before inner
        last = min(symbol.last_line, len(lines))
        for line in range(_lead(symbol.first_line, lines, owner), last + 1):
            owner[line] = number
    head = _head(text, owner)
    blocks = [Block(a, b, "", COMMENT) for a, b in _pieces(1, head, lines)] if head else []
    first = head + 1
    for line in range(first + 1, len(lines) + 2):
        if line <= len(lines) and owner[line] == owner[first]:
            continue
        blank = not any(row.strip() for row in lines[first - 1 : line - 1])
        if blank and blocks:  # blank lines belong to the block above them
            blocks[-1] = replace(blocks[-1], last=line - 1)
        else:
            owning = symbols[owner[first]] if owner[first] >= 0 else None
            blocks += _blocks_of_owner(first, line - 1, owning, lines)
        first = line
    return blocks


def _head(text: str, owner: Sequence[int]) -> int:
    """The last line of the comment that the file begins with; 0 where nothing follows it."""
    matched = _HEAD.match(text)
    comment = matched.group() if matched else ""
    before_symbols = next((n for n in range(1, len(owner)) if owner[n] >= 0), len(owner)) - 1
    last = min(comment.count("\n"), before_symbols)
    has_text = any(line.strip() for line in comment.split("\n")[:last])
    return last if has_text and last < len(owner) - 1 else 0


def _stands_alone(symbol: Symbol) -> bool:
    if symbol.kind in CALLABLE or symbol.kind in TYPES:
        return True
    return symbol.last_line - symbol.first_line + 1 >= MIN_OWN_BLOCK_LINES


def _lead(first: int, lines: Sequence[str], owner: Sequence[int]) -> int:
    """Where a definition begins, the comments right above it included."""
    outer = owner[first]
    while first > 1 and owner[first - 1] == outer and _COMMENT.match(lines[first - 2]):
        first -= 1
    return first


def _blocks_of_owner(
    first: int, last: int, symbol: Symbol | None, lines: Sequence[str]
) -> Iterator[Block]:
    """Consecutive lines of one owner as one block, or as pieces where they are many."""
    name, kind = (symbol.qualified, symbol.kind) if symbol else ("", "lines")
    for start, end in _pieces(first, last, lines):
        head = symbol is None or start <= symbol.first_line <= end
        imports = symbol is None and any(_IMPORT.match(line) for line in lines[start - 1 : end])
        yield Block(start, end, name, "imports" if imports else kind, head)


def _pieces(first: int, last: int, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    while last - first + 1 > MAX_BLOCK_LINES:
        cut = _cut(
            first + PIECE_LINES // 2,
            min(first + PIECE_LINES + PIECE_LINES // 2, last - PIECE_LINES // 3),
            lines,
        )
        yield first, cut
        first = cut + 1
    yield first, last


def _cut(low: int, high: int, lines: Sequence[str]) -> int:
    """The line in [low, high] to cut after: a blank one, else above the shallowest indentation,
    else the middle."""

    def cost(line: int) -> tuple[int, int]:
        below = lines[line] if line < len(lines) else ""
        depth = len(below) - len(below.lstrip()) if below.strip() else 99
        blank = 0 if not lines[line - 1].strip() else 3
        return depth + blank, abs(line - (low + high) // 2)

    return min(range(low, high + 1), key=cost)


MAX_TITLE_CHARACTERS = 80  # characters of a definition's line that are shown
MOST_LISTED = 300  # lines of a listing; of a longer one those of the likeliest blocks
MAX_NAMED_BLOCKS = 3  # places that an answer may name
_NOTE = ("#", "//", "*", "/*", "@", "[", '"""', "'''")


@dataclass(frozen=True, slots=True)
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
        for name, block in zip(self.names, self.blocks, strict=True):
            known.setdefault(name, block)
        for name, block in zip(self.names, self.blocks, strict=True):
            known.setdefault(_loosely(name), block)
        blocks: list[Block] = []
        for line in answer.splitlines():
            text = re.sub(r"^[\s\-*`\d.)]*(?=[^\s\-*`\d.)])", "", line)
            name = re.split(r":(?!:)|`|\(| - ", text)[0].strip()
            named = known.get(name) or known.get(_loosely(name))
            if named is not None and named not in blocks:
                blocks.append(named)
        return blocks[:MAX_NAMED_BLOCKS]


def _loosely(name: str) -> str:
    """The last part of a name, in lower case and without outer underscores."""
    return re.split(r"\.|::", name)[-1].strip("_").lower()


def listing_of(
    text: str, blocks: Sequence[Block], only: frozenset[Block] | None = None
) -> BlockListing:
    """Each definition, and what stands outside of any. `only`: of these blocks."""
    lines = lines_of(text)
    names, beginnings, listed = [], [], []
    for block in blocks:
        beginning = title(block, lines)[1].strip()[:MAX_TITLE_CHARACTERS]
        if beginning and block.head and (only is None or block in only):
            names.append(block.name or f"{block.kind} {block.first}-{block.last}")
            beginnings.append(beginning)
            listed.append(block)
    return BlockListing(tuple(names), tuple(beginnings), tuple(listed))


def title(block: Block, lines: Sequence[str]) -> tuple[int, str]:
    """The line that tells what a block is, with its number: its definition's, else the first one
    that has any text."""
    name = re.escape(block.own_name)
    holds = re.compile(rf"(?<![\w$]){name}(?![\w$])" if name else r"\w")
    for number in range(block.first, block.last + 1):
        line = lines[number - 1].rstrip()
        if holds.search(line) and not line.lstrip().startswith(_NOTE):
            return number, line
    number = next(
        (n for n in range(block.first, block.last + 1) if lines[n - 1].strip()), block.first
    )
    return number, lines[number - 1].rstrip()
