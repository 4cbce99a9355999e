"""Files that are shown beside the one to edit, read-only: whole, or their signatures when long.

They stand first in the prompt, so that they are read once for all files and all tries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from specedit.files import source as sources
from specedit.files.source import Source
from specedit.files.worktree import check_within

LONG = 6000  # characters of a file from which its signatures stand for it,
SHARE = 8  # or, in a window that is known, those of the eighth part of it
CHARACTERS = 3  # of an id, at least
HEAD = 4  # lines of a definition that may be its signature
GAP = "…"


@dataclass(frozen=True)
class Beside:
    """A file for the model to know of."""

    name: str
    text: str
    signatures: bool = False  # only those: the file is long


def read(names: Iterable[str], window: int | None = None) -> tuple[Beside, ...]:
    """The files as they are shown, to a model with a window of so many ids."""
    long = max(LONG, CHARACTERS * window // SHARE) if window else LONG
    results = []
    for name in dict.fromkeys(names):
        source = sources.read(name)
        check_within(name)
        results.append(shown(source, long))
    return tuple(results)


def shown(source: Source, long: int = LONG) -> Beside:
    if len(source.text) <= long:
        return Beside(source.name, source.text)
    rows = list(_signatures(source))
    text = "\n".join(rows) if rows else source.text[:long]
    return Beside(source.name, text[: 2 * long], signatures=True)


def _signatures(source: Source) -> Iterator[str]:
    """The first lines of every definition, a gap where lines are left out."""
    from specedit.syntax import trees

    lines = source.text.split("\n")
    last = 0
    for one in trees.symbols(source.text, source.language):
        if one.first_line <= last:
            continue
        if one.first_line > last + 1:
            yield GAP
        end = min(one.first_line + HEAD - 1, one.last_line)
        for number in range(one.first_line, end + 1):
            yield lines[number - 1]
            last = number
            if lines[number - 1].rstrip().endswith((":", "{", ";", "=>", "=", "do")):
                break
    if last and last < len(lines):
        yield GAP
