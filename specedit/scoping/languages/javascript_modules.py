"""Where JavaScript's and TypeScript's imports lead, and what a module gives out.

Relative paths, index files, `paths` of tsconfig.json, packages of the same tree, CommonJS. Knows
one project's files; what is installed is nobody's here.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

ENDS = ("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
CONFIGS = ("tsconfig.json", "jsconfig.json")


def brought(project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
    place = resolve(project, project.path(here.scopes), here.rules.module_of(here.scopes, imported))
    if place is None:
        return None
    if imported.leaf.place == "namespace_import." or imported.node.type == "import_require_clause":
        module = project.module(place)
        return [module] if module is not None else None
    if imported.leaf.place == "import_clause.":
        return list(_default(project, place))
    holder = imported.leaf.parent
    name = holder.part("name") if holder is not None and holder.part("alias") else imported.leaf
    return list(given_out(project, place, here.scopes.text(name or imported.leaf)))


def read(project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
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
    said = here.scopes.text(source).strip("'\"")
    place = resolve(project, project.path(here.scopes), said)
    if place is not None:
        yield from given_out(project, place, here.scopes.text(leaf))


def given_out(project: Project, place: str, name: str) -> Iterator[Declared]:
    """What a module gives out under a name."""
    mark = ("gives", place, name)
    if mark in project.notes:
        return
    project.notes[mark] = True
    try:
        yield from _given_out(project, place, name)
    finally:
        del project.notes[mark]


def _given_out(project: Project, place: str, name: str) -> Iterator[Declared]:
    typing = project.typing(place)
    if typing is None:
        return
    if name == "default":
        yield from _default(project, place)
        return
    if found := [one for one in project.top_level(place, name) if one.kind != "export"]:
        yield from found
        return
    text = typing.scopes.text
    for statement in _exports(typing):
        source = statement.part("source")
        there = None
        if source is not None:
            there = resolve(project, place, text(source).strip("'\""))
        clause = statement.first("export_clause")
        for one in clause.children if clause is not None else ():
            alias, said = one.part("alias"), one.part("name")
            if said is None or text(alias or said) != name:
                continue
            if alias is not None and text(alias) != text(said):
                yield _alias(project, typing, one, alias)
            elif there is not None:
                yield from given_out(project, there, text(said))
        if there is not None and clause is None:
            space = statement.first("namespace_export")
            if space is None:
                yield from given_out(project, there, name)
            elif text(space).split()[-1] == name and (module := project.module(there)) is not None:
                yield module
    holder = exported_object(typing)
    if holder is not None and (scope := typing.scopes.by_node.get(id(holder))) and scope.owner:
        yield from scope.owner.members.get(name, ())


def _alias(project: Project, here: Typing, holder: Branch, leaf: Branch) -> Declared:
    """The name that a module gives something out under, as a declaration of its own."""
    key = ("alias", id(leaf))
    if key not in project.notes:
        name = here.scopes.text(leaf)
        scope = here.scopes.file
        project.notes[key] = Declared(name, "export", leaf, holder, scope, None, 0, here.scopes)
    known = project.notes[key]
    assert isinstance(known, Declared)
    return known


def meant_by_alias(project: Project, one: Declared) -> list[Declared]:
    """What stands behind `y` of `export {x as y}`."""
    here = project.at(one.home)
    name = one.node.part("name")
    if not isinstance(here, Typing) or name is None:
        return []
    if any(up.part("source") is not None for up in name.up()):
        return list(read(project, here, name))
    found = here.lookup(here.scopes.text(name), name, "any")
    return [found] if found is not None else []


def _default(project: Project, place: str) -> Iterator[Declared]:
    typing = project.typing(place)
    if typing is None:
        return
    text = typing.scopes.text
    for statement in _exports(typing):
        if statement.first("default") is not None:
            for child in statement.named_children():
                name = child.part("name") or child
                found = typing.scopes.by_leaf.get(id(name))
                if found is None and name.type in typing.rules.names:
                    found = typing.lookup(text(name), name, "any")
                if found is not None:
                    yield found
        clause = statement.first("export_clause")
        for one in clause.children if clause is not None else ():
            alias, said = one.part("alias"), one.part("name")
            if alias is not None and said is not None and text(alias) == "default":
                found = typing.lookup(text(said), said, "any")
                if found is not None:
                    yield found
    for assigned in _assigned(typing):
        if assigned.type in typing.rules.names:
            found = typing.lookup(text(assigned), assigned, "any")
            if found is not None:
                yield found


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


def exported_object(typing: Typing) -> Branch | None:
    return next((one for one in _assigned(typing) if one.type == "object"), None)


def word(project: Project, here: Typing, node: Branch) -> Owner | None:
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
    said = text(node) if node.end - node.start < 16 else ""
    if said in ("exports", "module.exports"):
        module = project.module(project.path(here.scopes))
        return module.owner if module is not None else None
    return None


# paths


def resolve(project: Project, path: str, source: str) -> str | None:
    """The file of the tree that an import means; None where it is none of it."""
    folder = posixpath.dirname(path)
    if source.startswith("."):
        return _file(project, posixpath.normpath(posixpath.join(folder, source)))
    for place in (*_mapped(project, folder, source), *_packages(project, source)):
        found = _file(project, posixpath.normpath(place))
        if found is not None:
            return found
    return None


def _file(project: Project, place: str) -> str | None:
    place = "" if place == "." else place
    stem, end = posixpath.splitext(place)
    tries = [place + one for one in ENDS]
    tries += [stem + one for one in WRITTEN.get(end, ())]
    tries += [posixpath.join(place, "index" + one) for one in ENDS[1:]]
    return next((one for one in tries if one in project.paths), None)


def _mapped(project: Project, folder: str, source: str) -> Iterator[str]:
    """What the nearest tsconfig.json makes of a path."""
    for config in _configs(project, folder):
        base, paths = _options(project, config, 0)
        for pattern, targets in paths.items():
            before, star, after = pattern.partition("*")
            if star and source.startswith(before) and source.endswith(after):
                inner = source[len(before) : len(source) - len(after)]
            elif not star and source == pattern:
                inner = ""
            else:
                continue
            yield from (target.replace("*", inner) for target in targets)
        if base is not None:
            yield posixpath.join(base, source)
        return


def _configs(project: Project, folder: str) -> Iterator[str]:
    up = folder
    while True:
        for name in CONFIGS:
            if (path := posixpath.join(up, name)) in project.paths:
                yield path
        if not up:
            return
        up = posixpath.dirname(up)


def _options(project: Project, config: str, deep: int) -> tuple[str | None, dict[str, list[str]]]:
    """`baseUrl` and `paths` of a configuration, from the tree's top, with what it extends."""
    said = _json(project, config)
    folder = posixpath.dirname(config)
    base: str | None = None
    paths: dict[str, list[str]] = {}
    above = said.get("extends")
    if isinstance(above, str) and above.startswith(".") and deep < 5:
        place = posixpath.normpath(posixpath.join(folder, above))
        found = next((one for one in (place, place + ".json") if one in project.paths), None)
        if found is not None:
            base, paths = _options(project, found, deep + 1)
    options = said.get("compilerOptions")
    if isinstance(options, dict):
        if isinstance(options.get("baseUrl"), str):
            base = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
        own = options.get("paths")
        if isinstance(own, dict):
            start = base if base is not None else folder
            paths = {
                str(key): [posixpath.join(start, one) for one in each if isinstance(one, str)]
                for key, each in own.items()
                if isinstance(each, list)
            }
    return base, paths


def _packages(project: Project, source: str) -> Iterator[str]:
    """A package of the same tree, by the name that its package.json gives it."""
    key = ("packages",)
    if key not in project.notes:
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in sorted(project.paths):
            if posixpath.basename(path) == "package.json" and "node_modules" not in path:
                said = _json(project, path)
                if isinstance(said.get("name"), str):
                    found[said["name"]] = (posixpath.dirname(path), said)
        project.notes[key] = found
    known = project.notes[key]
    assert isinstance(known, dict)
    for name, (folder, said) in known.items():
        if source == name:
            for field in ("types", "source", "module", "main"):
                if isinstance(said.get(field), str):
                    yield posixpath.join(folder, said[field])
            yield from (posixpath.join(folder, one) for one in ("src", "", "lib"))
        elif source.startswith(name + "/"):
            rest = source[len(name) + 1 :]
            yield from (posixpath.join(folder, rest), posixpath.join(folder, "src", rest))


def _json(project: Project, path: str) -> dict[str, Any]:
    """JSON with comments and commas too many, as these files are written."""
    text = project.text(path) or ""
    text = re.sub(
        r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*', lambda m: m[1] or "", text, flags=re.DOTALL
    )
    text = re.sub(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text)
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
