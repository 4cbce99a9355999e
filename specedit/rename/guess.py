"""The result of a rename before any model is asked: the text, its places, its notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from specedit.check.finding import Finding, Spot
from specedit.scoping.meaning import Meaning, Rewrite, means_member
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
        """The notes about the choice of places."""
        return (*self.notes, *self.undecided, *self.outside)

    @property
    def clean(self) -> bool:
        """Nothing to look at twice: no note, no collision, the name itself is nowhere left."""
        left = any(finding.kind == "left" for finding in self.outside)
        return not self.notes and not self.collisions and not left


def doubt(text: str, lines: Iterable[int] = (), kind: str = "unsure") -> Finding:
    """The doubts about the choice of places, or about what was written there."""
    return Finding(kind, text, tuple(map(Spot, lines)))


def applied(text: str, places: Iterable[tuple[int, Place]]) -> str:
    """The text with places replaced, each at its offset."""
    parts: list[str] = []
    at = 0
    for offset, place in sorted(places, key=lambda item: item[0]):
        parts += [text[at:offset], place.replacement]
        at = offset + len(place.replaced)
    return "".join([*parts, text[at:]])


def put(data: bytes, rewrites: list[Rewrite]) -> tuple[list[Rewrite], bytes]:
    """The rewrites that do not overlap an earlier one, in order, and the bytes they make."""
    kept: list[Rewrite] = []
    out: list[bytes] = []
    at = 0
    for rewrite in sorted(rewrites, key=lambda rewrite: (rewrite.start, -rewrite.end)):
        if rewrite.start < at:
            continue
        kept.append(rewrite)
        out += [data[at : rewrite.start], rewrite.new.encode("utf-8", "surrogatepass")]
        at = rewrite.end
    return kept, b"".join([*out, data[at:]])


def rewrites_for(
    chosen: list[Meaning], candidates: list[Meaning], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    """One rewrite for each place of the chosen meanings."""
    other = {
        id(leaf) for candidate in candidates if candidate not in chosen for leaf in candidate.leaves
    }
    seen: set[int] = set()
    for meaning in chosen:
        declared = {id(each.leaf): each for each in meaning.declared}
        for leaf in meaning.leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            made = _rewrite(leaf, meaning, id(leaf) in other, typing, old, new)
            if made.old != made.new:  # `self` brings a name without having it
                yield replace(made, why=_reason(declared.get(id(leaf)), meaning))


def _rewrite(
    leaf: Branch, meaning: Meaning, split: bool, typing: Typing, old: str, new: str
) -> Rewrite:
    special = typing.rules.rewrite(leaf, meaning, split, typing.scopes.text, old, new)
    if special is not None:
        return special
    written = new
    if split and typing.rules.is_shorthand(leaf):
        written = f"{new}: {old}" if means_member(meaning) else f"{old}: {new}"
    return Rewrite(leaf.start, leaf.end, old, written)


def _reason(declared: Declared | None, meaning: Meaning) -> str:
    """Why a place is one that is renamed: it declares the name, or uses it."""
    owners = sorted({owner.name for owner in meaning.owners} - {""})
    of = f" of {', '.join(owners[:3])}" if owners else ""
    if declared is not None:
        return "import" if declared.kind == "import" else f"declares the {called(declared)}{of}"
    if not meaning.declared and not meaning.owners:
        return {"unknown": "a member of a class that is not known"}.get(meaning.kind, meaning.kind)
    kinds = (called(d) for d in meaning.declared if d.kind not in ("import", "export"))
    return f"use of the {next(kinds, 'member')}{of}"


def called(declared: Declared) -> str:
    """The word for a declaration in messages."""
    whole = declared.kind == "local" and declared.scope is not None and not declared.scope.is_local
    return "global" if whole else declared.kind


def lines_text(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:5])) + ("…" if len(lines) > 5 else "")
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}"


def stays_as_parameter(leaf: Branch, name: str) -> str:
    line = f"line {leaf.line}"
    return f"{line}: it is set from the parameter `{name}`, which stays; --scope derived renames it"
