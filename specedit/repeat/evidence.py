"""How much a rule tells of its places: whether it is specific, and whether its names say that the
same thing is meant elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from specedit.repeat.origin import FILE, FREE, IMPORT, LOCAL, Origins, is_import
from specedit.repeat.piece import Piece, is_word
from specedit.repeat.roles import (
    ARGUMENTS,
    MEMBERS,
    SELVES,
    is_callee,
    is_own_name,
    is_type_parameter,
    with_parents,
)

if TYPE_CHECKING:
    from specedit.repeat.rule import RepeatRule

NOTHING_FIXED = "no name or literal is fixed in it"
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
        return NOTHING_FIXED
    left = {unit.text for unit in rule.new_units if not unit.hole}
    gone = [u for u in rule.old_units if not u.hole and u.named and u.text not in left]
    roots = rule.before
    if len(roots) == 1 and roots[0].is_name and len(rule.after) == 1 and rule.after[0].is_name:
        origin = rule.origins.get(roots[0].text, FREE)
        if origin in (LOCAL, FILE):
            names = f"{roots[0].text} {rule.after[0].text}"
            return f"it is a rename: specedit rename {names} follows what the name means"
    if any(rule.origins.get(u.text) == FILE for u in gone) and FILE in dict(rule.needs).values():
        return f"`{gone[0].text}` and what replaces it are both defined in the file"
    if total < ENOUGH - less:
        return f"only {', '.join(f'`{word}`' for word in words[:4])} tells its places"
    return ""


CLASSES = frozenset({"java", "csharp", "kotlin", "scala", "go"})  # a free name is the package's


_VERBS = frozenset({"get", "set", "is", "has", "add", "to", "as", "on", "create", "remove", "with"})
_RARE = 12  # letters of two words or more


def is_rare(name: str) -> bool:
    """Whether a name is the same thing wherever it is met: `number_of_values`, not `get_name`."""
    words = _CAMEL.findall(name)
    words = words[words[:1] != [] and words[0].lower() in _VERBS :]
    return len(words) > 1 and sum(map(len, words)) >= _RARE


def unproved(rule: RepeatRule, origins: Origins) -> str:
    """Why one example does not say which places of other files are meant; "" where a name that the
    change takes away is rare, or known by where it comes from: an import, the language, a class
    around it."""
    if len(rule.before) > 1 or len(rule.after) > 1:
        return "one example of several statements does not tell which places are meant"
    if rule.added:
        return f"it adds the argument `{rule.added}`, which may be of that place alone"
    left = {unit.text for unit in rule.new_units if not unit.hole}
    names = [
        (piece, parent)
        for piece, parent in with_parents(rule.before)
        if piece.is_name and not piece.hole
    ]
    gone = [(piece, parent) for piece, parent in names if piece.text not in left]
    if not gone:
        loses = any(u.text not in left for u in rule.old_units if u.named and not u.hole)
        if not names or (not loses and (rule.fits_its_result or len(rule.old_units) == 1)):
            return "it takes nothing away, so nothing tells which places need it"
        if added := _of_one_place(rule):
            return f"it takes no name away, and adds `{added}`, which may be of that place alone"
        names = [(piece, up) for piece, up in names if not origins.is_builtin(piece.text)] or names[
            :1
        ]
    if rule.only_takes and not rule.after[0].hole:
        return f"it writes `{rule.after[0].text}`, which may be right at that place alone"
    if rule.only_takes:
        return f"it only takes `{gone[0][0].text}` away" if gone else "it only takes signs away"
    for piece, parent in gone or names:
        if is_own_name(piece, parent):
            if _is_known(piece.text, rule, origins, called=is_callee(piece, parent)):
                return ""
        elif parent is not None and (root := _root_of(parent)) is not piece and root is not None:
            if root.text in SELVES:
                if rule.bases and not origins.has_member(piece.text):
                    return ""
            elif _is_known(root.text, rule, origins) or root.kind == "primitive_type":
                return ""
        own = any(piece.text in SELVES for piece, _ in names)
        if not own and origins.of(piece.text) == FREE and is_rare(piece.text):
            return ""
    name = (gone or names)[0][0].text
    return f"one example does not tell whether `{name}` is the same thing elsewhere"


def _of_one_place(rule: RepeatRule) -> str:
    """A literal or a variable that the new side adds, which other places may need to differ."""
    old = {unit.text for unit in rule.old_units}
    for unit in rule.new_units:
        if unit.named and not unit.hole and unit.text not in old and not is_word(unit.text):
            return unit.text
    needs = (name for name, origin in rule.needs if origin not in (FREE, FILE, IMPORT))
    return next(needs, "")


def added_argument(rule: RepeatRule) -> str:
    """An argument that the new side adds and that holds nothing of the place, which may be of the
    example alone: a value, a type; "" where there is none."""
    old = {unit.text for unit in rule.old_units}
    for root in rule.after:
        for piece in root.walk():
            is_list = piece.kind.endswith((*ARGUMENTS, "type_argument_list", "type_parameters"))
            for child in piece.children if is_list and not piece.hole else ():
                units = list(child.units())
                is_new = any(unit.named and unit.text not in old for unit in units)
                if child.named and is_new and not any(unit.hole for unit in units):
                    return "".join(unit.text for unit in units)
    return ""


def _is_known(name: str, rule: RepeatRule, origins: Origins, *, called: bool = False) -> bool:
    """Whether what a name means can be compared from file to file."""
    origin = origins.of(name)
    if is_import(origin) or origin == FILE:
        return True
    if origin != FREE:
        return False
    is_class = name[:1].isupper() and rule.language in CLASSES and not is_type_parameter(name)
    return is_class or origins.is_builtin(name) or (called and rule.language == "c")


def _root_of(piece: Piece) -> Piece | None:
    """The first name of `a.b.c`; None where it is a hole or no name."""
    while piece.children and not piece.hole:
        is_call = any(child.field == "object" for child in piece.children[:1])
        if not is_call and not any(word in piece.kind for word in MEMBERS):
            return None
        piece = piece.children[0]
    return None if piece.hole else piece
