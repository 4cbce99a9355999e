"""Which class an expression has, as far as one file can tell.

`None` means unknown; an empty tuple means a type that this file does not define. Never guesses:
callers decide what unknown is worth.
"""

from __future__ import annotations

from specedit.rename.languages import places
from specedit.rename.scoping.lookup import Lookup
from specedit.rename.scoping.scope import FUNCTIONS, Declared, Owner
from specedit.rename.scoping.written import is_self, type_part, value_part
from specedit.syntax.branch import Branch

Known = tuple[Owner, ...] | None

DEEP = 12  # steps of inference; real chains are shorter, cycles are not
INFERRED = frozenset({"var", "auto", "let", "const", "val", "dynamic", "any", "unknown", "mixed"})
WRAPPERS = places(
    "Box Rc Arc Ref RefMut Cow Pin shared_ptr unique_ptr weak_ptr Readonly Partial Required",
    "Optional Final ClassVar Annotated",
)
PASSED_ON = places(
    "parenthesized_expression unary_expression reference_expression await_expression",
    "non_null_expression try_expression pointer_expression postfix_unary_expression await",
    "literal_element expression_list unary_op",
)
ALIASES = places("type_definition alias_declaration type_item type_alias type_alias_declaration")
CASTS = places(
    "cast_expression as_expression type_cast_expression type_assertion_expression",
    "satisfies_expression type_assertion",
)
BUILT = places(
    "object_creation_expression new_expression composite_literal struct_expression",
    "compound_literal_expression implicit_object_creation_expression",
)
LOOPS = places("for_in_statement foreach_statement for_statement for_expression range_clause")
INDEXES = places("subscript_expression index_expression element_access_expression array_access")
LISTS = frozenset({"array_type", "slice_type", "map_type", "list_type", "tuple_type"})


class Typing(Lookup):
    """Classes of expressions, on top of what names mean."""

    def named(self, name: str, at: Branch) -> Known:
        """The owners called `name` that are visible at a place; the nearest definition first."""
        if name in ("Self", "self", "static"):
            found = self.enclosing(at)
            return (found,) if found else None
        declared = self.lookup(name, at, "type")
        if declared is not None and declared.kind == "type":
            return None
        if declared is None and self.rules.quoted_keys:
            made_by = self.lookup(name, at)  # JavaScript: `new f()` of a plain function
            if made_by is not None and made_by.kind in FUNCTIONS:
                return None
        if declared is not None and declared.node.type in ALIASES:
            meant = declared.node.part("type") or declared.node.part("value")
            own = [one for one in self.scopes.owners if one.node is declared.node and one.members]
            if (
                not own
                and meant is not None
                and name not in {self.scopes.text(x) for x in meant.walk()}
            ):
                return self.named_type(meant)
        if declared is not None and declared.kind in ("class", "namespace"):
            own = [one for one in self.scopes.owners if one.node is declared.node]
            if own:
                return tuple(own)
        return tuple(one for one in self.scopes.owners if one.name == name)

    # expressions

    def type_of(self, node: Branch | None, deep: int = 0) -> Known:
        if node is None or deep > DEEP:
            return None
        rules, kind = self.rules, node.type
        text = self.scopes.text(node) if node.end - node.start < 80 else ""
        means_self = kind in rules.selves or text in ("this", "$this", "self")
        if means_self and not rules.first_is_self:
            found = self.enclosing(node)
            return (found,) if found else None
        if kind in rules.supers or text in ("super()", "base", "parent"):
            found = self.enclosing(node)
            return tuple(self.above(found)) if found else None
        if kind == "object" or (kind == "class" and node.children):
            scope = self.scopes.by_node.get(id(node))
            return (scope.owner,) if scope and scope.owner else None
        if kind in CASTS:
            return self.named_type(
                node.part("type") or node.part("right") or last_of(node), deep + 1
            )
        if kind in BUILT:
            return self.named_type(
                node.part("type")
                or node.part("constructor")
                or node.part("name")
                or first_of(node),
                deep + 1,
            )
        if kind in INDEXES:
            return self.element_of(first_of(node), deep + 1)
        if kind in PASSED_ON:
            return self.type_of(first_of(node), deep + 1)
        if kind in rules.names or kind == "variable_name":
            return self._type_of_name(node, deep)
        if (member := self.member_leaf(node)) is not None and kind not in rules.calls:
            return self._type_of_member(member, deep)
        if kind in rules.calls:
            return self._type_of_call(node, deep)
        return None

    def member_leaf(self, node: Branch) -> Branch | None:
        """The name after the dot, when `node` is a member access."""
        for child in reversed(node.children):
            if child.place in self.rules.members and self.receiver(child) is not None:
                return child
        return None

    def receiver(self, leaf: Branch) -> Branch | None:
        """What stands before the dot of a member access."""
        where, parent = self.rules.members.get(leaf.place), leaf.parent
        if where is None or parent is None:
            return None
        if where == "?":
            holder = next(
                (up for up in leaf.up() if up.type == "conditional_access_expression"), None
            )
            return holder.part("condition") if holder else None
        if where != "<":
            return parent.part(where)
        before = [one for one in parent.children if one.named and one.end <= leaf.start]
        return before[-1] if before else None

    def _type_of_name(self, node: Branch, deep: int) -> Known:
        leaf = node
        if node.type == "variable_name":
            leaf = node.first("name") or node
        name = self.scopes.label(leaf)
        if name == "$this":
            found = self.enclosing(node)
            return (found,) if found else None
        if node.type in self.rules.type_names or name in ("Self", "static"):
            return self.named(name, node)
        declared = self.lookup(name, node)
        if declared is None:
            owners = tuple(one for one in self.scopes.owners if one.name == name)
            return owners or (() if name[:1].isupper() else None)
        return self.type_of_declared(declared, deep + 1)

    def _type_of_member(self, leaf: Branch, deep: int) -> Known:
        owners = self.type_of(self.receiver(leaf), deep + 1)
        if owners is None:
            return None
        name = self.scopes.label(leaf)
        found = self.members(owners, name)
        if not found:
            inner = tuple(one for one in self.scopes.owners if one.name == name)
            return inner or (() if name[:1].isupper() and not owners else None)
        return self.type_of_declared(found[0], deep + 1)

    def _type_of_call(self, node: Branch, deep: int) -> Known:
        where = self.rules.calls[node.type]
        callee = first_of(node) if where == "<" else node.part(where)
        if callee is None:
            return None
        if self.scopes.text(callee) == "super":
            found = self.enclosing(node)
            return tuple(self.above(found)) if found else None
        if callee.parent is node and callee.place in self.rules.members:
            receiver = self.receiver(callee)
            if receiver is not None:
                return self._type_of_member(callee, deep)
            declared = self.lookup(self.scopes.label(callee), callee, "call")
            return self.type_of_declared(declared, deep + 1) if declared else None
        if callee.type in self.rules.names:
            declared = self.lookup(self.scopes.label(callee), callee, "call")
            if declared is not None and declared.kind in ("class", *FUNCTIONS):
                return self.type_of_declared(declared, deep + 1)
            return None
        return self.type_of(callee, deep + 1)

    # declarations

    def type_of_declared(self, one: Declared, deep: int = 0) -> Known:
        if deep > DEEP:
            return None
        if one.kind in ("class", "namespace"):
            own = tuple(owner for owner in self.scopes.owners if owner.node is one.node)
            return own or tuple(o for o in self.scopes.owners if o.name == one.name)
        if one.kind == "import":
            return ()
        if one.kind == "type":
            return None
        if one.node.type == "enum_variant" or one.node.type == "enum_constant":
            return (one.owner,) if one.owner else None
        if one.kind == "parameter" and self.rules.first_is_self and is_self(one):
            found = self.enclosing(one.node)
            return (found,) if found else None
        typed = type_part(one)
        if typed is not None:
            found_types = self.named_type(typed, deep + 1)
            if found_types is not None or self.scopes.text(typed) not in INFERRED:
                return found_types
        if one.kind in FUNCTIONS:
            return self._returned(one, deep)
        if one.node.type in LOOPS:
            return self.element_of(one.node.part("right") or one.node.part("value"), deep + 1)
        return self.type_of(value_part(one), deep + 1)

    def element(self, typed: Branch | None) -> Branch | None:
        """The element's type in `Foo[]`, `List<Foo>`, `[]Foo`."""
        while typed is not None and typed.type in ("type_annotation", "type", "parenthesized_type"):
            typed = first_of(typed)
        if typed is None:
            return None
        if typed.type in LISTS:
            return (
                typed.part("element")
                or typed.part("value")
                or typed.part("type")
                or first_of(typed)
            )
        inner = typed.part("type_arguments") or last_of(typed)
        if inner is not None and "argument" in inner.type:
            return last_of(inner)
        return None

    def type_written(self, node: Branch | None) -> Branch | None:
        """The type expression that a variable or a member was declared with."""
        if node is None:
            return None
        declared: Declared | None = None
        if node.type in self.rules.names:
            declared = self.lookup(self.scopes.label(node), node)
        elif (leaf := self.member_leaf(node)) is not None:
            owners = self.type_of(self.receiver(leaf))
            found = self.members(owners or (), self.scopes.label(leaf))
            declared = found[0] if found else None
        return type_part(declared) if declared is not None else None

    def element_of(self, node: Branch | None, deep: int) -> Known:
        """The class of what a loop or an index takes out of `node`."""
        element = self.element(self.type_written(node))
        return self.named_type(element, deep + 1) if element is not None else None

    def _returned(self, one: Declared, deep: int) -> Known:
        """The class of the first `return` of a function without a return type."""
        for node in one.node.walk():
            if node.type == "return_statement":
                return self.type_of(first_of(node), deep + 1)
        return None

    def named_type(self, node: Branch | None, deep: int = 0) -> Known:
        """The owners a type expression names."""
        if node is None or deep > DEEP:
            return None
        if node.type in LISTS or node.type.endswith("array_type"):
            return ()
        if node.type in ("type_annotation", "parenthesized_type", "nullable_type", "type"):
            return self.named_type(first_of(node), deep + 1)
        scope = self.scopes.by_node.get(id(node))
        if scope is not None and scope.owner is not None:
            return (scope.owner,)
        if node.type in ("union_type", "intersection_type"):
            known = [self.named_type(child, deep + 1) for child in node.named_children()]
            return tuple(owner for owners in known if owners for owner in owners)
        if node.type in ("implicit_type", "placeholder_type_specifier", "type_query"):
            return None
        leaves = [
            leaf for leaf in node.walk() if leaf.type in self.rules.names and leaf.end > leaf.start
        ]
        names = [self.scopes.text(leaf) for leaf in leaves]
        if not names:
            return () if node.type != "string" else None
        if names[0] in INFERRED:
            return None
        outer = [
            up
            for up in leaves[:2]
            if up.parent and up.parent.type.startswith(("scoped", "qualified"))
        ]
        if outer:
            names = names[len(outer) - 1 :]
            leaves = leaves[len(outer) - 1 :]
        if names[0] in WRAPPERS and len(names) > 1:
            return self.named(names[1], leaves[1])
        return self.named(names[0], leaves[0])


def first_of(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[0] if named else None


def last_of(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[-1] if named else None
