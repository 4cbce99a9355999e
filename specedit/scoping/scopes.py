"""The scopes of one file, the classes in it, and which names it declares, as what.

Built from a language's tables; its rules tell what looks like a declaration and is not one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from types import MappingProxyType

from specedit.scoping.languages import rules_of
from specedit.scoping.languages.rules import Rules
from specedit.scoping.scope import Declared, Home, Owner, Scope
from specedit.syntax.branch import Branch, grow
from specedit.syntax.languages import Language
from specedit.syntax.trees import uncollected

PLAIN = "a class of the language"  # a literal's
NONE: Mapping[str, str] = MappingProxyType({})


class Scopes(Home):
    """All scopes, declarations and owners of one text."""

    def __init__(self, text: str, language: Language, modules: Mapping[str, str] = NONE) -> None:
        """`modules`: the names of modules that are imported without one."""
        rules = rules_of(language.name)
        assert rules is not None
        self.rules: Rules = rules
        self.language = language
        self.data = text.encode("utf-8", "surrogatepass")
        self.root = grow(text, language)
        self.file = Scope("file", self.root, None)
        self.by_node: dict[int, Scope] = {id(self.root): self.file}
        self.owners: list[Owner] = []
        self._modules = modules
        self._owners_named: dict[str, list[Owner]] = {}
        self._owners_called: dict[str, list[Owner]] = {}  # by the last part of a qualified name
        self._owners_at: dict[int, list[Owner]] = {}  # by node
        self._leaves: list[Branch] = []
        self._names: list[str] = []  # of the leaves: two lists take half of a list of pairs
        self.by_leaf: dict[int, Declared] = {}
        self._declarations: dict[str, list[Declared]] = {}  # by name
        self.imported: dict[int, Owner] = {}  # by the node that brings it in
        self.plain = Owner("", self.root, module=PLAIN, home=self)
        self._builtins: dict[str, Owner] = {}
        self.announced: dict[int, dict[str, str]] = {}  # by function: what a language reads there
        self._open()

    # reading the tree

    @property
    def leaves(self) -> Iterator[tuple[Branch, str]]:
        """Every name in reading order."""
        return zip(self._leaves, self._names, strict=True)

    def text(self, node: Branch) -> str:
        return self.data[node.start : node.end].decode("utf-8", "replace")

    def label(self, leaf: Branch) -> str:
        return self.rules.label(leaf, self.text)

    def scope_of(self, node: Branch, *, outside: bool = False) -> Scope:
        """The innermost scope around `node`, or with `outside` around its parent."""
        here: Branch | None = node.parent if outside else node
        passed = False  # the next scope is one that does not hold what stands in it here
        while here is not None:
            result = self.by_node.get(id(here))
            if result is not None and not (outside and result.kind == "template"):
                if not passed:
                    return result
                passed = False
            passed = passed or self._is_read_outside(here)
            here = here.parent
        return self.file

    def _is_read_outside(self, node: Branch) -> bool:
        """Python: a default, or what a comprehension's first `for` goes over. Java: resources."""
        if node.place not in self.rules.outside or node.parent is None:
            return False
        if node.place not in self.rules.outside_first:
            return True
        holder = node.parent
        first = holder.parent.first(holder.type) if holder.parent is not None else None
        return first is holder

    def declare(self, declared: Declared) -> None:
        self.by_leaf[id(declared.leaf)] = declared
        self._declarations.setdefault(declared.name, []).append(declared)

    def declarations(self, name: str) -> Sequence[Declared]:
        return self._declarations.get(name, ())

    def owners_named(self, name: str) -> Sequence[Owner]:
        return self._owners_named.get(name, ())

    def owners_at(self, node: Branch) -> Sequence[Owner]:
        return self._owners_at.get(id(node), ())

    def outside(self, node: Branch, name: str, module: str | None) -> Owner:
        """Something whose members stand elsewhere than in a scope: in another module, mostly."""
        return self.imported.setdefault(id(node), Owner(name, node, module=module, home=self))

    def builtin(self, name: str) -> Owner:
        """A thing of the language itself, or of another project, whose members are not known."""
        return self._builtins.setdefault(name, Owner(name, self.root, module=name))

    # building

    def _open(self) -> None:
        """Scopes and owners, outer before inner; leaves in reading order."""
        rules = self.rules
        rules.prepare(self.root, self.data)
        named = type(rules).names_in is not Rules.names_in
        shows = type(rules).shown is not Rules.shown
        by_parent = {key.partition("<")[0] for key in rules.scopes if "<" in key}
        for node in self.root.walk():
            parent, type_ = node.parent, node.type
            for leaf, name in rules.names_in(node, self.text) if named else ():
                self._leaves.append(leaf)
                self._names.append(self._modules.get(name, name))
            if type_ in rules.names:
                if node.end == node.start:
                    continue  # what the parser made up
                if rules.is_name(node):
                    self._leaves.append(node)
                    self._names.append(intern(self.label(node)))
                    continue
                if not node.children:
                    continue
            if shows and (shown := rules.shown(node, self.text)) is not None:
                called = self._owners_called.get(shown[0], ()) if shown[0] else ()
                self.scope_of(node).opens += [(owner, shown[1]) for owner in called]
            kind = rules.scopes.get(type_)
            if type_ in by_parent and parent is not None:
                kind = rules.scopes.get(f"{type_}<{parent.type}", kind)
            if kind is None or kind == "shared" or parent is None or not rules.opens(node):
                continue
            scope = Scope(kind, node, self.scope_of(node))
            self.by_node[id(node)] = scope
            if kind in ("class", "namespace", "enum"):
                scope.owner = self._owner(node)
            elif kind == "function":
                scope.owner = self._receiver(node)

    def _owner(self, node: Branch) -> Owner:
        rules, name = self.rules, self.rules.class_name(node, self.text)
        adds = node.type in rules.adds_to
        bases = [
            self.text(leaf)
            for child in node.children
            if child.type in rules.bases
            for leaf in self._named_in(child)
            if leaf.type in rules.names and leaf.end - leaf.start > 0
        ]
        bases += rules.bases_of(node, self.text)
        known = next(iter(self.owners_named(name)), None) if name else None
        if known is not None and known.early and not adds:
            self._owners_at[id(known.node)].remove(known)
            known.node, known.early = node, False
            self._owners_at.setdefault(id(node), []).append(known)
            known.bases += bases
            return known
        same = (
            known is not None
            and known.node is not node
            and self._holder(known.node) is self._holder(node)
        )
        if known is not None and (adds or (same and name)):  # `#[cfg(a)] struct A`, and not(a)
            known.bases += bases
            return known
        return self._made(Owner(name, node, bases, early=adds, home=self))

    def _holder(self, node: Branch) -> Branch | None:
        """What a definition stands in, without the word that exports it."""
        up = node.parent
        return up.parent if up is not None and up.type in self.rules.exports else up

    def _named_in(self, bases: Branch) -> Iterator[Branch]:
        """The types in a list of bases, without the arguments of generic ones that wrap nothing."""
        waiting = [bases]
        while waiting:
            node = waiting.pop()
            yield node
            below = list(node.children)
            if below and self.text(below[0]) not in self.rules.wrappers:
                below = [node for node in below if node.type not in self.rules.arguments]
                below = [node for node in below if node.place not in self.rules.given]
            waiting.extend(reversed(below))

    def _made(self, owner: Owner) -> Owner:
        self.owners.append(owner)
        self._owners_named.setdefault(owner.name, []).append(owner)
        self._owners_called.setdefault(owner.name.split("::")[-1], []).append(owner)
        self._owners_at.setdefault(id(owner.node), []).append(owner)
        return owner

    def _receiver(self, node: Branch) -> Owner | None:
        """The class a method is written outside of."""
        name = self.rules.receiver_name(node, self.text)
        if not name:
            return None
        for owner in self.owners_named(name):
            return owner
        return self._made(Owner(name, node, early=True, home=self))


def declared_scopes(text: str, language: Language, modules: Mapping[str, str] = NONE) -> Scopes:
    with uncollected():
        scopes = Scopes(text, language, modules)
        for leaf, name in scopes.leaves:
            result = _declaring(scopes, leaf, name)
            if result is not None:
                _add(scopes, leaf, name, *result)
    return scopes


def _declaring(scopes: Scopes, leaf: Branch, name: str) -> tuple[str, str, Branch] | None:
    """Kind, place to declare in and carrying node, when this leaf declares its name."""
    rules = scopes.rules
    if leaf.type in rules.labels or leaf.place in rules.labels:
        return None
    node = rules.carrier(leaf)
    while node.parent is not None:
        place = node.place
        entry = rules.declares.get(place)
        if entry is not None:
            if not rules.is_declaration(scopes, leaf, name, node.parent):
                return None
            kind, where = rules.declared_as(scopes, leaf, node.parent, entry).split()
            return kind, where, node.parent
        anywhere = f"{node.parent.type}." in rules.patterns
        if place not in rules.patterns and not anywhere:
            return None
        if anywhere and node.field in ("type", "value", "right"):
            return None
        node = node.parent
    return None


def _add(scopes: Scopes, leaf: Branch, name: str, kind: str, where: str, node: Branch) -> None:
    scope = _target(scopes, node, where, name)
    after = _visible_from(scopes, scope, leaf, node, where) if kind in ("local", "value") else 0
    owner: Owner | None = None
    if where == "enumerator":
        owner = scopes.scope_of(node).owner
    elif where == "receiver" and (method := scopes.by_node.get(id(node))) and method.owner:
        owner, kind = method.owner, "method"
    elif where == "class" or _joins(scope, kind, where):
        owner = scope.owner
        if kind == "function" and scope.kind == "class":
            kind = "method"
        elif kind == "local" and scope.kind == "class":
            kind = "field"
    made = Declared(name, kind, leaf, node, scope, owner, after, scopes)
    scopes.declare(made)
    if owner is not None:
        owner.members.setdefault(name, []).append(made)
    if owner is None or scope.kind == "namespace" or where == "enumerator":
        scope.declared.setdefault(name, []).append(made)
    holder = scope.owner if where == "enumerator" else None
    if where == "property":
        holder = _class_around(scopes, node)
    if holder is not None and holder is not owner:
        holder.members.setdefault(name, []).append(made)
        made.also = holder


def _visible_from(scopes: Scopes, scope: Scope, leaf: Branch, node: Branch, where: str) -> int:
    """The byte from which a local is visible in its own scope."""
    if scope.kind not in ("block", "function") or not scopes.rules.in_order or where == "function":
        return 0
    if where == "subject" and (subject := node.part("value")) is not None:
        return subject.end
    return node.end if where == "after" else leaf.start


def _target(scopes: Scopes, node: Branch, where: str, name: str) -> Scope:
    if where in ("outer", "receiver", "enumerator"):
        scope = scopes.scope_of(node, outside=True)
        if where == "enumerator" and scope.kind == "enum":
            scope = scopes.scope_of(scope.node, outside=True)
        return scope
    if where == "file":
        return scopes.file
    if where == "function":
        elsewhere = scopes.rules.elsewhere(scopes, node, name)
        if elsewhere is not None:
            return elsewhere
    scope = scopes.scope_of(node)
    if where == "class":
        while scope.kind not in ("class", "enum") and scope.parent is not None:
            scope = scope.parent
    elif where == "function":
        while scope.kind in ("block", "template") and scope.parent is not None:
            scope = scope.parent
    return scope


def _class_around(scopes: Scopes, node: Branch) -> Owner | None:
    around = (scopes.by_node[id(up)] for up in node.up() if id(up) in scopes.by_node)
    return next((scope.owner for scope in around if scope.kind == "class"), None)


def _joins(scope: Scope, kind: str, where: str) -> bool:
    """Whether a name declared right in a class or module is its member."""
    own_name = where == "here" and kind in ("class", "function")  # `x = class Own {}`
    return (
        scope.kind in ("class", "namespace") and kind not in ("type", "parameter") and not own_name
    )
