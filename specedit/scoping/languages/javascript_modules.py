"""Where JavaScript's and TypeScript's imports lead, and what a module gives out.

Relative paths, index files, `paths` of tsconfig.json, packages of the same tree, CommonJS.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages.javascript_paths import resolve
from specedit.scoping.languages.rules import Rules, Text
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch


class JavaScriptModules(Rules):
    """What modules say of each other."""

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        leaf = imported.leaf
        place = resolve(project, project.path(here.scopes), self.module_of(here.scopes, imported))
        if place is None:
            return None
        if leaf.place == "namespace_import." or imported.node.type == "import_require_clause":
            module = project.module(place)
            return [module] if module is not None else None
        if leaf.place == "import_clause.":
            return given_out(project, place, "default")
        name = leaf.at("^ name") if leaf.at("^ alias") is not None else leaf
        return given_out(project, place, here.scopes.text(name or leaf))

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        return source_of(imported.leaf, scopes.text)

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        """`x` of `import {x as y}` and `export {x} from "./m"`; `y` of `export {x as y}`."""
        if leaf.place == "export_specifier.alias" and leaf.parent is not None:
            yield _alias(project, here, leaf.parent, leaf)
            return
        source = source_of(leaf, here.scopes.text)
        place = resolve(project, project.path(here.scopes), source) if source else None
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
        elif node.end - node.start < 16 and text(node) in ("exports", "module.exports"):
            place = project.path(here.scopes)
        else:
            return None
        module = project.module(place)
        return module.owner if module is not None else None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        if project.is_module(owner):
            yield from given_out(project, project.path(owner.home), name)


def source_of(node: Branch, text: Text) -> str:
    """The module that the import or the export around a node names; "" where it names none."""
    sources = (source for up in node.up() if (source := up.part("source")) is not None)
    return next((text(one).strip("'\"") for one in sources), "")


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
