"""What a change taught: the same change is expected where the prediction looks the same.

Two kinds of rule. A *context* rule expects the replaced ids, after the same id, to be replaced
again. A *word* rule (it needs the codec) expects an identifier that became another to become it
everywhere, in its case variants. A rule is trusted as far as it held: `Trust` counts.
Knows the prediction's ids and text; does not know where the answer is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from specedit.decode.drafters import words
from specedit.decode.drafters.base import Codec

MOST = 48  # ids of a change that is worth expecting again
AROUND = 12  # ids around a change in which its identifier ends


@dataclass
class Trust:
    """How often a rule held, on top of what such rules are worth before any trial."""

    held: float
    failed: float

    @property
    def chance(self) -> float:
        return self.held / (self.held + self.failed)


@dataclass(frozen=True)
class Rule:
    """`ids` instead of the next `span` ids of the prediction."""

    span: int
    ids: tuple[int, ...]
    trust: Trust = field(compare=False)

    @property
    def chance(self) -> float:
        return self.trust.chance


def context_trust() -> Trust:
    return Trust(0.4, 1.4)


def word_trust(variant: bool) -> Trust:
    return Trust(0.9, 1.0) if variant else Trust(1.6, 1.0)


class Learned:
    """The rules of one answer."""

    def __init__(self, ids: Sequence[int], codec: Codec | None) -> None:
        self._ids = ids
        self._codec = codec
        self._text = b""
        self._starts: list[int] = []
        if codec is not None:
            pieces = [codec.piece(token) for token in ids]
            self._text = b"".join(pieces)
            self._starts = list(accumulate(map(len, pieces), initial=0))
        self.begin()

    def begin(self) -> None:
        self._context: dict[tuple[int, int], tuple[tuple[int, ...], Rule]] = {}
        self._words: dict[int, Rule] = {}
        self._pairs: set[tuple[str, str]] = set()

    def at(self, at: int) -> Rule | None:
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
        """The prediction's `span` ids from `at` became `new`; `follow` of its ids came after."""
        ids = self._ids
        if span > MOST or len(new) > MOST:
            return
        if 0 < at < len(ids) and new:
            old = tuple(ids[at : at + span])
            key = (ids[at - 1], ids[at])
            known = self._context.get(key)
            if known is None or known[1].ids != tuple(new) or known[0] != old:
                self._context[key] = (old, Rule(span, tuple(new), context_trust()))
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
        pair = words.renamed(
            (left + text[starts[at] : starts[at + span]] + right).decode("utf-8", "replace"),
            (left + became + right).decode("utf-8", "replace"),
        )
        if pair is None or pair in self._pairs or (pair[1], pair[0]) in self._pairs:
            return
        self._pairs.add(pair)
        exact, variant = word_trust(False), word_trust(True)
        for begin, end, word in words.occurrences(text[starts[at] :], *pair):
            same = text[starts[at] + begin : starts[at] + end].decode() == pair[0]
            self._expect(
                starts[at] + begin, starts[at] + end, word.encode(), exact if same else variant
            )

    def _expect(self, begin: int, end: int, word: bytes, trust: Trust) -> None:
        """A word rule for the bytes [begin, end) of the prediction's text."""
        assert self._codec is not None
        text, starts = self._text, self._starts
        first = bisect_right(starts, begin) - 1
        last = bisect_left(starts, end)
        if starts[first] == begin and first > 0 and text[starts[first - 1] : begin].isspace() < 1:
            if starts[first] - starts[first - 1] == 1:
                first -= 1  # a mark before a word may belong to the word's first id
        new = text[starts[first] : begin] + word + text[end : starts[last]]
        try:
            ids = self._codec.encode(new.decode("utf-8"))
        except UnicodeDecodeError:
            return
        span = last - first
        old = self._ids[first:last]
        skip = 0
        while skip < min(len(old), len(ids)) and old[skip] == ids[skip]:
            skip += 1
        if any(at in self._words for at in range(first, last)) or skip == span == len(ids):
            return
        self._words[first + skip] = Rule(span - skip, tuple(ids[skip:]), trust)
