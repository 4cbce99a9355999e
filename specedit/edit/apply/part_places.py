"""The file lines that the old side of a hunk stands for.

Lines are compared as they are, then without white space at their ends, then without their
indentation, then without any white space, then without blank lines. Where that finds several
places, the hunk's header, the order of the hunks and line numbers that are right decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Key = Callable[[str], str]


def squeezed(line: str) -> str:
    """The line without white space."""
    return re.sub(r"\s+", "", line)


KEYS: tuple[Key, ...] = (str, str.rstrip, str.strip, squeezed)


@dataclass(frozen=True)
class HunkPlace:
    """Where a hunk's old side is: for each of its lines the file line, or None."""

    rows: tuple[int | None, ...]
    how: str  # "exact" | "matched"

    @property
    def first(self) -> int:
        return next(row for row in self.rows if row is not None)

    @property
    def last(self) -> int:
        return next(row for row in reversed(self.rows) if row is not None)


class FileIndex:
    """The lines of a file, by each way to compare them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._keys: dict[int, list[str]] = {}
        self._rows: dict[int, dict[str, list[int]]] = {}
        self.equal: dict[tuple[str, ...], list[HunkPlace]] = {}  # of parts that are looked for

    def keys(self, level: int) -> list[str]:
        if level not in self._keys:
            self._keys[level] = [KEYS[level](line) for line in self.lines]
        return self._keys[level]

    def rows(self, level: int) -> dict[str, list[int]]:
        """The lines of each key."""
        if level not in self._rows:
            result: dict[str, list[int]] = {}
            for row, key in enumerate(self.keys(level)):
                result.setdefault(key, []).append(row)
            self._rows[level] = result
        return self._rows[level]

    def runs(self, wanted: Sequence[str], level: int) -> list[int]:
        """Where consecutive lines equal these."""
        keys, rows = self.keys(level), self.rows(level)
        own = [KEYS[level](line) for line in wanted]
        rarest = min(range(len(own)), key=lambda n: len(rows.get(own[n], ())))
        starts = (row - rarest for row in rows.get(own[rarest], ()))
        return [at for at in starts if at >= 0 and keys[at : at + len(own)] == own]

    def dense_runs(self, wanted: Sequence[str]) -> list[tuple[int | None, ...]]:
        """The same without blank lines and any white space, as rows for each wanted line."""
        dense = [row for row, key in enumerate(self.keys(3)) if key]
        keys = [self.keys(3)[row] for row in dense]
        own = [(n, squeezed(line)) for n, line in enumerate(wanted) if line.strip()]
        if not own:
            return []
        texts = [text for _, text in own]
        rarest = min(range(len(own)), key=lambda n: len(self.rows(3).get(texts[n], ())))
        result = []
        for at, key in enumerate(keys):
            start = at - rarest
            if key != texts[rarest] or start < 0 or keys[start : start + len(own)] != texts:
                continue
            rows: list[int | None] = [None] * len(wanted)
            for (n, _), row in zip(own, dense[start : start + len(own)], strict=True):
                rows[n] = row
            result.append(_with_blanks(tuple(rows), wanted, self.lines))
        return result


def _with_blanks(
    rows: tuple[int | None, ...], wanted: Sequence[str], lines: Sequence[str]
) -> tuple[int | None, ...]:
    """The rows with those of blank lines that stand at the same place."""
    result = list(rows)
    for n, row in enumerate(result):
        before = result[n - 1] if n else None
        if row is not None or wanted[n].strip() or before is None or before + 1 >= len(lines):
            continue
        if not lines[before + 1].strip():
            result[n] = before + 1
    return tuple(result)


def equal_places(index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    """All places that are equal, by the strictest comparison that finds one."""
    key = tuple(wanted)
    if key not in index.equal:
        index.equal[key] = _equal_places(index, wanted)
    return index.equal[key]


def _equal_places(index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    for level in range(len(KEYS)):
        starts = index.runs(wanted, level)
        if starts:
            places = [
                HunkPlace(tuple(range(at, at + len(wanted))), "matched" if level > 1 else "exact")
                for at in starts
            ]
            return _steady(places, index, wanted) if level > 1 else places
    return [HunkPlace(rows, "matched") for rows in index.dense_runs(wanted)]


def _steady(places: list[HunkPlace], index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    """Of several places, those where each indentation of the hunk stands for one of the file."""
    if len(places) < 2:
        return places
    steady = []
    for place in places:
        pairs = {
            (margin(line), margin(index.lines[row]))
            for line, row in zip(wanted, place.rows, strict=True)
            if row is not None and line.strip()
        }
        if len({one for one, _ in pairs}) == len(pairs) == len({two for _, two in pairs}):
            steady.append(place)
    return steady or places


def margin(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
