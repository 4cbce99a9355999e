"""What a rename comes to before any model is asked: the text, its places, its notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
class Doubt:
    """What is uncertain about the choice of places, or about what was written there."""

    text: str
    lines: tuple[int, ...] = ()
    kind: str = "undecided"  # of the finding, where it says why a file stays


@dataclass(frozen=True)
class Outside:
    """Mentions the scope leaves alone, and the flag that would take them in."""

    name: str
    places: int
    lines: tuple[int, ...]
    flag: str
    itself: bool = False  # the name that is renamed, in comments or strings
    known: bool = False  # it is known to be something else, and of no interest to most

    def __str__(self) -> str:
        many = "place" if self.places == 1 else "places"
        how = f"; {self.flag}" if self.flag else ""
        return f"not renamed: {self.name}, {self.places} {many}{how}"


@dataclass(frozen=True)
class Collision:
    """NEW means something there already."""

    line: int
    message: str


@dataclass(frozen=True)
class RenameGuess:
    """The predicted text and everything a person should know about it."""

    old: str
    new: str
    text: str
    places: tuple[Place, ...]
    outside: tuple[Outside, ...] = ()
    collisions: tuple[Collision, ...] = ()
    scopes: int = 0  # how many things of that name were renamed
    notes: tuple[Doubt, ...] = ()  # where a reader should look twice
    undecided: tuple[Doubt, ...] = ()  # places that stay, because their meaning is unknown
    same_shape: bool = False  # the new text has the syntax tree of the old one

    @property
    def clean(self) -> bool:
        """Nothing to look at twice: no note, no collision, the name itself is nowhere left."""
        left = any(one.itself for one in self.outside)
        return not self.notes and not self.collisions and not left


def applied(text: str, places: Iterable[tuple[int, Place]]) -> str:
    """The text with places replaced, each at its offset."""
    parts: list[str] = []
    at = 0
    for offset, place in sorted(places, key=lambda one: one[0]):
        parts += [text[at:offset], place.replacement]
        at = offset + len(place.replaced)
    return "".join([*parts, text[at:]])
