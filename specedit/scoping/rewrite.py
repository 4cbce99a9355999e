"""What stands at one place after a rename: a language may say that it is more than the new name."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.scoping.meaning import Meaning


@dataclass(frozen=True)
class Rewrite:
    """Bytes [start, end) become `new`."""

    start: int
    end: int
    old: str
    new: str
    kind: str
    why: str = ""  # this is a place that is renamed
    undecided: bool = False  # a mention that may be ordinary language


def means_member(one: Meaning) -> bool:
    """Which half of a shorthand a meaning is: the member, or the variable."""
    return one.is_member or one.kind not in ("local", "parameter", "value", "function", "import")
