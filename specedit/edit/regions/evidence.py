"""The evidence for each block: a row of numbers for each, in the order of FEATURES.

Words of an instruction and of code are made comparable: `HTTPServerError`, `http_servers` and
"server errors" share `server` and `error`. Stemming is light: endings are removed, nothing is
looked up. Numbers lie between 0 and 1, or near it, so that a formula over them stays small.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from specedit.check.new_code import ABOUT_COMMENTS
from specedit.edit.regions.blocks import COMMENT, Block
from specedit.syntax.identifiers import words_of
from specedit.syntax.lines import lines_of

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
    "chosen",  # the model names it first, once it has been asked
    "also",  # the model names it after others
)
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
        return any(self.row[:FROM_WORDS]) or any(self.row[-2:])


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
