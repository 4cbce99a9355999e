"""Which class an expression has, as far as one file can tell.

`None` means unknown; an empty tuple means a type that this file does not define. Never guesses:
callers decide what unknown is worth.
"""

from __future__ import annotations

from specedit.scoping.scope import FUNCTIONS, Declared, Owner
from specedit.scoping.written import DEEP, Known, WrittenTypes, type_part
from specedit.syntax.branch import Branch, first_of, last_of


class Typing(WrittenTypes):
    """Classes of expressions, on top of what names mean."""

    def word(self, node: Branch) -> Owner | None:
        return self.rules.word(self.project, self, node)

    # expressions

    def type_of(self, node: Branch | None, deep: int = 0) -> Known:
        if node is None or deep > DEEP:
            return None
        if (home := self.over(node)) is not None:
            return home.type_of(node, deep + 1)
        if (item := self.word(node)) is not None:
            return (item,)
        rules, kind = self.rules, node.type
        text = self.scopes.text(node) if node.end - node.start < 80 else ""
        if kind in rules.selves or text in rules.self_words:
            result = self.enclosing(node)
            return (result,) if result else None
        if kind in rules.supers or text in rules.super_words:
            result = self.enclosing(node)
            return tuple(self.above(result)) if result else None
        if kind in rules.literals and node.children:
            scope = self.scopes.by_node.get(id(node))
            return (scope.owner,) if scope and scope.owner else None
        if kind in rules.plain:
            return (self.scopes.plain,)
        if kind in rules.casts:
            return self.named_type(
                node.part("type") or node.part("right") or last_of(node), deep + 1
            )
        if kind in rules.builds:
            return self.named_type(
                node.part("type")
                or node.part("constructor")
                or node.part("name")
                or first_of(node),
                deep + 1,
            )
        if kind in rules.indexes:
            return self.element_of(first_of(node), deep + 1)
        if kind in rules.passes_on:
            return self.type_of(first_of(node), deep + 1)
        if kind in rules.takes_out and (known := rules.taken_out(self, node, deep)) is not None:
            return known
        if kind in rules.names or kind in rules.holders:
            return self._type_of_name(node, deep)
        if (member := self.member_leaf(node)) is not None and kind not in rules.calls:
            return self._type_of_member(member, deep)
        if kind in rules.calls:
            return self._type_of_call(node, deep)
        return None

    def _type_of_name(self, node: Branch, deep: int) -> Known:
        leaf = (node.first(*self.rules.names) if node.type in self.rules.holders else None) or node
        name = self.scopes.label(leaf)
        if node.type in self.rules.type_names or name in self.rules.self_types:
            return self.named(name, node)
        hint = "type" if self.rules.is_type(node) else "value"
        declared = self.lookup(name, node, hint)
        if declared is None:
            owners = tuple(self.scopes.owners_named(name)) or self._builtin(name)
            return owners or (() if name[:1].isupper() else None)
        result = self.type_of_declared(declared, deep + 1)
        return result if result is not None else self.rules.narrowed(self, leaf, deep + 1)

    def _type_of_member(self, leaf: Branch, deep: int) -> Known:
        owners = self.type_of(self.rules.receiver(leaf), deep + 1)
        if owners is None:
            return None
        name = self.scopes.label(leaf)
        foreign = all(owner.module is not None for owner in owners)
        if foreign and self._takes_types(leaf):  # `Assert.IsType<Order>(x)` may give an Order
            return None
        if owners and foreign:
            return owners if name[:1].isupper() or not self.is_called(leaf) else None
        result = self.members(owners, name, self.is_called(leaf))
        if leaf.parent is not None and leaf.parent.type in self.rules.calls:
            result = [self._overload(one, leaf.parent) for one in result[:1]]
        if not result and (kept := self._kept(owners, name, deep)) is not None:
            return kept
        if not result:
            inner = tuple(self.scopes.owners_named(name))
            return inner or (() if name[:1].isupper() and not owners else None)
        return self.type_of_declared(result[0], deep + 1)

    def _takes_types(self, leaf: Branch) -> bool:
        """Whether types are given to what is called by this name."""
        around = (leaf, *list(leaf.up())[:2])
        return any(one.first(*self.rules.arguments) is not None for one in around)

    def _kept(self, owners: tuple[Owner, ...], name: str, deep: int) -> Known:
        """The class of an attribute that only a method sets: `self.x = A()`."""
        for owner in owners:
            for one in (owner, *self.above(owner)) if owner.module is None else ():
                home = self.project.at(one.home) or self
                for value in home.rules.kept_in(one.node, name, home.scopes.text):
                    if known := home.type_of(value, deep + 1):  # what is not found says nothing
                        return known
        return None

    def _type_of_call(self, node: Branch, deep: int) -> Known:
        if (module := self.rules.brings(node, self.scopes.text)) is not None:
            return (self.scopes.outside(node, "", module),)
        if (callee := self._callee(node)) is None:
            return None
        if self.scopes.text(callee) in self.rules.super_words:
            result = self.enclosing(node)
            return tuple(self.above(result)) if result else None
        if self.scopes.text(callee) in self.rules.allocates:
            listed = last_of(node)
            return self.named_type(first_of(listed), deep + 1) if listed is not None else None
        if callee.parent is node and callee.place in self.rules.members:
            receiver = self.rules.receiver(callee)
            if receiver is not None:
                return self._type_of_member(callee, deep)
            declared = self.resolved(self.lookup(self.scopes.label(callee), callee, "call"))
            declared = self._overload(declared, node) if declared is not None else None
            return self.type_of_declared(declared, deep + 1) if declared else None
        if callee.type in self.rules.names:
            declared = self.resolved(self.lookup(self.scopes.label(callee), callee, "call"))
            if declared is None:
                return None
            makes = declared.kind == "import" and declared.name[:1].isupper()
            if makes or declared.kind in ("class", *FUNCTIONS):
                return self.type_of_declared(declared, deep + 1)
            return None
        return self.type_of(callee, deep + 1)

    def _overload(self, one: Declared, call: Branch) -> Declared:
        """Of methods of one name, the first that takes as many arguments as a call has."""
        listed = call.part(self.rules.listed)
        if listed is None or one.owner is None:
            return one
        for other in one.owner.members.get(one.name, ()):
            taken = other.node.part("parameters")
            if taken is not None and len(taken.named_children()) == len(listed.named_children()):
                return other
        return one

    def type_of_declared(self, one: Declared, deep: int = 0) -> Known:
        if deep > DEEP:
            return None
        if (home := self.home(one)) is not None:
            return home.type_of_declared(one, deep + 1)
        if one.kind == "module":
            return (one.owner,) if one.owner is not None else None
        if one.kind in ("class", "namespace"):
            if (module := self.rules.file_of(self.project, self, one)) is not None:
                return (module,)
            if (target := self._aliased(one)) is not None:
                return self.named_type(target, deep + 1)
            own = self.scopes.owners_at(one.node) or self.scopes.owners_named(one.name)
            return tuple(own)
        if one.kind == "import":
            return self._imported(one, deep)
        if one.kind == "type":
            return self._bounds(one, deep)
        if one.node.type in self.rules.constants:
            return (one.owner,) if one.owner else None
        if one.kind == "parameter" and self.rules.is_instance(one):
            result = self.enclosing(one.node)
            return (result,) if result else None
        typed = type_part(one, self.rules)
        if typed is not None:
            found_types = self.named_type(typed, deep + 1)
            if found_types is not None or self.scopes.text(typed) not in self.rules.inferred:
                return found_types
        if one.kind in FUNCTIONS:
            return self._returned(one, deep)
        if one.node.type in self.rules.loops:
            over = one.node.part("right") or one.node.part("value")
            return None if self._is_keyed(over) else self.element_of(over, deep + 1)
        value = self.rules.value_part(one)
        return self.type_of(value, deep + 1) if value is not None else self._unpacked(one, deep)

    def _unpacked(self, one: Declared, deep: int) -> Known:
        """One of the things that a value gives: `x, err := f()`, `x, ok := m[key]`."""
        holder = one.leaf.parent
        right = one.node.part("right") or one.node.part("value")
        if holder is None or holder.type not in self.rules.targets or right is None:
            return None
        names = holder.named_children()
        if len(names) < 2:
            return None
        number = names.index(one.leaf)
        values = right.named_children() if right.type in self.rules.targets else [right]
        if len(values) != 1:
            return self.type_of(values[number], deep + 1) if number < len(values) else None
        (value,) = values
        if value.type not in self.rules.calls:
            return self.type_of(value, deep + 1) if number == 0 else None
        leaf = self.called_leaf(value)
        # A step of 3: `x, y = x.f()` asks for the type of `x` again here and below.
        called = self.called(leaf, deep + 3) if leaf is not None else None
        results = type_part(called, self.rules) if called is not None else None
        if results is not None:
            listed = results.named_children()
            several = results.type in self.rules.results and number < len(listed)
            return self.named_type(listed[number], deep + 1) if several else None
        known = self.type_of(value, deep + 1)
        return known if known and all(owner.module is not None for owner in known) else None

    def _callee(self, call: Branch) -> Branch | None:
        where = self.rules.calls[call.type]
        return first_of(call) if where == "<" else call.part(where)

    def called_leaf(self, call: Branch) -> Branch | None:
        """The last name of what a call calls."""
        callee = self._callee(call)
        names = [one for one in callee.walk() if one.type in self.rules.names] if callee else []
        return names[-1] if names else None

    def called(self, leaf: Branch, deep: int = 0) -> Declared | None:
        """The declaration of what a call calls by this name."""
        name, receiver = self.scopes.label(leaf), self.rules.receiver(leaf)
        if receiver is not None:
            members = self.members(self.type_of(receiver, deep) or (), name, True)
            return self.resolved(members[0]) if members else None
        one = self.lookup(name, leaf, "call") or self.lookup(name, leaf, "type")
        return self.resolved(one)

    def element_of(self, node: Branch | None, deep: int) -> Known:
        """The class of what a loop or an index takes out of `node`."""
        element = self.element(self.type_written(node))
        return self.named_type(element, deep + 1) if element is not None else None

    def _returned(self, one: Declared, deep: int) -> Known:
        """The class of the first `return` of a function without a return type."""
        for node in one.node.walk():
            if node.type in self.rules.returns:
                return self.type_of(first_of(node), deep + 1)
        return None
