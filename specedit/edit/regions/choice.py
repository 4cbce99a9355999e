"""The probability that the change belongs to a block, and the blocks that are enough to cover what
is likely, or the whole file, and why.

    chance = exp(score) / sum of all blocks' exp(score),  score = sum of weight x feature x scale

The evidence is a row of numbers for each block, in the order of FEATURES. The instruction's words
count for more the more blocks a block stands out from: their scale is log(blocks + 1) / 4, that of
the other features is 1. The weights are fitted (docs/research/2026-11-regions.md), but for "quoted"
and "named" before the model is asked, which too few cases tell. Words of an instruction and of code
are made comparable: `HTTPServerError`, `http_servers` and "server errors" share `server`, `error`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from specedit.check.answer import ABOUT_COMMENTS
from specedit.edit.regions.blocks import COMMENT, Block
from specedit.syntax.identifiers import words_of
from specedit.syntax.lines import lines_of

BY_WORDS = (3.0, 2.6, 0.2, 2.5, 3.3, 1.0, 1.0, 1.5, 0.0)  # in the order of FEATURES
AFTER_ASKING = (1.1, 2.6, 0.0, 2.5, 3.0, 1.3, 0.7, 1.4, 3.0)
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


def with_asked(evidence: Sequence[Evidence], places: Chances) -> list[Evidence]:
    """The evidence with the chances that the model gives to blocks: all blocks of a definition have
    that of its first. As a logarithm, so that a small chance is not none."""
    chances = {b.name or b: math.log1p(100 * p) / math.log(101) for b, p in places.items()}
    return [
        replace(entry, row=(*entry.row[:-1], chances.get(entry.block.name or entry.block, 0.0)))
        for entry in evidence
    ]


def enough(chances: Chances) -> Chances:
    """The likeliest of the blocks that the model names, until they have enough of the chance."""
    return _likeliest(chances, WANTED_CHANCE)[0]


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
    """The likeliest blocks until they have enough of the chance, or as many as are few. Regions are
    right more often than the whole of a large file: a choice that is unsure is one, and says so."""
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


_PART = re.compile(r"[^\W\d]\w*|\d+")
_CODE = re.compile(r"`([^`\n]+)`")
_QUOTED = re.compile(r"""(?<!\w)"([^"\n]{2,80})"|(?<!\w)'([^'\n]{2,80})'(?!\w)|“([^”\n]{2,80})”""")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\))?")
_ISSUE = re.compile(r"\(?\s*(?:#|GH-|gh-)\d+\s*\)?|\b[0-9a-f]{8,40}\b|https?://\S+")
_TAG = re.compile(
    r"^\s*(?:\[[\w .-]+\]\s*"
    r"|(?:fix|feat|refactor|perf|style|docs|chore|test)(?:\([\w .-]+\))?!?:\s*)"
)
_EVERYDAY = """\
a about after again all also an and any are as at back be because been before being both but by
can could do does doing don down each else even ever every few for from further get gets had has
have having here how if in instead into is it its itself just let like make makes making more most
must my no nor not now of off on once one only onto or other our out over own per please put same
shall should so some still such than that the their them then there these they this those through
to too under until up us use used uses using very via was way we were what when where whether
which while who why will with within without would you your add added adds adding allow change
changed changes code correct do ensure fix fixed fixes handle implement improve issue move new old
refactor remove removed rename replace replaced set support update updated
"""
STOP = frozenset(_EVERYDAY.split())
_ENDS = ("ations", "ation", "ings", "ing", "edly", "ed", "ies", "es", "s", "er", "e")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its ending: `caching`, `cached` and `caches` to `cach`."""
    low = word.lower()
    for end in _ENDS:
        if low.endswith(end) and len(low) - len(end) >= 3:
            low = low[: -len(end)]
            if end == "ies":
                low += "y"
            elif len(low) > 3 and low[-1] == low[-2] and low[-1] not in "sl":
                low = low[:-1]  # `stripped` to `strip`
            break
    return low[:-1] if len(low) > 3 and low.endswith("e") else low


@lru_cache(maxsize=65536)
def stems(name: str) -> tuple[str, ...]:
    """The stems of a name's words; a name of several words is a word of its own, too."""
    words = [stem(word) for word in words_of(name) if len(word) > 1]
    return (*words, "".join(words)) if len(words) > 1 else tuple(words)


def count_stems(text: str) -> Counter[str]:
    """How often each stem stands in a text; names count as their words."""
    counts: Counter[str] = Counter()
    for name, times in Counter(_PART.findall(text)).items():
        for word in stems(name):
            counts[word] += times
    return counts


@dataclass(frozen=True, slots=True)
class Query:
    """The names and texts that an instruction holds."""

    stems: frozenset[str]  # of its words, the everyday ones left out
    names: frozenset[str]  # identifiers, and every word that may be one
    code: frozenset[str]  # of these, what can only be code: `marked`, dotted(), snake_case
    quoted: tuple[str, ...]  # texts that it quotes


def query(instruction: str) -> Query:
    """Find what an instruction names. Numbers of issues, addresses and tags do not count."""
    text = _TAG.sub("", _ISSUE.sub(" ", instruction))
    marked = [dotted for span in _CODE.findall(text) for dotted in _DOTTED.findall(span)]
    names: set[str] = set()
    code: set[str] = set()
    for dotted in _DOTTED.findall(text):
        bare = dotted.removesuffix("()")
        names.add(bare)
        names.update(re.split(r"\.|::|->|#", bare))
        parts = re.split(r"\.|::|->|#", bare)
        if dotted != bare or (len(parts) > 1 and all(parts)) or _is_code(bare):
            code.update((bare, *parts))
    for dotted in marked:
        bare = dotted.removesuffix("()")
        code.update((bare, *re.split(r"\.|::|->|#", bare)))
    names |= code
    words = {w for word in _PART.findall(text) for w in stems(word) if word.lower() not in STOP}
    quoted = tuple(next(filter(None, groups)) for groups in _QUOTED.findall(text))
    return Query(
        frozenset(w for w in words if w not in STOP and len(w) > 1),
        frozenset(n for n in names if n.lower() not in STOP and len(n) > 1),
        frozenset(n for n in code if len(n) > 1),
        (*quoted, *(span for span in _CODE.findall(text) if not _DOTTED.fullmatch(span))),
    )


def _is_code(name: str) -> bool:
    """Whether a word is spelled as English words are not: inner capitals, underscores, digits."""
    return bool(re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_\w|^_\w|[A-Za-z]\d", name))


FEATURES = (
    "named",  # the instruction writes the definition's name, spelled as code
    "holder",  # it names what the definition is a member of
    "mention",  # how rare the rarest name of it is that stands in the block
    "quoted",  # the block holds a text that it quotes; less, the more blocks do
    "words",  # its words in the block, against the block that has most of them
    "covered",  # how much of what it says stands in the block
    "titled",  # how much of what it says stands in the definition's name
    "lines",  # how long the block is
    "asked",  # what chance the model gives it, once it has been asked
)
# Of the places that a free answer names, in its order, where the model tells no chances
FREE_CHANCES = (0.127, 0.006, 0.006)
FROM_WORDS = 7  # of them come from the instruction
K1, B = 1.2, 0.5  # BM25: how soon repetitions stop counting, how much long blocks pay
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one block."""

    block: Block
    row: tuple[float, ...]  # one number for each of FEATURES

    @property
    def named(self) -> bool:
        """Whether the instruction names the definition, as code."""
        return self.row[0] > 0

    @property
    def any(self) -> bool:
        """Whether anything of the instruction is in it, or the model named it."""
        return any(self.row[:FROM_WORDS]) or self.row[-1] > 0


def evidence_of(text: str, blocks: Sequence[Block], instruction: str) -> list[Evidence]:
    """The evidence for each block of a file."""
    lines = lines_of(text)
    asked = query(instruction)
    texts = ["".join(lines[block.first - 1 : block.last]) for block in blocks]
    quotes = _quotes(asked, texts)
    if not ABOUT_COMMENTS.search(instruction):  # the words of a licence are not evidence
        read = zip(blocks, texts, quotes, strict=True)
        texts = [text if block.kind != COMMENT or quoted else "" for block, text, quoted in read]
    names = [frozenset(_NAME.findall(part)) for part in texts]
    scores, covered = _words(asked, texts)
    rarity = _rarity(asked, names)
    best = max(scores, default=0.0)
    titled = _titled(asked, [frozenset(stems(block.own_name)) for block in blocks])
    rows = []
    for n, block in enumerate(blocks):
        holders = set(block.name.split(".")[:-1])
        named = block.name in asked.code or block.own_name in asked.code
        rows.append(
            (
                float(named),
                float(bool(holders & (asked.code | {n for n in asked.names if n[:1].isupper()}))),
                rarity[n],
                quotes[n],
                scores[n] / best if best else 0.0,
                covered[n],
                titled[n],
                math.log(block.lines + 1) / 5,
                0.0,
            )
        )
    return [Evidence(*fields) for fields in zip(blocks, rows, strict=True)]


def _words(asked: Query, texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """Of each text: BM25 of the instruction's words, and the share of their weight it holds."""
    bags = [count_stems(text) for text in texts]
    sizes = [sum(bag.values()) for bag in bags]
    usual = sum(sizes) / max(1, len(sizes)) or 1.0
    idf = {w: _idf(sum(w in bag for bag in bags), len(bags)) for w in sorted(asked.stems)}
    known = {w: v for w, v in idf.items() if v > 0}
    total = sum(known.values()) or 1.0
    scores, covered = [], []
    for bag, size in zip(bags, sizes, strict=True):
        norm = K1 * (1 - B + B * size / usual)
        inside = [(w, bag[w]) for w in known if w in bag]
        scores.append(sum(known[w] * n * (K1 + 1) / (n + norm) for w, n in inside))
        covered.append(sum(known[w] for w, _ in inside) / total)
    return scores, covered


def _idf(holding: int, of: int) -> float:
    """0 for what is nowhere; else from 0 (everywhere) up."""
    return math.log(1 + (of - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _rarity(asked: Query, names: Sequence[frozenset[str]]) -> list[float]:
    """How rare the rarest of the instruction's names in each block is: 1 where no other has it."""
    wanted = {n for n in asked.names if n in asked.code or "_" in n} or asked.code
    holding = {n: sum(n in inside for inside in names) for n in wanted}
    most = _idf(1, len(names)) or 1.0
    rare = {n: _idf(count, len(names)) / most for n, count in holding.items() if count}
    return [max((v for n, v in rare.items() if n in inside), default=0.0) for inside in names]


def _quotes(asked: Query, texts: Sequence[str]) -> list[float]:
    """1 for the only block that holds a text that is quoted; a half for two, and so on."""
    scores = [0.0] * len(texts)
    for quoted in asked.quoted:
        holding = [n for n, text in enumerate(texts) if quoted in text]
        for n in holding:
            scores[n] = max(scores[n], 1 / len(holding))
    return scores


def _titled(asked: Query, titles: Sequence[frozenset[str]]) -> list[float]:
    """How much of what the instruction says each name says."""
    idf = {w: _idf(sum(w in title for title in titles), len(titles)) for w in asked.stems}
    total = sum(idf.values())
    if not total:
        return [0.0] * len(titles)
    return [sum(idf[w] for w in asked.stems & title) / total for title in titles]
