"""Learned substitutions: a change that was made once is expected again in the prediction.

There are two kinds of rules. A *context* rule expects the same ids after the same id to be replaced
again. A *word* rule (it needs the codec) expects a renamed identifier to be renamed everywhere, in
all its case variants. `Trust` counts how often a rule was right.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from specedit.decode import Codec, constants
from specedit.engines.base import common
from specedit.errors import ModelError
from specedit.syntax.identifiers import derived, words_of

MAX_CHANGE_IDS = 48  # ids of the longest change that is learned
IDENTIFIER_SEARCH_IDS = 12  # ids around a change that are searched for the ends of its identifier
FEW_LINES = 8  # a word of the instruction in more lines than this does not predict a change
WORD = re.compile(rb"[A-Za-z_]\w{3,}")
MIN_WORD_LETTERS = 3  # letters; shorter words match by accident

KINDS = ("word", "part", "variant")  # the identifier itself; inside a longer one; in another case

_REQUEST = re.compile(
    r"\b(?:renam|replac|chang|substitut|switch)\w*\s+(?P<old>[^.;\n]{1,80}?)"
    r"\s*(?:\bto\b|\bwith\b|\bby\b|\binto\b|\bas\b|->|=>|\u2192)\s*(?P<new>[^;\n]{1,60})",
    re.IGNORECASE,
)
_END = re.compile(r"\s(?:in|for|on|so|and|to|because)\s")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_IDENTIFIER = re.compile(rb"[A-Za-z_$][\w$]*")


@dataclass
class Trust:
    """How often a rule was right and wrong, including a prior."""

    right: float
    wrong: float

    @property
    def chance(self) -> float:
        return self.right / (self.right + self.wrong)


@dataclass(frozen=True, slots=True)
class Substitution:
    """`ids` replace the next `span` ids of the prediction."""

    span: int
    ids: tuple[int, ...]
    trust: Trust = field(compare=False)


class Learned:
    """The rules of one answer.

    `foreseen`: the instruction asks for a rename that the prediction already contains or that the
    rules will make, so that few other changes are expected."""

    def __init__(
        self,
        ids: Sequence[int],
        codec: Codec | None,
        instruction: Sequence[int] = (),
    ) -> None:
        self._ids = ids
        self._codec = codec
        self._context: dict[tuple[int, int], tuple[tuple[int, ...], Substitution]] = {}
        self._words: dict[int, Substitution] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._requested: list[tuple[str, str]] = []
        self._words_asked: set[bytes] = set()
        if codec is not None and instruction:
            text = b"".join(map(codec.piece, instruction))
            self._words_asked = set(WORD.findall(text))
            self._requested = requested_renames(text.decode("utf-8", "replace"))
        self.foreseen = False
        for pair in self._requested:
            self._add_rename(pair, 0, requested=True)
            self.foreseen |= pair[1].encode() in self._spelled[0]
        self.foreseen |= bool(self._words)

    @cached_property
    def _spelled(self) -> tuple[bytes, list[int]]:
        """The prediction's text, and where each of its ids begins in it."""
        pieces = list(map(self._codec.piece, self._ids)) if self._codec else []
        return b"".join(pieces), list(accumulate(map(len, pieces), initial=0))

    @cached_property
    def named(self) -> set[int]:
        """Positions in lines that have a word of the instruction, where few lines have it. Empty
        where a rename is asked for: its rules know better."""
        if self._requested or not self._words_asked:
            return set()
        text, starts = self._spelled
        lines: dict[bytes, set[int]] = {}
        for match in WORD.finditer(text):
            if match[0] in self._words_asked:
                lines.setdefault(match[0], set()).add(text.rfind(b"\n", 0, match.start()) + 1)
        named: set[int] = set()
        for few in lines.values():
            for start in few if len(few) <= FEW_LINES else ():
                end = text.find(b"\n", start) + 1 or len(text)
                named.update(range(bisect_right(starts, start) - 1, bisect_left(starts, end)))
        return named

    def at(self, at: int) -> Substitution | None:
        """The rule for the prediction's ids from `at` on."""
        rule = self._words.get(at)
        if rule is not None or not self._context or not 0 < at < len(self._ids):
            return rule
        known = self._context.get((self._ids[at - 1], self._ids[at]))
        if known is None:
            return None
        old, rule = known
        return rule if tuple(self._ids[at : at + len(old)]) == old else None

    def learn(self, at: int, span: int, new: Sequence[int], follow: int) -> None:
        """Learn that `span` ids from `at` became `new`; `follow` unchanged ids came after."""
        if span > MAX_CHANGE_IDS or len(new) > MAX_CHANGE_IDS:
            return
        ids = self._ids
        if 0 < at < len(ids) and new:
            old = tuple(ids[at : at + span])
            key = (ids[at - 1], ids[at])
            known = self._context.get(key)
            if known is None or known[1].ids != tuple(new) or known[0] != old:
                self._context[key] = (
                    old,
                    Substitution(span, tuple(new), Trust(*constants.FITTED.context_rule)),
                )
        self._learn_word(at, span, new, follow)

    def _learn_word(self, at: int, span: int, new: Sequence[int], follow: int) -> None:
        codec = self._codec
        if codec is None:
            return
        text, starts = self._spelled
        first, last = max(0, at - IDENTIFIER_SEARCH_IDS), min(len(self._ids), at + span + follow)
        left = text[starts[first] : starts[at]]
        right = text[starts[at + span] : starts[last]]
        became = b"".join(codec.piece(token) for token in new)
        pair = renamed(
            (left + text[starts[at] : starts[at + span]] + right).decode("utf-8", "replace"),
            (left + became + right).decode("utf-8", "replace"),
        )
        if pair is not None and pair not in self._pairs and pair[::-1] not in self._pairs:
            self._add_rename(pair, starts[at])

    def _add_rename(self, pair: tuple[str, str], start: int, requested: bool = False) -> None:
        """Add word rules for the prediction's text from byte `start` on."""
        self._pairs.add(pair)
        known = constants.FITTED.asked_words if requested else constants.FITTED.learned_words
        trusts = {kind: Trust(prior, 1.0) for kind, prior in zip(KINDS, known, strict=True)}
        for begin, end, word, kind in occurrences(self._spelled[0], start, *pair):
            self._add_word_rule(begin, end, word.encode(), trusts[kind])

    def _add_word_rule(self, begin: int, end: int, word: bytes, trust: Trust) -> None:
        """Add a word rule for the bytes [begin, end) of the prediction's text."""
        assert self._codec is not None
        text, starts = self._spelled
        first = bisect_right(starts, begin) - 1
        last = bisect_left(starts, end)
        mark = text[starts[first - 1] : begin] if first > 0 and starts[first] == begin else b""
        if len(mark) == 1 and mark != b"\n":
            first -= 1  # punctuation before a word may belong to the word's first id
        new = text[starts[first] : begin] + word + text[end : starts[last]]
        try:
            ids = self._codec.encode(new.decode("utf-8"))
        except (UnicodeDecodeError, ModelError):
            return
        span = last - first
        old = self._ids[first:last]
        skip = common(old, ids)
        if any(at in self._words for at in range(first, last)) or skip == span == len(ids):
            return
        self._words[first + skip] = Substitution(span - skip, tuple(ids[skip:]), trust)


def renamed(old: str, new: str) -> tuple[str, str] | None:
    """The identifier of `old` that is another in `new`, when that is all that differs."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    gaps = _WORD.split(old), _WORD.split(new)
    if len(before) != len(after) or gaps[0] != gaps[1]:
        return None
    pairs = {(a, b) for a, b in zip(before, after, strict=True) if a != b}
    if len(pairs) != 1:
        return None
    pair = core(*pairs.pop())
    return pair if len(pair[0]) >= MIN_WORD_LETTERS and pair[1] else None


def requested_renames(instruction: str) -> list[tuple[str, str]]:
    """The renames that an instruction asks for: `replace the X field with Y`."""
    pairs = []
    for match in _REQUEST.finditer(instruction):
        old, new = named(match["old"]), named(_END.split(match["new"])[0])
        if old and new and old != new and len(old) >= MIN_WORD_LETTERS:
            pairs.append((old, new))
    return pairs


def named(phrase: str) -> str | None:
    """The identifier in a phrase: quoted, else with `_` or mixed case, else the first."""
    quoted = re.search(r"[`'\"]([A-Za-z_$][\w$]*)[`'\"(]", phrase)
    if quoted:
        return str(quoted[1])
    names: list[str] = [name for name in _WORD.findall(phrase) if name.lower() not in _SMALL]
    for name in names:
        if "_" in name or "$" in name or not (name.islower() or name.istitle()):
            return name
    for name in names:
        if name.istitle():
            return name
    return names[0] if names else None


_SMALL = frozenset(("a", "an", "the", "this", "that", "all", "of", "its", "every", "each", "new"))


def core(old: str, new: str) -> tuple[str, str]:
    """Strip common words: getUsername -> getEmail becomes username -> email."""
    a, b = words_of(old), words_of(new)
    if "".join(a) != old.replace("_", "") or "".join(b) != new.replace("_", ""):
        return old, new
    most = min(len(a), len(b)) - 1
    head = min(common(a, b), most)
    tail = min(common(a[::-1], b[::-1]), most - head)
    if not head and not tail:
        return old, new
    joint = "_" if "_" in old else ""
    join = "_" if "_" in new else ""
    return joint.join(a[head : len(a) - tail]), join.join(b[head : len(b) - tail])


def occurrences(text: bytes, start: int, old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Identifiers from `start` on that are `old`, or built from it in any case: the range that
    changes, its new text, and a kind of KINDS."""
    squeezed = old.replace("_", "").lower().encode()
    for match in _IDENTIFIER.finditer(text, start):
        if squeezed not in match[0].replace(b"_", b"").lower():
            continue
        name = match[0].decode()
        renamed_name = derived(name, old, new)
        if renamed_name is None or renamed_name == name:
            continue
        kind = "word" if name == old else "part" if old in name else "variant"
        yield match.start(), match.end(), renamed_name, kind
