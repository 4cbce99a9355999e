"""Where each part of an answer came from: a fold of `Written` events to spans of text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from specedit.decode import FREE as FREE
from specedit.decode import Chunk
from specedit.edit.backend import Written
from specedit.syntax.lines import opcodes

COPIED = "copied"  # from the prediction, where it was expected
FOUND = "found"  # from the prediction, found again after a divergence
LOOKED = "looked"  # from text seen before
DRAFTED = "drafted"  # by a draft model
BRANCHED = "branched"  # among several candidates of a draft model
GUESSED = "guessed"  # by heads on the model itself
LINE = re.compile(r"[^\n]*\n|[^\n]+")

SOURCES = {  # drafters whose ids are all of one kind
    "lookup": LOOKED,
    "model": DRAFTED,
    "candidates": BRANCHED,
    **dict.fromkeys(("blockwise", "medusa", "chained", "mtp"), GUESSED),
    FREE: FREE,
}


@dataclass(frozen=True, slots=True)
class Part:
    """Characters [start, end) of a text, and their origin."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """A text and its parts, in order, without gaps among those of one answer."""

    text: str
    parts: tuple[Part, ...]

    def kinds(self, start: int, end: int) -> set[str]:
        """The kinds of the characters [start, end)."""
        return {p.kind for p in self._touching(start, end)}

    def onto(self, text: str) -> Provenance:
        """The parts at their places in `text`, which holds the answer's lines. Those that are not
        in `text` are lost."""
        if text.startswith(self.text):
            return Provenance(text, self.parts)
        return Provenance(text, tuple(self._by_lines(text)))

    def _by_lines(self, text: str) -> Iterator[Part]:
        old, new = LINE.findall(self.text), LINE.findall(text)
        left, right = ([0, *accumulate(map(len, side))] for side in (old, new))
        stripped = [[line.strip() for line in side] for side in (old, new)]
        indents = [[len(line) - len(line.lstrip()) for line in side] for side in (old, new)]
        for tag, a, b, c, _ in opcodes(*stripped):
            for at, to in enumerate(range(c, c + b - a), a) if tag == "equal" else ():
                first = left[at] + indents[0][at]  # a part is shown without its indentation
                shift, stop = right[to] + indents[1][to] - first, right[to + 1]
                for p in self._touching(first, left[at + 1]):
                    begin, end = max(p.start, first) + shift, min(p.end, left[at + 1]) + shift
                    end = min(end, stop)
                    if begin < end:
                        yield Part(begin, end, p.kind)

    def _touching(self, start: int, end: int) -> Iterator[Part]:
        at = bisect_right(self.parts, start, key=lambda p: p.end)
        while at < len(self.parts) and self.parts[at].start < end:
            yield self.parts[at]
            at += 1


def of(written: Iterable[Written]) -> Provenance:
    """The provenance of the text these events wrote."""
    events = list(written)
    parts: list[Part] = []
    at = 0
    for event, following in pairwise([*events, None]):
        assert event is not None
        chunk = event.chunk
        kinds = kinds_of(chunk, following.chunk if following else None)
        split = chunk.accepted if kinds[0] != kinds[1] else len(event.pieces)
        for kind, pieces in zip(kinds, (event.pieces[:split], event.pieces[split:]), strict=True):
            if length := sum(map(len, pieces)):
                parts.append(Part(at, at + length, kind))
                at += length
    return Provenance("".join(e.text for e in events), tuple(parts))


def kinds_of(chunk: Chunk, following: Chunk | None) -> tuple[str, str]:
    """The kind of a pass's accepted part, and of the model's own choice after it: if the whole
    draft was accepted and its drafter continues after the choice, it expected that choice."""
    if chunk.source == "prediction":
        drafted = FOUND if chunk.resynced else COPIED
    else:
        drafted = SOURCES.get(chunk.source, DRAFTED)
    if chunk.proposed == 0 or chunk.accepted < chunk.proposed or following is None:
        return drafted, FREE
    continues = following.source == chunk.source and not following.resynced
    return drafted, drafted if continues else FREE
