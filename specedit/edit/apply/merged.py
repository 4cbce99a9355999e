"""What a merge comes to: the new text with its parts, or what has no single place."""

from __future__ import annotations

from dataclasses import dataclass

Lines = tuple[int, int]  # from 1, both in


@dataclass(frozen=True)
class MergedPart:
    """A part of the change that was placed."""

    lines: Lines  # in the new text
    how: str  # "exact" | "matched"


@dataclass(frozen=True)
class Ambiguity:
    """A part of the change without a single place."""

    first: str  # the part's first line
    reason: str
    places: tuple[Lines, ...] = ()  # lines of the file where it may belong


@dataclass(frozen=True)
class Merged:
    """`text` is None where a part has no single place."""

    text: str | None
    parts: tuple[MergedPart, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
