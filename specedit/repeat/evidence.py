"""How much a rule tells of its places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from specedit.repeat.origin import FILE, FREE, LOCAL, is_import
from specedit.repeat.piece import Piece, is_word
from specedit.repeat.roles import SELVES, is_own_name, is_type_parameter, with_parents

if TYPE_CHECKING:
    from specedit.repeat.rule import RepeatRule

ENOUGH = 1.0  # weight of what is fixed in a rule
_COMMON = frozenset(  # members that many types have
    {
        *("tostring", "tostr", "toowned", "tolist", "toarray", "tojson", "tobytes", "asstr"),
        *("getname", "getid", "getvalue", "gettype", "getkey", "getclass", "getitem", "setitem"),
        *("setname", "setvalue", "startswith", "endswith", "isempty", "hashcode", "compareto"),
        *("asref", "unwrapor", "intoiter", "indexof", "lastindexof", "tolowercase", "haskey"),
        *("touppercase", "addall", "foreach", "putall", "removeall"),
    }
)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def weight(word: str) -> float:
    """How much a name tells: of several words or long, it is rarely met by chance."""
    count = len(_CAMEL.findall(word))
    if word.lower().replace("_", "") in _COMMON:
        return 0.4
    if count > 1:
        return 1.0 if len(word) > 6 else 0.7
    return 0.8 if len(word) > 8 else 0.6 if len(word) > 4 else 0.4


def _weight_of(piece: Piece, parent: Piece | None, origins: Mapping[str, str]) -> float:
    text = piece.text
    if not piece.named:
        return 0.2 if is_word(text) else 0.05
    if text == "super":
        return 0.6
    if text in SELVES or piece.kind in ("true", "false", "none", "null", "nil"):
        return 0.2
    if text[:1] in "\"'`" or "string" in piece.kind:
        return min(0.9, len(text) / 12)
    if not is_word(text):
        return 0.2
    if is_own_name(piece, parent):
        origin = origins.get(text, FREE)
        if origin == LOCAL or (origin == FREE and is_type_parameter(text)):
            return 0.2
        if is_import(origin):
            return 1.0
        if origin == FREE and len(text) < 6:
            return 0.5  # of the language: len, print, Some
        return max(0.8, weight(text))
    return weight(text)


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
    if total < ENOUGH - less:
        return f"only {', '.join(f'`{word}`' for word in words[:4])} tells its places"
    return ""
