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
            return given_out(project, place, "default")
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
    text, default = typing.scopes.text, name == "default"
    results = [one for one in project.top_level(place, name) if one.kind != "export"]
    if results and not default:
        yield from results
        return
    named: list[Branch] = []  # what the file itself calls its default
    for statement in typing.scopes.root.children:
        if statement.type != "export_statement":
            continue
        source, clause = statement.part("source"), statement.first("export_clause")
        there = resolve(project, place, text(source).strip("'\"")) if source is not None else None
        if default and statement.first("default") is not None:
            named += [child.part("name") or child for child in statement.named_children()]
        for one in clause.children if clause is not None else ():
            alias, spelling = one.part("alias"), one.part("name")
            if spelling is None or text(alias or spelling) != name:
                continue
            if default:
                named.append(spelling)
            elif alias is not None and text(alias) != text(spelling):
                yield _alias(project, typing, one, alias)
            elif there is not None:
                yield from given_out(project, there, text(spelling))
        if there is not None and clause is None and not default:
            space = statement.first("namespace_export")
            if space is None:
                yield from given_out(project, there, name)
            elif text(space).split()[-1] == name and (module := project.module(there)) is not None:
                yield module
    for node in (*named, *_assigned(typing)):
        scope = typing.scopes.by_node.get(id(node))
        known = typing.scopes.by_leaf.get(id(node))
        if not default and scope is not None and scope.owner is not None:  # an object's members
            yield from scope.owner.members.get(name, ())
        elif default and known is None and node.type in typing.rules.names:
            known = typing.lookup(text(node), node, "any")
        if default and known is not None:
            yield known


def _alias(project: Project, here: Typing, holder: Branch, leaf: Branch) -> Declared:
    """The name that a module gives something out under, as a declaration of its own."""
    scopes = here.scopes
    made = Declared(scopes.text(leaf), "export", leaf, holder, scopes.file, None, 0, scopes)
    return project.remembered(("alias", id(leaf)), lambda: made)


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
