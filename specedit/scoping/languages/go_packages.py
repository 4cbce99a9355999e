"""Go's packages: the files of one folder share their names, an import's path ends in a folder.

Code that is built for another system is a file of the package all the same.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing

PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def imports(project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
    path = here.rules.module_of(here.scopes, imported)
    folder = _folder(project, path)
    if folder is None:
        return None
    return [project.package(folder, here.scopes, here.scopes.root)]


def shared(project: Project, here: Typing, name: str) -> Iterator[Declared]:
    """What the other files of the package declare."""
    path = project.path(here.scopes)
    for other in together(project, path):
        if other != path:
            yield from _top(project, other, name)


def given(project: Project, folder: str, name: str) -> Iterator[Declared]:
    for path in _files(project, folder):
        if not path.endswith("_test.go"):
            yield from _top(project, path, name)


def parts(project: Project, owner: Owner) -> Iterator[Owner]:
    """A type, and its methods in other files of the package."""
    home = project.path(owner.home)
    for path in together(project, home):
        typing = project.typing(path) if path != home else None
        for other in typing.scopes.owners if typing is not None else ():
            if other.name == owner.name and (other.early or owner.early):
                yield other


def together(project: Project, path: str) -> list[str]:
    """The files of a file's package, itself among them."""
    text = _package(project, path)
    return [
        one for one in _files(project, posixpath.dirname(path)) if _package(project, one) == text
    ]


def _top(project: Project, path: str, name: str) -> Iterator[Declared]:
    if name in (project.text(path) or ""):
        result = project.top_level(path, name)
        yield from (one for one in result if one.kind != "import" and one.owner is None)


def _files(project: Project, folder: str) -> list[str]:
    return [p for p in project.beside(posixpath.join(folder, "x")) if p.endswith(".go")]


def _package(project: Project, path: str) -> str:
    match = PACKAGE.search(project.text(path) or "")
    return match[1] if match else ""


def _folder(project: Project, path: str) -> str | None:
    """The folder of a package, by the modules of the tree."""
    for config in sorted(p for p in project.paths if posixpath.basename(p) == "go.mod"):
        match = MODULE.search(project.text(config) or "")
        if match and (path == match[1] or path.startswith(match[1] + "/")):
            folder = posixpath.join(posixpath.dirname(config), path[len(match[1]) + 1 :])
            folder = folder.rstrip("/")
            if folder in project.folders or folder == "":
                return folder
    return None
