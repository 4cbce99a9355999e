"""One text, parsed once: its tree, its definitions, and which of its names nothing declares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from specedit.scoping.languages import rules_of
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import FREE, Uses
from specedit.syntax import trees
from specedit.syntax.branch import Branch, grow, passages
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol
from specedit.syntax.trees import SyntaxFault


class ParsedText:
    """A text of a known language, with what the checks ask of it."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = language

    @cached_property
    def data(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def errors(self) -> list[SyntaxFault]:
        """The places that do not parse."""
        return trees.errors(self.text, self.language) or []

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The definitions and their lines."""
        return trees.symbols(self.text, self.language)

    @cached_property
    def root(self) -> Branch:
        return self._typing.scopes.root if self._typing else grow(self.text, self.language)

    def text_of(self, node: Branch) -> str:
        return self.data[node.start : node.end].decode("utf-8", "replace")

    @cached_property
    def code_lines(self) -> list[str]:
        """Its lines without comments and doc strings."""
        rules, data = rules_of(self.language.name), bytearray(self.data)
        for passage in passages(self.root, self.data, rules.strings if rules else frozenset()):
            if passage.kind == "comment":
                blank = re.sub(rb"[^\n]", b" ", data[passage.start : passage.end])
                data[passage.start : passage.end] = blank
        return data.decode("utf-8", "replace").split("\n")

    @cached_property
    def _typing(self) -> Typing | None:
        """The meanings of its names; None for a language without scoping rules."""
        if rules_of(self.language.name) is None:
            return None
        return Project.of_text(self.text, self.language)

    @cached_property
    def free_names(self) -> dict[str, list[Branch]]:
        """The bare names that nothing in the text declares, and where they are used."""
        if self._typing is None:
            return {}
        scopes = self._typing.scopes
        declared: dict[str, list[Declared]] = {}
        for declaration in scopes.by_leaf.values():
            declared.setdefault(declaration.name, []).append(declaration)
        uses: dict[str, Uses] = {}
        free: dict[str, list[Branch]] = {}
        for leaf, name in scopes.leaves:
            if name not in uses:
                of_name = declared.get(name, [])
                uses[name] = Uses(self._typing, name, of_name, lambda declaration, other: None)
            keys = uses[name].keys(leaf)
            if any(isinstance(key, tuple) and key[0] == FREE for key in keys):
                free.setdefault(name, []).append(leaf)
        return free


@lru_cache(maxsize=8)
def parsed_text(text: str, language: Language) -> ParsedText:
    """A text, parsed. The text before an edit is asked for at every try."""
    return ParsedText(text, language)


@dataclass(frozen=True, slots=True)
class Change:
    """The input of a check."""

    before: ParsedText
    after: ParsedText
    instruction: str
