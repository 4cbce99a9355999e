"""Learned substitutions: a change that was made once is expected again in the prediction.

There are two kinds of rules. A *context* rule expects the same ids after the same id to be replaced
again. A *word* rule (it needs the codec) expects a renamed identifier to be renamed everywhere, in
all its case variants. `Trust` counts how often a rule was right.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from specedit.decode import constants
from specedit.decode.drafter import Codec
from specedit.decode.drafters import renamed_words
from specedit.engines.base import common

MOST = 48  # ids of the longest change that is learned
AROUND = 12  # ids around a change that are searched for the ends of its identifier
FEW_LINES = 8  # a word of the instruction in more lines than this does not predict a change
WORD = re.compile(rb"[A-Za-z_]\w{3,}")


@dataclass
class Trust:
    """How often a rule was right and wrong, including a prior."""

    right: float
    wrong: float

    @property
    def chance(self) -> float:
        return self.right / (self.right + self.wrong)


@dataclass(frozen=True)
class Substitution:
    """`ids` replace the next `span` ids of the prediction."""

    span: int
    ids: tuple[int, ...]
    trust: Trust = field(compare=False)

    @property
    def chance(self) -> float:
        return self.trust.chance


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
        self._requested: list[tuple[str, str]] = []
        self._words_asked: set[bytes] = set()
        if codec is not None and instruction:
            text = b"".join(codec.piece(token) for token in instruction)
            self._words_asked = set(WORD.findall(text))
            self._requested = renamed_words.requested_renames(text.decode("utf-8", "replace"))
        self.foreseen = any(new.encode() in self._text for _, new in self._requested)
        self.begin()

    @cached_property
    def _pieces(self) -> list[bytes]:
        return [self._codec.piece(token) for token in self._ids] if self._codec else []

    @cached_property
    def _text(self) -> bytes:
        return b"".join(self._pieces)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate(map(len, self._pieces), initial=0))

    @cached_property
    def named(self) -> set[int]:
        """Positions in lines that have a word of the instruction, where few lines have it. Empty
        where a rename is asked for: its rules know better."""
        if self._requested or not self._words_asked:
            return set()
        text, starts = self._text, self._starts
        lines: dict[bytes, set[int]] = {}
        for match in WORD.finditer(text):
            if match[0] in self._words_asked:
                lines.setdefault(match[0], set()).add(text.rfind(b"\n", 0, match.start()) + 1)
        named: set[int] = set()
        for start in {line for few in lines.values() if len(few) <= FEW_LINES for line in few}:
            end = text.find(b"\n", start) + 1 or len(text)
            named.update(range(bisect_right(starts, start) - 1, bisect_left(starts, end)))
        return named

    def begin(self) -> None:
        self._context: dict[tuple[int, int], tuple[tuple[int, ...], Substitution]] = {}
        self._words: dict[int, Substitution] = {}
        self._pairs: set[tuple[str, str]] = set()
        for pair in self._requested:
            self._add_rename(pair, 0, requested=True)
        self.foreseen |= bool(self._words)

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

    def bridge(self, at: int, answer: Sequence[int]) -> Substitution | None:
        """A rule for an answer that has the prediction's text from `at` on in other ids.

        The rule's ids begin with `answer`; the others lead to the prediction's next id boundary."""
        if self._codec is None or at >= len(self._ids):
            return None
        text, starts = self._text, self._starts
        piece = b"".join(self._codec.piece(token) for token in answer)
        end = starts[at] + len(piece)
        if not piece or not text.startswith(piece, starts[at]):
            return None
        last = bisect_left(starts, end)
        try:
            rest = self._codec.encode(text[end : starts[last]].decode("utf-8"))
        except UnicodeDecodeError:
            return None
        return Substitution(last - at, (*answer, *rest), Trust(1.0, 1.0))

    def learn(self, at: int, span: int, new: Sequence[int], follow: int) -> None:
        """Learn that `span` ids from `at` became `new`; `follow` unchanged ids came after."""
        if span > MOST or len(new) > MOST:
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
        text, starts = self._text, self._starts
        first, last = max(0, at - AROUND), min(len(self._ids), at + span + follow)
        left = text[starts[first] : starts[at]]
        right = text[starts[at + span] : starts[last]]
        became = b"".join(codec.piece(token) for token in new)
        pair = renamed_words.renamed(
            (left + text[starts[at] : starts[at + span]] + right).decode("utf-8", "replace"),
            (left + became + right).decode("utf-8", "replace"),
        )
        if pair is not None and pair not in self._pairs and pair[::-1] not in self._pairs:
            self._add_rename(pair, starts[at])

    def _add_rename(self, pair: tuple[str, str], start: int, requested: bool = False) -> None:
        """Add word rules for the prediction's text from byte `start` on."""
        self._pairs.add(pair)
        known = constants.FITTED.asked_words if requested else constants.FITTED.learned_words
        trusts = {
            kind: Trust(prior, 1.0) for kind, prior in zip(renamed_words.KINDS, known, strict=True)
        }
        for begin, end, word, kind in renamed_words.occurrences(self._text, start, *pair):
            self._add_word_rule(begin, end, word.encode(), trusts[kind])

    def _add_word_rule(self, begin: int, end: int, word: bytes, trust: Trust) -> None:
        """Add a word rule for the bytes [begin, end) of the prediction's text."""
        assert self._codec is not None
        text, starts = self._text, self._starts
        first = bisect_right(starts, begin) - 1
        last = bisect_left(starts, end)
        mark = text[starts[first - 1] : begin] if first > 0 and starts[first] == begin else b""
        if len(mark) == 1 and mark != b"\n":
            first -= 1  # punctuation before a word may belong to the word's first id
        new = text[starts[first] : begin] + word + text[end : starts[last]]
        try:
            ids = self._codec.encode(new.decode("utf-8"))
        except UnicodeDecodeError:
            return
        span = last - first
        old = self._ids[first:last]
        skip = common(old, ids)
        if any(at in self._words for at in range(first, last)) or skip == span == len(ids):
            return
        self._words[first + skip] = Substitution(span - skip, tuple(ids[skip:]), trust)
