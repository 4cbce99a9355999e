"""Names that an instruction keeps or asks for: what is gone under them, and what never came.

"renamed": a definition is gone by name, and nobody asked for that. "missing": the instruction
names something new, and the new text does not have it. Knows words; knows no scopes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.hit import Change, Hit
from specedit.syntax.losses import TAKES

WORD = re.compile(r"[A-Za-z_$][\w$]*")
_NAMED = re.compile(
    r"(?i)\b(?:parameter|param|argument|option|flag|keyword|variable|function|method|class|constant"
    r"|field|property|attribute|exception|interface|struct|enum|type|helper)\s+"
    r"(?:(?:named|called)\s+)?([`'\"]?)([A-Za-z_]\w*)\1(?![\w'])"
)
_QUOTED = re.compile(r"`([A-Za-z_]\w*)(?:\(\))?`")
_KINDS = frozenset({"function", "method", "class"})
# "Change it to count all, instead of the first": what it does is to change, and not its name.
_MILD = re.compile(r"(?i)\b(?:chang|switch|instead|longer)\w*")


def hits(change: Change) -> Iterator[Hit]:
    yield from _renamed(change)
    yield from _missing(change)


def _renamed(change: Change) -> Iterator[Hit]:
    said = change.instruction
    old = change.before.symbols
    new = change.after.symbols
    names, had = {one.name for one in new}, {one.name for one in old}
    words = set(WORD.findall(said))
    come = [one for one in new if one.name not in had]
    asked = TAKES.search(said if re.search(r"(?i)\bname", said) else _MILD.sub("", said))
    if asked or any(one.name.rpartition(".")[2] in words for one in come):
        return
    for one in old:
        short = one.name.rpartition(".")[2]
        if one.kind not in _KINDS or one.name in names or short.startswith("_") or short in words:
            continue
        if not re.search(rf"(?<![\w$]){re.escape(short)}(?![\w$])", change.after.text):
            other = next((x for x in come if x.kind == one.kind), None)
            now = f": it is `{other.name}` now" if other is not None else ""
            line = other.first_line if other is not None else 1
            yield Hit("renamed", line, f"nobody asked to take the name `{one.name}` away{now}")


def _missing(change: Change) -> Iterator[Hit]:
    for name in wanted(change.instruction):
        if not re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", change.after.text):
            said = f"the instruction names `{name}`, and the answer has no such name"
            yield Hit("missing", 1, said)


def wanted(instruction: str) -> Iterator[str]:
    """Names that an instruction asks for, not those that it takes away."""
    for sentence in re.split(r"[.;\n]\s", instruction):
        if TAKES.search(sentence):
            continue
        for found in _NAMED.finditer(sentence):
            if found[1] or _is_name(found[2]):
                yield found[2]
        yield from _QUOTED.findall(sentence)


def _is_name(word: str) -> bool:
    """Whether a bare word can only be a name: `max_depth`, `maxDepth`, `n`."""
    inner = re.search(r"_|\d|[a-z][A-Z]", word)
    return bool(inner) or (len(word) == 1 and word.islower() and word != "a")
