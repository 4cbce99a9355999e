"""Hunks as data: what changed between two texts, line by line and word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from specedit.syntax.lines import Opcode, lines_of, opcodes
from specedit.syntax.patch import patch

__all__ = ["Counts", "Hunk", "Line", "Span", "apply", "counts", "hunks", "patch", "word_spans"]

CONTEXT = 3
WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
LONGEST = 2000  # characters of a line beyond which words are not compared

Span = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """One line of a hunk. `spans` are the characters that differ from the line it pairs with."""

    kind: str  # " " | "-" | "+"
    text: str  # without its newline
    before: int | None  # its line number, from 1
    after: int | None
    spans: tuple[Span, ...] = ()
    ends: bool = True  # False: the file ends here without a newline


@dataclass(frozen=True)
class Hunk:
    """Neighbouring changes with their context. The slices count lines from 0, context left out."""

    lines: tuple[Line, ...]
    before: Span  # the changed lines of the old text, [first, last)
    after: Span

    @property
    def first_line(self) -> int:
        """The line of the old text where it starts to differ, from 1."""
        return self.before[0] + 1

    @property
    def added(self) -> int:
        return sum(line.kind == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind == "-" for line in self.lines)


@dataclass(frozen=True)
class Counts:
    added: int
    removed: int
    hunks: int


def hunks(before: str, after: str, context: int = CONTEXT) -> list[Hunk]:
    """The changes from `before` to `after`; closer than twice the context they share a hunk."""
    old, new = lines_of(before), lines_of(after)
    groups: list[list[Opcode]] = []
    for code in opcodes(old, new):
        if code[0] == "equal":
            continue
        if groups and code[1] - groups[-1][-1][2] <= 2 * context:
            groups[-1].append(code)
        else:
            groups.append([code])
    return [_hunk(group, old, new, context) for group in groups]


def _hunk(group: list[Opcode], old: list[str], new: list[str], context: int) -> Hunk:
    first, last = group[0], group[-1]
    lines = list(_same(old, max(0, first[1] - context), first[1], first[3] - first[1]))
    at = first[1]
    for _, a, b, c, d in group:
        lines += _same(old, at, a, c - a)
        lines += _changed(old, new, a, b, c, d)
        at = b
    lines += _same(old, at, min(len(old), at + context), last[4] - last[2])
    return Hunk(tuple(lines), (first[1], last[2]), (first[3], last[4]))


def _same(old: list[str], start: int, end: int, shift: int) -> Iterator[Line]:
    for number in range(start, end):
        yield _line(" ", old[number], number + 1, number + shift + 1)


def _line(
    kind: str, piece: str, before: int | None, after: int | None, spans: tuple[Span, ...] = ()
) -> Line:
    return Line(kind, piece.removesuffix("\n"), before, after, spans, piece.endswith("\n"))


def _changed(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> Iterator[Line]:
    pairs = [
        word_spans(x.removesuffix("\n"), y.removesuffix("\n"))
        for x, y in zip(old[a:b], new[c:d], strict=False)
    ]
    if b - a != d - c:  # unequal blocks pair badly: mark words only where most of a line stayed
        pairs = [
            pair if _alike(pair, old[a + n], new[c + n]) else ((), ())
            for n, pair in enumerate(pairs)
        ]
    for number in range(a, b):
        spans = pairs[number - a][0] if number - a < len(pairs) else ()
        yield _line("-", old[number], number + 1, None, spans)
    for number in range(c, d):
        spans = pairs[number - c][1] if number - c < len(pairs) else ()
        yield _line("+", new[number], None, number + 1, spans)


def _alike(pair: tuple[tuple[Span, ...], tuple[Span, ...]], old: str, new: str) -> bool:
    changed = sum(end - start for side in pair for start, end in side)
    return 2 * changed <= len(old) + len(new)


def word_spans(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The characters of each line that the other has not, in whole words."""
    if len(old) > LONGEST or len(new) > LONGEST:
        return ((0, len(old)),), ((0, len(new)),)
    left, right = WORD.findall(old), WORD.findall(new)
    spans: tuple[list[Span], list[Span]] = ([], [])
    x = y = 0
    for tag, a, b, c, d in opcodes(left, right):
        wide, high = sum(map(len, left[a:b])), sum(map(len, right[c:d]))
        if tag != "equal":
            _join(spans[0], x, x + wide)
            _join(spans[1], y, y + high)
        x, y = x + wide, y + high
    return tuple(spans[0]), tuple(spans[1])


def _join(spans: list[Span], start: int, end: int) -> None:
    if start == end:
        return
    if spans and spans[-1][1] == start:
        start = spans.pop()[0]
    spans.append((start, end))


def counts(before: str, after: str) -> Counts:
    """Lines added and removed, and the hunks they come in."""
    result = hunks(before, after)
    return Counts(sum(h.added for h in result), sum(h.removed for h in result), len(result))


def apply(before: str, after: str, chosen: Iterable[Hunk]) -> str:
    """`before` with only the chosen hunks of `hunks(before, after)` taken over."""
    old, new = lines_of(before), lines_of(after)
    parts: list[str] = []
    at = 0
    for hunk in sorted(chosen, key=lambda hunk: hunk.before):
        parts += old[at : hunk.before[0]] + new[hunk.after[0] : hunk.after[1]]
        at = hunk.before[1]
    return "".join(parts + old[at:])
