"""C's and C++'s includes: a file sees what it includes, by name, and what that includes.

Macros decide nothing here: every include counts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")


def shared(project: Project, here: Typing, name: str) -> Iterator[Declared]:
    """What the included files declare, and what the linker takes for the same."""
    own = project.path(here.scopes)
    seen = included(project, own)
    for path in seen:
        if name in (project.text(path) or ""):
            yield from _top(project, path, name)
    mine = [one for one in project.top_level(own, name) if _is_linked(here, one)]
    if not mine:
        return
    for path in project.matching(rf"\b{re.escape(name)}\b", SOURCES):
        there = project.typing(path)
        if path == own or path in seen or there is None:
            continue
        for one in _top(project, path, name):
            both = _is_linked(there, one) and (_is_extern(there, one) or _is_extern(here, mine[0]))
            if both:
                yield one


def included(project: Project, path: str) -> list[str]:
    """All that a file includes, itself left out."""
    key = ("included", path)
    if key not in project.notes:
        results: list[str] = []
        waiting = [path]
        while waiting:
            one = waiting.pop(0)
            for text in INCLUDE.findall(project.text(one) or ""):
                there = _file(project, one, text)
                if there is not None and there not in results and there != path:
                    results.append(there)
                    waiting.append(there)
        project.notes[key] = results
    known = project.notes[key]
    assert isinstance(known, list)
    return known


def parts(project: Project, owner: Owner) -> Iterator[Owner]:
    """A class and its methods in other files; a namespace that is opened again."""
    path = project.path(owner.home)
    is_space = "namespace" in owner.node.type
    if owner.early or is_space:
        for there in included(project, path):
            typing = project.typing(there) if owner.name in (project.text(there) or "") else None
            for other in typing.scopes.owners if typing is not None else ():
                if other.name == owner.name and (is_space or not other.early):
                    yield other
    if owner.early:
        return
    word = rf"\b{re.escape(owner.name)}\b" + ("" if is_space else r"\s*(?:<[^;{]*?>)?\s*::")
    for there in project.matching(word, SOURCES):
        typing = project.typing(there) if path in included(project, there) else None
        for other in typing.scopes.owners if typing is not None else ():
            if other.name == owner.name and (other.early or is_space):
                yield other


def _top(project: Project, path: str, name: str) -> Iterator[Declared]:
    result = project.top_level(path, name)
    yield from (
        one
        for one in result
        if one.owner is None or (one.scope is not None and one.scope.kind == "namespace")
    )


def _is_linked(here: Typing, one: Declared) -> bool:
    """A function or a variable that other files can link to."""
    if one.kind not in ("function", "local") or one.scope is None or one.scope.kind != "file":
        return False
    head = here.scopes.data[one.node.start : one.leaf.start]
    return re.search(rb"\bstatic\b", head) is None


def _is_extern(here: Typing, one: Declared) -> bool:
    """Declared to be found elsewhere: `extern int x;`, a prototype."""
    head = here.scopes.data[one.node.start : one.leaf.start]
    prototype = one.kind == "local" and one.leaf.place == "function_declarator.declarator"
    return prototype or re.search(rb"\bextern\b", head) is not None


def _file(project: Project, path: str, said: str) -> str | None:
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), said))
    if near in project.paths:
        return near
    key = ("ends", said)
    if key not in project.notes:
        end = posixpath.normpath(said)
        results = [p for p in project.paths if p == end or p.endswith("/" + end)]
        project.notes[key] = min(results, key=len) if results else None
    known = project.notes[key]
    return known if isinstance(known, str) else None
