"""Renamed identifiers and their case variants, as the prediction drafter applies them.

`username` -> `email` also means `Username`, `userName`, `user_name`, `USERNAME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST = 3  # letters; shorter words match by accident

KINDS = ("word", "part", "variant")  # the identifier itself; inside a longer one; in another case

_REQUEST = re.compile(
    r"\b(?:renam|replac|chang|substitut|switch)\w*\s+(?P<old>[^.;\n]{1,80}?)"
    r"\s*(?:\bto\b|\bwith\b|\bby\b|\binto\b|\bas\b|->|=>|\u2192)\s*(?P<new>[^;\n]{1,60})",
    re.IGNORECASE,
)
_END = re.compile(r"\s(?:in|for|on|so|and|to|because)\s")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def renamed(old: str, new: str) -> tuple[str, str] | None:
    """The identifier of `old` that is another in `new`, when that is all that differs."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    gaps = _WORD.split(old), _WORD.split(new)
    if len(before) != len(after) or gaps[0] != gaps[1]:
        return None
    pairs = {(a, b) for a, b in zip(before, after, strict=True) if a != b}
    if len(pairs) != 1:
        return None
    pair = core(*pairs.pop())
    return pair if len(pair[0]) >= SHORTEST and pair[1] else None


def requested_renames(instruction: str) -> list[tuple[str, str]]:
    """The renames that an instruction asks for: `replace the X field with Y`."""
    pairs = []
    for match in _REQUEST.finditer(instruction):
        old, new = named(match["old"]), named(_END.split(match["new"])[0])
        if old and new and old != new and len(old) >= SHORTEST:
            pairs.append((old, new))
    return pairs


def named(phrase: str) -> str | None:
    """The identifier in a phrase: quoted, else with `_` or mixed case, else the first."""
    quoted = re.search(r"[`'\"]([A-Za-z_$][\w$]*)[`'\"(]", phrase)
    if quoted:
        return str(quoted[1])
    names: list[str] = [name for name in _NAME.findall(phrase) if name.lower() not in _SMALL]
    for name in names:
        if "_" in name or "$" in name or not (name.islower() or name.istitle()):
            return name
    for name in names:
        if name.istitle():
            return name
    return names[0] if names else None


_SMALL = frozenset(("a", "an", "the", "this", "that", "all", "of", "its", "every", "each", "new"))
_JOINS = re.compile(r"[\w$]")


def core(old: str, new: str) -> tuple[str, str]:
    """Strip common parts: getUsername -> getEmail becomes username -> email."""
    a, b = _PART.findall(old), _PART.findall(new)
    if "".join(a) != old.replace("_", "") or "".join(b) != new.replace("_", ""):
        return old, new
    head = 0
    while head < min(len(a), len(b)) - 1 and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - 1 - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    mid_a, mid_b = a[head : len(a) - tail], b[head : len(b) - tail]
    if not head and not tail:
        return old, new
    joint = "_" if "_" in old else ""
    return joint.join(mid_a), ("_" if "_" in new else "").join(mid_b)


def occurrences(text: bytes, start: int, old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Occurrences of `old` and its case variants from `start` on: (begin, end, new text, kind)."""
    letters = (
        [re.escape(c) for c in old if c != "_"] if not old.startswith("_") else [re.escape(old)]
    )
    pattern = re.compile("_?".join(letters).encode(), re.IGNORECASE)
    for match in pattern.finditer(text, start):
        word = match.group().decode("ascii", "replace")
        left = text[max(0, match.start() - 1) : match.start()].decode("ascii", "replace")
        right = text[match.end() : match.end() + 2].decode("ascii", "replace")
        if is_whole_word(left, word, right):
            bare = not (_JOINS.match(left) or _JOINS.match(right))
            kind = "variant" if word != old else "word" if bare else "part"
            yield match.start(), match.end(), in_style_of(word, old, new), kind


def is_whole_word(left: str, word: str, right: str) -> bool:
    """Whether `word` is an identifier or, by case or underscores, a part of one."""
    if left.isalnum() and not (word[0].isupper() and (left.islower() or left.isdigit())):
        return False
    follows = right[:1]
    if follows == "s" and not right[1:].isalpha():
        return True
    if word.isupper() and len(word) > 1:
        return not follows.isalpha()
    return not follows.islower()


def in_style_of(word: str, old: str, new: str) -> str:
    """`new` in the case style that `word` has for `old`."""
    if word == old:
        return new
    parts = [part.lower() for part in _PART.findall(new)] or [new]
    if word.isupper() and len(word) > 1:
        return "_".join(parts).upper()
    if "_" in word:
        return "_".join(parts)
    if word.islower():
        return "_".join(parts) if "_" in new else "".join(parts)
    joined = "".join(part.capitalize() for part in parts)
    return joined if word[0].isupper() else joined[0].lower() + joined[1:]
