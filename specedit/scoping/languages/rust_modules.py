"""Rust's modules: files by `mod`, paths from the crate, from here and from above."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator

from specedit.scoping.held import HeldRules
from specedit.scoping.languages.rules import Text
from specedit.scoping.project import Project, folders_up
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

ROOTS = ("src/lib.rs", "src/main.rs")
OWN_CRATES = frozenset({"tests", "examples", "benches", "bin"})  # folders whose files are crates
WORDS = frozenset({"crate", "self", "super"})
PLAIN_MACROS = ("vec!", "format!")

Place = tuple[str, Branch | None]  # a file, and the `mod` block in it


class RustModules(HeldRules):
    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        path = here.rules.module_of(here.scopes, imported)
        place = around_of(project, here, imported.leaf)
        return list(follow(project, place, path.split("::"))) or None

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        """The names that `use a::*` shows."""
        for wildcard in project.remembered(("wildcards", id(here)), lambda: _wildcards(here)):
            path = path_of(wildcard.named_children()[0], here.scopes.text)
            result = _module(project, around_of(project, here, wildcard), path.split("::"))
            if result is not None:
                yield from _in(project, result, name)

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The module that a path stands for: `crate`, `super::user`, `self`."""
        around = node.parent
        if node.type == "macro_invocation" and here.scopes.text(node).startswith(PLAIN_MACROS):
            return here.scopes.plain
        if around is not None and around.type == "token_tree":
            return _in_tokens(project, here, node, around)
        if around is None or "scoped" not in around.type or node.field != "path":
            return None
        path = here.scopes.text(node).replace(" ", "").split("::")
        first = path[0]
        if first not in WORDS:
            declared = here.lookup(first, node, "type") or _prelude(project, here, first)
            is_module = declared is not None and declared.node.type == "mod_item"
            if declared is not None and declared.node.type == "extern_crate_declaration":
                named, home = declared.node.part("name"), project.at(declared.home) or here
                first = path[0] = home.scopes.text(named) if named is not None else first
            elif not is_module and (declared is not None or len(path) > 1):
                return None
            if not is_module and _crates(project).get(first) is None:
                return None
        result = _module(project, around_of(project, here, node), path)
        return _owner(project, result) if result is not None else None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """The names of a file's module: those that it declares, and those of its `pub use`."""
        path = project.path(owner.home)
        if not path:
            return
        inner = None if owner.node.parent is None else owner.node
        if owner.node.type == "mod_item" and owner.node.part("body") is None:
            return
        if inner is None or inner.type == "mod_item":
            yield from _in(project, (path, inner), name)

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """A type, and what `impl` adds to it in other files of the crate."""
        home = project.at(owner.home)
        if home is None:
            return
        if owner.early:
            yield from _real(home, owner)
            return
        paths = project.matching(rf"\bimpl\b[^{{;]*\b{re.escape(owner.name)}\b", (".rs",))
        for other in project.owners(paths, owner.name):
            there = project.at(other.home) if other.early else None
            if there is not None and any(real is owner for real in _real(there, other)):
                yield other

    def file_of(self, project: Project, here: Typing, declared: Declared) -> Owner | None:
        """The module that `mod x;` takes in from another file."""
        if declared.node.type != "mod_item" or declared.node.part("body") is not None:
            return None
        result = _child(project, around_of(project, here, declared.node), declared.name)
        return _owner(project, result) if result is not None else None


def is_crate(here: Typing, name: str) -> bool:
    """Whether a crate of the tree has this name in a file."""
    project = here.project
    return _prelude(project, here, name) is not None or _crates(project).get(name) is not None


def _prelude(project: Project, here: Typing, name: str) -> Declared | None:
    """`extern crate a as b;` at the top of a crate, which all its files see."""
    root = _root(project, project.path(here.scopes))
    for declared in project.top_level(root, name):
        if declared.node.type == "extern_crate_declaration":
            return declared
    return None


def _wildcards(here: Typing) -> list[Branch]:
    if b"::*" not in here.scopes.data:
        return []
    nodes = (inner for inner in here.scopes.root.walk() if inner.type == "use_wildcard")
    return [node for node in nodes if node.named_children()]


def _in_tokens(project: Project, here: Typing, node: Branch, tokens: Branch) -> Owner | None:
    """The same in a macro, where a path is words and signs in a row."""
    text, row = here.scopes.text, tokens.children
    at = row.index(node)
    if at + 1 >= len(row) or text(row[at + 1]) != "::":
        return None
    path = [text(node)]
    while at > 1 and text(row[at - 1]) == "::":
        at -= 2
        path.insert(0, text(row[at]))
    if path[0] == "$crate":
        path[0] = "crate"
    result = _module(project, around_of(project, here, node), path)
    return _owner(project, result) if result is not None else None


def follow(project: Project, place: Place, path: list[str]) -> Iterator[Declared]:
    """The meaning of a path, read in a module. An empty first word: of a crate, or of this one."""
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    if len(path) == 2 and not path[0]:
        path = path[1:]
    if len(path) < 2:
        if _crates(project).get(path[0]) and (module := project.module(_crates(project)[path[0]])):
            yield module
        else:
            results = list(_in(project, place, path[0]))
            yield from results or _in(project, (_root(project, place[0]), None), path[0])
        return
    within = _module(project, place, path[:-1])
    if within is not None:
        yield from _in(project, within, path[-1])
        return
    for holder in follow(project, place, path[:-1]):  # `Kind::One`
        yield from project.members_of(holder, path[-1])


def _real(home: Typing, owner: Owner) -> Iterator[Owner]:
    declared = home.lookup(owner.name, owner.node, "type")
    for known in (home.type_of_declared(declared) or ()) if declared is not None else ():
        if not known.early and known.module is None:
            yield known


def path_of(path: Branch, text: Text) -> str:
    """A path with what stands before it in lists around it."""
    lists = (up.part("path") for up in path.up() if up.type == "scoped_use_list")
    before = [text(node) for node in lists if node is not None]
    return "::".join([*reversed(before), text(path)]).replace(" ", "")


def around_of(project: Project, here: Typing, node: Branch) -> Place:
    return project.path(here.scopes), node.around("mod_item")


def _module(project: Project, place: Place, path: list[str]) -> Place | None:
    """The module that a path leads to; None where it leads to none of the tree's."""
    at: Place | None = place
    from_crates = not path[0]
    for number, word in enumerate(path[1:] if from_crates else path):
        if at is None:
            return None
        if word == "crate":
            at = (_root(project, at[0]), None)
        elif word == "super":
            at = _above(project, at)
        elif word == "self":
            continue
        else:
            inner = None if from_crates and number == 0 else _child(project, at, word)
            if inner is None and number == 0:
                crate = _crates(project).get(word)
                root = (_root(project, at[0]), None)
                inner = (crate, None) if crate is not None else _child(project, root, word)
            at = inner or _taken_in(project, at, word)
    return at


def _taken_in(project: Project, at: Place, name: str) -> Place | None:
    """A module that `pub use` gives another place."""
    for declared in _in(project, at, name):
        if declared.kind == "module":
            return project.path(declared.home), None
        if declared.kind == "namespace" and (home := project.at(declared.home)):
            return _child(project, around_of(project, home, declared.node), declared.name)
    return None


def _in(project: Project, place: Place, name: str) -> Iterator[Declared]:
    """The declaration of a name in a module."""
    typing = project.typing(place[0])
    if typing is None:
        return
    results = [
        declaration
        for declaration in typing.scopes.declarations(name)
        if declaration.scope_kind in ("file", "namespace") and _is_of(declaration, place[1])
    ]
    for result in results:
        yield from project.imported_declarations(typing, result) or (result,)
    if not results:
        shown = typing.rules.shared(project, typing, name)
        yield from project.once(("in", place[0], id(place[1]), name), shown)


def _is_of(declared: Declared, inner: Branch | None) -> bool:
    holder = declared.node if declared.node.type == "mod_item" else declared.leaf
    return holder.around("mod_item") is inner


def _child(project: Project, place: Place, name: str) -> Place | None:
    """A module that a module declares: a block of its own file, or another file."""
    path, inner = place
    typing = project.typing(path)
    if typing is None:
        return None
    own = [each for each in typing.scopes.declarations(name) if each.node.type == "mod_item"]
    for declaration in own:
        if declaration.node.part("body") and _is_of(declaration, inner):
            return path, declaration.node
    if inner is None and not own and _is_root(project, path):
        return None  # what stands beside it is another crate
    folder, file = posixpath.split(path)
    if file not in ("mod.rs", "lib.rs", "main.rs") and not _is_root(project, path):
        folder = posixpath.join(folder, file.removesuffix(".rs"))
    for up in reversed([up for up in (inner, *(inner.up() if inner else ())) if up is not None]):
        if up.type == "mod_item" and (named := up.part("name")) is not None:
            folder = posixpath.join(folder, typing.scopes.text(named))
    for end in (f"{name}.rs", f"{name}/mod.rs"):
        if (there := posixpath.join(folder, end)) in project.paths:
            return there, None
    return None


def _above(project: Project, place: Place) -> Place | None:
    path, inner = place
    if inner is not None:
        return path, inner.around("mod_item")
    folder, file = posixpath.split(path)
    if file == "mod.rs":
        folder = posixpath.dirname(folder)
    beside = ("mod.rs", "lib.rs", "main.rs")
    tries = [posixpath.join(folder, name) for name in beside] + [f"{folder}.rs"]
    return next(((path, None) for path in tries if path in project.paths), None)


def _is_root(project: Project, path: str) -> bool:
    folder, file = posixpath.split(path)
    outer, name = posixpath.split(folder)
    return name in OWN_CRATES or (file == "main.rs" and posixpath.basename(outer) in OWN_CRATES)


def _root(project: Project, path: str) -> str:
    """The file that a file's crate begins with."""
    if _is_root(project, path):
        return path
    for up in folders_up(posixpath.dirname(path)):
        main = posixpath.join(up, "main.rs")  # of `tests/it/`, which is a crate
        if main in project.paths and _is_root(project, main):
            return main
        for root in ROOTS:
            if (start := posixpath.join(up, root)) in project.paths:
                main = posixpath.join(up, ROOTS[1])
                return main if path == main else start
    return path


def _crates(project: Project) -> dict[str, str]:
    """The crates of the tree, by the name that paths begin with."""

    def read() -> dict[str, str]:
        results: dict[str, str] = {}
        for path in project.called("Cargo.toml"):
            folder = posixpath.dirname(path)
            try:
                config = tomllib.loads(project.text(path) or "")
            except tomllib.TOMLDecodeError:
                continue
            lib, package = config.get("lib", {}), config.get("package", {})
            name = lib.get("name") or str(package.get("name", "")).replace("-", "_")
            start = posixpath.join(folder, lib.get("path", ROOTS[0]))
            if name and start in project.paths:
                results[name] = start
        return results

    return project.remembered("crates", read)


def _owner(project: Project, place: Place) -> Owner | None:
    path, inner = place
    if inner is None:
        module = project.module(path)
        return module.owner if module is not None else None
    typing = project.typing(path)
    return next(iter(typing.scopes.owners_at(inner)), None) if typing is not None else None
