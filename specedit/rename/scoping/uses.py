"""What one use of a name means: a declaration, or a key that equal uses share.

Asks `Typing` for classes. Which keys are one thing in the end is for `meaning` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from specedit.rename.scoping.arguments import parameter_named
from specedit.rename.scoping.context import taken_apart
from specedit.rename.scoping.scope import Declared, Owner
from specedit.rename.scoping.typing import Known, Typing
from specedit.syntax.branch import Branch

EXTERNAL = "outside"  # a member of something this file does not define
UNKNOWN = "unknown"  # a member of something whose class is not known
FREE = "free"  # a bare name nobody here declares
MODULE = "module"  # a name of another module, or one this module gives out under

Join = Callable[[Hashable, Hashable], None]


class Uses:
    """The uses of one name. `join` is called for two keys that a use shows to be one."""

    def __init__(self, typing: Typing, name: str, declared: list[Declared], join: Join) -> None:
        self.typing, self.scopes, self.rules = typing, typing.scopes, typing.rules
        self.name = name
        self.declared = declared
        self.owner_of: dict[Hashable, Owner] = {}
        self._join = join

    def is_go(self) -> bool:
        return "method_elem.name" in self.rules.declares

    def keys(self, leaf: Branch) -> list[Hashable]:
        """What a place means: one thing, or two where a shorthand names a member and a variable."""
        rules, parent = self.rules, leaf.parent
        assert parent is not None
        if leaf.type in rules.labels or leaf.place in rules.labels:
            return [("label", id(self._function(leaf)))]
        declared = self.scopes.by_leaf.get(id(leaf))
        if leaf.type in ("shorthand_property_identifier", "shorthand_property_identifier_pattern"):
            value = declared or self._bare(leaf, "value")
            return [value, self._shorthand_member(leaf)]
        if declared is not None:
            if declared.node.type == "anonymous_function_use_clause":
                self._join(declared, self._variable(self._function(leaf)))
            if leaf.place == "augmented_assignment.left" and declared.owner is not None:
                read = self._bare(leaf, "value")  # Python: `x += 1` in a class reads the outer x
                if isinstance(read, Declared):
                    self._join(declared, read)
            if leaf.type == "shorthand_field_identifier":
                return [declared, self._pattern_member(leaf)]
            return [declared]
        if self._is_foreign(leaf):
            return [(MODULE, "")]
        if leaf.place in rules.own_names or self._is_constructor(leaf):
            return [self._own(leaf)]
        in_literal = parent.parent is not None and parent.parent.type == "initializer_expression"
        if in_literal and leaf.place == "assignment_expression.left":
            return [self._literal_member(parent)]
        if parent.type == "with_initializer" and parent.children[0] is leaf and parent.parent:
            return [self._member(self.typing.type_of(parent.parent.named_children()[0]))]
        if leaf.type == "string_fragment":
            return [self._quoted(leaf)]
        if self.name[0] == "@":
            owner = self.typing.enclosing(leaf)
            return [self._member((owner,) if owner else None)]
        if leaf.place == "shorthand_field_initializer.":
            return [self._bare(leaf, "value"), self._literal_member(parent)]
        if parent.type == "token_tree":
            return [self._in_macro(leaf)]
        if leaf.place in rules.keys and self.name[0] != "$":
            key = self._key(leaf, rules.keys[leaf.place])
            if key is not None:
                return [key]
        receiver = self.typing.receiver(leaf) if leaf.place in rules.members else None
        if (
            "scoped" in parent.type
            and receiver is not None
            and receiver.type in ("crate", "self", "super")
        ):
            module = self.scopes.root if receiver.type != "self" else leaf
            return [self.typing.lookup(self.name, module, "any") or (EXTERNAL, "")]
        if receiver is not None:
            return [self._member(self.typing.type_of(receiver), self._called(leaf))]
        hint = "value"
        if leaf.type in rules.type_names or leaf.place in rules.type_places:
            hint = "type"
        elif leaf.place == "macro_invocation.macro":
            hint = "macro"
        elif parent.type in rules.calls and leaf.field == rules.calls[parent.type]:
            hint = "call"
        return [self._bare(leaf, hint)]

    def _function(self, leaf: Branch) -> Branch:
        for up in leaf.up():
            if self.rules.scopes.get(up.type) == "function":
                return up
        return self.scopes.root

    def _bare(self, leaf: Branch, hint: str) -> Hashable:
        if leaf.place == "switch_label.":  # Java: a constant of the enum that is switched on
            constants = [one for one in self.declared if one.node.type == "enum_constant"]
            if len(constants) == 1:
                return constants[0]
        if self.name[0] == "$" and self.rules.sigils:
            return self._variable(leaf)
        found = self.typing.lookup(self.name, leaf, hint)
        if found is None and hint == "type":
            found = self._outer_type()
        return found if found is not None else (FREE, hint if self.rules.methods_apart else "")

    def _variable(self, leaf: Branch) -> Hashable:
        """PHP: a variable belongs to its function; `fn` and `use` share the outer one."""
        node: Branch = leaf
        while True:
            function = self._function(node)
            if function.type == "arrow_function":
                declared = self.scopes.by_node[id(function)].declared.get(self.name)
                if declared:
                    return declared[0]
                node = function
                continue
            scope = self.scopes.by_node[id(function)]
            if scope.declared.get(self.name):
                return scope.declared[self.name][0]
            return ("local", id(function))

    def _outer_type(self) -> Declared | None:
        """A type nested elsewhere in this file, named without its path."""
        types = [one for one in self.declared if one.kind in ("class", "namespace")]
        return types[0] if len(types) == 1 else None

    def _is_foreign(self, leaf: Branch) -> bool:
        """A name in another module, or the one this module gives out: `{P as q}`, `{q as P}`."""
        holder = leaf.parent
        if leaf.place == "export_specifier.alias":
            return True
        if leaf.place == "export_specifier.name" and holder is not None:
            return any(up.part("source") is not None for up in holder.up())
        if leaf.place == "import_specifier.name" and holder is not None:
            return holder.part("alias") is not None
        if leaf.place == "dotted_name." and holder is not None:
            return holder.place in ("aliased_import.name", "import_from_statement.module_name")
        return False

    def _is_constructor(self, leaf: Branch) -> bool:
        """C++: `A()` inside class A, `A::A()` outside."""
        if leaf.place == "function_declarator.declarator":
            owner = self.typing.enclosing(leaf)
            return owner is not None and owner.name == self.name
        if leaf.place == "qualified_identifier.name":
            scope = self.typing.receiver(leaf)
            return scope is not None and self.scopes.text(scope) == self.name
        return False

    def _own(self, leaf: Branch) -> Hashable:
        owner = self.typing.enclosing(leaf)
        if owner is not None:
            for one in self.declared:
                if one.node is owner.node:
                    return one
        return self._bare(leaf, "type")

    def _called(self, leaf: Branch) -> bool:
        access = leaf.parent
        assert access is not None
        holder = leaf if access.type in self.rules.calls else access
        return (
            holder.parent is not None
            and holder.parent.type in self.rules.calls
            and holder.field == self.rules.calls[holder.parent.type].strip("<")
        )

    def _member(self, owners: Known, called: bool = False) -> Hashable:
        if owners is None:
            return (UNKNOWN, "")
        if not owners:
            return (EXTERNAL, "")
        found = self.typing.members(owners, self.name, called)
        if found:
            for owner in owners:  # of a union every type's member is meant
                for other in self.typing.members((owner,), self.name, called)[:1]:
                    self._join(other, found[0])
            return found[0]
        for owner in owners:
            spread = [x for x in owner.node.children if x.type == "spread_element"]
            if spread:  # JavaScript: `{...a}` has what `a` has
                return self._all(
                    [self._member(self.typing.type_of(x.named_children()[0])) for x in spread]
                )
        for owner in owners:
            embedded = self.typing.lookup(self.name, owner.node, "type")
            if self.name in owner.bases and embedded is not None and self.is_go():
                return embedded
        key = ("implicit", id(owners[0]))
        self.owner_of[key] = owners[0]
        return key

    def _all(self, keys: list[Hashable]) -> Hashable:
        for key in keys[1:]:
            self._join(key, keys[0])
        return keys[0]

    def _quoted(self, leaf: Branch) -> Hashable:
        """`o["name"]`, `{"name": 1}`, or a literal type."""
        text = leaf.parent
        assert text is not None
        declared = self.scopes.by_leaf.get(id(leaf))
        if declared is not None:
            return declared
        if text.place == "subscript_expression.index" and text.parent is not None:
            return self._member(self.typing.type_of(text.parent.part("object")))
        index = text.parent.parent if text.parent is not None else None
        if index is not None and index.type == "lookup_type":
            return self._member(self.typing.named_type(index.named_children()[0]))
        return ("literal", "")

    def _shorthand_member(self, leaf: Branch) -> Hashable:
        if leaf.type == "shorthand_property_identifier":
            owners = self.typing.type_of(leaf.parent)
            return self._member(owners) if owners else (UNKNOWN, "")
        return self._destructured(leaf)

    def _destructured(self, leaf: Branch) -> Hashable:
        """The member a `{name}` pattern takes, by the class of what is taken apart."""
        node = leaf.parent
        while node is not None and node.type in ("object_assignment_pattern", "pair_pattern"):
            node = node.parent
        if node is None or node.type != "object_pattern":
            return (UNKNOWN, "")
        return self._member(taken_apart(self.typing, node))

    def _pattern_member(self, leaf: Branch) -> Hashable:
        for up in leaf.up():
            if up.type in ("struct_pattern", "recursive_pattern"):
                return self._member(self.typing.named_type(up.part("type")))
        return (UNKNOWN, "")

    def _literal_member(self, node: Branch) -> Hashable:
        for up in node.up():
            if up.type in ("struct_expression", "object_creation_expression", "composite_literal"):
                return self._member(self.typing.named_type(up.part("name") or up.part("type")))
        return (UNKNOWN, "")

    def _key(self, leaf: Branch, how: str) -> Hashable | None:
        parent = leaf.parent
        assert parent is not None
        if how == "argument":
            return parameter_named(leaf, self.typing, self.declared)
        if how == "pattern":
            return (
                self._destructured(leaf) if self.rules.quoted_keys else self._pattern_member(leaf)
            )
        if how == "literal" and leaf.type == "identifier" and parent.type == "literal_element":
            return self._go_key(parent) if parent.field == "key" else None
        if how == "literal" and parent.type == "field_designator":
            holder = next((up for up in parent.up() if up.part("type") is not None), None)
            return self._member(self.typing.named_type(holder.part("type")) if holder else None)
        if how == "literal":
            return self._literal_member(parent)
        if how == "constructor":
            owner = self.typing.enclosing(leaf)
            return self._member((owner,) if owner else None)
        return (UNKNOWN, "")

    def _go_key(self, element: Branch) -> Hashable | None:
        depth = 0
        for up in element.up():
            if up.type == "literal_value":
                depth += 1
            if up.type == "composite_literal":
                typed = up.part("type")
                if typed is not None and typed.type in ("map_type", "slice_type", "array_type"):
                    if depth == 1:
                        return None
                    typed = typed.part("value") or typed.part("element")
                elif depth > 1:
                    return (UNKNOWN, "")
                if typed is not None and typed.type == "pointer_type":
                    typed = typed.named_children()[0]
                return self._member(self.typing.named_type(typed))
        return None

    def _in_macro(self, leaf: Branch) -> Hashable:
        """Rust: a macro's tokens have no structure but their neighbours."""
        parent = leaf.parent
        assert parent is not None
        at = parent.children.index(leaf)
        before = parent.children[at - 1] if at else None
        sign = self.scopes.text(before) if before is not None else ""
        if sign in (".", "::") and at > 1:
            receiver = parent.children[at - 2]
            chained = at > 2 and self.scopes.text(parent.children[at - 3]) in (".", "::")
            if receiver.type in ("identifier", "self") and not (chained and sign == "."):
                return self._member(self.typing.type_of(receiver))
            return (UNKNOWN, "") if sign == "." else (EXTERNAL, "")
        return self._bare(leaf, "any")
