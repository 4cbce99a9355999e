"""Which definitions of a file an instruction names, in any language of the world.

A word counts as a name where it is written as only a name is: in backticks, as a call, with what
holds it, with an underscore, a digit or an inner capital, in capitals, as a type of the file, or
before a colon at the beginning. Any other word is no more than evidence. What the instruction says
about a name is not read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specedit.errors import NotDefined
from specedit.syntax.outline import CALLABLE, Symbol

TYPES = frozenset({"class", "interface", "enum", "type"})
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
FEW = 8  # names that a message lists


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A name as an instruction writes it."""

    holders: tuple[str, ...]
    name: str
    is_marked: bool  # in backticks, or as a call
    leads: bool  # it stands at the beginning, before a colon
    at: int  # where it begins in the instruction

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
        yield NamedPath(tuple(holders), name, marked, leads, match.start("path"))


def definitions_named(symbols: Sequence[Symbol], instruction: str) -> list[Symbol]:
    """The definitions that an instruction names outright, in the file's order: the functions that
    it says the change is in, else every definition that is written as a name. Where one is, plain
    words that are the name of another one count too. Of several of one name those whose holder is
    named, where one is."""
    by_name: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.kind in CALLABLE or symbol.kind in TYPES or symbol.kind in ("value", "property"):
            by_name.setdefault(symbol.own_name, []).append(symbol)
    paths = [path for path in paths_in(instruction) if path.name in by_name]
    words = {word for path in paths_in(instruction) for word in (*path.holders, path.name)}
    placed = {match.start("path") for match in _PLACE.finditer(instruction)}
    chosen: dict[Symbol, bool] = {}  # whether the instruction says that the change is in it
    is_code = False
    for path in paths:
        held = by_name[path.name]
        is_type = path.name[:1].isupper() and any(symbol.kind in TYPES for symbol in held)
        is_code |= path.is_code or is_type or path.at in placed
        if path.holders:
            ending = f".{path.holders[-1]}.{path.name}"
            held = [symbol for symbol in held if f".{symbol.qualified}".endswith(ending)]
        elif len(held) > 1:
            told = [symbol for symbol in held if set(symbol.qualified.split(".")[:-1]) & words]
            bodies = [symbol for symbol in held if symbol.last_line > symbol.first_line]
            held = told or bodies or held
        for symbol in held:
            chosen[symbol] = chosen.get(symbol, False) or path.at in placed
    if not is_code:
        return []
    places = [symbol for symbol, is_place in chosen.items() if is_place]
    functions = [symbol for symbol in places if symbol.kind in CALLABLE]
    inside = [
        symbol
        for symbol in chosen
        if any(symbol.qualified.startswith(f"{place.qualified}.") for place in places)
    ]
    meant = set(functions or inside or places or chosen)
    return [symbol for symbol in symbols if symbol in meant]


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
        names = ", ".join([*known.values()][:FEW]) + (", …" if len(known) > FEW else "")
        raise NotDefined(
            f"defines no {match['path']}; nothing was asked.",
            hint=f"The nearest name is {known[near[0]]}." if near else f"It defines: {names}.",
        )
