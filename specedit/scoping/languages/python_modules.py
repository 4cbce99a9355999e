"""Where Python's imports lead: modules and packages, by the names of files.

An absolute name is looked for as the interpreter would from a script: beside every folder around
the file that is not a package, and below `src` and the like.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import BELOW, Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

ENDS = (".py", ".pyi")


class PythonModules(Rules):
    """What modules say of each other."""

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        node = imported.node
        whole = imported.leaf.parent
        statement = (
            node.parent if node.type == "aliased_import" and node.parent is not None else node
        )
        named = node.part("name") if node.type == "aliased_import" else whole
        if named is None:
            return None
        name = here.scopes.text(named)
        module = statement.part("module_name")
        if module is not None:
            return named_in(project, resolve(project, here, here.scopes.text(module)), name)
        first = name if node.type == "aliased_import" else name.split(".")[0]
        result = _module(project, here, resolve(project, here, first))
        return [result] if result is not None else None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """What a module has from elsewhere: a package's modules, and what `import *` brings."""
        place = project.folder(owner)
        if place is None and project.is_module(owner):
            place = project.path(owner.home)
        inner = _inner(project, place, name) if place else None
        if inner is not None:
            yield inner
        elif place:
            yield from from_stars(project, place, name)

    def shared(self, project: Project, here: Typing, name: str, at: Branch) -> Iterator[Declared]:
        yield from from_stars(project, project.path(here.scopes), name)

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        """`x` of `from m import x as y`."""
        for up in leaf.up():
            alias = up.part("alias") if up.type == "aliased_import" else None
            declared = here.scopes.by_leaf.get(id(alias)) if alias is not None else None
            if declared is not None:
                yield from project.imported_declarations(here, declared) or ()


def named_in(project: Project, place: str | None, name: str) -> list[Declared]:
    """What a module, or a package, has under a name."""
    if place is None:
        return []
    result = project.top_level(place, name)
    if result:
        return result
    inner = _inner(project, place, name)
    if inner is not None:
        return [inner]
    module = project.module(place)
    return list(project.declared_elsewhere(module.owner, name)) if module and module.owner else []


def from_stars(project: Project, place: str, name: str) -> Iterator[Declared]:
    """What a file's `from m import *` show in it."""
    typing = project.typing(place)
    if typing is None or name.startswith("_"):
        return
    for module in project.remembered(("stars", place), lambda: list(_stars(typing))):
        yield from named_in(project, resolve(project, typing, module), name)


def _stars(typing: Typing) -> Iterator[str]:
    """The modules of a file's `from m import *`."""
    if b"import *" in typing.scopes.data:
        for statement in typing.scopes.root.walk():
            if statement.type == "import_from_statement" and statement.first("wildcard_import"):
                module = statement.part("module_name")
                yield typing.scopes.text(module) if module is not None else ""


def _inner(project: Project, place: str, name: str) -> Declared | None:
    """A module of a package."""
    folder, file = posixpath.split(place)
    if file not in ("__init__.py", "__init__.pyi") and place not in project.folders:
        return None
    inner = _file(project, posixpath.join(place if place in project.folders else folder, name))
    return project.module(inner) if inner is not None and inner in project.paths else None


def _module(project: Project, here: Typing, place: str | None) -> Declared | None:
    if place is None:
        return None
    if place in project.paths:
        return project.module(place)
    return project.package(place, here.scopes, here.scopes.root)


def resolve(project: Project, here: Typing, dotted: str) -> str | None:
    """The file of a module, or the folder of a package without one."""
    folder = posixpath.dirname(project.path(here.scopes))
    parts = dotted.lstrip(".").split(".") if dotted.strip(".") else []
    if dotted.startswith("."):
        for _ in range(len(dotted) - len(dotted.lstrip(".")) - 1):
            folder = posixpath.dirname(folder)
        return _file(project, posixpath.join(folder, *parts))
    for root in _roots(project, folder):
        result = _file(project, posixpath.join(root, *parts))
        if result is not None:
            return result
    return None


def _roots(project: Project, folder: str) -> Iterator[str]:
    """The folders that absolute imports may begin in, nearest first."""
    up = folder
    while True:
        if posixpath.join(up, "__init__.py") not in project.paths:
            yield up
            yield from (posixpath.join(up, name) for name in BELOW if name)
        if not up:
            return
        up = posixpath.dirname(up)


def _file(project: Project, place: str) -> str | None:
    for end in ENDS:
        if place + end in project.paths:
            return place + end
        if (inside := posixpath.join(place, "__init__" + end)) in project.paths:
            return inside
    return place if place in project.folders and place not in ("", ".") else None
