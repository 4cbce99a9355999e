"""The parts of a file that a snippet's comments remove: definitions, and lines with a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from specedit.edit.apply.markers import names_removed
from specedit.edit.apply.merged import Ambiguity
from specedit.edit.apply.structure import SPACE, TYPE, Definition, words_of_lines

MOST_PLACES = 8  # that a message lists


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of one comment: definitions, or lines with `names` where it names none."""

    definitions: frozenset[Definition] = frozenset()
    names: frozenset[str] = frozenset()
    refused: tuple[Ambiguity, ...] = ()


@dataclass(frozen=True, slots=True)
class Removable:
    """The lines that a comment may remove: `old`, without what the snippet shows."""

    old: Sequence[Definition]
    shown: Set[Definition]
    file: Sequence[str]
    holders: Mapping[Definition, Definition]
    names: dict[Definition, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        names = {definition: self._names(definition) for definition in self.old}
        object.__setattr__(self, "names", names)

    def _names(self, definition: Definition) -> set[str]:
        """The name of a definition, with that of its holder and without."""
        own = definition.name.rpartition(".")[2]
        holder = self.holders.get(definition)
        return {definition.name, own, *([f"{holder.name}.{own}"] if holder else [])}

    def by(self, comment: str, low: int, high: int) -> Removal:
        """The lines that a comment removes, which stands between the file's lines `low` and
        `high`: what is there goes, before what has its name elsewhere."""
        names = names_removed(comment, set().union(*self.names.values()))
        free = [definition for definition in self.old if definition not in self.shown]
        inside = [definition for definition in free if low <= definition.first < high]
        removed: set[Definition] = set()
        refused: list[Ambiguity] = []
        for name in sorted(names):
            here = self._named(inside, name, names)
            found = here or self._named(free, name, names)
            holders = {
                self.holders.get(definition)
                for definition in found
                if definition.kind not in (TYPE, SPACE)
            }
            if len(holders) > 1:
                refused.append(_unclear(comment, name, found, "may remove one of several"))
            else:
                removed |= set(found)
        elsewhere = {definition for definition in removed if definition not in inside}
        if elsewhere and len(elsewhere) < len(removed):
            refused.append(_unclear(comment, "", list(elsewhere), "names what is elsewhere, too"))
        types = {definition.name for definition in removed if definition.kind == TYPE}
        removed |= {definition for definition in free if definition.name.partition(".")[0] in types}
        return Removal(frozenset(removed), frozenset(() if removed else names), tuple(refused))

    def _named(
        self, definitions: Sequence[Definition], name: str, names: Set[str]
    ) -> list[Definition]:
        """The definitions of a name; of several, those whose first lines have most of the names."""
        found = [definition for definition in definitions if name in self.names[definition]]
        heads = {
            definition: len(words_of_lines([self.file[definition.first]]) & names)
            for definition in found
        }
        return [definition for definition in found if heads[definition] == max(heads.values())]


def _unclear(comment: str, name: str, found: Sequence[Definition], what: str) -> Ambiguity:
    ordered = sorted(found, key=lambda definition: definition.first)[:MOST_PLACES]
    places = tuple((definition.first + 1, definition.last) for definition in ordered)
    reason = f"{what}: `{name or ordered[0].name}`"
    return Ambiguity(comment.strip(), reason, places, "remove it with a diff")
