"""Definitions that an edit lost, and whether that was asked for.

Knows the definitions before and after, and the instruction's words. A definition that is gone is
accounted for in one of four ways: it goes on under another name, the instruction takes it away by
name, the instruction clears things of its kind away and nothing uses it any more, or it is imported
now. Whatever else is new in the text accounts for nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specedit.syntax.outline import Symbol
from specedit.text.names import words_of

ALIKE = 0.6  # of their words in common, and a definition goes on under another name
MEMBERS = 3  # members gone without a word; fewer is what many honest edits do

TAKES = re.compile(  # a word that takes something away, or makes another of it
    r"(?i)\b(?:remov|delet|drop(?!d)|strip|clean|prun|renam|replac|inlin|merg|mov(?:e|ing)|extract"
    r"|split|combin|fold(?!e)|conver|turn|instead|swap|switch|chang|eliminat|collaps|unif"
    r"|rid\b|longer\b)"
)
_KINDS = (
    r"code|functions?|methods?|class(?:es)?|definitions?|declarations?|helpers?|types?|symbols?"
    r"|tests?|constants?|variables?|interfaces?|structs?|enums?|macros?|members?|fields?"
    r"|propert(?:y|ies)|everything|stuff"
)
CLEARS = re.compile(  # "remove unused methods" names nothing and means several
    r"(?i)\b(?:remov|delet|drop|strip|clean|prun)\w*\b[^.;\n]*\b(?:unused|obsolete|dead|deprecated"
    r"|redundant|unnecessary|unreachable|all|every|duplicate\w*|legacy|old)\b[^.;\n]{0,40}?"
    rf"\b(?:{_KINDS})\b"
)
# "Remove x from Cart" takes nothing of Cart away but x.
_WITHIN = frozenset({"in", "inside", "within", "from", "for", "on", "at", "into", "to"})
_NOUNS = re.compile(rf"(?i)(?:{_KINDS}|def|func|fn|the)$")
# What an instruction tells one to do is a function's name too: it is meant where that is clear.
_VERBS = frozenset(
    re.findall(
        r"\w+",
        "add allow append apply build call change check clean clear close compute convert copy "
        "count create define delete disable drop enable ensure extract filter find fix format "
        "get handle ignore implement insert join load log make map merge move open parse print "
        "process raise read remove rename replace report reset return reverse run save search "
        "set show skip sort split start stop strip support swap test update use validate write",
    )
)


@dataclass(frozen=True)
class _Word:
    """One word of the instruction, and how it stands there."""

    text: str
    quoted: bool  # in quotes or backticks, or with a call's parentheses
    taken: int  # the last word before it, in its sentence, that takes something away; or -1


def lost(
    before: str, after: str, old: Sequence[Symbol], new: Sequence[Symbol], instruction: str
) -> list[str]:
    """The names of definitions that are gone and that nothing accounts for."""
    left = {symbol.name for symbol in new}
    gone = [symbol for symbol in old if symbol.name not in left]
    if not gone:
        return []
    said = list(_words(instruction))
    gone = [symbol for symbol in gone if not _taken(symbol.name, said)]
    if CLEARS.search(instruction):
        gone = [symbol for symbol in gone if symbol.depth == 0 and _stands(symbol.name, after)]
    gone = [symbol for symbol in gone if not _imported(symbol.name, after)]
    names = {symbol.name for symbol in old}
    come = [symbol for symbol in new if symbol.name not in names]
    gone = list(_ended(gone, come, before.split("\n"), after.split("\n"), said))
    if top := [symbol.name for symbol in gone if symbol.depth == 0]:
        return top
    members = [symbol.qualified for symbol in gone]
    return members if len(members) >= MEMBERS and len(old) - len(new) >= MEMBERS else []


def _ended(
    gone: Sequence[Symbol],
    come: list[Symbol],
    before: Sequence[str],
    after: Sequence[str],
    said: Sequence[_Word],
) -> Iterator[Symbol]:
    """Those that do not go on as one of the definitions that came. One comes for one."""
    for symbol in gone:
        words = _body(symbol, before)
        rated = [(_alike(words, _body(other, after)), -at) for at, other in enumerate(come)]
        best, at = max(rated, default=(0.0, 0))
        if best < ALIKE:
            named = [
                other
                for other in come
                if _same(other, symbol) and any(True for _ in _mentions(other.name, said))
            ]
            if not named:
                yield symbol
                continue
            at = -come.index(named[0])
        del come[-at]


def _same(one: Symbol, other: Symbol) -> bool:
    return (one.kind, one.depth) == (other.kind, other.depth)


def _body(symbol: Symbol, lines: Sequence[str]) -> Counter[str]:
    """The words of a definition, without its name."""
    text = "\n".join(lines[symbol.first_line - 1 : symbol.last_line])
    found = Counter(re.findall(r"\w+|[^\w\s]", text))
    del found[symbol.name]
    return found


def _alike(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _stands(name: str, text: str) -> bool:
    """Whether a text still uses a name."""
    own = re.escape(name.rpartition(".")[2])
    return re.search(rf"(?<![\w$]){own}(?![\w$])", text) is not None


def _imported(name: str, text: str) -> bool:
    own = re.escape(name.rpartition(".")[2])
    pattern = rf"(?m)^\W*(?:import|from|use|pub use)\b.*(?<![\w$]){own}(?![\w$])"
    return re.search(pattern, text) is not None


def _words(instruction: str) -> Iterator[_Word]:
    pattern = re.compile(r"([`'\"]?)([\w$]+(?:(?:\.|::)[\w$]+)*)(\(\))?|([.;\n])")
    at, taken = 0, -1
    for match in pattern.finditer(instruction):
        if match[4]:
            taken = -1
            continue
        yield _Word(match[2], bool(match[1] or match[3]), taken)
        if TAKES.match(match[2]):
            taken = at
        at += 1


def _mentions(name: str, said: Sequence[_Word]) -> Iterator[int]:
    """Where the words of a name stand, in any spelling: `user_name` is "the user name" too."""
    wanted = [word.lower() for word in words_of(name.rpartition(".")[2])]
    pieces = [(word.lower(), at) for at, one in enumerate(said) for word in words_of(one.text)]
    for first in range(len(pieces) - len(wanted) + 1) if wanted else ():
        if [word for word, _ in pieces[first : first + len(wanted)]] == wanted:
            yield pieces[first][1]


def _taken(name: str, said: Sequence[_Word]) -> bool:
    """Whether the instruction takes this definition away."""
    for at in _mentions(name, said):
        if said[at].taken < 0:
            continue
        before = at - 1
        while before > said[at].taken and _NOUNS.match(said[before].text):
            before -= 1
        if said[before].text.lower() in _WITHIN:
            continue
        if name.lower() not in _VERBS or said[at].quoted or before == said[at].taken:
            return True
    return False
