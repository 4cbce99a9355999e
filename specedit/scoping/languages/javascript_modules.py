"""Where JavaScript's and TypeScript's imports lead, and what a module gives out.

Relative paths, index files, `paths` of tsconfig.json, packages of the same tree, CommonJS.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages.javascript_paths import resolve
from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch


class JavaScriptModules(Rules):
    """What modules say of each other."""

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        place = resolve(
            project, project.path(here.scopes), here.rules.module_of(here.scopes, imported)
        )
        if place is None:
            return None
        if (
            imported.leaf.place == "namespace_import."
            or imported.node.type == "import_require_clause"
        ):
            module = project.module(place)
            return [module] if module is not None else None
        if imported.leaf.place == "import_clause.":
            return list(_default(project, place))
        aliased = imported.leaf.at("^ alias") is not None
        name = (imported.leaf.at("^ name") if aliased else None) or imported.leaf
        return given_out(project, place, here.scopes.text(name))

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        """`x` of `import {x as y}` and `export {x} from "./m"`; `y` of `export {x as y}`."""
        holder = leaf.parent
        if holder is None:
            return
        if leaf.place == "export_specifier.alias":
            yield _alias(project, here, holder, leaf)
            return
        source = next((s for up in holder.up() if (s := up.part("source")) is not None), None)
        if source is None:
            return
        message = here.scopes.text(source).strip("'\"")
        place = resolve(project, project.path(here.scopes), message)
        if place is not None:
            yield from given_out(project, place, here.scopes.text(leaf))

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The module that `require("./x")`, `exports` and `module.exports` stand for."""
        text = here.scopes.text
        if node.type == "call_expression":
            path = here.rules.brings(node, text)
            place = resolve(project, project.path(here.scopes), path) if path is not None else None
            there = project.typing(place) if place is not None else None
            if place is None or there is None:
                return None
            assigned = next(_assigned(there), None)
            if assigned is not None and assigned.type in there.rules.names:
                return None  # a class or a function is the module
            module = project.module(place)
            return module.owner if module is not None else None
        spelling = text(node) if node.end - node.start < 16 else ""
        if spelling in ("exports", "module.exports"):
            module = project.module(project.path(here.scopes))
            return module.owner if module is not None else None
        return None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        if project.is_module(owner):
            yield from given_out(project, project.path(owner.home), name)


def given_out(project: Project, place: str, name: str) -> list[Declared]:
    """What a module gives out under a name."""
    return project.once(("gives", place, name), _given_out(project, place, name))


def _given_out(project: Project, place: str, name: str) -> Iterator[Declared]:
    typing = project.typing(place)
    if typing is None:
        return
    if name == "default":
        yield from _default(project, place)
        return
    if results := [one for one in project.top_level(place, name) if one.kind != "export"]:
        yield from results
        return
    text = typing.scopes.text
    for statement in _exports(typing):
        source = statement.part("source")
        there = None
        if source is not None:
            there = resolve(project, place, text(source).strip("'\""))
        clause = statement.first("export_clause")
        for one in clause.children if clause is not None else ():
            alias, spelling = one.part("alias"), one.part("name")
            if spelling is None or text(alias or spelling) != name:
                continue
            if alias is not None and text(alias) != text(spelling):
                yield _alias(project, typing, one, alias)
            elif there is not None:
                yield from given_out(project, there, text(spelling))
        if there is not None and clause is None:
            space = statement.first("namespace_export")
            if space is None:
                yield from given_out(project, there, name)
            elif text(space).split()[-1] == name and (module := project.module(there)) is not None:
                yield module
    holder = next((one for one in _assigned(typing) if one.type == "object"), None)
    if holder is not None and (scope := typing.scopes.by_node.get(id(holder))) and scope.owner:
        yield from scope.owner.members.get(name, ())


def _alias(project: Project, here: Typing, holder: Branch, leaf: Branch) -> Declared:
    """The name that a module gives something out under, as a declaration of its own."""
    scopes = here.scopes
    made = Declared(scopes.text(leaf), "export", leaf, holder, scopes.file, None, 0, scopes)
    return project.remembered(("alias", id(leaf)), lambda: made)


def _default(project: Project, place: str) -> Iterator[Declared]:
    typing = project.typing(place)
    if typing is None:
        return
    text = typing.scopes.text
    for statement in _exports(typing):
        if statement.first("default") is not None:
            for child in statement.named_children():
                name = child.part("name") or child
                result = typing.scopes.by_leaf.get(id(name))
                if result is None and name.type in typing.rules.names:
                    result = typing.lookup(text(name), name, "any")
                if result is not None:
                    yield result
        clause = statement.first("export_clause")
        for one in clause.children if clause is not None else ():
            alias, spelling = one.part("alias"), one.part("name")
            if alias is not None and spelling is not None and text(alias) == "default":
                result = typing.lookup(text(spelling), spelling, "any")
                if result is not None:
                    yield result
    for assigned in _assigned(typing):
        if assigned.type in typing.rules.names:
            result = typing.lookup(text(assigned), assigned, "any")
            if result is not None:
                yield result


def _exports(typing: Typing) -> Iterator[Branch]:
    for child in typing.scopes.root.children:
        if child.type == "export_statement":
            yield child


def _assigned(typing: Typing) -> Iterator[Branch]:
    """What `module.exports = …` gives out."""
    if b"module.exports" not in typing.scopes.data:
        return
    for child in typing.scopes.root.children:
        for one in child.children if child.type == "expression_statement" else ():
            left, right = one.part("left"), one.part("right")
            if left is None or right is None:
                continue
            if typing.scopes.text(left) == "module.exports":
                yield right
