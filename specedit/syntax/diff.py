"""The changes between two texts: as hunks with changed lines and words, and as a patch for git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.syntax.lines import Opcode, lines_of, opcodes

CONTEXT = 3
WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
MAX_LINE_CHARACTERS = 2000  # characters of a line beyond which words are not compared
MAX_LINE_PAIRS = 2000  # pairs of neighbouring lines whose words are compared

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk. `spans` are the characters that differ from the line it pairs with."""

    kind: str  # " " | "-" | "+"
    text: str  # without its newline
    before: int | None  # its line number, from 1
    after: int | None
    spans: tuple[Span, ...] = ()
    ends: bool = True  # False: the file ends here without a newline


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Counts:
    added: int
    removed: int
    hunks: int


def hunks(before: str, after: str) -> list[Hunk]:
    """The changes from `before` to `after`; closer than twice the context they share a hunk."""
    old, new = lines_of(before), lines_of(after)
    return [_hunk(group, old, new) for group in _groups(old, new)]


def counts(before: str, after: str) -> Counts:
    """Lines added and removed, and the number of hunks."""
    groups = _groups(lines_of(before), lines_of(after))
    changes = [code for group in groups for code in group]
    added, removed = sum(d - c for *_, c, d in changes), sum(b - a for _, a, b, _, _ in changes)
    return Counts(added, removed, len(groups))


def _groups(old: list[str], new: list[str]) -> list[list[Opcode]]:
    """The changes, those of one hunk together."""
    groups: list[list[Opcode]] = []
    for code in opcodes(old, new):
        if code[0] == "equal":
            continue
        if groups and code[1] - groups[-1][-1][2] <= 2 * CONTEXT:
            groups[-1].append(code)
        else:
            groups.append([code])
    return groups


def _hunk(group: list[Opcode], old: list[str], new: list[str]) -> Hunk:
    first, last = group[0], group[-1]
    lines = list(_same(old, max(0, first[1] - CONTEXT), first[1], first[3] - first[1]))
    at = first[1]
    for _, a, b, c, d in group:
        lines += _same(old, at, a, c - a)
        lines += _changed(old, new, a, b, c, d)
        at = b
    lines += _same(old, at, min(len(old), at + CONTEXT), last[4] - last[2])
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
        for x, y in zip(old[a : min(b, a + MAX_LINE_PAIRS)], new[c:d], strict=False)
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
    """The characters of each line that the other line does not have, in whole words."""
    if len(old) > MAX_LINE_CHARACTERS or len(new) > MAX_LINE_CHARACTERS:
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


ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch(name: str, before: bytes, after: bytes) -> bytes:
    """The unified patch that turns `before` into `after`, byte for byte; empty if they are equal.

    A line ends with a newline, as git counts; a carriage return, a BOM or a NUL are bytes like any
    other, so bytes are handled as Latin-1 text here."""
    if before == after:
        return b""
    old, new = lines_of(before.decode("latin-1")), lines_of(after.decode("latin-1"))
    path = os.fsencode(name).lstrip(b"/").decode("latin-1")
    left, right = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    tab = "\t" if " " in path and not left.startswith('"') else ""  # as git writes it
    out = [f"diff --git {left} {right}\n--- {left}{tab}\n+++ {right}{tab}\n"]
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        start, end = max(0, first[1] - CONTEXT), min(len(old), last[2] + CONTEXT)
        new_range = _range(first[3] - (first[1] - start), last[4] + (end - last[2]))
        out.append(f"@@ -{_range(start, end)} +{new_range} @@\n")
        for _, a, b, c, d in group:
            out += [_marked(" ", line) for line in old[start:a]]
            out += [_marked("-", line) for line in old[a:b]]
            out += [_marked("+", line) for line in new[c:d]]
            start = b
        out += [_marked(" ", line) for line in old[start:end]]
    return "".join(out).encode("latin-1")


def moved_patch(old: str, new: str, changed: str) -> str:
    """The patch of a file that moves from `old` to `new`, as git writes it; `changed`: the patch of
    its text alone."""
    hunks = changed.splitlines(keepends=True)[3:]
    share = "" if hunks else "similarity index 100%\n"
    names = f"rename from {old}\nrename to {new}\n"
    both = f"--- a/{old}\n+++ b/{new}\n" if hunks else ""
    return "".join([f"diff --git a/{old} b/{new}\n", share, names, both, *hunks])


def _marked(mark: str, line: str) -> str:
    return mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n")


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _quoted(path: str) -> str:
    """The name as git writes it: in C quotes if it has unusual bytes."""
    if all(32 <= ord(c) < 127 and c not in '"\\' for c in path):
        return path
    parts = []
    for c in path:
        if ord(c) in ESCAPES:
            parts.append(f"\\{ESCAPES[ord(c)]}")
        else:
            parts.append(c if 32 <= ord(c) < 127 else f"\\{ord(c):03o}")
    return f'"{"".join(parts)}"'
