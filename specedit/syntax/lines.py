"""Lines: which ones two texts share, and the ending of each. Only "\\n" ends a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

CAREFUL = 4_000_000  # lines x lines up to which every repeated line is worth comparing

Opcode = tuple[str, int, int, int, int]


def opcodes(before: Sequence[object], after: Sequence[object]) -> list[Opcode]:
    """difflib's opcodes; the common start and end are compared first, because edits are small."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    careless = len(old) * len(new) > CAREFUL
    matcher = SequenceMatcher(None, old, new, autojunk=careless)
    codes: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    codes += [
        (tag, a + start, b + start, c + start, d + start)
        for tag, a, b, c, d in matcher.get_opcodes()
    ]
    if end:
        codes.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    return codes


def changed_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Changed lines of both, [a, b) and [c, d); with nothing but blank lines between them they are
    one run."""
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


def restore_endings(before: str, endings: Sequence[str], after: str) -> str:
    """`after` with each line's own ending; a new line gets its neighbour's.

    `restore_endings(before, endings, before)` is the text as it was on disk."""
    old, new = before.split("\n"), after.split("\n")
    usual = Counter(endings).most_common(1)[0][0]
    chosen: list[str] = []
    for tag, a, b, c, d in opcodes(old, new):
        for number in range(d - c):
            at = a + number
            if tag in ("equal", "replace") and at < b and at < len(endings):
                chosen.append(endings[at])
            else:
                chosen.append(chosen[-1] if chosen else usual)
    for at, line in enumerate(new[1:-1], 1):
        if not line and chosen[at - 1] == "\r" and chosen[at] == "\n":
            chosen[at] = "\r"  # "\r" and "\n" with nothing between them would be one ending
    parts = [line + ending for line, ending in zip(new[:-1], chosen, strict=False)]
    return "".join(parts) + new[-1]
