"""Which classes a type expression names, as far as the files tell.

`None` means unknown; an empty tuple means a type that these files do not define.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specedit.scoping.scope import FUNCTIONS, Declared, Owner
from specedit.scoping.written import DEEP, Known, WrittenTypes
from specedit.syntax.branch import Branch, first_of, last_of

if TYPE_CHECKING:
    from specedit.scoping.languages.rules import Typing  # it builds on this module


class TypeNames(WrittenTypes):
    """Classes by their names, on top of what names mean."""

    def type_of_declared(self, one: Declared, deep: int = 0) -> Known:
        """The class of what a declaration stands for."""
        raise NotImplementedError

    def word(self, node: Branch) -> Owner | None:
        """The module that an expression stands for."""
        raise NotImplementedError

    def named(self, name: str, at: Branch) -> Known:
        """The owners called `name` that are visible at a place; the nearest definition first."""
        if name in self.rules.self_types:
            result = self.enclosing(at)
            return (result,) if result else None
        declared = self.lookup(name, at, "type")
        if declared is not None and (home := self.home(declared)) is not None:
            return home.type_of_declared(declared)
        if declared is not None and declared.kind == "type":
            return None
        if declared is None and self.rules.makes:
            made_by = self.lookup(name, at)
            if made_by is not None and made_by.kind in FUNCTIONS:
                return None
        if declared is not None and (target := self._aliased(declared)) is not None:
            return self.named_type(target)
        if declared is not None and declared.kind in ("class", "namespace"):
            own = [one for one in self.scopes.owners if one.node is declared.node]
            if own:
                return tuple(own)
        if declared is not None and declared.kind == "import":
            return self._imported(declared)
        return tuple(one for one in self.scopes.owners if one.name == name) or self._builtin(name)

    def _aliased(self, one: Declared) -> Branch | None:
        """The type that an alias is another name of; None where it has members of its own."""
        if one.node.type not in self.rules.aliases:
            return None
        target = one.node.part("type") or one.node.part("value")
        if any(owner.node is one.node and owner.members for owner in self.scopes.owners):
            return None
        if target is None or one.name in {self.scopes.text(x) for x in target.walk()}:
            return None
        return target

    def _builtin(self, name: str) -> tuple[Owner, ...]:
        """What the language brings under a name that the file does not declare."""
        if name not in self.rules.builtins:
            return ()
        return (self.scopes.builtins.setdefault(name, Owner(name, self.scopes.root, module=name)),)

    def _imported(self, one: Declared, deep: int = 1) -> tuple[Owner, ...]:
        """A class that an import names, or something of another module."""
        imported = self.project.imported_declarations(self, one)
        if imported is not None:
            types = [self.type_of_declared(each, deep + 1) for each in imported if each is not one]
            result = tuple(owner for known in types if known for owner in known)
            return result or ()
        known = tuple(owner for owner in self.scopes.owners if owner.name == one.name)
        module = self.rules.module_of(self.scopes, one)
        return known or (self.scopes.outside(one.leaf, one.name, module),)

    def home(self, one: Declared) -> Typing | None:
        """The answers for the file that a declaration stands in, where it is not this one."""
        return self.project.at(one.home) if one.home not in (None, self.scopes) else None

    def over(self, node: Branch) -> Typing | None:
        """The answers for the file that a node stands in, where it is not this one."""
        there = self.project.over(node)
        return there if there is not self else None

    def resolved(self, one: Declared | None) -> Declared | None:
        """What an import brings in, wherever it is declared; anything else is itself."""
        home: TypeNames = self
        for _ in range(DEEP):
            if one is None or one.kind != "import":
                break
            imported = self.project.imported_declarations(home, one)
            if not imported or imported[0] is one:
                break
            one = imported[0]
            home = home.home(one) or home
        return one

    def elsewhere(self, base: str, at: Branch, modules: list[Owner]) -> list[Owner]:
        for module in modules:
            for one in self.members((module,), base)[:1]:
                return list(self.type_of_declared(one) or ())
        result = self.named(base, at) or ()
        return [owner for owner in result if owner.module is None and owner.node is not at]

    def _bounds(self, one: Declared, deep: int) -> Known:
        """The classes that a type parameter is said to be, as far as they are of these files."""
        listed = one.node.part("bounds") or one.node.first(*self.rules.bounds)
        each = listed.named_children() if listed is not None else ()
        known = [self.named_type(child, deep + 1) or () for child in each]
        own = tuple(owner for owners in known for owner in owners if owner.module is None)
        return own or None

    def _along(self, owners: tuple[Owner, ...], first: Branch) -> Known:
        """The class at the end of a qualified name whose first part is known."""
        node, known = first, owners
        while node.parent is not None and node.parent.type in self.rules.paths:
            node = node.parent
            last = self.member_leaf(node) or last_of(node)
            result = self.members(known, self.scopes.text(last)) if last is not None else []
            if not result:
                return ()
            known = self.class_of(result[0]) or self.type_of_declared(result[0]) or ()
        return known

    def class_of(self, one: Declared) -> tuple[Owner, ...]:
        """What a declaration has members of its own as: a class, a variant with fields."""
        home = self.home(one) or self
        return tuple(owner for owner in home.scopes.owners if owner.node is one.node)

    def named_type(self, node: Branch | None, deep: int = 0) -> Known:
        """The owners a type expression names."""
        if node is None or deep > DEEP:
            return None
        if (home := self.over(node)) is not None:
            return home.named_type(node, deep + 1)
        if node.type in self.rules.lists:
            return (self.scopes.plain,)
        if node.type in self.rules.around_types:
            return self.named_type(node.part("type") or first_of(node), deep + 1)
        scope = self.scopes.by_node.get(id(node))
        if scope is not None and scope.owner is not None:
            return (scope.owner,)
        if node.type in self.rules.unions:
            known = [self.named_type(child, deep + 1) for child in node.named_children()]
            every = [owner for owners in known if owners for owner in owners]
            own = [owner for owner in every if owner.module is None]  # `A | null` is an A
            return tuple(own or every[:1])
        if quoted := self.rules.quoted_type(node, self.scopes.text):
            return self.named(quoted, node)
        if node.type in self.rules.untyped:
            return None
        leaves = [
            leaf for leaf in node.walk() if leaf.type in self.rules.names and leaf.end > leaf.start
        ]
        names = [self.scopes.text(leaf) for leaf in leaves]
        if not names:
            return (self.scopes.plain,)
        if names[0] in self.rules.inferred:
            return None
        outer = [up for up in leaves[:2] if up.parent and up.parent.type in self.rules.paths]
        first = self.lookup(names[0], leaves[0], "type") if outer else None
        if first is not None and first.kind == "import":
            imported = self._imported(first)
            if all(owner.module is not None for owner in imported):
                return imported
            return self._along(imported, leaves[0])
        if outer:
            around = next((up for up in node.walk() if up.type in self.rules.paths), node)
            before = first_of(around)
            item = self.word(before) if before is not None else None
            last = last_of(around)
            if item is not None and last is not None:
                result = self.members((item,), self.scopes.text(last).split("<")[0])
                return self.type_of_declared(result[0], deep + 1) if result else ()
        if outer:
            names = names[len(outer) - 1 :]
            leaves = leaves[len(outer) - 1 :]
        if len(names) > 1 and names[0] in self.rules.builtins and names[1] in self.rules.wrappers:
            names, leaves = names[1:], leaves[1:]  # `std::unique_ptr<A>`
        if names[0] in self.rules.wrappers and len(names) > 1:
            listed = next((one for one in node.walk() if one.type in self.rules.arguments), None)
            inner = first_of(listed) if listed is not None else None
            return self.named_type(inner, deep + 1) if inner else self.named(names[1], leaves[1])
        return self.named(names[0], leaves[0])
