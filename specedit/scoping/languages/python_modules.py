"""Where Python's imports lead, by the names of files, and how they follow files that move.

An absolute name is looked for as the interpreter would from a script: next to every folder around
the file that is not a package, and below `src` and the like.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import meanings_over
from specedit.scoping.project import SOURCE_FOLDERS, Project, folders_up
from specedit.scoping.scope import Declared, Owner, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

ENDS = (".py", ".pyi")


class PythonModules(Rules):
    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        module, named = _written(imported)
        name = here.scopes.text(named) if named is not None else ""
        if module is not None:
            return named_in(project, resolve(project, here, here.scopes.text(module)), name)
        first = name if imported.node.type == "aliased_import" else name.split(".")[0]
        result = _module(project, here, resolve(project, here, first))
        return [result] if result is not None else None

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        module, named = _written(imported)
        leaf = module or named
        return scopes.text(leaf) if leaf is not None else ""

    def imports_module(self, imported: Declared) -> bool:
        return _written(imported)[0] is None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """A module's names from elsewhere: a package's modules, and what `import *` brings."""
        place = owner.folder
        if not place and project.is_module(owner):
            place = project.path(owner.home)
        inner = _inner(project, place, name) if place else None
        if inner is not None:
            yield inner
        elif place:
            yield from from_stars(project, place, name)

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        path = project.path(here.scopes)
        yield from from_stars(project, path, name)
        if twin := twin_of(project, path):
            yield from project.top_level(twin, name)

    def along_path(
        self, project: Project, folder: str, words: Sequence[str]
    ) -> Iterator[tuple[int, Declared]]:
        for length in range(len(words) - 1, 0, -1):
            place = _absolute(project, folder, words[:length])
            if place is None or place not in project.paths:
                continue
            found = named_in(project, place, words[length])
            for number in range(length, len(words)):
                ends = [end for declared in found for end in _ends(project, declared)]
                yield from ((number, member) for member in dict.fromkeys((*found, *ends)))
                last = number + 1 == len(words) or not ends
                found = [] if last else project.members_of(ends[0], words[number + 1])
            return

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        """`x` of `from m import x as y`."""
        for up in leaf.up():
            alias = up.part("alias") if up.type == "aliased_import" else None
            declared = here.scopes.by_leaf.get(id(alias)) if alias is not None else None
            if declared is not None:
                yield from project.imported_declarations(here, declared) or ()


def _written(imported: Declared) -> tuple[Branch | None, Branch | None]:
    """The module of a `from` import, and the name that it takes."""
    if imported.node.type == "aliased_import":
        return imported.node.at("^ module_name"), imported.node.part("name")
    return imported.node.part("module_name"), imported.leaf.parent


def named_in(project: Project, place: str | None, name: str) -> list[Declared]:
    """The declaration of a name in a module, or in a package."""
    if place is None:
        return []
    result = project.top_level(place, name)
    inner = _inner(project, place, name)
    if result and not (inner is not None and all(_is_inner(project, place, x) for x in result)):
        return result
    if inner is not None:
        return [inner]
    module = project.module(place)
    return list(project.declared_elsewhere(module.owner, name)) if module and module.owner else []


def from_stars(project: Project, place: str, name: str) -> Iterator[Declared]:
    """The names that a file's `from m import *` show in it."""
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


def twin_of(project: Project, path: str) -> str:
    """The stub of a module, or the module of a stub; "" where there is none."""
    stem, end = posixpath.splitext(path)
    other = stem + {".py": ".pyi", ".pyi": ".py"}.get(end, "")
    return other if other != path and other in project.paths else ""


def _inner(project: Project, place: str, name: str) -> Declared | None:
    """A module of a package."""
    folder, file = posixpath.split(place)
    if file not in ("__init__.py", "__init__.pyi") and place not in project.folders:
        return None
    inner = _file(project, posixpath.join(place if place in project.folders else folder, name))
    return project.module(inner) if inner is not None and inner in project.paths else None


def _is_inner(project: Project, place: str, declared: Declared) -> bool:
    """Whether a package imports a module of its own: `from . import x`, in `__init__.py`."""
    here, (module, named) = project.typing(place), _written(declared)
    if declared.kind != "import" or here is None or module is None or named is None:
        return False
    return resolve(project, here, here.scopes.text(module)) == place


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
    return _absolute(project, folder, parts)


def _absolute(project: Project, folder: str, parts: Sequence[str]) -> str | None:
    for root in _roots(project, folder):
        result = _file(project, posixpath.join(root, *parts))
        if result is not None:
            return result
    return None


def _ends(project: Project, declared: Declared) -> Iterator[Declared]:
    """The declaration that an import brings in, or the declaration itself."""
    home = project.at(declared.home)
    yield from (home and project.imported_declarations(home, declared)) or (declared,)


def _roots(project: Project, folder: str) -> Iterator[str]:
    """The folders that absolute imports may begin in, nearest first."""
    for up in folders_up(folder):
        if posixpath.join(up, "__init__.py") not in project.paths:
            yield from (posixpath.join(up, name) for name in SOURCE_FOLDERS)


def _file(project: Project, place: str) -> str | None:
    for end in ENDS:
        if place + end in project.paths:
            return place + end
        if (inside := posixpath.join(place, "__init__" + end)) in project.paths:
            return inside
    return place if place in project.folders and place not in ("", ".") else None


_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
INITS = ("__init__.py", "__init__.pyi")


class PythonImports:
    """How the imports of one file follow files that move."""

    def __init__(self, project: Project, moved: Mapping[str, str], typing: Typing) -> None:
        path = project.path(typing.scopes)
        self._project, self._moved, self._typing = project, moved, typing
        self._folder = posixpath.dirname(path)
        self._new_folder = posixpath.dirname(moved.get(path, path))
        self._new = frozenset(moved.values())
        self._text = typing.scopes.text

    def rewrites(self) -> Iterator[Rewrite]:
        found: list[Rewrite] = []
        for node in self._typing.scopes.root.walk():
            if node.type == "import_from_statement":
                found += self._from(node)
            elif node.type == "import_statement":
                found += self._import(node)
            elif node.type == "string":
                found += self._quoted(node)
        yield from dict.fromkeys(found)  # two imports may lead to one use

    def _resolved(self, dotted: str) -> str:
        return resolve(self._project, self._typing, dotted) or ""

    def _name(self, dotted: str, old: str, new: str) -> str:
        """The name of a module in this file, written as it was."""
        target = _without_end(new)
        after = target.split("/")
        root: list[str] = []
        if dotted.startswith("."):
            parts = posixpath.relpath(target or ".", self._new_folder or ".").split("/")
            ups = parts.count("..")
            base = posixpath.normpath(posixpath.join(self._new_folder, "../" * ups))
            if self._is_package(base) or not self._is_package(self._folder):
                return "." * (ups + 1) + ".".join(part for part in parts if part not in ("..", "."))
        else:
            before = _without_end(old).split("/")
            root = before[: len(before) - len(dotted.split("."))]
        if after[: len(root)] != root or dotted.startswith("."):  # no package holds both
            depth = range(len(after) - 1)
            packages = (at for at in depth if self._is_package("/".join(after[: at + 1])))
            root = after[: next(packages, len(depth))]
        return ".".join(after[len(root) :])

    def _is_package(self, folder: str) -> bool:
        places = [posixpath.join(folder, init) for init in INITS]
        return any(path in self._project.paths or path in self._new for path in places)

    def _from(self, node: Branch) -> Iterator[Rewrite]:
        module = node.part("module_name")
        if module is None:
            return
        dotted = self._text(module)
        place = self._resolved(dotted)
        if place in self._moved:
            yield self._replaced(module, self._name(dotted, place, self._moved[place]))
            return
        names = [child for child in node.children if child.field == "name"]
        joint = dotted if dotted.endswith(".") else f"{dotted}."
        paths = [f"{joint}{self._text(name.part('name') or name)}" for name in names]
        gone = [at for at, path in enumerate(paths) if self._resolved(path) in self._moved]
        if not gone and dotted.startswith(".") and self._folder != self._new_folder and place:
            yield self._replaced(module, self._name(dotted, place, place))
        for at in gone:
            yield from self._moved_name(node, dotted, names, at, paths[at])
        for name, path in zip(names, paths, strict=True):
            if self._resolved(path) not in ("", *self._moved):
                bound = name.part("alias") or name.part("name") or name
                yield from self._through(node, self._text(bound), path)

    def _moved_name(
        self, node: Branch, dotted: str, names: list[Branch], at: int, path: str
    ) -> Iterator[Rewrite]:
        """`from package import module`, where the module moves."""
        moved, old = names[at], self._resolved(path)
        name, bound = path.rpartition(".")[2], moved.part("alias")
        full = self._name(path, old, self._moved[old])
        package, _, stem = full.rpartition(".")
        if full.startswith(".") and not package.strip("."):
            package = full[: len(full) - len(full.lstrip("."))]
        written = stem
        if bound is not None:
            written = f"{stem} as {self._text(bound)}"
        elif stem != name:
            uses = list(self._uses(moved, name, stem))
            written = stem if uses else f"{stem} as {name}"
            yield from uses
        line = f"from {package} import {written}" if package else f"import {written}"
        if package == dotted:
            yield self._replaced(moved, written)
        elif len(names) == 1:
            yield self._replaced(node, line)
        else:
            last = at + 1 == len(names)
            start, end = (
                (names[at - 1].end, moved.end) if last else (moved.start, names[at + 1].start)
            )
            yield Rewrite(start, end, "", "")
            yield self._added(node, line)

    def _uses(self, node: Branch, name: str, stem: str) -> Iterator[Rewrite]:
        """The uses of an imported module under its new name; none where that name is taken."""
        if self._is_taken(stem):
            return
        for each in meanings_over([self._typing], name):
            inside = [node.start <= leaf.start < node.end for leaf in each.leaves]
            for leaf, imports in zip(each.leaves, inside, strict=True):
                if any(inside) and not imports:
                    yield Rewrite(leaf.start, leaf.end, name, stem)

    def _import(self, node: Branch) -> Iterator[Rewrite]:
        for child in node.children:
            named = child.part("name") if child.type == "aliased_import" else child
            if named is None or named.type != "dotted_name":
                continue
            dotted = self._text(named)
            old = self._resolved(dotted)
            if (alias := child.part("alias")) is not None:
                yield from self._through(node, self._text(alias), dotted)
            else:
                bound = dotted.partition(".")[0]
                yield from self._through(node, bound, bound)
            if old not in self._moved:
                continue
            name = self._name(dotted, old, self._moved[old])
            yield self._replaced(named, name)
            if child.type == "aliased_import" or name == dotted:
                continue
            for below in self._typing.scopes.root.walk():
                uses = below.type == ("attribute" if "." in dotted else "identifier")
                inner = below.place == "attribute.attribute"
                if uses and not inner and below.start > node.end and self._text(below) == dotted:
                    yield self._replaced(below, name)

    def _through(self, node: Branch, bound: str, path: str) -> Iterator[Rewrite]:
        """The uses of moved modules through an import of their package: `package.module.name`,
        where `bound` is the name of the package in this file, and `path` what it stands for."""
        declared = self._typing.scopes.by_leaf.values()
        if not self._resolved(path):  # of another project
            return
        if any(other.name == bound and other.kind != "import" for other in declared):
            return
        for use in self._typing.scopes.root.walk():
            if use.type != "attribute" or use.start < node.end:
                continue
            text = self._text(use)
            if not text.startswith(f"{bound}."):
                continue
            dotted = path + text[len(bound) :]
            old = self._resolved(dotted)
            if old in self._moved:
                new = self._name(dotted, old, self._moved[old])
                if new.startswith(f"{path}."):
                    yield self._replaced(use, bound + new[len(path) :])
                elif not self._is_taken(new.partition(".")[0]):
                    yield self._replaced(use, new)
                    yield self._added(node, f"import {new}")

    def _quoted(self, node: Branch) -> Iterator[Rewrite]:
        """A string that is a dotted path to a moved module, or to what it has."""
        content = node.first("string_content")
        match = _DOTTED.fullmatch(self._text(content)) if content is not None else None
        if content is None or match is None or len(node.children) > 3:  # 3: with its quotes
            return
        parts = match[0].split(".")
        for count in range(len(parts), 0, -1):
            dotted = ".".join(parts[:count])
            old = self._resolved(dotted)
            if old not in self._moved:
                continue
            inside = self._project.text(old) or ""
            if count == len(parts) or re.search(rf"\b{parts[count]}\b", inside):
                name = self._name(dotted, old, self._moved[old])
                yield self._replaced(content, ".".join([name, *parts[count:]]))
            return

    def _is_taken(self, name: str) -> bool:
        return any(label == name for _, label in self._typing.scopes.leaves)

    def _added(self, node: Branch, line: str) -> Rewrite:
        """A line after a statement, indented as that is."""
        column = node.start - self._typing.scopes.data.rfind(b"\n", 0, node.start) - 1
        return Rewrite(node.end, node.end, "", f"\n{' ' * column}{line}")

    def _replaced(self, node: Branch, new: str) -> Rewrite:
        return Rewrite(node.start, node.end, self._text(node), new)


def _without_end(path: str) -> str:
    folder, file = posixpath.split(path)
    return folder if file in INITS else posixpath.splitext(path)[0]
