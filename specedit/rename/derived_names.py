"""`--scope derived` over a work tree: names that are built from the old one, and code in prose.

In Markdown, reStructuredText and plain text that is code spans, and code blocks of a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath

from specedit.rename.guess import Place, RenameGuess, applied
from specedit.rename.places import guessed
from specedit.rename.resolution import ResolvedName, resolve_name
from specedit.scoping.project import Project
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN
from specedit.syntax import identifiers as names

SUFFIXES = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.{-]*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode)::\s*\w")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")


def kept_places(
    project: Project,
    typings: Mapping[str, Typing],
    path: str,
    old: str,
    new: str,
    is_here: Callable[[str, str], bool],
) -> frozenset[int]:
    """Where a name that is built from OLD is known to be another project's."""

    def places(name: str) -> set[tuple[str, int]]:
        holding = {p: t for p, t in typings.items() if name in (project.text(p) or "")}
        known = resolve_name(holding, name, "", is_here)
        return {
            (p, leaf.start)
            for p, parts in known.others.items()
            for part in parts
            if part.kind in (EXTERNAL, FOREIGN, "import")
            for leaf in part.leaves
        }

    key = id(typings) if len(typings) > 1 else path
    leaves = {name for _, name in typings[path].scopes.leaves if name != old}
    known = (
        project.remembered(("foreign", key, name), partial(places, name))
        for name in leaves
        if names.derived(name, old, new) is not None
    )
    return frozenset(start for each in known for p, start in each if p == path)


def derived_only(
    project: Project,
    path: str,
    owner: str,
    old: str,
    new: str,
    is_here: Callable[[str, str], bool],
) -> RenameGuess | None:
    """A file that holds only names that are built from OLD, or code in prose."""
    if is_prose(path):
        return rename_prose(project.text(path) or "", owner, old, new)
    if (typing := project.typing(path)) is None:
        return None
    kept = kept_places(project, {path: typing}, path, old, new, is_here)
    none = ResolvedName({path: typing}, [])
    return guessed(none, path, old, new, "derived", whole_tree=True, kept_names=kept)


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
    return RenameGuess(old, new, written, tuple(places))


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
