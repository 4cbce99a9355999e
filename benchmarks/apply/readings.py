"""Whether a form determines its result: each rule reads the file and the change alone.

A snippet's part (the lines between two elisions) starts and ends with lines of the file. A reading
replaces a range of the file that starts and ends with these lines by the part. The part determines
its range if exactly one reading changes the fewest lines, and this reading is the commit's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Lines = Sequence[str]


def places(block: Lines, lines: Lines, wildcard: int | None = None) -> list[int]:
    """Where the block occurs in the lines; the line `wildcard` of it matches every line."""
    size = len(block)
    return [
        at
        for at in range(len(lines) - size + 1)
        if all(n == wildcard or block[n] == lines[at + n] for n in range(size))
    ]


def determined(part: Lines, lines: Lines, first: int, last: int) -> bool:
    """Whether the part determines that it replaces lines[first:last]."""
    if len(part) < 2 or part[0] != lines[first] or part[-1] != lines[last - 1]:
        return False
    least = _changes(part, lines[first:last])[-1]
    right = [*lines[:first], *part, *lines[last:]]
    for start, line in enumerate(lines):
        if line != part[0]:
            continue
        window = lines[start : start + len(part) + least]
        for size, cost in enumerate(_changes(part, window, least)):
            end = start + size
            if size < 2 or cost > least or lines[end - 1] != part[-1]:
                continue
            if (start, end) != (first, last) and [*lines[:start], *part, *lines[end:]] != right:
                return False
    return True


def _changes(part: Lines, lines: Lines, limit: int | None = None) -> list[int]:
    """Lines to add and remove between the part and lines[:n], for each n; with a limit, [] where
    all of them are above it."""
    row = list(range(len(lines) + 1))
    for line in part:
        previous, row = row, [row[0] + 1]
        for n, other in enumerate(lines):
            same = previous[n] if line == other else previous[n] + 2
            row.append(min(same, previous[n + 1] + 1, row[n] + 1))
        if limit is not None and min(row) > limit:
            return []
    return row


def same_after(blocks: Sequence[tuple[list[str], list[str]]], lines: Lines, right: Lines) -> bool:
    """Whether each block occurs once when its turn comes, and the result is the right one."""
    current = list(lines)
    for old, new in blocks:
        at = places(old, current)
        if len(at) != 1:
            return False
        current[at[0] : at[0] + len(old)] = new
    return current == list(right)


def stripped(lines: Lines, clean: Callable[[str], str] = str.strip) -> list[str]:
    return [clean(line) for line in lines]
