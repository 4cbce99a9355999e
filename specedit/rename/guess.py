"""What a rename comes to before any model is asked: the text, its places, its notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specedit.check.finding import Finding, Spot


@dataclass(frozen=True)
class Place:
    """One replacement. `offset` counts characters of the original."""

    offset: int
    line: int
    kind: str  # "code" | "comment" | "string" | "derived"
    replaced: str
    replacement: str
    column: int = 0  # from 1
    why: str = ""  # what makes this place one that is renamed
    undecided: bool = False  # a mention that may be ordinary language: the model is asked


@dataclass(frozen=True)
class RenameGuess:
    """The predicted text and everything that the user should know about it."""

    old: str
    new: str
    text: str
    places: tuple[Place, ...]
    outside: tuple[Finding, ...] = ()  # what the scope leaves, and the flag that takes it in
    collisions: tuple[Finding, ...] = ()  # NEW means something there already
    notes: tuple[Finding, ...] = ()  # where a reader should look twice
    undecided: tuple[Finding, ...] = ()  # places that stay, because their meaning is unknown
    same_shape: bool = False  # the new text has the syntax tree of the old one

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the user should know about the choice of places."""
        return (*self.notes, *self.undecided, *self.outside)

    @property
    def clean(self) -> bool:
        """Nothing to look at twice: no note, no collision, the name itself is nowhere left."""
        left = any(one.kind == "left" for one in self.outside)
        return not self.notes and not self.collisions and not left


def doubt(text: str, lines: Iterable[int] = (), kind: str = "unsure") -> Finding:
    """What is uncertain about the choice of places, or about what was written there."""
    return Finding(kind, text, tuple(map(Spot, lines)))


def applied(text: str, places: Iterable[tuple[int, Place]]) -> str:
    """The text with places replaced, each at its offset."""
    parts: list[str] = []
    at = 0
    for offset, place in sorted(places, key=lambda one: one[0]):
        parts += [text[at:offset], place.replacement]
        at = offset + len(place.replaced)
    return "".join([*parts, text[at:]])
