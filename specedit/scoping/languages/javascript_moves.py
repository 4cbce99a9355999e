"""How the imports of JavaScript and TypeScript follow files that move."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from specedit.scoping.languages.javascript_paths import resolve
from specedit.scoping.meaning import Rewrite
from specedit.scoping.project import Project
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

CALLS = frozenset({"require", "import", "jest.mock", "vi.mock", "require.resolve"})
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def moved_imports(project: Project, moved: Mapping[str, str], typing: Typing) -> Iterator[Rewrite]:
    """The imports of one file after files moved."""
    path = project.path(typing.scopes)
    folder = posixpath.dirname(path)
    new_folder = posixpath.dirname(moved.get(path, path))
    for node in _specifiers(typing):
        source = typing.scopes.text(node)[1:-1]
        old = resolve(project, path, source)
        if old is None:
            continue
        new = moved.get(old, old)
        if new == old and (folder == new_folder or not source.startswith(".")):
            continue
        written = _specifier(source, old, new, new_folder)
        if written != source:
            yield Rewrite(node.start + 1, node.end - 1, source, written, "code")


def _specifiers(typing: Typing) -> Iterator[Branch]:
    """The strings that name modules."""
    for node in typing.scopes.root.walk():
        source = node.part("source") if node.type.endswith("_statement") else None
        if node.type == "call_expression":
            called, arguments = node.part("function"), node.part("arguments")
            if called is not None and typing.scopes.text(called) in CALLS and arguments is not None:
                source = next(iter(arguments.named_children()), None)
        elif node.type == "import_require_clause":
            source = node.part("source") or node.first("string")
        if source is not None and source.type == "string":
            yield source


def _specifier(source: str, old: str, new: str, new_folder: str) -> str:
    """A module's new name, with an ending, a folder or an alias where the old one had that."""
    stem, end = posixpath.splitext(new)
    written = next((one for one in SCRIPTS if source.endswith(one)), "")
    if written in (".js", ".jsx", ".mjs", ".cjs") and end not in (written, ""):
        end = written  # TypeScript names what it compiles to
    old_stem = posixpath.splitext(old)[0]
    named_folder = old_stem.endswith("/index") and not re.search(r"(^|/)index(\.\w+)?$", source)
    if named_folder and stem.endswith("/index"):
        stem = posixpath.dirname(stem)
    target = stem + (end if written else "")
    if not source.startswith("."):
        bare = source[: len(source) - len(written)]
        parts = (posixpath.dirname(old_stem) if named_folder else old_stem).split("/")
        for at in range(len(parts)):
            tail, head = "/".join(parts[at:]), "/".join(parts[:at])
            inside = not head or target.startswith(f"{head}/")
            if inside and (bare == tail or bare.endswith(f"/{tail}")):
                return bare[: len(bare) - len(tail)] + target[len(head) + 1 if head else 0 :]
    relative = posixpath.relpath(target, new_folder or ".")
    return relative if relative.startswith(".") else f"./{relative}"
