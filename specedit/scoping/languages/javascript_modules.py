"""Where JavaScript's and TypeScript's imports lead, what a module gives out, and how imports follow
files that move. Installed packages are not part of the tree.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from specedit.scoping.held import HeldRules
from specedit.scoping.languages.rules import Text
from specedit.scoping.project import Project, folders_up
from specedit.scoping.scope import Declared, Owner, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

ENDS = ("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
CONFIGS = ("tsconfig.json", "jsconfig.json")
MOCKS = frozenset({"jest.mock", "jest.doMock", "vi.mock", "vi.doMock"})
CALLS = frozenset({"require", "import", "require.resolve"}) | MOCKS
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def resolve(project: Project, path: str, source: str) -> str | None:
    """The file of the tree that an import means; None outside of the tree."""
    folder = posixpath.dirname(path)
    if source.startswith("."):
        place = posixpath.normpath(posixpath.join(folder, source))
        return _file(project, place) or _entry_file(project, place)
    for place in (*_mapped(project, folder, source), *_packages(project, source)):
        result = _file(project, posixpath.normpath(place))
        if result is not None:
            return result
    return None


def _file(project: Project, place: str) -> str | None:
    place = "" if place == "." else place
    stem, end = posixpath.splitext(place)
    tries = [place + end for end in ENDS]
    tries += [stem + written for written in WRITTEN.get(end, ())]
    tries += [posixpath.join(place, "index" + end) for end in ENDS[1:]]
    return next((path for path in tries if path in project.paths), None)


def _entry_file(project: Project, folder: str) -> str | None:
    """The file that an import of a package's own folder means."""
    folder = "" if folder == "." else folder
    package = _json(project, posixpath.join(folder, "package.json"))
    found = (_file(project, posixpath.normpath(place)) for place in _entries(folder, package))
    return next((path for path in found if path is not None), None)


def _entries(folder: str, package: dict[str, Any]) -> Iterator[str]:
    """Where a package begins: by its package.json, or by habit."""
    fields = [package.get(field) for field in ("types", "source", "module", "main")]
    written = [field for field in fields if isinstance(field, str)]
    yield from (posixpath.join(folder, field) for field in written)
    for field in written:
        yield posixpath.join(folder, "src", posixpath.basename(field).partition(".")[0])
    yield from (posixpath.join(folder, name) for name in ("src", "", "lib"))


def _mapped(project: Project, folder: str, source: str) -> Iterator[str]:
    """The path that the nearest tsconfig.json maps a path to."""
    places = (posixpath.join(up, name) for up in folders_up(folder) for name in CONFIGS)
    if (config := next((place for place in places if place in project.paths), None)) is not None:
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


def _options(project: Project, config: str, deep: int) -> tuple[str | None, dict[str, list[str]]]:
    """`baseUrl` and `paths` of a configuration, from the tree's top, with what it extends."""
    content = _json(project, config)
    folder = posixpath.dirname(config)
    base: str | None = None
    paths: dict[str, list[str]] = {}
    above = content.get("extends")
    if isinstance(above, str) and above.startswith(".") and deep < 5:
        place = posixpath.normpath(posixpath.join(folder, above))
        match = next((path for path in (place, place + ".json") if path in project.paths), None)
        if match is not None:
            base, paths = _options(project, match, deep + 1)
    options = content.get("compilerOptions")
    if isinstance(options, dict):
        if isinstance(options.get("baseUrl"), str):
            base = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
        own = options.get("paths")
        if isinstance(own, dict):
            start = base if base is not None else folder
            paths = {
                str(key): [posixpath.join(start, path) for path in each if isinstance(path, str)]
                for key, each in own.items()
                if isinstance(each, list)
            }
    return base, paths


def _packages(project: Project, source: str) -> Iterator[str]:
    """A package of the same tree, by the name that its package.json gives it."""

    def read() -> dict[str, tuple[str, dict[str, Any]]]:
        results: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in project.called("package.json"):
            package = _json(project, path) if "node_modules" not in path else {}
            if isinstance(package.get("name"), str):
                results[package["name"]] = (posixpath.dirname(path), package)
        return results

    for name, (folder, package) in project.remembered("packages", read).items():
        if source == name:
            yield from _entries(folder, package)
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
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _specifiers(typing: Typing) -> Iterator[Branch]:
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
    written = next((script for script in SCRIPTS if source.endswith(script)), "")
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


class JavaScriptModules(HeldRules):
    def moved_imports(
        self, project: Project, here: Typing, moved: Mapping[str, str]
    ) -> Iterator[Rewrite]:
        path = project.path(here.scopes)
        folder = posixpath.dirname(path)
        new_folder = posixpath.dirname(moved.get(path, path))
        for node in _specifiers(here):
            source = here.scopes.text(node)[1:-1]
            old = resolve(project, path, source)
            if old is None:
                continue
            new = moved.get(old, old)
            if new == old and (folder == new_folder or not source.startswith(".")):
                continue
            written = _specifier(source, old, new, new_folder)
            if written != source:
                yield Rewrite(node.start + 1, node.end - 1, source, written)

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        leaf = imported.leaf
        source = self.module_of(here.scopes, imported)
        place = resolve(project, project.path(here.scopes), source)
        if place is None:
            return _announced(project, source, imported.name)
        if leaf.place == "namespace_import." or imported.node.type == "import_require_clause":
            module = project.module(place)
            return [module] if module is not None else None
        if leaf.place == "import_clause.":
            return given_out(project, place, "default")
        name = leaf.at("^ name") if leaf.at("^ alias") is not None else leaf
        return given_out(project, place, here.scopes.text(name or leaf))

    def is_read_from_values(self, project: Project, declared: Declared) -> bool:
        """A module is a value where a file takes it as a whole."""
        stem = posixpath.basename(project.path(declared.home)).partition(".")[0]
        whole = r"(?:\*\s*as\s+\w+\s+from|\brequire\(|\bimport\()\s*[\"'][^\"'\n]*"
        pattern = rf"{whole}\b{re.escape(stem)}(?:\.\w+)?[\"']"
        given_on = declared.kind != "import" and stem == "index"
        return given_on or (declared.is_own and bool(project.matching(pattern, SCRIPTS)))

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
                known = there.type_of(assigned)  # a class or a function is the module
                return known[0] if known is not None else None
        elif node.end - node.start < 16 and text(node) in ("exports", "module.exports"):
            place = project.path(here.scopes)
        else:
            return None
        module = project.module(place)
        return module.owner if module is not None else None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        home = project.at(owner.home)
        if project.is_module(owner):
            yield from given_out(project, project.path(owner.home), name)
        elif home is not None and self.scopes.get(owner.node.type) == "function":
            yield from _set_on(home, owner, name)


def _announced(project: Project, source: str, name: str) -> list[Declared]:
    """What `declare module "x" {…}` says of a module that is not in the tree."""
    paths = project.matching(r"\bdeclare\s+module\s+[\"']", SCRIPTS)
    homes = [typing.scopes for path in paths if (typing := project.typing(path)) is not None]
    owners = (home.owners_named(quote + source + quote) for home in homes for quote in "\"'")
    return [each for named in owners for owner in named for each in owner.members.get(name, ())]


def _set_on(home: Typing, owner: Owner, name: str) -> Iterator[Declared]:
    """The member of a function, where it is set first: `f.x = 1`, `f.prototype.x = 1`."""
    for leaf, label in home.scopes.leaves:
        target, node = leaf.parent, leaf.at("^ ^")
        if label != name or target is None or target.place != "assignment_expression.left":
            continue
        assert node is not None
        known, value = home.type_of(target.part("object")), node.part("right")
        if known is not None and known[0] is owner and value is not None:
            kind = "method" if home.rules.scopes.get(value.type) == "function" else "field"
            made = Declared(name, kind, leaf, node, None, owner, home=home.scopes)
            yield home.scopes.by_leaf.setdefault(id(leaf), made)
            return


def source_of(node: Branch, text: Text) -> str:
    """The module that the import or the export around a node names; "" where it names none."""
    sources = (source for up in node.up() if (source := up.part("source")) is not None)
    return next((text(node).strip("'\"") for node in sources), "")


def given_out(project: Project, place: str, name: str) -> list[Declared]:
    """The export of a module under a name."""
    return project.once(("gives", place, name), _given_out(project, place, name))


def _given_out(project: Project, place: str, name: str) -> Iterator[Declared]:
    typing = project.typing(place)
    if typing is None:
        return
    text, default = typing.scopes.text, name == "default"
    results = [declared for declared in project.top_level(place, name) if declared.kind != "export"]
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
        for child in clause.children if clause is not None else ():
            alias, exported = child.part("alias"), child.part("name")
            if exported is None or text(alias or exported) != name:
                continue
            if default:
                named.append(exported)
            elif alias is not None and text(alias) != text(exported):
                yield _alias(project, typing, child, alias)
            elif there is not None:
                yield from given_out(project, there, text(exported))
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
    """The exports of `module.exports = …`."""
    if b"module.exports" not in typing.scopes.data:
        return
    for child in typing.scopes.root.children:
        for part in child.children if child.type == "expression_statement" else ():
            left, right = part.part("left"), part.part("right")
            if left is None or right is None:
                continue
            if typing.scopes.text(left) == "module.exports":
                yield right
