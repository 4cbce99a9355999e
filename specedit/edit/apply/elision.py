"""The lines of a snippet, and where something is left out: `// ... existing code ...`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.check.placeholders import stands_in
from specedit.edit.apply.part_places import margin

_DOTS = re.compile(r"\s*(?:\.{3}|…)\s*,?\s*")
_WORDS = re.compile(
    r"[\[(<]?\s*(?:\.{3}|…)\s+\w[\w\s,'\-]*(?:\.{3}|…)\s*[\])>]?|[\[(<]\s*(?:\.{3}|…)\s*[\])>]"
)
_COMMENT = re.compile(r"(?://+|#+|--+|;+|%+|/\*+|<!--+|\{/\*+)\s*(.*?)\s*(?:\*+/\}?|--+>)?")
_DOTTED = re.compile(r"(?:\.{3,}|…)[^.…]{0,80}(?:\.{3,}|…)")
# A comment of these words alone stands for code, with dots or without, if one of `_CORE` is there.
_PHRASE = """
    a above all and are as before below block body class code content continues elided everything
    existing fields file from function functions goes here imports implementation in is it keep
    kept left lines logic method methods more no not of omitted original other others out part
    previous properties remain remaining remains rest same section shown snip stay stays
    test tests the this truncated unchanged untouched unmodified with your changes
"""
_CORE = """
    continues elided existing keep omitted original previous remaining remains rest same snip stays
    truncated unchanged untouched unmodified
"""
_INNER = re.compile(
    r"(?P<head>.*\{)\s*(?P<elision>/\*.*?\*/|//.*?|\.{3}|…)\s*(?P<tail>\}[;,)]*)\s*"
)


@dataclass(frozen=True)
class Elided:
    """A snippet without its elisions. `gaps[n]`: the indentation of the elision above line n, or
    None; one more for the end."""

    lines: tuple[str, ...]
    gaps: tuple[str | None, ...]

    @property
    def any(self) -> bool:
        return any(gap is not None for gap in self.gaps)


def is_elision(line: str, known: frozenset[str]) -> bool:
    """Whether a line stands for code left out. `known`: the file's lines, stripped."""
    text = line.strip()
    if not text or text in known:
        return False
    if _DOTS.fullmatch(text) or _WORDS.fullmatch(text) or stands_in(text):
        return True
    comment = _COMMENT.fullmatch(text)
    if comment is None:
        return False
    words = re.findall(r"[a-z']+", comment[1].lower())
    if set(words) <= set(_PHRASE.split()) and set(words) & set(_CORE.split()):
        return True
    return _DOTTED.fullmatch(comment[1].strip("()[] ")) is not None


def elided(lines: Sequence[str], text: str) -> Elided:
    """The snippet's own lines, and the gaps between them."""
    known = frozenset(line.strip() for line in text.split("\n") if "..." in line or "…" in line)
    own: list[str] = []
    gaps: list[str | None] = [None]
    for line in lines:
        if is_elision(line, known):
            gaps[-1] = margin(line)
            continue
        inner = _INNER.fullmatch(line)
        if inner and is_elision(inner["elision"], known):
            own += [inner["head"].rstrip(), margin(line) + inner["tail"]]
            gaps += [margin(line) + "    ", None]
            continue
        own.append(line)
        gaps.append(None)
    return Elided(tuple(own), tuple(gaps))
