"""The parts of a file that exact evidence points at: definitions that the instruction names, and
the places of a text that it quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from specedit.syntax.instruction_names import (
    TYPES,
    check_places,
    definitions_named,
    paths_in,
)
from specedit.syntax.outline import CALLABLE, Symbol

LONG_QUOTE = 5  # characters of a word that is quoted and says where
MAX_PLACES = 3  # more places of a text say nothing about where
MAX_LINES_AROUND = 8  # on each side of a text that no definition holds
_QUOTED = re.compile(
    r"""(?<!\w)"([^"\n]{3,120})"|(?<!\w)'([^'\n]{3,120})'(?!\w)|`([^`\n]*\s[^`\n]*)`"""
    r"""|“([^”\n]{3,120})”|«([^»\n]{3,120})»|„([^“”\n]{3,120})[“”]|「([^」\n]{2,120})」"""
)
NAMED = "named in the instruction"


@dataclass(frozen=True, slots=True)
class EditTarget:
    """Lines [first, last] that the edit may change, from 1, without the comments above them."""

    first: int
    last: int
    symbol: str
    why: str = NAMED


def targets_of(symbols: Sequence[Symbol], text: str, instruction: str) -> list[EditTarget]:
    """The definitions that an instruction names, else those that hold a text that it quotes, in the
    file's order; none where there is no such evidence. An error where it places the change in a
    definition that does not exist."""
    check_places(symbols, text, instruction)
    named = _without_holders(definitions_named(symbols, instruction))
    callables = [symbol for symbol in named if symbol.kind in CALLABLE or symbol.kind in TYPES]
    if callables:  # a value that is named with a function is what the function uses
        return [_target(symbol, NAMED) for symbol in callables]
    return (
        _holding_texts(symbols, text, _quoted_in(instruction))
        or [_target(symbol, NAMED) for symbol in named]
        or _holding_texts(symbols, text, _code_in(instruction))
    )


def _target(symbol: Symbol, why: str) -> EditTarget:
    return EditTarget(symbol.first_line, symbol.last_line, symbol.qualified, why)


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


def _holding_texts(
    symbols: Sequence[Symbol], text: str, patterns: Sequence[str]
) -> list[EditTarget]:
    """The smallest definitions that hold one of the texts, where it stands at few places."""
    targets: dict[str, EditTarget] = {}
    for pattern in patterns:
        places = list(islice(re.finditer(pattern, text), MAX_PLACES + 1))
        for place in places if len(places) <= MAX_PLACES else []:
            target = _holding(symbols, text, place)
            targets.setdefault(target.symbol or str(target.first), target)
    return sorted(targets.values(), key=lambda target: target.first)


def _holding(symbols: Sequence[Symbol], text: str, place: re.Match[str]) -> EditTarget:
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
    return EditTarget(first, last, "", why)
