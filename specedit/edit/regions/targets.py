"""The parts of a file that exact evidence points at: definitions that the instruction names, and
the places of a text that it quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.syntax.instruction_names import TYPES, check_places, definitions_named
from specedit.syntax.outline import CALLABLE, Symbol

LONG_QUOTE = 5  # characters of a word that is quoted and says where
MAX_QUOTED_PLACES = 3  # more places of a quoted text say nothing about where
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
    return _by_quote(symbols, text, instruction) or [_target(symbol, NAMED) for symbol in named]


def _target(symbol: Symbol, why: str) -> EditTarget:
    return EditTarget(symbol.first_line, symbol.last_line, symbol.qualified, why)


def _without_holders(named: Sequence[Symbol]) -> list[Symbol]:
    """Without the definitions of which a member is named: they only say where that is."""
    return [
        symbol
        for symbol in named
        if not any(other.qualified.startswith(f"{symbol.qualified}.") for other in named)
    ]


def _by_quote(symbols: Sequence[Symbol], text: str, instruction: str) -> list[EditTarget]:
    """The smallest definitions that hold a text that the instruction quotes, or its lines where no
    definition does."""
    targets: dict[str, EditTarget] = {}
    for match in _QUOTED.finditer(instruction):
        quoted = next(filter(None, match.groups()))
        if len(quoted) < LONG_QUOTE and " " not in quoted:
            continue
        places = [place.start() for place in re.finditer(re.escape(quoted), text)]
        for at in places if len(places) <= MAX_QUOTED_PLACES else []:
            target = _holding(symbols, text.count("\n", 0, at) + 1, quoted)
            targets.setdefault(target.symbol or str(target.first), target)
    return sorted(targets.values(), key=lambda target: target.first)


def _holding(symbols: Sequence[Symbol], line: int, quoted: str) -> EditTarget:
    """The smallest definition around a line, or the lines of the quoted text alone."""
    why = f"`{quoted[:40]}` is there"
    holders = [symbol for symbol in symbols if symbol.first_line <= line <= symbol.last_line]
    if not holders or holders[-1].kind in TYPES:
        return EditTarget(line, line + quoted.count("\n"), "", why)
    return _target(holders[-1], why)
