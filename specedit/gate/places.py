"""Texts with places to fill: how many values they want, and under which names.

Knows three ways of writing a place: percent signs, braces as Python's, and braces as Rust's and
C#'s. Knows no language's functions.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field

_PERCENT = re.compile(
    r"%(?:(%)|(?:\((?P<name>[^)]*)\))?[-#0 +,']*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?P<verb>[A-Za-z]))"
)


@dataclass(frozen=True)
class Wants:
    """What a text wants filled in: `count` values in order, and values by name."""

    count: int = 0
    names: frozenset[str] = field(default_factory=frozenset)


def percents(text: str, verbs: str, free: str = "") -> Wants | None:
    """`%s` and its like; None where a place is written in a way that this does not count. Verbs
    of `free` want nothing."""
    count, names, end = 0, set[str](), 0
    for found in _PERCENT.finditer(text):
        if "%" in text[end : found.start()]:
            return None
        end = found.end()
        if found[1] or found["verb"] in free:
            continue
        if found["verb"] not in verbs:
            return None
        if found["name"] is not None:
            names.add(found["name"])
            continue
        count += 1 + (found["width"] == "*") + (found["precision"] == "*")
    if "%" in text[end:] or (count and names):
        return None
    return Wants(count, frozenset(names))


def braces(text: str) -> Wants | None:
    """`{}`, `{0}`, `{name!r:>{width}}`, as `str.format` reads them."""
    automatic, most, names = 0, 0, set[str]()
    try:
        fields = list(_fields(text))
    except ValueError:
        return None
    for one in fields:
        head = re.split(r"[.\[]", one, maxsplit=1)[0]
        if not head:
            automatic += 1
        elif head.isdigit():
            most = max(most, int(head) + 1)
        else:
            names.add(head)
    return Wants(max(automatic, most), frozenset(names))


def _fields(text: str) -> Iterator[str]:
    for _, name, spec, _ in string.Formatter().parse(text):
        if name is not None:
            yield name
            yield from _fields(spec or "")


def numbered(text: str) -> Wants | None:
    """`{0}`, `{1,10:N2}`, as .NET reads them; None where a brace is something else."""
    bare = text.replace("{{", "").replace("}}", "")
    found = re.findall(r"\{(\d+)(?:,\s*-?\d+)?(?::[^{}]*)?\}", bare)
    if len(found) != bare.count("{"):
        return None
    return Wants(max((int(one) + 1 for one in found), default=0))


def rusty(text: str) -> Wants | None:
    """`{}`, `{0}`, `{name:?}`, `{:>width$}`, as Rust reads them."""
    bare = text.replace("{{", "").replace("}}", "")
    count, most, names, seen = 0, 0, set[str](), 0
    for found in re.finditer(r"\{([^{}:]*)(?::([^{}]*))?\}", bare):
        seen += 1
        head, spec = found[1].strip(), found[2] or ""
        if ".*" in spec:
            return None
        if not head:
            count += 1
        elif head.isdigit():
            most = max(most, int(head) + 1)
        else:
            names.add(head)
        for other in re.findall(r"(\w+)\$", spec):
            if other.isdigit():
                most = max(most, int(other) + 1)
            else:
                names.add(other)
    if seen != bare.count("{"):
        return None
    return Wants(max(count, most), frozenset(names))


def wrong(wants: Wants, given: int, named: frozenset[str] = frozenset()) -> str:
    """How what is put in does not fit, as the end of a sentence; "" when it does."""
    lacking = sorted(wants.names - named)
    if lacking and given < 1:
        return f"has a place for `{lacking[0]}`, which nothing fills"
    if given != wants.count:
        places = "1 place" if wants.count == 1 else f"{wants.count or 'no'} places"
        values = "1 value" if given == 1 else f"{given or 'no'} values"
        return f"has {places} and gets {values}"
    return ""
