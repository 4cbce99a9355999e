"""Which lines a selected text is: for editors that hand over the text and a line, but no range."""

from __future__ import annotations

from specedit.errors import InputError, UsageError


def lines_of(text: str, selected: str, near: int | None = None) -> tuple[int, int]:
    """The lines (from 1, both in) that hold `selected`; of several places, the one nearest to
    line `near`. A selection that ends with a newline does not hold the line after it."""
    wanted = selected.replace("\r\n", "\n").replace("\r", "\n")
    if not wanted.strip():
        raise UsageError(
            "Nothing is selected.", hint="Select what to edit, or edit the whole file."
        )
    results = list(_places(text, wanted))
    if not results:
        raise InputError(
            "The selected text is not in the file.", hint="Save the file, then select it again."
        )
    if near is None and len(results) > 1:
        lines = ", ".join(str(first) for first, _ in results)
        raise InputError(
            f"The selected text is in the file {len(results)} times, on lines {lines}.",
            hint="--near LINE says which one is meant.",
        )
    return min(results, key=lambda place: _away(place, near or place[0]))


def _away(place: tuple[int, int], line: int) -> tuple[int, bool]:
    """Lines between; of several places that hold the line, the one that begins there is meant."""
    return max(place[0] - line, line - place[1], 0), place[0] != line


def _places(text: str, wanted: str) -> list[tuple[int, int]]:
    result, at, line, before = [], text.find(wanted), 1, 0
    height = wanted.removesuffix("\n").count("\n")
    while at >= 0:
        line += text.count("\n", before, at)
        result.append((line, line + height))
        before, at = at, text.find(wanted, at + 1)
    return result
