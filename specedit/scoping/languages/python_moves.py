"""How Python's imports follow files that move."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from specedit.scoping.languages import python_modules
from specedit.scoping.meaning import Rewrite, meanings
from specedit.scoping.project import Project
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

INITS = ("__init__.py", "__init__.pyi")


def _module(path: str) -> str:
    folder, file = posixpath.split(path)
    return folder if file in INITS else posixpath.splitext(path)[0]


class PythonImports:
    """The imports of one file."""

    def __init__(self, project: Project, moved: Mapping[str, str], typing: Typing) -> None:
        path = project.path(typing.scopes)
        self._project, self._moved, self._typing = project, moved, typing
        self._folder = posixpath.dirname(path)
        self._new_folder = posixpath.dirname(moved.get(path, path))
        self._text = typing.scopes.text

    def rewrites(self) -> Iterator[Rewrite]:
        for node in self._typing.scopes.root.walk():
            if node.type == "import_from_statement":
                yield from self._from(node)
            elif node.type == "import_statement":
                yield from self._import(node)

    def _resolved(self, dotted: str) -> str | None:
        return python_modules.resolve(self._project, self._typing, dotted)

    def _target(self, place: str | None) -> str | None:
        """Where a module is after the move; None where it does not move."""
        return self._moved.get(place) if place is not None else None

    def _name(self, dotted: str, old: str, new: str) -> str:
        """The name of a module in this file, written as it was."""
        target = _module(new)
        after = target.split("/")
        if dotted.startswith("."):
            parts = posixpath.relpath(target or ".", self._new_folder or ".").split("/")
            ups = parts.count("..")
            base = posixpath.normpath(posixpath.join(self._new_folder, "../" * ups))
            if self._is_package(base) or not self._is_package(self._folder):
                return "." * (ups + 1) + ".".join(one for one in parts if one not in ("..", "."))
            root: list[str] = []  # no package holds both: an absolute name
        else:
            before = _module(old).split("/")
            root = before[: len(before) - len(dotted.split("."))]
        if after[: len(root)] != root or dotted.startswith("."):
            root = []
            while len(root) < len(after) - 1 and not self._is_package(
                "/".join(after[: len(root) + 1])
            ):
                root.append(after[len(root)])
        return ".".join(after[len(root) :])

    def _is_package(self, folder: str) -> bool:
        return any(posixpath.join(folder, one) in self._project.paths for one in INITS)

    def _from(self, node: Branch) -> Iterator[Rewrite]:
        module = node.part("module_name")
        if module is None:
            return
        dotted = self._text(module)
        place = self._resolved(dotted)
        if (new := self._target(place)) is not None and place is not None:
            yield self._replaced(module, self._name(dotted, place, new))
            return
        names = [child for child in node.children if child.field == "name"]
        inner = {id(one): self._inner(dotted, self._text(one.part("name") or one)) for one in names}
        gone = [one for one in names if self._target(inner[id(one)]) is not None]
        if not gone:
            if dotted.startswith(".") and self._folder != self._new_folder and place is not None:
                yield self._replaced(module, self._name(dotted, place, place))
            return
        for one in gone:
            old = inner[id(one)]
            assert old is not None
            yield from self._moved_name(node, module, one, old, len(names) == 1)

    def _inner(self, dotted: str, name: str) -> str | None:
        return self._resolved(f"{dotted}{name}" if dotted.endswith(".") else f"{dotted}.{name}")

    def _moved_name(
        self, node: Branch, module: Branch, one: Branch, old: str, alone: bool
    ) -> Iterator[Rewrite]:
        """`from package import module`, where the module moves."""
        dotted, new = self._text(module), self._moved[old]
        name, bound = self._text(one.part("name") or one), one.part("alias")
        joint = f"{dotted}{name}" if dotted.endswith(".") else f"{dotted}.{name}"
        full = self._name(joint, old, new)
        package, _, stem = full.rpartition(".")
        if full.startswith(".") and not package.strip("."):
            package = full[: len(full) - len(full.lstrip("."))]
        written = stem
        if bound is not None:
            written = f"{stem} as {self._text(bound)}"
        elif stem != name:
            uses = list(self._uses(one, name, stem))
            written = stem if uses else f"{stem} as {name}"
            yield from uses
        line = f"from {package} import {written}" if package else f"import {written}"
        if package == dotted:
            yield self._replaced(one, written)
        elif alone:
            yield self._replaced(node, line)
        else:
            siblings = [child for child in node.children if child.field == "name"]
            at = next(n for n, child in enumerate(siblings) if child is one)
            after = siblings[at + 1].start if at + 1 < len(siblings) else one.end
            start = one.start if at + 1 < len(siblings) else siblings[at - 1].end
            yield Rewrite(start, after, "", "", "code")
            column = node.start - self._typing.scopes.data.rfind(b"\n", 0, node.start) - 1
            yield Rewrite(node.end, node.end, "", f"\n{' ' * column}{line}", "code")

    def _uses(self, one: Branch, name: str, stem: str) -> Iterator[Rewrite]:
        """The uses of an imported module under its new name; none where that name is taken."""
        text = self._typing.scopes.data.decode("utf-8", "surrogatepass")
        language = self._project.language(self._project.path(self._typing.scopes))
        if language is None or any(label == stem for _, label in self._typing.scopes.leaves):
            return
        for each in meanings(text, language, name)[0]:
            if any(one.start <= leaf.start < one.end for leaf in each.leaves):
                for leaf in each.leaves:
                    if not one.start <= leaf.start < one.end:
                        yield Rewrite(leaf.start, leaf.end, name, stem, "code")

    def _import(self, node: Branch) -> Iterator[Rewrite]:
        for child in node.children:
            named = child.part("name") if child.type == "aliased_import" else child
            if named is None or named.type != "dotted_name":
                continue
            dotted = self._text(named)
            old = self._resolved(dotted)
            new = self._target(old)
            if new is None or old is None:
                continue
            name = self._name(dotted, old, new)
            yield self._replaced(named, name)
            if child.type == "aliased_import" or name == dotted:
                continue
            for one in self._typing.scopes.root.walk():
                uses = one.type == "attribute" or (one.type == "identifier" and "." not in dotted)
                inner = one.parent is not None and one.parent.part("attribute") is one
                if uses and not inner and one.start > node.end and self._text(one) == dotted:
                    yield self._replaced(one, name)

    def _replaced(self, node: Branch, new: str) -> Rewrite:
        return Rewrite(node.start, node.end, self._text(node), new, "code")
