"""Lines that differ in white space only, away from everything that was changed: all that an edit
did, or more than it did otherwise. (A line or two beside a change were in 7 of 130 real commits.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.hit import Change, Hit
from specedit.text.lines import opcodes

LEAST = 5  # lines; fewer are what many honest edits tidy beside what they do
ASKED = re.compile(
    r"(?i)format|indent|white\s?space|blank|empty line|style|\bpep\b|pep-?8|lint|\btabs?\b"
    r"|\bspaces?\b|newline|prettier|\bblack\b|gofmt|rustfmt|align|trailing|tidy|clean|wrap"
)


def hits(change: Change) -> Iterator[Hit]:
    """One, at the first such line."""
    if ASKED.search(change.instruction):
        return
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    churned, changed, ending, first, other = 0, 0, 0, 0, False
    for a, b, c, d in _changes(old, new):
        if _bare(old[a:b]) != _bare(new[c:d]):
            other, changed = True, changed + max(b - a, d - c)
            continue
        if b == len(old) and not _bare(old[a:b]):
            ending = max(b - a, d - c)  # blank lines at the end come and go unseen
            continue
        churned += max(b - a, d - c)
        first = first or c + 1
    if not other and ending:
        churned, first = churned + ending, first or len(new)
    if churned >= (1 if not other else max(LEAST, changed + 1)):
        lines = "1 line" if churned == 1 else f"{churned} lines"
        what = f"{lines} changed in white space only"
        yield Hit("whitespace", first, what if other else f"nothing but white space: {what}")


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Changed lines of both; with nothing but blank lines between them they are one change."""
    held: tuple[int, int, int, int] | None = None
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            if held is not None and _bare(old[a:b]):
                yield held
                held = None
            continue
        held = (a, b, c, d) if held is None else (held[0], b, held[2], d)
    if held is not None:
        yield held


def _bare(lines: list[str]) -> str:
    return "".join("".join(line.split()) for line in lines)
