"""A rename at a place of an open file, as edits of all files of its work tree.

Knows what editors hold open, and what a rename comes to. No model is asked: the editor shows the
change, and its undo takes it back. Knows characters; columns are the server's to count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import InputError
from specedit.rename.project.plan import Tree
from specedit.rename.project.renaming import Target, TreeRename, rename_tree
from specedit.settings import Settings

WORD = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True)
class Named:
    """The identifier at a place: characters [start, end) of the file."""

    start: int
    end: int
    text: str


def named_at(text: str, at: int) -> Named | None:
    """The word that a place is in, or at the end of."""
    for found in WORD.finditer(text, text.rfind("\n", 0, at) + 1):
        if found.start() <= at <= found.end():
            return Named(found.start(), found.end(), found[0])
        if found.start() > at:
            return None
    return None


def tree_of(path: Path, opened: Mapping[Path, str]) -> Tree:
    """The work tree around a file, as it is in the editor where that is ahead of the disk."""
    tree = Tree.around([str(path)]) or Tree.of_files([str(path)])
    for place, text in opened.items():
        name = tree.path(str(place))
        if name in tree.project.paths:
            tree.project.hold(name, text)
    return tree


def rename_at(tree: Tree, path: Path, at: int, new: str, settings: Settings) -> TreeRename:
    """What renaming the identifier at a place comes to, all over its tree."""
    name = tree.path(str(path))
    text = tree.project.text(name) or ""
    found = named_at(text, at)
    if found is None:
        raise InputError("there is no identifier at this place", file=name)
    derived = settings.scope == "derived"
    held = tree.holding(found.text, derived=derived) if tree.tracks else []
    opened = [one for one in tree.project.held if found.text in (tree.project.text(one) or "")]
    paths = list(dict.fromkeys([name, *held, *opened]))
    target = Target(name, found.start, found.end)
    made = rename_tree(tree.project, paths, found.text, new, settings.scope, tree.is_here, target)
    tree.refuse_taken(made, settings)
    return made
