"""Words of an instruction and of code, made comparable.

`HTTPServerError`, `http_servers` and "server errors" share `server` and `error`. Stemming is light:
endings are removed, nothing is looked up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from specedit.syntax.identifiers import words_of

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
PHRASE = 3  # words that say where when they stand in the file one behind the other
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
    words = [stem(one) for one in words_of(name) if len(one) > 1]
    return (*words, "".join(words)) if len(words) > 1 else tuple(words)


def count_stems(text: str) -> Counter[str]:
    """How often each stem stands in a text; names count as their words."""
    counts: Counter[str] = Counter()
    for name, times in Counter(_PART.findall(text)).items():
        for one in stems(name):
            counts[one] += times
    return counts


@dataclass(frozen=True)
class Query:
    """What an instruction names."""

    stems: frozenset[str]  # of its words, the everyday ones left out
    names: frozenset[str]  # identifiers, and every word that may be one
    code: frozenset[str]  # of these, what can only be code: `marked`, dotted(), snake_case
    quoted: tuple[str, ...]  # texts that it quotes
    phrases: tuple[str, ...] = ()  # of PHRASE words, in lower case


def query(instruction: str) -> Query:
    """What an instruction names. Numbers of issues, addresses and tags do not count."""
    text = _TAG.sub("", _ISSUE.sub(" ", instruction))
    marked = [one for span in _CODE.findall(text) for one in _DOTTED.findall(span)]
    names: set[str] = set()
    code: set[str] = set()
    for one in _DOTTED.findall(text):
        bare = one.removesuffix("()")
        names.add(bare)
        names.update(re.split(r"\.|::|->|#", bare))
        parts = re.split(r"\.|::|->|#", bare)
        if one != bare or (len(parts) > 1 and all(parts)) or _is_code(bare):
            code.update((bare, *parts))
    for one in marked:
        code.update((one.removesuffix("()"), *re.split(r"\.|::|->|#", one.removesuffix("()"))))
    names |= code
    words = {w for one in _PART.findall(text) for w in stems(one) if one.lower() not in STOP}
    quoted = tuple(next(filter(None, one)) for one in _QUOTED.findall(text))
    return Query(
        frozenset(w for w in words if w not in STOP and len(w) > 1),
        frozenset(n for n in names if n.lower() not in STOP and len(n) > 1),
        frozenset(n for n in code if len(n) > 1),
        (*quoted, *(span for span in _CODE.findall(text) if not _DOTTED.fullmatch(span))),
        tuple(_phrases(text)),
    )


def _phrases(text: str) -> Iterator[str]:
    """Words that follow each other, some of them not everyday ones."""
    words = re.findall(r"[^\W_]+", text.lower())
    for n in range(len(words) - PHRASE + 1):
        piece = words[n : n + PHRASE]
        if sum(one not in STOP and not one.isdigit() for one in piece) >= PHRASE - 1:
            yield " ".join(piece)


def _is_code(name: str) -> bool:
    """Whether a word is spelled as English words are not: inner capitals, underscores, digits."""
    return bool(re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_\w|^_\w|[A-Za-z]\d", name))
