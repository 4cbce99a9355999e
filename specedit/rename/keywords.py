"""Whether a new name is a word that the language keeps for itself, at the places it would take."""

from __future__ import annotations

from specedit.errors import UsageError
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Meaning
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN, UNKNOWN
from specedit.syntax.languages import Language


def refuse_keyword(new: str, language: Language) -> None:
    """An error where `new` is a keyword."""
    rules = rules_of(language.name)
    if rules is not None and (new.lower() if rules.any_case else new) in rules.keywords:
        raise UsageError(f"`{new}` is a keyword of {language.name}", hint="Choose another name.")


def refuse_reserved(new: str, language: Language, chosen: list[Meaning], typing: Typing) -> None:
    """An error where `new` would be a keyword at some place of the chosen meanings."""
    free = typing.rules.free_members
    if not all(_has_sigil(one, typing) or (free and _is_member(one, typing)) for one in chosen):
        refuse_keyword(new, language)


def _has_sigil(one: Meaning, typing: Typing) -> bool:
    """PHP, Bash: a variable, which a sign tells from a keyword."""
    return all(typing.rules.has_sigil(leaf, typing.scopes.text) for leaf in one.leaves)


def _is_member(one: Meaning, typing: Typing) -> bool:
    """Only met behind a dot, or where a member is declared."""
    if any(x.owner is None or x.kind not in ("field", "method", "value") for x in one.declared):
        return False
    if typing.rules.bare_members:
        return all(
            id(leaf) in typing.scopes.by_leaf or typing.receiver(leaf) is not None
            for leaf in one.leaves
        )
    return one.is_member or one.kind in (UNKNOWN, EXTERNAL, FOREIGN)
