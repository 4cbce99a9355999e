"""Moving files: how the imports of a work tree follow them. Writes nothing.

Imports of Python, JavaScript and TypeScript are rewritten; in Java and C# the class that the file
is named after is renamed. Files that name a moved file in another way are reported.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from specedit.errors import InputError, UsageError
from specedit.rename.guess import put
from specedit.rename.tree import Tree
from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import Project
from specedit.settings import Settings

BY_CLASS = (".java", ".cs")  # a file is named after its class
OF_FOLDER = ("__init__", "index")  # such a file is what an import of its folder means
IN_FOLDER = (".go",)  # the files of a folder are one package


@dataclass
class MovePlan:
    """The new texts by path (from the tree's top), and what does not follow."""

    moved: Mapping[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def follow(tree: Tree, moved: Mapping[str, str], settings: Settings) -> MovePlan:
    """The texts of all files of a tree after a move."""
    for old, new in moved.items():
        _refuse_unknown(tree.project, old, new)
    old, new = next(iter(moved.items()))
    if len(moved) == 1 and old.endswith(BY_CLASS):
        return _class_renamed(tree, old, new, settings)
    stems = {posixpath.splitext(path)[0] for path in moved}
    if len(moved) > 1:  # a folder: what is outside names it
        stems = {posixpath.commonpath([posixpath.dirname(path) for path in moved])}
    stems |= {posixpath.dirname(one) for one in stems if posixpath.basename(one) in OF_FOLDER}
    names = {posixpath.basename(one) for one in stems} - {""}
    holding = [path for name in sorted(names) for path in tree.holding(name, derived=False)]
    return plan_move(tree.project, moved, list(dict.fromkeys(holding)))


def _refuse_unknown(project: Project, old: str, new: str) -> None:
    """An error for code whose imports cannot be followed."""
    typing = project.typing(old)
    if typing is None or type(typing.rules).moved_imports is not Rules.moved_imports:
        return
    beside = posixpath.dirname(old) == posixpath.dirname(new)
    alone = old.endswith((*IN_FOLDER, *BY_CLASS)) and (beside or old.endswith(".cs"))
    if not alone:
        language = project.language(old)
        apart = "" if beside else " to another folder"
        raise InputError(
            f"the imports of {language.name if language else ''} are not followed{apart}; "
            "nothing was moved",
            file=old,
            hint="git mv moves the file alone.",
        )


def _class_renamed(tree: Tree, old: str, new: str, settings: Settings) -> MovePlan:
    """The class of the file's name is renamed as the file is."""
    plan = MovePlan({old: new})
    names = [posixpath.splitext(posixpath.basename(path))[0] for path in (old, new)]
    typing = tree.project.typing(old)
    owners = typing.scopes.owners if typing is not None else []
    if names[0] != names[1] and any(owner.name == names[0] for owner in owners):
        end = posixpath.splitext(old)[1]  # other languages have classes of their own
        paths = [one for one in tree.holding(names[0], derived=False) if one.endswith(end)]
        result = tree.rename_in(paths, names[0], names[1], settings)
        tree.refuse_taken(result, settings)
        plan.texts = {path: guess.text for path, guess in result.files.items()}
    return plan


def plan_move(project: Project, moved: Mapping[str, str], holding: list[str]) -> MovePlan:
    """The texts of all files after a move. `holding`: the files that may name a moved file."""
    plan = MovePlan(moved)
    for path in dict.fromkeys((*moved, *holding)):
        typing = project.typing(path)
        text = project.text(path)
        if text is None or typing is None:
            continue
        if rewrites := list(typing.rules.moved_imports(project, typing, moved)):
            plan.texts[path] = put(typing.scopes.data, rewrites)[1].decode("utf-8", "surrogatepass")
    for path in holding:
        if note := _left(plan.texts.get(path) or project.text(path) or "", path, moved):
            plan.notes[path] = note
    return plan


def _left(text: str, path: str, moved: Mapping[str, str]) -> str:
    """Where a file names a moved one in a way that is not an import."""
    for old, new in moved.items():
        dotted = posixpath.splitext(old)[0].replace("/", ".")
        names = [old, *([dotted] if "." in dotted and old.endswith(".py") else [])]
        for name in names:
            hit = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text)
            if hit is not None and path not in (old, new):
                return f"line {text.count(chr(10), 0, hit.start()) + 1}: names `{name}`; it stays"
    return ""


def refuse_taken(project: Project, moved: Mapping[str, str]) -> None:
    """An error where a file cannot be moved to its new name."""
    for old, new in moved.items():
        if old == new:
            raise UsageError(f"OLD and NEW are both {old!r}")
        same = new.lower() == old.lower()
        other = next((path for path in project.paths if path.lower() == new.lower()), None)
        if other is not None and not same:
            how = "exists already" if other == new else "differs from it only in case"
            raise InputError(f"{how}; nothing was moved", file=other)
