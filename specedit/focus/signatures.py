"""What a definition takes, before and after an edit, and whether a call must change for it.

A parameter that is added with a default, an annotation, another name: a call goes on as it was,
unless it gives the parameter by its name. Reads the text between brackets, no grammar: where that
is not clear the call is said to change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

FAR = 4000  # characters that the parameters may take
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_OWN = frozenset({"self", "cls", "&self", "&mutself", "mutself", "*", "/", ""})
_PAIRS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True)
class Parameter:
    """One parameter: `name`, or all words of it where the name is not told from its type."""

    text: str
    name: str
    kind: str  # what is written behind the name's colon
    optional: bool  # a call may leave it out


def signature(text: str, simple: str) -> str:
    """The name and parameters of a definition in a text, blanks aside; "" where it is not there."""
    return "".join(_taken(text, simple).split())


def stands(before: str, after: str, simple: str, calling: str) -> bool:
    """Whether what `calling` calls stays right when a definition's text becomes another."""
    taken = _taken(before, simple)
    old, new = _parameters(taken), _parameters(_taken(after, simple))
    body = before[before.find(taken) + len(taken) :]
    if len(new) < len(old) or not all(one.optional for one in new[len(old) :]):
        return False
    given = "\n".join(_calls(calling, simple))
    return all(_kept(a, b, body, given) for a, b in zip(old, new, strict=False))


def _kept(old: Parameter, new: Parameter, body: str, given: str) -> bool:
    """Whether calls, which give what stands in `given`, are right with the new parameter."""
    if old.text == new.text:
        return True
    if old.optional and not new.optional:
        return False
    if not (old.name and new.name):
        return _renamed(old.text, new.text, body)
    if old.kind and old.kind != new.kind:
        return False
    by_name = re.search(rf"(?<![\w$.]){re.escape(old.name)}\s*=(?!=)", given)
    return old.name == new.name or by_name is None


def _renamed(old: str, new: str, body: str) -> bool:
    """Whether two parameters differ by one word, the one that the body knows it by."""
    pairs = list(zip(old.split(), new.split(), strict=False))
    others = [(a, b) for a, b in pairs if a != b]
    if len(old.split()) != len(new.split()) or len(others) != 1:
        return False
    words = _WORD.findall(others[0][0])
    return len(words) == 1 and words[0] in _WORD.findall(body)


def _taken(text: str, simple: str) -> str:
    """The name and the brackets behind it, where the definition begins."""
    found = re.search(rf"(?<![\w$.]){re.escape(simple)}\s*(?:<[^>\n]*>)?\(", text)
    return text[found.start() : _closing(text, found.end() - 1)] if found else ""


def _calls(text: str, simple: str) -> Iterator[str]:
    """What each call gives, in its brackets."""
    for found in re.finditer(rf"(?<![\w$]){re.escape(simple)}\s*(?:<[\w, ]*>)?\(", text):
        yield text[found.end() - 1 : _closing(text, found.end() - 1)]


def _closing(text: str, opening: int) -> int:
    """Behind the bracket that closes the one at a place."""
    depth = 0
    for at in range(opening, min(len(text), opening + FAR)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return min(len(text), opening + FAR)


def _parameters(taken: str) -> Sequence[Parameter]:
    inside = taken[taken.find("(") + 1 :].removesuffix(")")
    return [_parameter(one) for one in _parts(inside) if "".join(one.split()) not in _OWN]


def _parts(inside: str) -> Iterator[str]:
    """What stands between commas that are in no brackets."""
    depth, first = 0, 0
    for at, letter in enumerate(inside):
        depth += _PAIRS.get(letter, 0)
        if letter == "," and depth == 0:
            yield inside[first:at]
            first = at + 1
    yield inside[first:]


def _parameter(text: str) -> Parameter:
    said = " ".join(text.split())
    given, is_, _ = said.partition("=")
    named = re.fullmatch(r"(\*{0,2}|\.\.\.)([A-Za-z_$][\w$]*)(\?)?\s*(?::(.*))?", given.strip())
    if named is None:
        return Parameter(said, "", "", bool(is_) or "..." in said)
    stars, name, maybe, kind = named.groups()
    return Parameter(said, name, (kind or "").strip(), bool(is_ or stars or maybe))
