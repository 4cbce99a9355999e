"""Java's packages: a type is seen by its package, and by who imports it.

Types are found by the text that declares them; what is nested is reached through its class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing

PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
STARS = re.compile(r"^\s*import\s+(static\s+)?([\w.]+)\.\*\s*;", re.MULTILINE)


def imports(project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
    path = here.rules.module_of(here.scopes, imported)
    if (result := _type(project, path)) is not None:
        return [result]
    outer, _, name = path.rpartition(".")
    return list(_members(project, outer, name)) or None


def shared(project: Project, here: Typing, name: str) -> Iterator[Declared]:
    """A type of the same package, and what `import a.b.*` shows."""
    text = project.text(project.path(here.scopes)) or ""
    own = PACKAGE.search(text)
    result = _type(project, f"{own[1]}.{name}" if own else name)
    if result is not None and result.home is not here.scopes:
        yield result
        return
    for static, path in STARS.findall(text):
        if static:
            yield from _members(project, path, name)
        elif (result := _type(project, f"{path}.{name}")) is not None:
            yield result


def _members(project: Project, outer: str, name: str) -> Iterator[Declared]:
    """What a type has under a name: a nested type, a static member."""
    holder = _type(project, outer)
    home = project.at(holder.home) if holder is not None else None
    if holder is None or not isinstance(home, Typing):
        return
    for owner in home.scopes.owners:
        if owner.node is holder.node:
            yield from owner.members.get(name, ())


def _type(project: Project, path: str, deep: int = 0) -> Declared | None:
    """The declaration of `a.b.Name`, or of `a.b.Outer.Name`."""
    package, _, name = path.rpartition(".")
    if not name.isidentifier() or deep > 3:
        return None
    pattern = rf"\b(?:class|interface|enum|record)\s+{name}\b"
    for place in project.matching(pattern, (".java",)):
        match = PACKAGE.search(project.text(place) or "")
        if (match[1] if match else "") == package:
            for one in project.top_level(place, name):
                if one.kind == "class":
                    return one
    if package and package.rpartition(".")[2][:1].isupper():
        holder = _type(project, package, deep + 1)
        home = project.at(holder.home) if holder is not None else None
        if isinstance(home, Typing):
            return next((d for d in home.scopes.declarations(name) if d.kind == "class"), None)
    return None
