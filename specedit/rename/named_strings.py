"""Strings that name what is renamed, so that the program breaks where they keep the old name.

A dotted path that leads to it, a member that is read by its name, and the table under whose names
a module in C gives its functions to Python. Other words in strings are left to `--scope derived`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from specedit.rename.guess import Place, RenameGuess, applied
from specedit.rename.resolution import ResolvedName
from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import Rewrite, scopes_of
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

CONFIGURATION = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
WHOLE = re.compile(r"""[A-Za-z]*(["'])([\w.:]+)\1""")
DOTTED = re.compile(r"(?<![\w.:/-])[^\W\d]\w*(?:[.:][^\W\d]\w*)+(?![\w/-])")
WHY = "the program finds it by this string"


def string_rewrites(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str, new: str
) -> list[Rewrite]:
    """What is rewritten in the strings of a file of code."""
    word = rf"[\"'.:]{re.escape(old)}[\"'.:]"
    if re.search(word, project.text(path) or "") is None:
        return []
    chosen = {declared for one in every for meaning in one.chosen for declared in meaning.declared}
    found = [
        *_in_paths(project, path, typing, chosen, old),
        *_given_out(typing, every, old),
        *_listed_members(path, typing, every, old),
    ]
    end = len(old.encode())
    return [Rewrite(start, start + end, old, new, "string", WHY) for start in found]


def _in_paths(
    project: Project, path: str, typing: Typing, chosen: set[Declared], old: str
) -> Iterator[int]:
    """The bytes where a string's path, or the name of a member, means one of `chosen`."""
    folder = posixpath.dirname(path)
    for node in typing.scopes.root.walk():
        if node.type not in typing.rules.strings:
            continue
        text = typing.scopes.text(node) if node.end - node.start < 300 else ""
        match = WHOLE.fullmatch(text)
        if match is None or old not in text:
            continue
        start = node.start + len(text[: match.start(2)].encode())
        if match[2] == old:
            if _is_member(typing, node, chosen, old):
                yield start
            continue
        for offset in _parts(project, typing.rules, folder, match[2], chosen, old):
            yield start + len(match[2][:offset].encode())


def _is_member(typing: Typing, node: Branch, chosen: set[Declared], old: str) -> bool:
    holder = typing.rules.read_by_name(typing, node)
    known = typing.type_of(holder) if holder is not None else None
    return any(member in chosen for member in typing.members(known or (), old))


def _listed_members(
    path: str, typing: Typing, every: Sequence[ResolvedName], old: str
) -> Iterator[int]:
    """Where a class lists a member of its own as a string: in Python's `__slots__`."""
    places = [
        leaf.start
        for one in every
        for meaning in one.chosen
        for leaf in meaning.leaves
        if one.path_of(leaf) == path
    ]
    for node in typing.scopes.root.walk() if places else ():
        if node.type not in typing.rules.strings or old not in typing.scopes.text(node):
            continue
        holder = typing.rules.lists_members_of(typing, node)
        match = WHOLE.fullmatch(typing.scopes.text(node)) if holder is not None else None
        if holder is None or match is None or match[2] != old:
            continue
        if any(holder.start <= place < holder.end for place in places):
            yield node.start + len(match[0][: match.start(2)].encode())


def _parts(
    project: Project, rules: Rules, folder: str, dotted: str, chosen: set[Declared], old: str
) -> Iterator[int]:
    """Where in a dotted path a part means one of `chosen`, each once."""
    words = re.split(r"[.:]", dotted)
    found = rules.along_path(project, folder, words) if old in words else ()
    numbers = {at for at, declared in found if words[at] == old and declared in chosen}
    yield from (sum(len(word) + 1 for word in words[:number]) for number in sorted(numbers))


def _given_out(typing: Typing, every: Sequence[ResolvedName], old: str) -> Iterator[int]:
    """The names of a table of functions that a renamed import takes."""
    tables = list(typing.rules.given_out(typing, old))
    if not tables:
        return
    modules = {
        each.typings[each.path_of(declared.leaf)].rules.module_of(scopes_of(declared), declared)
        for each in every
        for meaning in each.chosen
        for declared in meaning.declared
        if declared.kind == "import"
    }
    taken = {re.split(r"[./]", module)[-1] for module in modules}
    yield from (start for start, module in tables if module in taken)


def configuration_renamed(
    project: Project, path: str, every: Sequence[ResolvedName], old: str, new: str
) -> RenameGuess | None:
    """A file of settings with the dotted paths in it that mean what is renamed; None where it has
    none."""
    text = project.text(path) or ""
    if not path.endswith(CONFIGURATION):
        return None
    chosen = {declared for one in every for meaning in one.chosen for declared in meaning.declared}
    folder, places = posixpath.dirname(path), []
    for match in DOTTED.finditer(text):
        if old not in match[0]:
            continue
        offsets = {
            match.start() + offset
            for one in every
            for offset in _parts(project, one.rules, folder, match[0], chosen, old)
        }
        for at in sorted(offsets):
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            places.append(Place(at, line, "string", old, new, column, WHY))
    if not places:
        return None
    written = applied(text, [(place.offset, place) for place in places])
    return RenameGuess(old, new, written, tuple(places))
