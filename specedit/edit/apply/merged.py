"""The result of a merge: the new text with its parts, or the parts without a single place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Lines = tuple[int, int]  # from 1, both in


@dataclass(frozen=True, slots=True)
class MergedPart:
    """A part of the change that was placed."""

    lines: Lines  # in the new text
    how: str  # "exact" | "matched"


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A part of the change without a single place."""

    first: str  # the part's first line
    reason: str
    places: tuple[Lines, ...] = ()  # lines of the file where it may belong
    hint: str = "show more lines around it"  # what to do now


@dataclass(frozen=True, slots=True)
class Splice:
    """File lines [first, last) that new lines replace."""

    first: int
    last: int
    lines: tuple[str, ...]
    how: str


def clearer(file: Sequence[str], rows: Sequence[int], shown: Sequence[str]) -> str:
    """The smallest addition that tells places of the file (lines from 0) apart: the nearest line
    that is not shown, first where it is directly next to them."""
    known = {line.strip() for line in shown}
    found: list[tuple[int, str]] = []  # how far it is at most, the addition
    for side, step in (("above", -1), ("below", 1)):
        texts, most = [], 0
        for row in rows:
            at, far = row + step, 1
            while 0 <= at < len(file) and (not file[at].strip() or file[at].strip() in known):
                far += bool(file[at].strip())
                at += step
            texts.append(file[at].strip() if 0 <= at < len(file) else "")
            most = max(most, far)
        if len(set(texts)) == len(texts) and texts and texts[0]:
            other = f" or `{short(texts[1])}`" if len(texts) > 1 and texts[1] else ""
            found.append((most, f"show the line {side} it: `{short(texts[0])}`{other}"))
    return min(found, key=lambda pair: pair[0])[1] if found else "show more lines around it"


def short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."


@dataclass(frozen=True, slots=True)
class Merged:
    """`text` is None where a part has no single place."""

    text: str | None
    parts: tuple[MergedPart, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()


def joined(lines: Sequence[str], splices: Sequence[Splice]) -> list[str]:
    """The file lines with splices, which are in order and do not overlap."""
    result: list[str] = []
    at = 0
    for splice in splices:
        result += [*lines[at : splice.first], *splice.lines]
        at = splice.last
    return [*result, *lines[at:]]
