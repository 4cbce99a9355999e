"""What a snippet shows and what it leaves out: its elisions (`// ... existing code ...`), its
definitions, and those of the file that they stand for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from specedit.check.new_code import stands_in
from specedit.edit.apply.part_places import likeness, margin
from specedit.import_time import frozen, regex
from specedit.syntax import trees
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

_DOTS = regex(r"\s*(?:\.{3}|…)\s*,?\s*")
_WORDS = regex(
    r"[\[(<]?\s*(?:\.{3}|…)\s+\w[\w\s,'\-]*(?:\.{3}|…)\s*[\])>]?|[\[(<]\s*(?:\.{3}|…)\s*[\])>]"
)
_COMMENT = regex(r"(?://+|#+|--+|;+|%+|/\*+|<!--+|\{/\*+)\s*(.*?)\s*(?:\*+/\}?|--+>)?")
_DOTTED = regex(r"(?:\.{3,}|…)[^.…]{0,80}(?:\.{3,}|…)")
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
_INNER = regex(r"(?P<head>.*\{)\s*(?P<elision>/\*.*?\*/|//.*?|\.{3}|…)\s*(?P<tail>\}[;,)]*)\s*")


@frozen
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


_CLASS = "class Snippet__ {"  # around methods that stand alone, so that they parse
_BARE = frozenset({"csharp", "java", "javascript", "typescript", "tsx", "kotlin", "scala", "php"})
_STATEMENTS = frozenset(("if", "for", "while", "switch", "catch", "with", "using", "lock"))
ENOUGH, SAME_HEAD = 0.3, 0.75  # least share of lines, or likeness of first lines
_KINDS = frozenset({"function", "method", "class", "interface", "enum"})


@frozen
class Definition:
    """A definition of a snippet, its lines [first, last) from 0."""

    first: int
    last: int
    name: str
    qualified: str
    kind: str


def definitions(lines: Sequence[str], language: Language | None) -> list[Definition]:
    """The functions and types of a snippet whose elisions are blank lines; outer before inner."""
    if language is None or not language.grammar:
        return []
    text = "\n".join(lines) + "\n"
    best = trees.symbols(text, language)
    shift = 0
    if language.name in _BARE:
        plain = len(trees.errors(text, language) or ())
        wrapped = f"{_CLASS}\n{text}}}\n"
        if plain and len(trees.errors(wrapped, language) or ()) < plain:
            best, shift = trees.symbols(wrapped, language)[1:], 1
    return [
        Definition(
            one.first_line - 1 - shift,
            min(one.last_line - shift, len(lines)),
            one.name,
            one.qualified.removeprefix("Snippet__."),
            one.kind,
        )
        for one in best
        if one.kind in _KINDS and one.name not in _STATEMENTS
    ]


def counterpart(
    one: Definition,
    snippet: Sequence[str],
    named: Mapping[str, Sequence[Symbol]],
    lines: Sequence[str],
) -> tuple[Symbol | None, list[Symbol]]:
    """The definition of the file that one of a snippet stands for, and all that it could be.
    `named`: the file's definitions by their own names."""
    wanted = one.qualified.split(".")
    same = [s for s in named.get(one.name.rpartition(".")[2], ()) if s.kind in _KINDS]
    exact = [s for s in same if s.qualified.split(".")[-len(wanted) :] == wanted]
    found = exact or [s for s in same if len(wanted) == 1]
    if len(found) < 2:
        same = [s for s in found if _alike(one, s, snippet, lines)]
        return (same[0] if same else None), found
    head = snippet[one.first].strip()
    heads = [s for s in found if lines[s.first_line - 1].strip() == head]
    return (heads[0] if len(heads) == 1 else None), found


def _alike(one: Definition, old: Symbol, snippet: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether two definitions of one name share enough: a first line, or some of the others."""
    if likeness(snippet[one.first], lines[old.first_line - 1]) >= SAME_HEAD:
        return True
    texts = snippet[one.first : one.last], lines[old.first_line - 1 : old.last_line]
    own, other = (Counter(line.strip() for line in text if line.strip()) for text in texts)
    return (own & other).total() >= ENOUGH * max(1, own.total(), other.total())


def ends_itself(one: Definition, snippet: Sequence[str]) -> bool:
    """Whether a definition shows its own end: a closing line as deep as its first one."""
    last, first = snippet[one.last - 1], snippet[one.first]
    closing = last.strip()[:1] == "}" or last.strip().rstrip(";") == "end"
    return one.last - one.first > 1 and closing and margin(last) == margin(first)
