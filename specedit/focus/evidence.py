"""What speaks for each block: one row of numbers a block, in the order of `FEATURES`.

Numbers lie between 0 and 1, or near it, so that a formula over them stays small. Knows blocks and
words; what the numbers are worth is `chances`' to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.focus.blocks import COMMENT, Block
from specedit.focus.outright import given, outright, revalued
from specedit.focus.terms import Query, counted, query, stems
from specedit.text.lines import lines_of

FEATURES = (
    "named",  # the instruction writes the definition's name, spelled as code
    "called",  # a plain word of it is the definition's name
    "holder",  # it names what the definition is a member of
    "mention",  # how rare the rarest name of it is that stands in the block
    "quoted",  # the block holds a text that it quotes; less, the more blocks do
    "words",  # its words in the block, against the block that has most of them
    "covered",  # how much of what it says stands in the block
    "titled",  # how much of what it says stands in the definition's name
    "lines",  # how long the block is
    "chosen",  # the model names it first, once it has been asked
    "also",  # the model names it behind others
)
OWN = 8  # of them come from the instruction
SHORT = 2  # letters of a name that is too short to be told from others
SAME = 3  # definitions of one name, beyond which a use of it tells nothing
K1, B = 1.2, 0.5  # how soon a word's repetitions stop counting, how much long blocks pay
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_OF_COMMENTS = re.compile(  # what an instruction says that means the comment a file begins with
    r"(?i)\b(?:comments?|licen[cs]\w*|copyrights?|headers?|authors?|banner|shebang|years?|spdx"
    r"|notices?|encoding|pragmas?|directives?|top|beginning|head|documentation|docs?)\b"
)


@dataclass(frozen=True)
class Evidence:
    """What speaks for one block."""

    block: Block
    row: tuple[float, ...]  # one number for each of FEATURES
    outright: bool = False  # it is of the one definition that the instruction names outright
    uses: tuple[int, ...] = ()  # the numbers of the blocks that define what it names

    @property
    def named(self) -> bool:
        """Whether the instruction names the definition, as code."""
        return self.row[0] > 0

    @property
    def any(self) -> bool:
        """Whether anything of the instruction is in it, or the model named it."""
        return any(self.row[:OWN]) or any(self.row[-2:])


def gathered(text: str, found: Sequence[Block], instruction: str) -> list[Evidence]:
    """The evidence for each block of a file."""
    lines = lines_of(text)
    asked = query(instruction)
    texts = ["".join(lines[one.first - 1 : one.last]) for one in found]
    quotes = _quotes(asked, texts)
    if not _OF_COMMENTS.search(instruction):  # the words of a licence are no evidence
        read = zip(found, texts, quotes, strict=True)
        texts = [one if block.kind != COMMENT or quoted else "" for block, one, quoted in read]
    names = [frozenset(_NAME.findall(one)) for one in texts]
    scores, covers = _words(asked, texts)
    rarity = _rarity(asked, names)
    most = max(scores, default=0.0)
    weights = _weights(asked, [frozenset(stems(one.name.rpartition(".")[2])) for one in found])
    values = [given(one, said) for one, said in zip(found, texts, strict=True)]
    constant = revalued(instruction, asked, found, values)
    rows = []
    for at, one in enumerate(found):
        simple = one.name.rpartition(".")[2]
        holders = set(one.name.split(".")[:-1])
        named = one.name in asked.code or simple in asked.code or one in constant
        rows.append(
            (
                float(named),
                float(not named and bool(simple) and _is_called(simple, asked)),
                float(bool(holders & (asked.code | {n for n in asked.names if n[:1].isupper()}))),
                rarity[at],
                quotes[at],
                scores[at] / most if most else 0.0,
                covers[at],
                weights[at],
                math.log(one.lines + 1) / 5,
                0.0,
                0.0,
            )
        )
    meant = outright(instruction, asked, found, names) or constant
    uses = _uses(found, names)
    return [
        Evidence(one, row, one in meant, used)
        for one, row, used in zip(found, rows, uses, strict=True)
    ]


def _uses(found: Sequence[Block], names: Sequence[frozenset[str]]) -> list[tuple[int, ...]]:
    """Of each block, the others that define what it names; what many define says nothing."""
    defines: dict[str, list[int]] = {}
    for at, one in enumerate(found):
        simple = one.name.rpartition(".")[2]
        if one.head and len(simple) > SHORT:
            defines.setdefault(simple, []).append(at)
    few = {name: ats for name, ats in defines.items() if len(ats) <= SAME}
    return [
        tuple(sorted({n for name in held & few.keys() for n in few[name]} - {at}))
        for at, held in enumerate(names)
    ]


def _is_called(simple: str, asked: Query) -> bool:
    return simple in asked.names or simple.strip("_") in asked.names


def _words(asked: Query, texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """Of each text: BM25 of the instruction's words, and the share of their weight it holds."""
    bags = [counted(one) for one in texts]
    sizes = [sum(bag.values()) for bag in bags]
    usual = sum(sizes) / max(1, len(sizes)) or 1.0
    idf = {w: _idf(sum(w in bag for bag in bags), len(bags)) for w in sorted(asked.stems)}
    there = {w: v for w, v in idf.items() if v > 0}
    total = sum(there.values()) or 1.0
    scores, covers = [], []
    for bag, size in zip(bags, sizes, strict=True):
        norm = K1 * (1 - B + B * size / usual)
        held = [(w, bag[w]) for w in there if w in bag]
        scores.append(sum(there[w] * n * (K1 + 1) / (n + norm) for w, n in held))
        covers.append(sum(there[w] for w, _ in held) / total)
    return scores, covers


def _idf(holding: int, of: int) -> float:
    """0 for what is nowhere; else from 0 (everywhere) up."""
    return math.log(1 + (of - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _rarity(asked: Query, names: Sequence[frozenset[str]]) -> list[float]:
    """How rare the rarest of the instruction's names is that each block holds: 1 in no other."""
    wanted = {n for n in asked.names if n in asked.code or "_" in n} or asked.code
    holding = {n: sum(n in held for held in names) for n in wanted}
    most = _idf(1, len(names)) or 1.0
    rare = {n: _idf(count, len(names)) / most for n, count in holding.items() if count}
    return [max((v for n, v in rare.items() if n in held), default=0.0) for held in names]


def _quotes(asked: Query, texts: Sequence[str]) -> list[float]:
    """1 for the only block that holds a text that is quoted, a half for two, and so on."""
    holding = {q: sum(q in one for one in texts) for q in asked.quoted}
    return [max((1 / holding[q] for q in asked.quoted if q in one), default=0.0) for one in texts]


def _weights(asked: Query, titles: Sequence[frozenset[str]]) -> list[float]:
    """How much of what the instruction says each name says."""
    idf = {w: _idf(sum(w in one for one in titles), len(titles)) for w in asked.stems}
    total = sum(idf.values())
    if not total:
        return [0.0] * len(titles)
    return [sum(idf[w] for w in asked.stems & one) / total for one in titles]
