"""Lazy snippets and whole functions. None where the form does not determine the result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random

from benchmarks.apply.readings import determined, places
from benchmarks.apply.record import Record
from specedit.syntax.outline import CALLABLE, Symbol

ELISIONS = (
    "... existing code ...",
    "... rest of the code ...",
    "...",
    "(unchanged)",
    "existing code here",
)
NAMED = frozenset({"function", "method", "class", "interface", "enum"})
CLOSING = re.compile(r"\s*[\])}]+[;,)]*\s*")
SHORTEST = 3  # lines that an elision stands for
HEADER = 6  # lines of the longest header
FARTHEST = 10  # lines to the farthest line that is shown


def lazy(record: Record, random: Random, context: int, *, headers: bool) -> str | None:
    """The changed lines with `context` lines that are not blank on either side, and, with
    `headers`, the first and last lines of the definitions around them."""
    shown: set[int] = set()
    for _, _, _, c, d in record.hunks:
        shown |= set(range(c, d)) | set(_near(record.new, c, d, context))
        if headers:
            shown |= _headers(record, c, d)
    return _snippet(record, random, shown, enclosed=headers)


def functions(record: Record, random: Random) -> str | None:
    """Every changed function as a whole, half of them without their indentation."""
    changed: dict[str, tuple[Symbol, Symbol]] = {}
    for _, a, b, c, d in record.hunks:
        new = _innermost(record.new_symbols, c, max(d, c + 1), CALLABLE)
        old = _alone(record.old_symbols, new) if new else None
        if new is None or old is None or _alone(record.new_symbols, new) is None:
            return None
        if not old.first_line - 1 <= a <= b <= old.last_line or new.last_line < d:
            return None
        changed[new.qualified] = (old, new)
    lines = list(record.old)
    texts = []
    for old, new in sorted(changed.values(), key=lambda pair: -pair[0].first_line):
        body = record.new[new.first_line - 1 : new.last_line]
        lines[old.first_line - 1 : old.last_line] = body
        texts.append("\n".join(_dedented(body) if random.random() < 0.5 else body))
    if lines != record.new:
        return None
    elision = _elision(record, random)
    return f"\n\n{elision}\n\n".join(reversed(texts)) + "\n" if elision else None


def _near(lines: list[str], first: int, last: int, count: int) -> Iterator[int]:
    """Lines on either side of [first, last) up to the `count`-th that is not blank."""
    for steps in (range(first - 1, -1, -1), range(last, len(lines))):
        left = count
        for at in steps[:FARTHEST]:
            if left == 0:
                break
            left -= bool(lines[at].strip())
            yield at


def _headers(record: Record, first: int, last: int) -> set[int]:
    """The first and last lines of the definitions around [first, last)."""
    shown: set[int] = set()
    for symbol in _around(record.new_symbols, first, last, NAMED):
        start, end = symbol.first_line - 1, symbol.last_line - 1
        for at in range(start, min(start + HEADER, end)):
            if re.search(r"[:{]\s*(#.*|//.*)?$", record.new[at]):
                shown |= set(range(start, at + 1))
                if CLOSING.fullmatch(record.new[end]):
                    shown.add(end)
                break
    return shown


def _around(
    symbols: Iterable[Symbol], first: int, last: int, kinds: frozenset[str]
) -> list[Symbol]:
    """The symbols of these kinds around the lines [first, last), outer before inner."""
    return [
        s for s in symbols if s.kind in kinds and s.first_line <= first + 1 <= last <= s.last_line
    ]


def _innermost(
    symbols: Iterable[Symbol], first: int, last: int, kinds: frozenset[str]
) -> Symbol | None:
    return next(reversed(_around(symbols, first, last, kinds)), None)


def _alone(symbols: Iterable[Symbol], wanted: Symbol) -> Symbol | None:
    """The only definition that has the own name of `wanted`, if it has the whole name too."""
    same = [symbol for symbol in symbols if symbol.own_name == wanted.own_name]
    return same[0] if len(same) == 1 and same[0].qualified == wanted.qualified else None


def _dedented(lines: list[str]) -> list[str]:
    """Without the first line's indentation, if every line that is not blank has it."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if any(line and not (line.startswith(indent) and line.strip()) for line in lines):
        return lines
    return [line.removeprefix(indent) for line in lines]


def _elision(record: Record, random: Random) -> str | None:
    """An elision comment; None where the file itself has such a line."""
    mark = "#" if record.name.endswith(".py") else "//"
    text = f"{mark} {random.choice(ELISIONS)}"
    return None if any(text in line for line in (*record.old, *record.new)) else text


def _snippet(record: Record, random: Random, shown: set[int], *, enclosed: bool) -> str | None:
    """The shown lines of the new text with elisions between them."""
    elision = _elision(record, random)
    size = len(record.new) - (record.new[-1] == "")
    hidden = [at for at in range(size) if at not in shown]
    gaps = [gap for gap in _runs(hidden) if gap[1] - gap[0] >= SHORTEST]
    if elision is None or not gaps:
        return None
    lines: list[str] = []
    at = 0
    for first, last in [*gaps, (size, size)]:
        if at < first and not _fits(record, at, first, shown, enclosed=enclosed):
            return None
        lines += record.new[at:first]
        if first < last:
            sample = next((one for one in record.new[first:last] if one.strip()), "")
            lines.append(sample[: len(sample) - len(sample.lstrip())] + elision)
        at = last
    return "\n".join(lines) + "\n"


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    start = None
    for n, number in enumerate(numbers):
        start = number if start is None else start
        if n + 1 == len(numbers) or numbers[n + 1] != number + 1:
            yield start, number + 1
            start = None


def _fits(record: Record, c: int, d: int, shown: set[int], *, enclosed: bool) -> bool:
    """Whether the part of the new lines [c, d) determines what it replaces, within the innermost
    definition that the snippet shows around it. A part without a change is a header."""
    hunks = [hunk for hunk in record.hunks if hunk[3] <= d and c <= hunk[4]]
    if any(hunk[3] == hunk[4] and hunk[3] in (c, d) for hunk in hunks):
        return False  # a deletion at the first or last line of the file
    if all(hunk[4] <= c or d <= hunk[3] for hunk in hunks):
        return True
    a, b = (_old_place(record, at) for at in (c, d))
    first, last = 0, len(record.old)
    for symbol in _around(record.new_symbols, c, d, NAMED) if enclosed else ():
        same = [one for one in record.old_symbols if one.qualified == symbol.qualified]
        top = symbol.first_line - 1
        alone = len(same) == 1 and len(places([record.new[top]], record.old)) == 1
        if top in shown and alone:
            first, last = same[0].first_line - 1, same[0].last_line
    if not first <= a <= b <= last:
        return False
    lines = record.old[first:last]
    return determined(record.new[c:d], lines, a - first, b - first)


def _old_place(record: Record, at: int) -> int:
    """The old line of a new line that no hunk holds."""
    return at + sum((b - a) - (d - c) for _, a, b, c, d in record.hunks if d <= at)
