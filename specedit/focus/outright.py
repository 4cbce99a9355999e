"""The one definition that an instruction names outright: `let Cart.total return early`.

A name is outright where it is spelled as code, is the only one of the file that is, and where the
sentence speaks of the definition rather than of those who hold its name. Knows blocks and words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.focus.blocks import Block
from specedit.focus.terms import Query
from specedit.syntax.outline import CALLABLE

_PARTS = re.compile(r"\.|::|->|#")
_RAISED = re.compile(r"(?:Error|Exception|Warning)$")  # named to be raised: no place of the file
_BEFORE = (  # words before a name with which the places that hold it are meant
    r"(?:us(?:e|es|ed|ing|age|ages)|call(?:s|ed|ing|er|ers)?|invok(?:e|es|ing)|via|with|like|than"
    r"|through|instead|renam(?:e|es|ed|ing)|replac(?:e|es|ed|ing)|remov(?:e|es|ed|ing)"
    r"|delet(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|inlin(?:e|es|ed|ing))"
    r"\s+(?:(?:of|to|the|function|method)\s+)*`?(?:[\w$]+(?:\.|::|->|#))*"
)


def outright(
    instruction: str, asked: Query, found: Sequence[Block], held: Sequence[frozenset[str]]
) -> frozenset[Block]:
    """All blocks of that definition, or none. `held`: the names that stand in each block."""
    code = _said(asked)
    named = {one.name for one in found if one.name and {one.name, _last(one.name)} & code}
    full = {n for n in named if any("." in one and f".{n}".endswith(f".{one}") for one in code)}
    named -= {n for n in named - full if _last(n) in map(_last, full)}
    named -= {n for n in named if any(one.startswith(f"{n}.") for one in named)}
    if len(named) != 1:
        return frozenset()
    (name,) = named
    meant = frozenset(one for one in found if one.name == name)
    pairs = list(zip(found, held, strict=True))
    inside = {n for one, names in pairs if one in meant for n in names}
    elsewhere = {n for one, names in pairs if one not in meant for n in names}
    others = {one for one in code if not _RAISED.search(one)} - set(name.split("."))
    if others & (elsewhere - inside):
        return frozenset()
    if any(one.kind not in CALLABLE for one in meant):  # of a type its members are meant, too
        return frozenset()
    about_others = re.search(rf"(?i)\b{_BEFORE}{re.escape(_last(name))}(?![\w$])", instruction)
    return frozenset() if about_others else meant


def _said(asked: Query) -> frozenset[str]:
    """The names spelled as code, with dots; what stands before a dot says only where."""
    parts = [_PARTS.split(one) for one in asked.code]
    before = {part for one in parts for part in one[:-1]}
    return frozenset({".".join(one) for one in parts} - before)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
