"""Moving files: how the imports of a work tree follow them. Writes nothing.

Imports of Python, JavaScript and TypeScript are rewritten; in Java and C# the class that the file
is named after is renamed. Files that name a moved file in another way are reported.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from specedit.check.finding import Finding
from specedit.edit.report import Edit, outcome
from specedit.errors import InputError, UsageError
from specedit.files import regular
from specedit.files.git import is_inside, real
from specedit.files.source import Source, read
from specedit.rename.places import rewritten
from specedit.rename.tree import Tree
from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import Project
from specedit.settings import Settings

BY_CLASS = (".java", ".cs")  # a file is named after its class
OF_FOLDER = ("__init__", "index")  # such a file is what an import of its folder means
IN_FOLDER = (".go",)  # the files of a folder are one package


def moved_files(old: str, new: str) -> tuple[Tree, dict[str, str]]:
    """The work tree of a file or a folder, and the new path of each file that moves with it."""
    source, target = Path(old), Path(new)
    if source.is_symlink():
        raise InputError("a symbolic link; nothing was moved", file=old)
    if target.is_dir() or (new.endswith("/") and not source.is_dir()):  # as `mv` does
        target = target / source.name
    tree = Tree.around([old])
    if tree is None:
        raise InputError(
            "not in a git work tree: what imports it cannot be found; nothing was moved", file=old
        )
    before, after = tree.path(old), tree.path(str(target))
    for path, shown in ((source, old), (target, new)):  # a folder on the way may be a link
        if not is_inside(real(path), real(tree.root)):
            raise UsageError(f"{shown} is outside the work tree of {old}, or in its .git.")
    if not source.is_dir():
        return tree, {before: after}
    files = [path for path in tree.project.paths if path.startswith(f"{before}/")]
    there = [path for path in files if (tree.root / path).is_file()]
    if not there:
        raise InputError("a folder without files that git knows; nothing was moved", file=old)
    return tree, {path: after + path[len(before) :] for path in sorted(there)}


def follow(tree: Tree, moved: Mapping[str, str], settings: Settings) -> list[tuple[Source, Edit]]:
    """Each file that changes or moves, with its Edit; what else names a moved one is noted."""
    for old, new in moved.items():
        _refuse_taken(tree.project, old, new)
        _refuse_unknown(tree.project, old, new)
    old, new = next(iter(moved.items()))
    notes: dict[str, str] = {}
    if len(moved) == 1 and old.endswith(BY_CLASS):
        texts = _class_renamed(tree, old, new, settings)
    else:
        holding = _holding(tree, moved)
        texts = dict(_followed(tree.project, dict.fromkeys((*moved, *holding)), moved))
        for path in holding:
            notes[path] = _left(texts.get(path) or tree.project.text(path) or "", path, moved)
    for before, after in moved.items():
        _refuse_unsayable(tree.project, before, after, followed=bool(texts))
    result = []
    for path in dict.fromkeys((*moved, *texts, *(path for path, note in notes.items() if note))):
        try:
            source = read(tree.shown(path))
        except InputError:
            if path in texts:
                raise
            place = (tree.root / path).resolve()  # it moves as it is: empty, or not text
            source = Source(tree.shown(path), "", regular.read(place), place)
        edit = outcome(source, texts.get(path, source.text))
        if path in moved:
            edit = edit.noting(Finding("moved", f"moves to {tree.shown(moved[path])}"))
        if notes.get(path):
            edit = edit.noting(Finding("stays", notes[path]))
        result.append((source, edit))
    return result


def _holding(tree: Tree, moved: Mapping[str, str]) -> list[str]:
    """The files that may name a moved file."""
    stems = {posixpath.splitext(path)[0] for path in moved}
    if len(moved) > 1:  # a folder: what is outside names it
        stems = {posixpath.commonpath([posixpath.dirname(path) for path in moved])}
    stems |= {posixpath.dirname(stem) for stem in stems if posixpath.basename(stem) in OF_FOLDER}
    names = {posixpath.basename(stem) for stem in stems} - {""}
    holding = (path for name in sorted(names) for path in tree.holding(name, derived=False))
    return list(dict.fromkeys(holding))


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


def _class_renamed(tree: Tree, old: str, new: str, settings: Settings) -> dict[str, str]:
    """The texts after the class of the file's name is renamed as the file is."""
    names = [posixpath.splitext(posixpath.basename(path))[0] for path in (old, new)]
    typing = tree.project.typing(old)
    owners = typing.scopes.owners if typing is not None else []
    if names[0] == names[1] or all(owner.name != names[0] for owner in owners):
        return {}
    end = posixpath.splitext(old)[1]  # other languages have classes of their own
    paths = [name for name in tree.holding(names[0], derived=False) if name.endswith(end)]
    result = tree.rename_in(paths, names[0], names[1], settings)
    tree.refuse_taken(result, settings)
    return {path: guess.text for path, guess in result.files.items()}


def _followed(
    project: Project, paths: Iterable[str], moved: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The texts whose imports follow a move."""
    for path in paths:
        typing = project.typing(path)
        if typing is not None:
            rewrites = list(typing.rules.moved_imports(project, typing, moved))
            if rewrites:
                yield path, rewritten(typing.scopes.data, rewrites)[1]


_PATH = re.compile(r"([\w@~./-]*[\w-])(:\w)?")  # a path or a module, and a name of it


def _left(text: str, path: str, moved: Mapping[str, str]) -> str:
    """Where a file names a moved one, or its folder, in a way that is not an import."""
    places = {*moved, *(posixpath.splitext(old)[0] for old in moved)}
    modules = [f".{posixpath.splitext(old)[0].replace('/', '.')}" for old in moved]
    if len(moved) > 1:
        places.add(posixpath.commonpath([posixpath.dirname(old) for old in moved]))
    found = []
    for match in _PATH.finditer(text) if path not in moved else ():
        word, parts = match[1], match[1].split(".")
        around = (posixpath.join(base, word.lstrip("/")) for base in (posixpath.dirname(path), ""))
        is_path = "/" in word or word in map(posixpath.basename, moved)
        is_code = path.endswith((".py", ".pyi"))  # its imports follow
        heads = () if is_code else range(1 if match[2] else 2, len(parts) + 1)
        ends = tuple("." + ".".join(parts[:count]) for count in heads)
        if (is_path and not places.isdisjoint(map(posixpath.normpath, around))) or any(
            module.endswith(ends) for module in modules
        ):
            found.append(f"line {text.count(chr(10), 0, match.start()) + 1}: names `{word}`")
    return "; ".join(dict.fromkeys([*found, "it stays"])) if found else ""


def _refuse_unsayable(project: Project, old: str, new: str, *, followed: bool) -> None:
    """An error where an import, which a move would rewrite, cannot say the new name of a file."""
    typing = project.typing(old)
    before, after = (posixpath.splitext(path)[0].split("/") for path in (old, new))
    for part in (part for part in after if part not in before):
        if typing is not None and typing.scopes.language.name == "python":
            is_name = part.isidentifier() and part not in typing.rules.keywords
        else:
            is_name = not {*part} & {*"'\"`\\"}
        if not part.isprintable() or (followed and not is_name):
            raise InputError(f"an import cannot say {part!r}; nothing was moved", file=new)


def _refuse_taken(project: Project, old: str, new: str) -> None:
    """An error where a file cannot be moved to its new name."""
    if old == new:
        raise UsageError(f"OLD and NEW are both {old!r}")
    other = next((path for path in project.paths if path.lower() == new.lower()), None)
    if other is not None and new.lower() != old.lower():
        how = "exists already" if other == new else "differs from it only in case"
        raise InputError(f"{how}; nothing was moved", file=other)
