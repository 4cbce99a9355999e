"""Code in Markdown, reStructuredText and plain text: code spans, and code blocks of a language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from specedit.rename.guess import Place, RenameGuess, applied

SUFFIXES = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.{-]*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode)::\s*\w")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")


def is_prose(path: str) -> bool:
    return PurePath(path).suffix.lower() in SUFFIXES


def rename_prose(text: str, owner: str, old: str, new: str) -> RenameGuess:
    """The text with OLD renamed in its code. `owner`: only as a member of this class."""
    before = rf"(?<=\b{re.escape(owner)}[.#:])" if owner else r"(?<![\w$])"
    word = re.compile(before + re.escape(old) + r"(?![\w$])")
    places = []
    for start, end, why in _code(text):
        for match in word.finditer(text, start, end):
            at = match.start()
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            places.append(Place(at, line, "derived", old, new, column, why))
    written = applied(text, [(place.offset, place) for place in places])
    return RenameGuess(old, new, written, tuple(places), scopes=1)


def _code(text: str) -> Iterator[tuple[int, int, str]]:
    """The ranges of characters that are code."""
    fence, named, indent = "", False, -1  # the open fence; the indentation of a directive
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        depth = len(line) - len(line.lstrip())
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            elif named:
                yield start, at, "a code block"
        elif mark:
            fence, named = mark[1], bool(mark[2])
        elif indent >= 0 and (not line.strip() or depth > indent):
            yield start, at, "a code block"
        else:
            directive = _DIRECTIVE.match(line)
            indent = len(directive[1]) if directive else -1
            for span in _SPAN.finditer(line):
                yield start + span.start(2), start + span.end(2), "a code span"
