"""What each use of one name means: uses of the same thing come out as one `Meaning`.

Knows scopes and types of one file. Does not rename.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from specedit.text.languages import Language
from specedit.text.scopes import FUNCTIONS, TYPES, Declared, Owner, Scopes
from specedit.text.tree import Branch
from specedit.text.typing import Known, Typing

EXTERNAL = "outside"  # a member of something this file does not define
UNKNOWN = "unknown"  # a member of something whose class is not known
FREE = "free"  # a bare name nobody here declares
MODULE = "module"  # a name of another module, or one this module gives out under


@dataclass(eq=False)
class Meaning:
    """One thing a name means, and every place that means it."""

    kind: str  # the declarations' kind, or EXTERNAL, UNKNOWN, FREE, "label", "literal"
    declared: list[Declared] = field(default_factory=list)
    leaves: list[Branch] = field(default_factory=list)
    owners: list[Owner] = field(default_factory=list)

    @property
    def lines(self) -> list[int]:
        return sorted({leaf.line for leaf in self.leaves})

    @property
    def is_member(self) -> bool:
        return bool(self.owners)


def meanings(text: str, language: Language, name: str) -> tuple[list[Meaning], Typing]:
    """The meanings of `name`, those with a declaration first, then in reading order."""
    typing = Typing(Scopes(text, language))
    found = _Sorting(typing, name).groups()
    if typing.rules.sigils:
        found += _Sorting(typing, "$" + name).groups()
        found.sort(key=lambda one: (not one.declared, one.leaves[0].start))
    return found, typing


class _Sorting:
    """Union-find over declarations and places."""

    def __init__(self, typing: Typing, name: str) -> None:
        self.typing, self.scopes, self.rules = typing, typing.scopes, typing.rules
        self.name = name
        self.parent: dict[Hashable, Hashable] = {}
        self.leaves: list[tuple[Branch, Hashable]] = []
        self.declared = list(self.scopes.declarations(name))
        self.owner_of: dict[Hashable, Owner] = {}

    def groups(self) -> list[Meaning]:
        self._join_declarations()
        for leaf, name in self.scopes.leaves:
            if name == self.name:
                for key in self._keys(leaf):
                    self.leaves.append((leaf, key))
        self._join_families()
        found: dict[Hashable, Meaning] = {}
        for one in self.declared:
            meaning = found.setdefault(self._root(one), Meaning(one.kind))
            meaning.declared.append(one)
            if one.owner is not None and one.owner not in meaning.owners:
                meaning.owners.append(one.owner)
        for leaf, key in self.leaves:
            root = self._root(key)
            kind = str(root[0]) if isinstance(root, tuple) else UNKNOWN
            meaning = found.setdefault(root, Meaning(kind))
            if leaf not in meaning.leaves:
                meaning.leaves.append(leaf)
            owner = self.owner_of.get(key)
            if owner is not None and owner not in meaning.owners:
                meaning.owners.append(owner)
        kept = [one for one in found.values() if one.leaves]
        return sorted(kept, key=lambda one: (not one.declared, one.leaves[0].start))

    # union-find

    def _root(self, key: Hashable) -> Hashable:
        while (above := self.parent.get(key, key)) is not key and above != key:
            key = above
        return key

    def _join(self, one: Hashable, other: Hashable) -> None:
        a, b = self._root(one), self._root(other)
        if a is b or a == b:
            return
        if isinstance(a, Declared):  # a declaration stays the root, so that kinds survive
            a, b = b, a
        self.parent[a] = b

    # declarations that are one thing

    def _join_declarations(self) -> None:
        together: dict[Hashable, Declared] = {}
        for one in self.declared:
            sort = self._sort(one)
            place: Hashable = id(one.owner) if one.owner is not None else id(one.scope)
            if one.owner is None and one.after and one.scope and one.scope.kind != "file":
                rebinds = one.node.type in ("let_declaration", "let_condition")
                place = (place, id(one.node) if rebinds else 0)
            first = together.setdefault((place, sort), one)
            self._join(one, first)
        by_name: dict[int, Declared] = {}
        for one in self.declared:  # a type and a value of one name in one scope: TypeScript merges
            if one.owner is None and self.rules.quoted_keys:
                self._join(one, by_name.setdefault(id(one.scope), one))
            if one.kind == "import" and one.scope is not None:
                self._join_import(one)

    def _sort(self, one: Declared) -> str:
        if one.kind in TYPES - {"import"}:
            return "type"
        if one.node.type == "macro_definition":
            return "macro"
        apart = self.rules.methods_apart or (self.rules.members_apart and one.owner is not None)
        return "call" if apart and one.kind in FUNCTIONS else "value"

    def _join_import(self, one: Declared) -> None:
        """Rust's `use self::x` brings in what this file itself defines."""
        path = one.leaf.parent
        while path is not None and path.type in ("use_list", "scoped_use_list", "use_as_clause"):
            path = path.parent if path.part("path") is None else path
            if path is not None and path.part("path") is not None:
                break
        start = path.part("path") if path is not None else None
        if start is None:
            return
        words = self.scopes.text(start).replace("crate::", "").split("::")
        for other in self.declared:
            if other is one or other.kind == "import" or other.kind in ("local", "parameter"):
                continue
            owner = other.owner.name if other.owner is not None else ""
            if words[-1] == owner or (not owner and words[-1] in ("self", "super", "crate")):
                self._join(other, one)

    def _join_families(self) -> None:
        """A member and the one it overrides, or implements, are one thing."""
        by_owner: dict[int, list[Hashable]] = {}
        for one in self.declared:
            if one.owner is not None:
                by_owner.setdefault(id(one.owner), []).append(one)
        for key, owner in self.owner_of.items():
            by_owner.setdefault(id(owner), []).append(key)
        for keys in by_owner.values():
            for key in keys:
                if not isinstance(key, Declared) and len(keys) > 1:
                    self._join(key, keys[0])
        for owner in self.scopes.owners:
            mine = by_owner.get(id(owner), [])
            for above in self.typing.above(owner):
                for member in mine:
                    for over in by_owner.get(id(above), []):
                        if self._overrides(member, over):
                            self._join(member, over)
            if mine and owner.node.type == "object":
                wanted = self.typing.members(self.typing.context(owner.node) or (), self.name)
                for member in mine[:1] if wanted else []:
                    self._join(member, wanted[0])
        self._join_go_interfaces(by_owner)

    def _overrides(self, one: Hashable, other: Hashable) -> bool:
        """Fields hide where methods override; a field never overrides a method."""
        if not (self.rules.fields_hide or self.rules.members_apart):
            return True
        sorts = {self._sort(key) for key in (one, other) if isinstance(key, Declared)}
        if len(sorts) > 1:
            return False
        if not self.rules.fields_hide:
            return True
        kinds = [key.kind for key in (one, other) if isinstance(key, Declared)]
        return all(kind in FUNCTIONS for kind in kinds)

    def _join_go_interfaces(self, by_owner: dict[int, list[Hashable]]) -> None:
        if not self._is_go():
            return
        methods = [
            one for one in self.declared if one.node.type in ("method_elem", "method_declaration")
        ]
        if any(one.node.type == "method_elem" for one in methods):
            for one in methods:
                self._join(one, methods[0])

    def _is_go(self) -> bool:
        return "method_elem.name" in self.rules.declares

    # uses

    def _keys(self, leaf: Branch) -> list[Hashable]:
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
            if leaf.type == "shorthand_field_identifier":
                return [declared, self._pattern_member(leaf)]
            return [declared]
        if self._is_foreign(leaf):
            return [(MODULE, "")]
        if leaf.place in rules.own_names or self._is_constructor(leaf):
            return [self._own(leaf)]
        if leaf.place == "assignment_expression.left" and parent.parent is not None:
            if parent.parent.type == "initializer_expression":
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
        if receiver is not None and self.scopes.text(receiver) in ("crate", "self", "super"):
            if leaf.place in ("scoped_identifier.name", "scoped_type_identifier.name"):
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
            if self.name in owner.bases and embedded is not None and self._is_go():
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
        return self._member(self.typing.taken_apart(node))

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
            return self._argument(leaf)
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

    def _argument(self, leaf: Branch) -> Hashable | None:
        """The parameter a keyword argument names."""
        parent = leaf.parent
        assert parent is not None
        if (
            parent.type == "value_argument"
            and parent.children[0] is leaf
            and len(parent.children) == 1
        ):
            return None  # Kotlin: a positional argument
        if parent.type == "argument" and parent.part("name") is not leaf:
            return None
        call = next((up for up in leaf.up() if up.type in self.rules.calls), None)
        if call is None:
            return (UNKNOWN, "")
        where = self.rules.calls[call.type]
        callee = call.named_children()[0] if where == "<" else call.part(where)
        if callee is None:
            return (UNKNOWN, "")
        last = [one for one in callee.walk() if one.type in self.rules.names]
        name = self.scopes.label(last[-1]) if last else ""
        for one in self.declared:
            if one.kind not in ("parameter", "field") or one.scope is None:
                continue
            holder = one.scope.node.part("name")
            owner = one.owner.name if one.owner is not None else ""
            around = (
                one.scope.parent.owner.name if one.scope.parent and one.scope.parent.owner else ""
            )
            if (holder is not None and self.scopes.text(holder) == name) or name in (owner, around):
                return one
        return (EXTERNAL, "argument")

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
