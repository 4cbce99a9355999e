"""The probability that the change belongs to a block, and the blocks that are enough to cover what
is likely, or the whole file, and why.

    chance = exp(score) / sum of all blocks' exp(score),  score = sum of weight x feature x scale

a multinomial logistic formula over the blocks of one file, with one set of weights for what the
words say alone and one for after the model was asked. The instruction's words count for more the
more blocks a block stands out from: their scale is log(blocks + 1) / 4, that of the other features
is 1. Where nothing stands out, all blocks share the probability.

The weights are fitted on the even half of 197 cases, 2026-11-21 (docs/research/2026-11-regions.md).
Set by hand, where too few cases tell: "quoted", and what a name that is spelled as code is worth
before the model is asked (fitted: 1.9).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from specedit.edit.regions.blocks import COMMENT, Block
from specedit.edit.regions.evidence import FEATURES, FROM_WORDS, Evidence

BY_WORDS = (3.0, 2.6, 0.2, 2.5, 3.3, 1.0, 1.0, 1.5, 0.0, 0.0)  # in the order of FEATURES
AFTER_ASKING = (1.1, 2.6, 0.0, 2.5, 3.0, 1.3, 0.7, 1.4, 1.7, 0.3)
# The part of a block's chance that the block after it gets, once the model has been asked: new
# code often stands after.
TO_NEXT = 0.3


Chances = dict[Block, float]  # the probability that the change belongs to a block


def likely(evidence: Sequence[Evidence], *, asked: bool = False) -> Chances:
    """Each block's chance; together they are 1. `asked`: the model has named blocks."""
    weights = AFTER_ASKING if asked else BY_WORDS
    scale = math.log(len(evidence) + 1) / 4
    scales = [scale if n < FROM_WORDS else 1.0 for n in range(len(FEATURES))]
    scores = [
        sum(w * x * s for w, x, s in zip(weights, entry.row, scales, strict=True))
        for entry in evidence
    ]
    top = max(scores, default=0.0)
    parts = [math.exp(score - top) for score in scores]
    total = sum(parts)
    return {entry.block: part / total for entry, part in zip(evidence, parts, strict=True)}


def spread(chances: Chances) -> Chances:
    """Hand on a part of each block's chance to the one after it."""
    before = [0.0, *(TO_NEXT * chance for chance in chances.values())]
    shares = [chance + more for chance, more in zip(chances.values(), before, strict=False)]
    total = sum(shares)
    return {block: share / total for block, share in zip(chances, shares, strict=True)}


def with_named(evidence: Sequence[Evidence], named: Sequence[Block]) -> list[Evidence]:
    """The evidence with the blocks that the model named, the likeliest first: all blocks of a
    definition are named with its first."""
    rank: dict[object, int] = {}
    for n, block in enumerate(named):
        rank.setdefault(block.name or block, n)
    ranks = [rank.get(entry.block.name or entry.block) for entry in evidence]
    return [
        replace(entry, row=(*entry.row[:-2], float(n == 0), float(bool(n))))
        for entry, n in zip(evidence, ranks, strict=True)
    ]


# The chance that blocks must have together, and the share of the file's lines that they may have.
CLEAR_CHANCE = 0.95  # by words alone; with less the model is asked
WANTED_CHANCE = 0.8  # after asking: blocks are taken until they have it
LIKELY_CHANCE = 0.575  # with less, the report says so
MIN_CHANCE = 0.3  # with less, the whole file is edited
FEW_LINES_SHARE = 0.2
MOST_LINES_SHARE = 0.4  # of the lines, in what was changed before
WHY_WORDS = "the instruction's words are there"
WHY_UNCLEAR = "it is not clear which part of it is meant"
MAX_LINE_CHARACTERS = 20_000  # characters of a line beyond which lines say nothing about a file
_ALL = re.compile(
    r"(?i)\b(?:all|every|each)\s+(?:\w+\s+){0,3}?(?:comments?|doc ?strings?|functions?|methods?"
    r"|class(?:es)?|strings?|variables?|parameters?|imports?|lines?|loops?|calls?|uses?|usages?"
    r"|occurrences?|places?|code|quotes)\b"
    r"|\b(?:everywhere|throughout|(?:whole|entire)\s+(?:file|module|code))\b"
    r"|^\s*(?:re-?format|translate|convert|moderni[sz]e)(?:\s+(?:it|this|the file))?\W*$"
)


@dataclass(frozen=True, slots=True)
class BlockChoice:
    """The blocks to edit, in the file's order, or without any the whole file; and why."""

    blocks: Chances
    why: str = WHY_WORDS
    unsure: bool = False  # the model's answer could change it

    @property
    def whole(self) -> bool:
        return not self.blocks


def about_all(instruction: str) -> bool:
    """Whether an instruction is about all of a file: `translate all comments`."""
    return bool(_ALL.search(instruction))


def choose(evidence: Sequence[Evidence], instruction: str, *, asked: bool = False) -> BlockChoice:
    """The blocks that the instruction is about, as far as the evidence says."""
    if len(evidence) < 2:
        return BlockChoice({}, "it has no parts")
    if about_all(instruction):
        return BlockChoice({}, "the instruction is about all of it")
    if not any(entry.any for entry in evidence):
        return BlockChoice({}, "nothing in it is named by the instruction", unsure=not asked)
    chances = likely(evidence, asked=asked)
    return after_asking(spread(chances)) if asked else _by_words(chances)


def with_earlier(
    choice: BlockChoice, earlier: Sequence[Block], evidence: Sequence[Evidence], instruction: str
) -> BlockChoice:
    """The same with the blocks that an earlier run changed or that are named: a refinement is about
    those, and sure of them where its words say nothing."""
    if not earlier or (choice.whole and (len(evidence) < 2 or about_all(instruction))):
        return choice
    named = [entry.block for entry in evidence if entry.named]
    chances = choice.blocks | dict.fromkeys((*earlier, *named), 1.0)
    in_order = (entry.block for entry in evidence)
    blocks = {block: chances[block] for block in in_order if block in chances}
    if _lines(blocks) > MOST_LINES_SHARE * sum(entry.block.lines for entry in evidence):
        return BlockChoice({}, "most of it was changed before")
    return BlockChoice(blocks)


def _by_words(chances: Chances) -> BlockChoice:
    """The likeliest blocks until they have nearly all of the chance, where these are few."""
    taken, _ = _likeliest(chances, CLEAR_CHANCE)
    if _lines(taken) > FEW_LINES_SHARE * _lines(chances):
        return BlockChoice({}, WHY_UNCLEAR, unsure=True)
    return _in_order(taken)


def after_asking(chances: Chances) -> BlockChoice:
    """The likeliest blocks until they have enough of the chance, or as many as are few; the first
    is taken however long it is. Regions are right more often than the whole of a large file, so
    that a choice that is unsure is still one, and says so."""
    taken, covered = _likeliest(chances, WANTED_CHANCE, FEW_LINES_SHARE * _lines(chances))
    if covered < MIN_CHANCE:
        return BlockChoice({}, WHY_UNCLEAR)
    why = (
        WHY_WORDS
        if covered >= LIKELY_CHANCE
        else "the likeliest places; the instruction names none clearly"
    )
    return replace(_in_order(taken), why=why)


def _likeliest(
    chances: Chances, enough: float, most_lines: float = math.inf
) -> tuple[Chances, float]:
    """The likeliest blocks until they have `enough` of the chance, or the next one would exceed
    `most_lines`; and the chance that they have."""
    taken: Chances = {}
    covered, lines = 0.0, 0
    for block in sorted(chances, key=lambda block: (-chances[block], block.first)):
        lines += block.lines
        if covered >= enough or (taken and lines > most_lines):
            break
        taken[block] = chances[block]
        covered += chances[block]
    return taken, covered


def _in_order(taken: Chances) -> BlockChoice:
    blocks = sorted(taken, key=lambda block: block.first)
    return BlockChoice({block: taken[block] for block in blocks}, WHY_WORDS)


def _lines(blocks: Iterable[Block]) -> int:
    return sum(block.lines for block in blocks)


def readable(text: str) -> bool:
    """Whether a text has lines as source has; minified text has no blocks."""
    return max(map(len, text.split("\n"))) <= MAX_LINE_CHARACTERS


def grouped(blocks: Sequence[Block], most: int) -> list[tuple[Block, ...]]:
    """Consecutive blocks as regions of at most `most` lines. The comment that a file begins with
    stays alone."""
    groups: list[list[Block]] = []
    for block in sorted(blocks, key=lambda block: block.first):
        group = groups[-1] if groups else []
        near = group and group[-1].last + 1 == block.first and block.last - group[0].first < most
        if near and (group[-1].kind == COMMENT) == (block.kind == COMMENT):
            group.append(block)
        else:
            groups.append([block])
    return [tuple(group) for group in groups]
