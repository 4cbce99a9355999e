"""The parts of a file that exact evidence points at: definitions that the instruction names, in any
language of the world, and the places of a text that it quotes.

A word counts as a name where it is written as only a name is: in backticks, as a call, with what
holds it, with an underscore, a digit or an inner capital, in capitals, as a type of the file, or
before a colon at the beginning. Any other word is no more than evidence. What the instruction says
about a name is not read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from specedit.edit.regions.blocks import TARGET, Block
from specedit.errors import NotDefined
from specedit.syntax.outline import CALLABLE, Symbol

TYPES = frozenset({"class", "interface", "enum", "type"})
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
    """The definitions that an instruction names outright, in the file's order: the functions that
    it says the change is in, else every definition that is written as a name. Where one is, plain
    words that are the name of another one count too, but not as functions where only values are
    written as names. Of several of one name those whose holder is named, where one is."""
    by_name: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.kind in CALLABLE or symbol.kind in TYPES or symbol.kind in VALUES:
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
        is_type = path.name[:1].isupper() and any(symbol.kind in TYPES for symbol in held)
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
    """An error where an instruction places a change in a definition that the file does not have:
    one that is written in backticks, as a call or with a class of the file, and that does not stand
    anywhere in the file."""
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
    file's order, without the comments above them; none where there is no such evidence. An error
    where it places the change in a definition that does not exist."""
    check_places(symbols, text, instruction)
    named = _without_holders(definitions_named(symbols, instruction))
    callables = [symbol for symbol in named if symbol.kind in CALLABLE or symbol.kind in TYPES]
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
    if holders and holders[-1].kind not in TYPES:
        return _target(holders[-1], why)
    lines = text.split("\n")
    first = last = line
    while first > max(1, line - MAX_LINES_AROUND) and lines[first - 2].strip():
        first -= 1
    while last < min(len(lines), line + MAX_LINES_AROUND) and lines[last].strip():
        last += 1
    return Block(first, last, "", TARGET, why=why)
