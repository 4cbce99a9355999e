"""The one definition that an instruction names outright: `let Cart.total return early`.

A name is outright where it is spelled as code, is the only one of the file that is, and where the
sentence is about the definition rather than about the uses of its name. So is a constant that the
sentence gives another value: `change LIMIT to 20`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.edit.regions.blocks import TYPES, Block
from specedit.edit.regions.instruction_words import STOP, Query
from specedit.syntax.outline import CALLABLE

_PARTS = re.compile(r"\.|::|->|#")
_RAISED = re.compile(r"(?:Error|Exception|Warning)$")  # named to be raised, not to be edited
_BEFORE = (  # words before a name that mean the places that use it
    r"(?:us(?:e|es|ed|ing|age|ages)|call(?:s|ed|ing|er|ers)?|invok(?:e|es|ing)|via|with|like|than"
    r"|through|instead|renam(?:e|es|ed|ing)|replac(?:e|es|ed|ing)|remov(?:e|es|ed|ing)"
    r"|delet(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|inlin(?:e|es|ed|ing))"
    r"\s+(?:(?:of|to|the|function|method)\s+)*`?(?:[\w$]+(?:\.|::|->|#))*"
)
_ASSIGNED = re.compile(  # a line that gives a name its value
    r"(?m)^[ \t]*(?:#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+\S"
    r"|(?:[\w$<>\[\],*&:. \t]{0,60}[\s*&])?([A-Za-z_$][\w$]*)(?:\[\w*\])?[ \t]*"
    r"(?::[^=\n{(]{1,60})?:?=(?![=>]))"
)
_VALUE = (  # words before or behind a constant's name that are about its value
    r"(?i)\b(?:change|set|let|make|raise|lower|reduce|increase|decrease|double|halve|bump|turn)\s+"
    r"(?:(?:the|value|default|constant|limit|variable|of)\s+)*`?{0}`?(?![\w$(])"
    r"|(?<![\w$])`?{0}`?\s+(?:should|must|shall|has to|is to)\s+(?:be|become|hold|include)\b"
)
_SUBJECT = re.compile(  # where a plain word is the name of what is to be edited
    r"^\W*([A-Za-z_]\w*)(?=:\s|\s+(?:should|must|shall)\b)"
    r"|\b(?:in|of|to|for|from|let|make|function|method)\s+([A-Za-z_]\w*)"
    r"(?=[:.,;](?:\s|$)|\s*$|\s+(?:should|must|shall)\b)"
)


def values_of(one: Block, text: str) -> frozenset[str]:
    """The names that a block gives values outside of functions: constants and fields."""
    if one.kind in CALLABLE:
        return frozenset()
    return frozenset(name for pair in _ASSIGNED.findall(text) for name in pair if name)


def revalued(
    instruction: str, asked: Query, blocks: Sequence[Block], values: Sequence[frozenset[str]]
) -> frozenset[Block]:
    """The block of the one constant that gets another value, or none."""
    places = [
        [one for one, names in zip(blocks, values, strict=True) if name in names]
        for name in asked.names
        if re.search(_VALUE.format(re.escape(name)), instruction)
    ]
    places = [one for one in places if one]
    return frozenset(places[0]) if len(places) == 1 and len(places[0]) == 1 else frozenset()


def named_outright(
    instruction: str, asked: Query, blocks: Sequence[Block], names: Sequence[frozenset[str]]
) -> frozenset[Block]:
    """All blocks of that definition, or none. `names`: those that stand in each block."""
    code = _dotted_names(asked)
    subjects = {one for pair in _SUBJECT.findall(instruction.strip()) for one in pair if one}
    wanted = code | {one for one in subjects if one not in STOP}
    named = {one.name for one in blocks if one.name and {one.name, one.own_name} & wanted}
    full = {n for n in named if any("." in one and f".{n}".endswith(f".{one}") for one in code)}
    named -= {n for n in named - full if _last(n) in map(_last, full)}
    named -= {n for n in named if any(one.startswith(f"{n}.") for one in named)}
    if len(named) != 1:
        return frozenset()
    (name,) = named
    definition = frozenset(one for one in blocks if one.name == name)
    pairs = list(zip(blocks, names, strict=True))
    inside = {n for one, names in pairs if one in definition for n in names}
    elsewhere = {n for one, names in pairs if one not in definition for n in names}
    others = {one for one in code if not _RAISED.search(one)} - set(name.split("."))
    if others & (elsewhere - inside):
        return frozenset()
    has_members = any(one.name.startswith(f"{name}.") for one in blocks)
    if has_members or any(one.kind in TYPES for one in definition):  # its members belong to it
        return frozenset()
    about_uses = re.search(rf"(?i)\b{_BEFORE}{re.escape(_last(name))}(?![\w$])", instruction)
    return frozenset() if about_uses else definition


def _dotted_names(asked: Query) -> frozenset[str]:
    """The names spelled as code, with dots; what stands before a dot only says where."""
    parts = [_PARTS.split(one) for one in asked.code]
    before = {part for one in parts for part in one[:-1]}
    return frozenset({".".join(one) for one in parts} - before)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
