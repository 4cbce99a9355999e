"""How much a rule tells of its places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specedit.repeat.origin import FILE, FREE, LOCAL, is_import
from specedit.repeat.piece import Piece, is_word
from specedit.repeat.roles import SELVES, is_own_name, is_type_parameter, with_parents

if TYPE_CHECKING:
    from specedit.repeat.rule import RepeatRule

SURE = 8  # letters of a word that is rarely met by chance
MIN_FIXED_WEIGHT = 1.0  # weight of what is fixed in a rule


def _weight_of(piece: Piece, parent: Piece | None, origins: Mapping[str, str]) -> float:
    """How much a fixed token tells: a long word is rarely met by chance."""
    text = piece.text
    if not piece.named:
        return 0.2 if is_word(text) else 0.05
    if text in SELVES - {"super"}:
        return 0.2
    if is_own_name(piece, parent):
        origin = origins.get(text, FREE)
        if origin == LOCAL or (origin == FREE and is_type_parameter(text)):
            return 0.2
        if is_import(origin):
            return 1.0
    return min(1.0, len(text) / SURE)


def missing_evidence(rule: RepeatRule, *, less: float = 0.0) -> str:
    """Why a rule is too general; "" where it is specific."""
    total, words = 0.0, []
    signs = 0.0
    for piece, parent in with_parents(rule.before):
        if piece.hole or piece.children:
            continue
        value = _weight_of(piece, parent, rule.origins)
        if piece.named:
            total += value
            words.append(piece.text)
        else:
            signs += value
    total += min(0.4, signs)
    if not words:
        return "no name or literal is fixed in it"
    roots = rule.before
    if len(roots) == 1 and roots[0].is_name and len(rule.after) == 1 and rule.after[0].is_name:
        origin = rule.origins.get(roots[0].text, FREE)
        if origin in (LOCAL, FILE):
            names = f"{roots[0].text} {rule.after[0].text}"
            return f"it is a rename: specedit rename {names} follows what the name means"
    if total < MIN_FIXED_WEIGHT - less:
        return f"only {', '.join(f'`{word}`' for word in words[:4])} tells its places"
    return ""
