"""One text, read once: its tree, its scopes, and what its names mean.

Knows one text and its language's rules of scoping. Compares nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property, lru_cache

from specedit.scoping.declaring import declared_scopes
from specedit.scoping.languages import rules_of
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import FREE, Uses
from specedit.syntax import trees
from specedit.syntax.branch import Branch, grow
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

LONGEST = 400_000  # characters: beyond, reading takes longer than a person waits for a note


class Facts:
    """What the checks ask of one text."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = language
        self._uses: dict[str, Uses] = {}

    @cached_property
    def data(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def typing(self) -> Typing | None:
        """What its names mean; None where nobody knows the language's scopes."""
        if rules_of(self.language.name) is None:
            return None
        return Typing(declared_scopes(self.text, self.language))

    @cached_property
    def symbols(self) -> list[Symbol]:
        """What it defines, on which lines."""
        return trees.symbols(self.text, self.language)

    @cached_property
    def root(self) -> Branch:
        return self.typing.scopes.root if self.typing else grow(self.text, self.language)

    def said(self, node: Branch) -> str:
        return self.data[node.start : node.end].decode("utf-8", "replace")

    @cached_property
    def leaves(self) -> list[tuple[Branch, str]]:
        """Every name, where it stands."""
        return self.typing.scopes.leaves if self.typing else []

    @cached_property
    def by_name(self) -> dict[str, list[Declared]]:
        found: dict[str, list[Declared]] = {}
        for one in self.typing.scopes.by_leaf.values() if self.typing else ():
            found.setdefault(one.name, []).append(one)
        return found

    def keys(self, leaf: Branch, name: str) -> list[Hashable]:
        """What a name means at its place: declarations, or keys that say that there is none."""
        assert self.typing is not None
        uses = self._uses.get(name)
        if uses is None:
            declared = self.by_name.get(name, [])
            uses = self._uses[name] = Uses(self.typing, name, declared, lambda one, other: None)
        return uses.keys(leaf)

    @cached_property
    def free(self) -> dict[str, list[Branch]]:
        """The bare names that nothing in the text declares, and where they are used."""
        found: dict[str, list[Branch]] = {}
        for leaf, name in self.leaves:
            if any(isinstance(key, tuple) and key[0] == FREE for key in self.keys(leaf, name)):
                found.setdefault(name, []).append(leaf)
        return found


@lru_cache(maxsize=8)
def facts(text: str, language: Language) -> Facts:
    """The facts of a text. The text before an edit is asked for at every try."""
    return Facts(text, language)
