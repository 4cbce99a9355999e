"""Which class an expression has, as far as one file can tell.

`None` means unknown; an empty tuple means a type that this file does not define. Never guesses:
callers decide what unknown is worth.
"""

from __future__ import annotations

from collections.abc import Iterable

from specedit.text.rules import places
from specedit.text.scopes import FUNCTIONS, TYPES, Declared, Owner, Scope, Scopes
from specedit.text.tree import Branch

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


class Typing:
    """Answers for one file's scopes."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.rules = scopes.rules

    # names

    def lookup(self, name: str, at: Branch, hint: str = "value") -> Declared | None:
        """The declaration a bare name means at a place."""
        scope: Scope | None = self._start(at)
        inner = True  # no function between the use and the scope we look in
        while scope is not None:
            found = list(scope.declared.get(name, ()))
            owner = scope.owner
            if owner is not None and (
                self.rules.bare_members
                or (inner and scope.kind == "class" and self.rules.first_is_self)
                or (self.rules.open_enums and scope.node.type == "enum_declaration")
                or scope.kind == "namespace"
            ):
                found += self.members((owner,), name)
            chosen = self._choose(found, at, hint, inner)
            if chosen is not None:
                return chosen
            if scope.kind == "function":
                inner = False
            scope = scope.parent
        return None

    def _start(self, at: Branch) -> Scope:
        """Where to begin: Python's defaults and annotations belong outside the function."""
        if self.rules.first_is_self:
            previous = at
            for up in at.up():
                if up.type in ("default_parameter", "typed_default_parameter", "typed_parameter"):
                    if previous.field in ("value", "type"):
                        function = self.scopes.scope_of(up)
                        return function.parent or function
                if up.type in ("function_definition", "lambda"):
                    break
                previous = up
        return self.scopes.scope_of(at)

    def _choose(
        self, found: Iterable[Declared], at: Branch, hint: str, inner: bool
    ) -> Declared | None:
        fits = [one for one in found if self._accepts(one, hint)]
        if not fits:
            return None
        if inner or not self.rules.hoists:
            fits = [one for one in fits if one.after <= at.start]
        if hint != "type":
            fits.sort(key=lambda one: (one.kind not in TYPES, one.after, one.leaf.start))
            latest = [one for one in fits if one.kind not in TYPES and one.after]
            return latest[-1] if latest else (fits[-1] if fits else None)
        return fits[-1] if fits else None

    def _accepts(self, one: Declared, hint: str) -> bool:
        if one.node.type == "macro_definition" or hint == "macro":
            return hint == "macro" and one.kind in ("macro", "import")
        if hint == "type":
            return one.kind in TYPES
        if hint == "any" or not self.rules.methods_apart:
            return True
        return (one.kind in FUNCTIONS) == (hint == "call") or one.kind == "import"

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

    def enclosing(self, at: Branch) -> Owner | None:
        """The class around a place."""
        scope: Scope | None = self.scopes.scope_of(at)
        while scope is not None:
            if scope.owner is not None and scope.kind in ("class", "function", "enum"):
                return scope.owner
            scope = scope.parent
        return None

    def above(self, owner: Owner) -> list[Owner]:
        """What `owner` extends, in this file, nearest first."""
        found: list[Owner] = []
        waiting = [owner]
        while waiting:
            one = waiting.pop(0)
            for base in one.bases:
                for known in self.scopes.owners:
                    if known.name == base and known is not owner and known not in found:
                        found.append(known)
                        waiting.append(known)
        return found

    def members(
        self, owners: Iterable[Owner], name: str, called: bool | None = None
    ) -> list[Declared]:
        """The members called `name` of these owners, or of the nearest base that has one."""
        for owner in owners:
            for one in (owner, *self.above(owner)):
                found = one.members.get(name, [])
                if self.rules.members_apart and called is not None:
                    apart = [x for x in found if (x.kind in FUNCTIONS) == called]
                    found = apart or ([] if self.rules.methods_apart else found)
                if found:
                    return found
        return []

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
            return self.named_type(node.part("type") or node.part("right") or _last(node), deep + 1)
        if kind in BUILT:
            return self.named_type(
                node.part("type") or node.part("constructor") or node.part("name") or _first(node),
                deep + 1,
            )
        if kind in INDEXES:
            return self._element_of(_first(node), deep + 1)
        if kind in PASSED_ON:
            return self.type_of(_first(node), deep + 1)
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
        callee = _first(node) if where == "<" else node.part(where)
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
        if one.kind == "parameter" and self.rules.first_is_self and self._is_self(one):
            found = self.enclosing(one.node)
            return (found,) if found else None
        typed = self._type_part(one)
        if typed is not None:
            found_types = self.named_type(typed, deep + 1)
            if found_types is not None or self.scopes.text(typed) not in INFERRED:
                return found_types
        if one.kind in FUNCTIONS:
            return self._returned(one, deep)
        if one.node.type in LOOPS:
            return self._element_of(one.node.part("right") or one.node.part("value"), deep + 1)
        return self.type_of(self._value_part(one), deep + 1)

    # what stands around an object literal

    def context(self, node: Branch, deep: int = 0) -> Known:
        """The class an object literal is meant for, by where it stands."""
        parent = node.parent
        if parent is None or deep > DEEP:
            return None
        typed = self._context_type(node, parent, deep)
        if typed is not None:
            return self.named_type(typed, deep + 1)
        if node.place == "assignment_expression.right":
            return self.type_of(parent.part("left"), deep + 1)
        if node.place == "pair.value" and parent.parent is not None:
            key = parent.part("key")
            around = self.context(parent.parent, deep + 1)
            found = self.members(around or (), self.scopes.text(key).strip("'\"")) if key else []
            return self.type_of_declared(found[0], deep + 1) if found else None
        if parent.type in ("parenthesized_expression", "ternary_expression"):
            return self.context(parent, deep + 1)
        return None

    def taken_apart(self, pattern: Branch, deep: int = 0) -> Known:
        """The class of what an object pattern takes apart."""
        holder = pattern.parent
        if holder is None or deep > DEEP:
            return None
        if (typed := holder.part("type")) is not None:
            return self.named_type(typed, deep + 1)
        if holder.type in ("object_assignment_pattern", "assignment_pattern"):
            return self.taken_apart(holder, deep + 1)
        if holder.type == "pair_pattern" and holder.parent is not None:
            key = holder.part("key")
            around = self.taken_apart(holder.parent, deep + 1)
            found = self.members(around or (), self.scopes.text(key)) if key else []
            return self.type_of_declared(found[0], deep + 1) if found else None
        if holder.type == "array_pattern" and holder.parent is not None:
            return self._element_of(holder.parent.part("value"), deep + 1)
        if holder.type == "for_in_statement":
            return self._element_of(holder.part("right"), deep + 1)
        value = holder.part("value") or holder.part("right")
        return self.type_of(value, deep + 1) if value is not pattern else None

    def _context_type(self, node: Branch, parent: Branch, deep: int) -> Branch | None:
        """The type expression that says what an expression must be."""
        if parent.type in ("as_expression", "satisfies_expression"):
            return _last(parent)
        if parent.type == "type_assertion":
            return _first(parent)
        if node.field == "value" and (typed := parent.part("type")) is not None:
            return typed
        if parent.type == "return_statement" or node.place == "arrow_function.body":
            for up in node.up():
                if self.rules.scopes.get(up.type) == "function":
                    return up.part("return_type")
        if parent.type == "parenthesized_expression" and parent.place == "arrow_function.body":
            return self._context_type(parent, parent.parent or parent, deep)
        if parent.type == "array":
            typed = self._context_type(parent, parent.parent or parent, deep + 1)
            return self.element(typed)
        if parent.type == "arguments" and parent.parent is not None:
            return self._parameter_type(parent, node)
        return None

    def _parameter_type(self, arguments: Branch, node: Branch) -> Branch | None:
        call = arguments.parent
        callee = call.part("function") or call.part("constructor") if call is not None else None
        if callee is None:
            return None
        declared: Declared | None = None
        if callee.type in self.rules.names:
            declared = self.lookup(self.scopes.label(callee), callee, "call")
        elif (member := self.member_leaf(callee)) is not None:
            owners = self.type_of(self.receiver(member))
            found = self.members(owners or (), self.scopes.label(member))
            declared = found[0] if found else None
        if declared is None:
            return None
        function = declared.node
        if declared.kind == "class":
            found = self.members(
                [one for one in self.scopes.owners if one.node is function], "constructor"
            )
            function = found[0].node if found else function
        parameters = function.part("parameters")
        at = arguments.named_children().index(node)
        if parameters is None or at >= len(parameters.named_children()):
            return None
        return parameters.named_children()[at].part("type")

    def element(self, typed: Branch | None) -> Branch | None:
        """The element's type in `Foo[]`, `List<Foo>`, `[]Foo`."""
        while typed is not None and typed.type in ("type_annotation", "type", "parenthesized_type"):
            typed = _first(typed)
        if typed is None:
            return None
        if typed.type in LISTS:
            return (
                typed.part("element") or typed.part("value") or typed.part("type") or _first(typed)
            )
        inner = typed.part("type_arguments") or _last(typed)
        if inner is not None and "argument" in inner.type:
            return _last(inner)
        return None

    def _element_of(self, node: Branch | None, deep: int) -> Known:
        """The class of what a loop or an index takes out of `node`."""
        if node is None or node.type not in self.rules.names:
            return None
        declared = self.lookup(self.scopes.label(node), node)
        typed = self._type_part(declared) if declared is not None else None
        element = self.element(typed)
        return self.named_type(element, deep + 1) if element is not None else None

    def _is_self(self, one: Declared) -> bool:
        scope = one.scope
        listed = one.node.named_children() if one.node.type == "parameters" else []
        return bool(
            scope and scope.parent and scope.parent.kind == "class" and listed[:1] == [one.leaf]
        )

    def _type_part(self, one: Declared) -> Branch | None:
        names = ("type", "returns", "return_type", "result") if one.kind in FUNCTIONS else ("type",)
        node: Branch | None = one.node
        for _ in range(3):
            if node is None:
                return None
            for name in names:
                if (typed := node.part(name)) is not None and typed is not one.leaf:
                    return typed
            typed = node.first("user_type", "nullable_type")  # Kotlin has no field names here
            if typed is not None and typed.start > one.leaf.start:
                return typed
            if node.type not in _CARRIES_UP:
                return None
            node = node.parent
        return None

    def _value_part(self, one: Declared) -> Branch | None:
        node = one.node
        if one.leaf.parent is not node and one.leaf.parent is not None:
            lists = ("expression_list", "pattern_list")
            if one.leaf.parent.type in lists and len(one.leaf.parent.named_children()) > 1:
                return None
            if one.leaf.parent.type not in (*lists, "pointer_declarator", "reference_declarator"):
                return None
        value = node.part("value") or node.part("right")
        if value is None and node.type == "variable_declarator" and len(node.named_children()) > 1:
            value = node.named_children()[-1]
        if value is None and node.parent is not None and node.type == "variable_declaration":
            later = [x for x in node.parent.named_children() if x.start >= node.end]
            value = later[0] if later else None
        return value

    def _returned(self, one: Declared, deep: int) -> Known:
        """The class of the first `return` of a function without a return type."""
        for node in one.node.walk():
            if node.type == "return_statement":
                return self.type_of(_first(node), deep + 1)
        return None

    def named_type(self, node: Branch | None, deep: int = 0) -> Known:
        """The owners a type expression names."""
        if node is None or deep > DEEP:
            return None
        if node.type in LISTS or node.type.endswith("array_type"):
            return ()
        if node.type in ("type_annotation", "parenthesized_type", "nullable_type", "type"):
            return self.named_type(_first(node), deep + 1)
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


def _first(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[0] if named else None


def _last(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[-1] if named else None


_CARRIES_UP = places(
    "variable_declarator init_declarator pointer_declarator reference_declarator",
    "function_declarator declaration variable_declaration property_element spread_parameter",
    "array_declarator",
)
