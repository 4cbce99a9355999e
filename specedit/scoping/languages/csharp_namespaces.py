"""C#'s namespaces: a type is seen where its namespace is, or is used; a partial one goes on.

A type is found by the text that declares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

NAMESPACE = re.compile(r"\bnamespace\s+([\w.]+)")
USING = re.compile(r"^\s*(global\s+)?using\s+(static\s+)?([\w.]+)\s*;", re.MULTILINE)
KINDS = r"\b(?:class|interface|enum|struct|record|delegate\s+[\w<>\[\],.? ]+?)\s+"


class CSharpNamespaces(Rules):
    """What namespaces say of each other."""

    def shared(self, project: Project, here: Typing, name: str, at: Branch) -> Iterator[Declared]:
        """A type of a namespace that is visible here, and what `using static` shows."""
        path = project.path(here.scopes)
        text = project.text(path) or ""
        seen = _visible(project, text)
        for place in project.matching(_declaring(name), (".cs", ".csx")):
            spaces = NAMESPACE.findall(project.text(place) or "")
            if place != path and (not spaces or any(space in seen for space in spaces)):
                yield from _types(project, place, name)
        for _, static, used in USING.findall(text):
            if static:
                for holder in _named(project, used):
                    yield from project.members_of(holder, name)

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """A type of a namespace, by a qualified name."""
        space = project.folder(owner) or owner.name
        if project.folder(owner) is None and "namespace" not in owner.node.type:
            return
        for place in project.matching(_declaring(name), (".cs", ".csx")):
            if space in NAMESPACE.findall(project.text(place) or ""):
                yield from _types(project, place, name)

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The namespace that `Shop.Models` stands for, where nothing nearer has the name."""
        if node.type not in ("identifier", "qualified_name", "member_access_expression"):
            return None
        if node.end - node.start > 200:
            return None
        text = here.scopes.text(node)
        if text not in _spaces(project):
            return None
        first = next(one for one in node.walk() if not one.children)
        if here.lookup(text.split(".")[0], first) is not None:
            return None
        return project.package(text, here.scopes, here.scopes.root).owner

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """The other parts of a partial type."""
        home = project.at(owner.home)
        if home is None or not _is_partial(home, owner):
            return
        own = NAMESPACE.findall(project.text(project.path(owner.home)) or "")
        for place in project.matching(_declaring(owner.name), (".cs", ".csx")):
            there = project.typing(place)
            spaces = NAMESPACE.findall(project.text(place) or "")
            if there is None or (own and not set(own) & set(spaces)):
                continue
            for other in there.scopes.owners:
                if other.name == owner.name and _is_partial(there, other):
                    yield other


def _is_partial(home: Typing, owner: Owner) -> bool:
    head = home.scopes.data[owner.node.start : owner.node.start + 200].split(b"{")[0]
    return re.search(rb"\bpartial\b", head) is not None


def _named(project: Project, path: str) -> Iterator[Declared]:
    space, _, name = path.rpartition(".")
    for place in project.matching(_declaring(name), (".cs", ".csx")):
        if not space or space in NAMESPACE.findall(project.text(place) or ""):
            yield from _types(project, place, name)


def _types(project: Project, place: str, name: str) -> Iterator[Declared]:
    typing = project.typing(place)
    for one in typing.scopes.declarations(name) if typing is not None else ():
        nested = one.scope is not None and one.scope.kind == "class"
        if one.kind == "class" and not nested:
            yield one


def _visible(project: Project, text: str) -> set[str]:
    """The namespaces whose types a text can name."""
    own = {""}
    for space in NAMESPACE.findall(text):
        parts = space.split(".")
        own |= {".".join(parts[: n + 1]) for n in range(len(parts))}
    used_here = [used for _, static, used in USING.findall(text) if not static]
    seen = own | {f"{space}.{used}".lstrip(".") for space in own for used in used_here}
    files = project.matching(r"global\s+using", (".cs",))
    usings = (one for path in files for one in USING.findall(project.text(path) or ""))
    return seen | {used for world, static, used in usings if world and not static}


def _spaces(project: Project) -> set[str]:
    """Every namespace of the tree, and what they are in."""

    def read() -> set[str]:
        results: set[str] = set()
        for path in project.matching(NAMESPACE.pattern, (".cs", ".csx")):
            for space in NAMESPACE.findall(project.text(path) or ""):
                parts = space.split(".")
                results |= {".".join(parts[: n + 1]) for n in range(len(parts))}
        return results

    return project.remembered("namespaces", read)


def _declaring(name: str) -> str:
    return rf"{KINDS}{re.escape(name)}\b"
