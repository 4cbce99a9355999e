"""Lines: which ones two texts share, and the ending of each. Only "\\n" ends a line.

The changes between two texts: as hunks with changed lines and words, and as a patch for git.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import AnyStr

from specedit.syntax.work import spend

CAREFUL = 100_000  # lines x lines up to which each line is compared with every equal one
COARSE = 1_000_000  # lines x lines beyond which many changes are one change
MOST_CHANGED = 256  # lines of a shortest edit script
MOST_COMPARED = 2_000_000  # lines to find it
# In a prompt, stand for lines of the file
GAP, NOT_SHOWN = "[other lines]", "lines of the file are not shown here"

Opcode = tuple[str, int, int, int, int]
Block = tuple[int, int, int]  # where equal lines start in both texts, and how many there are


def opcodes(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Opcode]:
    """difflib's opcodes. Its time grows with the square of the blank lines, so large texts are
    aligned by the lines that occur once in both; what has none, by a shortest edit script."""
    codes: list[Opcode] = []
    i = j = 0
    for a, b, size in [*_blocks(before, after, 0, 0), (len(before), len(after), 0)]:
        if i < a or j < b:
            tag = "insert" if i == a else "delete" if j == b else "replace"
            codes.append((tag, i, a, j, b))
        i, j = a + size, b + size
        if size and codes and codes[-1][0] == "equal":
            _, a, _, b, _ = codes.pop()
        if size:
            codes.append(("equal", a, i, b, j))
    return codes


def _blocks(
    before: Sequence[Hashable], after: Sequence[Hashable], a: int, b: int
) -> Iterator[Block]:
    """Equal runs of two texts that start at the lines `a` and `b` of larger ones, in order."""
    spend((len(before) + len(after)) / 10)
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    yield a, b, start
    anchors = _anchors(old, new) if len(old) * len(new) > CAREFUL else []
    if anchors:
        i = j = 0
        for x, y in [*anchors, (len(old), len(new))]:
            yield from _blocks(old[i:x], new[j:y], a + start + i, b + start + j)
            i, j = x, y
    elif old and new:
        for x, y, size in _equal_runs(old, new):
            yield a + start + x, b + start + y, size
    yield a + len(before) - end, b + len(after) - end, end


def _equal_runs(old: Sequence[Hashable], new: Sequence[Hashable]) -> Sequence[Block]:
    pairs = len(old) * len(new)
    if pairs == 1:
        return ()  # they differ
    if pairs <= COARSE:
        spend(pairs / 10)
    if pairs > CAREFUL:
        runs = _shortest(old, new)
        if runs is not None or pairs > COARSE:
            return runs or ()
    return SequenceMatcher(None, old, new, autojunk=pairs > CAREFUL).get_matching_blocks()


def _shortest(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Block] | None:
    """The equal runs of a shortest edit script, by Myers' algorithm; None where it is long."""
    reached = {1: 0}  # the most old lines that are passed, for each number of lines less in new
    trail: list[dict[int, int]] = []
    compared = 0
    for changed in range(MOST_CHANGED + 1):
        trail.append(dict(reached))
        for less in range(-changed, changed + 1, 2):
            x = _entered(reached, less, changed)
            first = x
            while x < len(old) and x - less < len(new) and old[x] == new[x - less]:
                x += 1
            compared += x - first
            reached[less] = x
            if x >= len(old) and x - less >= len(new):
                return _backwards(trail, less, x)
        spend(changed + compared / 10)
        if compared > MOST_COMPARED:
            break
    return None


def _entered(reached: dict[int, int], less: int, changed: int) -> int:
    """The old lines passed after one more change, before equal lines."""
    if less == -changed or (less != changed and reached[less - 1] < reached[less + 1]):
        return reached[less + 1]
    return reached[less - 1] + 1


def _backwards(trail: Sequence[dict[int, int]], less: int, x: int) -> list[Block]:
    runs: list[Block] = []
    for changed in range(len(trail) - 1, -1, -1):
        reached = trail[changed]
        first = _entered(reached, less, changed)
        if x > first:
            runs.append((first, first - less, x - first))
        if less == -changed or (less != changed and reached[less - 1] < reached[less + 1]):
            less, x = less + 1, reached.get(less + 1, 0)
        else:
            less, x = less - 1, reached[less - 1]
    return runs[::-1]


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Lines that occur once in each text, as many as stand in the same order in both."""
    once = {line for line, count in Counter(new).items() if count == 1}
    place = {line: y for y, line in enumerate(new) if line in once}
    counts = Counter(old)
    pairs = [(x, place[line]) for x, line in enumerate(old) if counts[line] == 1 and line in place]
    tails: list[int] = []  # of increasing sequences of each length, the smallest last place
    ends: list[int] = []  # which pair has that place
    previous: list[int] = []
    for index, (_, y) in enumerate(pairs):
        at = bisect_left(tails, y)
        previous.append(ends[at - 1] if at else -1)
        tails[at : at + 1], ends[at : at + 1] = [y], [index]
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def common(first: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many first lines are the same in both texts."""
    count = min(len(first), len(other))
    if first[:count] == other[:count]:
        return count
    return next((n for n in range(count) if first[n] != other[n]), count)


def changed_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Changed lines of both, [a, b) and [c, d), joined where only blank lines are between."""
    pending: tuple[int, int, int, int] | None = None
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            if pending is not None and any(line.strip() for line in old[a:b]):
                yield pending
                pending = None
            continue
        pending = (a, b, c, d) if pending is None else (pending[0], b, pending[2], d)
    if pending is not None:
        yield pending


def lines_of(text: str) -> list[str]:
    """Lines with their ends; the last one may have none."""
    pieces = text.split("\n")
    last = pieces.pop()
    return [piece + "\n" for piece in pieces] + ([last] if last else [])


def places_of(text: AnyStr, offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The line and the column of each offset, both from 1. Where the offsets ascend, the text is
    read once, however many there are and however long a line is."""
    end = text[:0] + ("\n" if isinstance(text, str) else b"\n")
    line, start, at = 1, 0, 0
    for offset in offsets:
        if offset < at:
            line, start, at = 1, 0, 0
        if passed := text.count(end, at, offset):
            line, start = line + passed, text.rfind(end, at, offset) + 1
        at = offset
        yield line, offset - start + 1


def restore_endings(before: str, endings: Sequence[str], after: str) -> str:
    """`after` with each line's own ending; a new line gets its neighbour's.

    `restore_endings(before, endings, before)` is the text as it was on disk."""
    old, new = before.split("\n"), after.split("\n")
    usual = Counter(endings).most_common(1)[0][0]
    chosen: list[str] = []
    untouched: set[int] = set()
    for tag, a, b, c, d in opcodes(old, new):
        untouched |= set(range(c, d)) if tag == "equal" else set()
        for number in range(d - c):
            at = a + number
            if tag in ("equal", "replace") and at < b and at < len(endings):
                chosen.append(endings[at])
            else:
                chosen.append(chosen[-1] if chosen else usual)
    for at, line in enumerate(new[1:-1], 1):
        # "\r" and "\n" with nothing between them would be one ending
        if not line and chosen[at - 1] == "\r" and chosen[at] in ("\n", "\r\n"):
            keep = at in untouched and at - 1 not in untouched and new[at - 1]
            chosen[at - bool(keep)] = chosen[at] if keep else "\r"
    parts = [line + ending for line, ending in zip(new[:-1], chosen, strict=False)]
    return "".join(parts) + new[-1]


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


def hunks(before: str, after: str) -> list[Hunk]:
    """The changes from `before` to `after`; closer than twice the context they share a hunk."""
    old, new = lines_of(before), lines_of(after)
    return [_hunk(group, old, new) for group in _groups(old, new)]


def counts(before: str, after: str) -> tuple[int, int, int]:
    """How many lines are added and removed, and the number of hunks."""
    groups = _groups(lines_of(before), lines_of(after))
    changes = [code for group in groups for code in group]
    added, removed = sum(d - c for *_, c, d in changes), sum(b - a for _, a, b, _, _ in changes)
    return added, removed, len(groups)


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
    """The patch of a file that moves, as git writes it. `changed`: that of its text alone."""
    hunks = changed.splitlines(keepends=True)[3:]
    share = "" if hunks else "similarity index 100%\n"
    old, new = (os.fsencode(name).decode("latin-1") for name in (old, new))
    left, right = _quoted(f"a/{old}"), _quoted(f"b/{new}")
    names = f"rename from {_quoted(old)}\nrename to {_quoted(new)}\n"
    both = f"--- {left}\n+++ {right}\n" if hunks else ""
    return "".join([f"diff --git {left} {right}\n", share, names, both, *hunks])


def _marked(mark: str, line: str) -> str:
    return mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n")


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _quoted(path: str) -> str:
    """The name as git writes it: in C quotes if it has unusual bytes."""
    named = zip((*range(7, 14), 34, 92), 'abtnvfr"\\', strict=True)
    escapes = {byte: f"\\{byte:03o}" for byte in (*range(32), *range(127, 256))}
    quoted = path.translate(escapes | {byte: f"\\{char}" for byte, char in named})
    return path if quoted == path else f'"{quoted}"'
