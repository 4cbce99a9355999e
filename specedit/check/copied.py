"""Lines that the answer copied from what the model was shown beside the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specedit.check.finding import Finding, Spot

LEAST = 3  # consecutive lines that are copied, blank ones not counted
SHORT = 8  # characters of a line that says nothing about where it is from


def copied_lines(before: str, after: str, shown: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    """One for each file of `shown` (name, text) of which consecutive lines are new in `after`. A
    file of fewer lines counts when all of it was copied."""
    old = {line.strip() for line in before.split("\n")}
    new = [line.strip() for line in after.split("\n")]
    for name, text in shown:
        theirs = [line.strip() for line in text.split("\n") if line.strip()]
        least = min(LEAST, len(theirs))
        runs = {tuple(theirs[n : n + least]) for n in range(len(theirs) - least + 1)}
        numbered = [(n, line) for n, line in enumerate(new, 1) if line]
        for at in range(len(numbered) - least + 1):
            piece = numbered[at : at + least]
            lines = tuple(line for _, line in piece)
            fresh = [line for line in lines if line not in old]
            if lines in runs and len(fresh) == least and max(map(len, lines)) > SHORT:
                text = f"lines {piece[0][0]}-{piece[-1][0]} are copied from {name}"
                yield Finding("copied", text, (Spot(piece[0][0]),), refuses=True)
                break
