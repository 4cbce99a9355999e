"""What is read of a place as it is written: a type, an element, what a name is a member of."""

from __future__ import annotations

from specedit.scoping.languages import Rules
from specedit.scoping.lookup import Lookup
from specedit.scoping.scope import FUNCTIONS, Declared, Owner
from specedit.syntax.branch import Branch, first_of, last_of

DEEP = 40  # steps of inference, three or four for each call of a chain; cycles are longer
Known = tuple[Owner, ...] | None  # None: unknown; empty: a type that this file does not define


class WrittenTypes(Lookup):
    """Reads the syntax around a name."""

    def type_of(self, node: Branch | None, deep: int = 0) -> Known:
        """The owners of an expression's members."""
        raise NotImplementedError

    def member_leaf(self, node: Branch) -> Branch | None:
        """The name after the dot, when `node` is a member access."""
        for child in reversed(node.children):
            if child.place in self.rules.members and self.receiver(child) is not None:
                return child
        return None

    def receiver(self, leaf: Branch) -> Branch | None:
        """What stands before the dot of a member access."""
        return self.rules.receiver(leaf)

    def is_called(self, leaf: Branch) -> bool:
        """Whether the member after the dot is called."""
        calls, access = self.rules.calls, leaf.parent
        assert access is not None
        holder = leaf if access.type in calls else access
        around = holder.parent
        return (
            around is not None
            and around.type in calls
            and holder.field == calls[around.type].strip("<")
        )

    # declarations

    def element(self, typed: Branch | None) -> Branch | None:
        """The element's type in `Foo[]`, `List<Foo>`, `[]Foo`."""
        while typed is not None and typed.type in self.rules.around_types:
            typed = typed.part("type") or first_of(typed)
        if typed is None:
            return None
        if typed.type in self.rules.lists:
            return (
                typed.part("element")
                or typed.part("value")
                or typed.part("type")
                or first_of(typed)
            )
        if typed.type in self.rules.names:  # `type Things []Thing`
            declared = self.lookup(self.scopes.text(typed), typed, "type")
            typed = (declared.node.part("type") if declared is not None else None) or typed
            return self.element(typed) if typed.type in self.rules.lists else None
        inner = typed.first(*self.rules.arguments) or last_of(typed)
        if inner is not None and inner.type in self.rules.arguments:
            return last_of(inner)
        return None

    def type_written(self, node: Branch | None) -> Branch | None:
        """The type expression that a variable or a member was declared with, or is made of."""
        while node is not None and node.type in self.rules.passes_on:
            node = first_of(node)
        if node is None:
            return None
        if node.type in self.rules.builds:
            return node.part("type")  # `[]A{…}`
        if node.type in self.rules.indexes:
            return self.element(self.type_written(first_of(node)))
        declared: Declared | None = None
        if node.type in self.rules.names:
            declared = self.lookup(self.scopes.label(node), node)
        elif (leaf := self.member_leaf(node)) is not None:
            owners = self.type_of(self.receiver(leaf))
            result = self.members(owners or (), self.scopes.label(leaf))
            declared = result[0] if result else None
        if declared is None or (typed := type_part(declared, self.rules)) is not None:
            return typed if declared is not None else None
        value = self.rules.value_part(declared)
        while value is not None and value.type in self.rules.passes_on:
            value = first_of(value)
        made = value is not None and value.type in self.rules.builds
        return self.type_written(value) if made else None

    def _is_keyed(self, over: Branch | None) -> bool:
        """Whether a loop goes over the keys of something, which are of no interest here."""
        typed = self.type_written(over)
        words = self.rules.keyed
        return bool(words) and typed is not None and self._head(typed) in words

    def _head(self, typed: Branch) -> str:
        leaves = (one for one in typed.walk() if one.type in self.rules.names)
        return self.scopes.text(next(leaves, typed))


def type_part(one: Declared, rules: Rules) -> Branch | None:
    names = ("type", "returns", "return_type", "result") if one.kind in FUNCTIONS else ("type",)
    node: Branch | None = one.node
    for _ in range(3):
        if node is None:
            return None
        for name in names:
            if (typed := node.part(name)) is not None and typed is not one.leaf:
                return typed
        typed = node.first(*rules.types)
        if typed is not None and typed.start > one.leaf.start:
            return typed
        if node.type not in rules.carries_up:
            return None
        node = node.parent
    return None
