"""Enough places to cover what is likely, or all of the file, and why.

Knows chances and instructions. An unsure choice is the whole file: a place that is left out is
an edit that is not made, and a reader of the result could not see that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.focus.blocks import COMMENT, Block
from specedit.focus.chances import Likely, likely, spread
from specedit.focus.evidence import Evidence
from specedit.focus.weights import CLEAR, FEW, MORE, MOST, OUTRIGHT, SURE

UNCLEAR = "it is not clear which part of it is meant"
LONGEST = 20_000  # characters of a line beyond which lines say nothing about a file
_THINGS = (
    r"comments?|doc ?strings?|documentation|functions?|methods?|class(?:es)?|types?|strings?"
    r"|messages?|variables?|parameters?|arguments?|imports?|lines?|tests?|loops?|calls?"
    r"|uses?|usages?|occurrences?|references?|places?|code|headers?|tabs|quotes|spaces|white ?space"
)
_ALL = re.compile(
    rf"(?i)\b(?:all|every|each)\b(?:\s+(?:of|the|other|public|private|\w+))*?\s+(?:{_THINGS})\b"
    r"|\b(?:everywhere|throughout|consistently|globally)\b"
    r"|\b(?:whole|entire|complete)\s+(?:file|module|code|source)\b"
    r"|^\s*(?:re-?format|format|lint|tidy|clean ?up|translate|convert|port|modernise|modernize)\b"
    r"(?:(?!\b(?:in|of|when|if|for)\b).){0,40}$"
    r"|^\s*add\s+(?:missing\s+)?(?:type\s+(?:hints|annotations)|annotations|doc ?strings|comments"
    r"|documentation|logging)\s*(?:to\s+(?:the\s+)?(?:file|module|code))?[.!]?\s*$"
    r"|\b(?:translate|spell|spelling|capitali[sz]e)\b.*\b(?:comments|doc ?strings|strings)\b"
)


@dataclass(frozen=True)
class Covering:
    """The places taken, in the file's order; without any the whole file is meant, and `why`."""

    taken: tuple[Likely, ...]
    why: str = ""
    unsure: bool = False  # the model's own opinion could change it

    @property
    def whole(self) -> bool:
        return not self.taken


def about_all(instruction: str) -> bool:
    """Whether an instruction is about all of a file: `translate all comments`."""
    return bool(_ALL.search(instruction))


def chosen(evidence: Sequence[Evidence], instruction: str, *, asked: bool = False) -> Covering:
    """The places that the instruction is about, as far as the evidence says."""
    if len(evidence) < 2:
        return Covering((), "it has no parts")
    if about_all(instruction):
        named = [one for one in evidence if one.named]
        if not named:
            return Covering((), "the instruction is about all of it")
        return Covering(tuple(Likely(one.block, 1.0) for one in _with_members(named, evidence)))
    if not any(one.any for one in evidence):
        said = "nothing in it is named by the instruction"
        return Covering((), said, unsure=not asked)
    chances = likely(evidence, asked=asked)
    meant = [one for one, each in zip(chances, evidence, strict=True) if each.outright]
    if sum(one.chance for one in meant) >= OUTRIGHT and _lines(meant) <= MOST * _lines(chances):
        return Covering(tuple(meant))
    return after_asking(spread(chances, evidence)) if asked else _by_words(chances)


def with_earlier(
    choice: Covering, earlier: Sequence[Block], evidence: Sequence[Evidence], instruction: str
) -> Covering:
    """The same, and the places that an earlier run changed or that are named: what goes on from it
    is about those, and is sure of them where its words say nothing."""
    if not earlier or (choice.whole and (len(evidence) < 2 or about_all(instruction))):
        return choice
    named = [one.block for one in evidence if one.named]
    chances = {one.block: one.chance for one in choice.taken}
    chances |= dict.fromkeys((*earlier, *named), 1.0)
    taken = [Likely(one.block, chances[one.block]) for one in evidence if one.block in chances]
    if _lines(taken) > MOST * sum(one.block.lines for one in evidence):
        return Covering((), "most of it was changed before")
    return Covering(tuple(taken))


def _with_members(named: Sequence[Evidence], evidence: Sequence[Evidence]) -> list[Evidence]:
    """What is named, and what belongs to it."""
    names = {one.block.name for one in named}
    return [
        one
        for one in evidence
        if any(one.block.name == name or one.block.name.startswith(f"{name}.") for name in names)
    ]


def _by_words(chances: Sequence[Likely]) -> Covering:
    """The likeliest places until they have nearly all of the chance, where these are few."""
    taken, _ = _likeliest(chances, CLEAR)
    if _lines(taken) > FEW * _lines(chances):
        return Covering((), UNCLEAR, unsure=True)
    return _in_order(taken)


def after_asking(chances: Sequence[Likely]) -> Covering:
    """The likeliest places until they have enough of the chance, or as many as are few; the first
    is taken however long it is."""
    taken, covered = _likeliest(chances, SURE, FEW * _lines(chances))
    return _in_order(taken) if covered >= MORE else Covering((), UNCLEAR)


def _likeliest(
    chances: Sequence[Likely], enough: float, room: float = math.inf
) -> tuple[list[Likely], float]:
    """The likeliest places until they have so much of the chance, or the next one would go beyond
    so many lines; and the chance that they have."""
    taken: list[Likely] = []
    covered, lines = 0.0, 0
    for one in sorted(chances, key=lambda one: (-one.chance, one.block.first)):
        lines += one.block.lines
        if covered >= enough or (taken and lines > room):
            break
        taken.append(one)
        covered += one.chance
    return taken, covered


def _in_order(taken: Sequence[Likely]) -> Covering:
    return Covering(tuple(sorted(taken, key=lambda one: one.block.first)))


def _lines(places: Sequence[Likely]) -> int:
    return sum(one.block.lines for one in places)


def readable(text: str) -> bool:
    """Whether a text has lines as source has; what a program wrote on one line has no places."""
    return max(map(len, text.split("\n"))) <= LONGEST


def joined(taken: Sequence[Block], most: int) -> list[tuple[Block, ...]]:
    """Blocks that follow each other, together, as long as they are no more than `most` lines. The
    comment that a file begins with stays alone: what is written of it is about it."""
    found: list[list[Block]] = []
    for one in sorted(taken, key=lambda one: one.first):
        held = found[-1] if found else []
        near = held and held[-1].last + 1 == one.first and one.last - held[0].first < most
        if near and (held[-1].kind == COMMENT) == (one.kind == COMMENT):
            held.append(one)
        else:
            found.append([one])
    return [tuple(one) for one in found]
