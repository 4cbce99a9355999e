"""A file as blocks: consecutive parts that an edit may be about, together all of its lines.

A block is a definition's own lines with the comments above it; a long one is cut at blank lines.
Other lines are blocks of their own, and so is the comment that a file begins with: a model that
writes the imports anew easily drops a licence. The outline has a line for each, for the model to
read; a name in its answer that is not in the outline counts for nothing.

The targets are blocks that exact evidence points at: definitions that the instruction names, in any
language of the world, and the places of a text that it quotes. A word counts as a name where it is
written as only a name is (`NamedPath.is_code`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from specedit.errors import NotDefined
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


NAMED_TYPES = frozenset({"class", "interface", "enum", "type"})
VALUES = frozenset({"value", "property"})
_NAME = re.compile(
    r"(?<![\w$.])(?P<tick>`?)(?P<path>[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*)(?P<call>\(\)|(?=\())?"
)
_SEPARATOR = re.compile(r"\.|::|->|#")
_SPELLED_AS_CODE = re.compile(r"_|\d|[a-z$][A-Z]|[A-Z]{2,}[a-z]|\$")
# `In Cart.total, …`, `in the function f()`, `dans f`: where the change is.
_PLACE = re.compile(
    r"(?i)\b(?:in|inside|within|dans|en|im)\s+(?:(?:the|der|die|la)\s+)?"
    r"(?:(?:function|method|class|funktion|fonction|classe)\s+)?(?P<tick>`?)(?P<path>[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*)(?P<call>\(\))?"
)
# Between two names of which the second is a place, as the first is: `,`, `and`, `und`, `y`
_JOINING = re.compile(r"[`()\s]*(?:[,/&+]|\s[^\W\d]{1,3}\s)[`\s]*")
MAX_LISTED_NAMES = 8  # names that a message lists


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A name as an instruction writes it."""

    holders: tuple[str, ...]
    name: str
    is_marked: bool  # in backticks, or as a call
    leads: bool  # it stands at the beginning, before a colon
    at: int  # where it begins in the instruction
    text: str  # as it stands there

    @property
    def is_code(self) -> bool:
        """Whether it is spelled as only a name is."""
        return bool(
            self.is_marked
            or self.holders
            or self.leads
            or _SPELLED_AS_CODE.search(self.name)
            or (self.name.isupper() and len(self.name) > 2)
        )


def paths_in(instruction: str) -> Iterator[NamedPath]:
    """Every word of an instruction that may be a name."""
    for match in _NAME.finditer(instruction):
        *holders, name = _SEPARATOR.split(match["path"])
        follows = instruction[match.end() :].lstrip("`")
        leads = not instruction[: match.start()].strip() and follows[:1] in (":", "：")
        if holders and holders[-1] in ("this", "self"):
            holders = []
        marked = bool(match["tick"]) or match["call"] is not None
        yield NamedPath(tuple(holders), name, marked, leads, match.start("path"), match["path"])


def definitions_named(symbols: Sequence[Symbol], instruction: str) -> list[Symbol]:
    """The definitions that an instruction names, in the file's order: functions that it says the
    change is in, else all that are written as names, and then those that are plain words of it,
    but not functions beside values alone. Of several of one name those whose holder is named."""
    by_name: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.kind in CALLABLE or symbol.kind in NAMED_TYPES or symbol.kind in VALUES:
            by_name.setdefault(symbol.own_name, []).append(symbol)
    every = list(paths_in(instruction))
    words = {word for path in every for word in (*path.holders, path.name)}
    placed = _placed(every, by_name, instruction)
    chosen: dict[Symbol, bool] = {}  # whether the instruction says that the change is in it
    written: set[Symbol] = set()  # as names
    for path in every:
        if path.name not in by_name:
            continue
        held = by_name[path.name]
        is_type = path.name[:1].isupper() and any(symbol.kind in NAMED_TYPES for symbol in held)
        is_code = path.is_code or is_type or path.at in placed
        if path.holders:
            ending = f".{path.holders[-1]}.{path.name}"
            held = [symbol for symbol in held if f".{symbol.qualified}".endswith(ending)]
        elif len(held) > 1:
            told = [symbol for symbol in held if set(symbol.qualified.split(".")[:-1]) & words]
            bodies = [symbol for symbol in held if symbol.last_line > symbol.first_line]
            held = told or bodies or held
        for symbol in held:
            chosen[symbol] = chosen.get(symbol, False) or path.at in placed
        written.update(held if is_code else ())
    if not written:
        return []
    if all(symbol.kind in VALUES for symbol in written):
        chosen = {symbol: at for symbol, at in chosen.items() if symbol.kind in VALUES}
    places = [symbol for symbol, is_place in chosen.items() if is_place]
    functions = [symbol for symbol in places if symbol.kind in CALLABLE]
    inside = [
        symbol
        for symbol in chosen
        if any(symbol.qualified.startswith(f"{place.qualified}.") for place in places)
    ]
    meant = set(functions or inside or places or chosen)
    return [symbol for symbol in symbols if symbol in meant]


def _placed(paths: Sequence[NamedPath], names: Container[str], instruction: str) -> set[int]:
    """Where the names begin that an instruction says the change is in: `in a`, `in a and b`, `in a,
    b`; and, where it says so of one, the name that it begins with, before a colon."""
    said = {match.start("path") for match in _PLACE.finditer(instruction)}
    placed: set[int] = set()
    end = 0
    for path in paths:
        if path.name not in names:
            continue
        joined = end and _JOINING.fullmatch(instruction, end, path.at)
        if path.at in said or joined:
            placed.add(path.at)
            end = path.at + len(path.text)
        else:
            end = 0
    if placed:
        placed.update(path.at for path in paths if path.leads)
    return placed


def check_places(symbols: Sequence[Symbol], text: str, instruction: str) -> None:
    """An error where an instruction places a change in a definition, written in backticks, as a
    call or with a class of the file, that does not stand anywhere in the file."""
    known = {symbol.own_name: symbol.qualified for symbol in symbols}
    for match in _PLACE.finditer(instruction) if symbols else ():
        *holders, name = _SEPARATOR.split(match["path"])
        is_hard = match["tick"] or match["call"] or (holders and holders[-1] in known)
        if not is_hard or re.search(rf"(?i)(?<![\w$]){re.escape(name)}(?![\w$])", text):
            continue
        near = difflib.get_close_matches(name, known, 1, 0.6)
        names = ", ".join([*known.values()][:MAX_LISTED_NAMES]) + (
            ", …" if len(known) > MAX_LISTED_NAMES else ""
        )
        raise NotDefined(
            f"defines no {match['path']}; nothing was asked.",
            hint=f"The nearest name is {known[near[0]]}." if near else f"It defines: {names}.",
        )


LONG_QUOTE = 5  # characters of a word that is quoted and says where
MAX_PLACES = 3  # more places of a text say nothing about where
MAX_LINES_AROUND = 8  # on each side of a text that no definition holds
_QUOTED = re.compile(
    r"""(?<!\w)"([^"\n]{3,120})"|(?<!\w)'([^'\n]{3,120})'(?!\w)|`([^`\n]*\s[^`\n]*)`"""
    r"""|“([^”\n]{3,120})”|«([^»\n]{3,120})»|„([^“”\n]{3,120})[“”]|「([^」\n]{2,120})」"""
)
WHY_NAMED = "named in the instruction"


def targets_of(symbols: Sequence[Symbol], text: str, instruction: str) -> list[Block]:
    """The definitions that an instruction names, else those that hold a text that it quotes, in the
    file's order, without the comments above them. An error where one of them does not exist."""
    check_places(symbols, text, instruction)
    named = _without_holders(definitions_named(symbols, instruction))
    callables = [
        symbol for symbol in named if symbol.kind in CALLABLE or symbol.kind in NAMED_TYPES
    ]
    if callables:  # a value that is named with a function is what the function uses
        return [_target(symbol, WHY_NAMED) for symbol in callables]
    return (
        _holding_texts(symbols, text, _quoted_in(instruction))
        or [_target(symbol, WHY_NAMED) for symbol in named]
        or _holding_texts(symbols, text, _code_in(instruction))
    )


def _target(symbol: Symbol, why: str) -> Block:
    return Block(symbol.first_line, symbol.last_line, symbol.qualified, TARGET, why=why)


def _without_holders(named: Sequence[Symbol]) -> list[Symbol]:
    """Without the definitions of which a member is named: they only say where that is."""
    return [
        symbol
        for symbol in named
        if not any(other.qualified.startswith(f"{symbol.qualified}.") for other in named)
    ]


def _quoted_in(instruction: str) -> list[str]:
    """The texts that an instruction quotes, without short words."""
    quotes = (next(filter(None, match.groups())) for match in _QUOTED.finditer(instruction))
    return [re.escape(text) for text in quotes if len(text) >= LONG_QUOTE or " " in text]


def _code_in(instruction: str) -> list[str]:
    """Patterns of the names in an instruction that are spelled as code, with what holds them."""
    separator = r"(?:\.|::|->|#)"
    names = ((*path.holders[-1:], path.name) for path in paths_in(instruction) if path.is_code)
    return [rf"(?<![\w$]){separator.join(map(re.escape, name))}(?![\w$])" for name in names]


def _holding_texts(symbols: Sequence[Symbol], text: str, patterns: Sequence[str]) -> list[Block]:
    """The smallest definitions that hold one of the texts, where it stands at few places."""
    targets: dict[str, Block] = {}
    for pattern in patterns:
        places = list(islice(re.finditer(pattern, text), MAX_PLACES + 1))
        for place in places if len(places) <= MAX_PLACES else []:
            target = _holding(symbols, text, place)
            targets.setdefault(target.name or str(target.first), target)
    return sorted(targets.values(), key=lambda target: target.first)


def _holding(symbols: Sequence[Symbol], text: str, place: re.Match[str]) -> Block:
    """The smallest definition around a place, or the lines around it up to a blank one."""
    line = text.count("\n", 0, place.start()) + 1
    why = f"`{place[0][:40]}` is there"
    holders = [symbol for symbol in symbols if symbol.first_line <= line <= symbol.last_line]
    if holders and holders[-1].kind not in NAMED_TYPES:
        return _target(holders[-1], why)
    lines = text.split("\n")
    first = last = line
    while first > max(1, line - MAX_LINES_AROUND) and lines[first - 2].strip():
        first -= 1
    while last < min(len(lines), line + MAX_LINES_AROUND) and lines[last].strip():
        last += 1
    return Block(first, last, "", TARGET, why=why)
