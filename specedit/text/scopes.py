"""Scopes and declarations of one file: who declares a name, and where it is visible.

Built from a language's tables (`specedit.text.rules`). Knows nothing of renaming; what a *use* of a
name means is for `specedit.text.meaning`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from specedit.text.languages import Language
from specedit.text.rules import Rules, rules_of
from specedit.text.tree import Branch, grow

TYPES = frozenset({"class", "type", "namespace", "import"})
FUNCTIONS = frozenset({"function", "method"})


@dataclass(eq=False, slots=True)
class Declared:
    """One declaration of a name. `after`: the byte from which it is visible in its own scope."""

    name: str
    kind: str  # local | parameter | function | method | field | class | type | value | import | ...
    leaf: Branch = field(repr=False)
    node: Branch = field(repr=False)  # what carries the name: parameter, class, assignment
    scope: Scope | None = field(repr=False)
    owner: Owner | None = field(repr=False)  # the class it is a member of
    after: int = 0


@dataclass(eq=False, slots=True)
class Owner:
    """Something with members: a class, an interface, an object literal, a module."""

    name: str
    node: Branch = field(repr=False)
    bases: list[str] = field(default_factory=list)
    members: dict[str, list[Declared]] = field(default_factory=dict, repr=False)
    interface: bool = False


@dataclass(eq=False, slots=True)
class Scope:
    kind: str  # file | function | block | class | namespace | template
    node: Branch = field(repr=False)
    parent: Scope | None = field(repr=False)
    declared: dict[str, list[Declared]] = field(default_factory=dict, repr=False)
    owner: Owner | None = None


class Scopes:
    """All scopes, declarations and owners of one text."""

    def __init__(self, text: str, language: Language) -> None:
        rules = rules_of(language.name)
        assert rules is not None
        self.rules: Rules = rules
        self.data = text.encode("utf-8", "surrogatepass")
        self.root = grow(text, language)
        self.file = Scope("file", self.root, None)
        self.by_node: dict[int, Scope] = {id(self.root): self.file}
        self.owners: list[Owner] = []
        self.leaves: list[tuple[Branch, str]] = []
        self.by_leaf: dict[int, Declared] = {}
        self._open()
        self._declare()

    # reading the tree

    def text(self, node: Branch) -> str:
        return self.data[node.start : node.end].decode("utf-8", "replace")

    def label(self, leaf: Branch) -> str:
        """The name a leaf carries; a PHP variable keeps its `$`, a Ruby symbol loses its colon."""
        text = self.text(leaf)
        if leaf.type == "simple_symbol":
            return text[1:]
        if leaf.parent is not None and leaf.parent.type == "variable_name":
            owner = leaf.parent.place
            return text if owner in self.rules.members or "propert" in owner else "$" + text
        return text

    def scope_of(self, node: Branch, *, outside: bool = False) -> Scope:
        """The innermost scope around `node`, or with `outside` around its parent."""
        here: Branch | None = node.parent if outside else node
        while here is not None:
            found = self.by_node.get(id(here))
            if found is not None and not (outside and found.kind == "template"):
                return found
            here = here.parent
        return self.file

    def declarations(self, name: str) -> Iterator[Declared]:
        return (one for one in self.by_leaf.values() if one.name == name)

    # building

    def _open(self) -> None:
        """Scopes and owners, outer before inner; leaves in reading order."""
        rules = self.rules
        for node in self.root.walk():
            parent = node.parent
            if node.end == node.start and node.type in rules.names:
                continue  # what the parser made up
            if node.type in rules.names and (
                not node.children or node.type in ("lifetime", "label")
            ):
                if parent is None or not _is_part(node, parent):
                    self.leaves.append((node, self.label(node)))
                continue
            if node.place == "import_spec.path" and parent is not None and not parent.part("name"):
                name = self.text(node).strip('"`').rsplit("/", 1)[-1]
                self.leaves.append((node, name))  # Go: the path's last part is the name
                continue
            if rules.quoted_keys and node.type == "string_fragment" and _is_key(node):
                self.leaves.append((node, self.text(node)))
                continue
            if rules.dollar_strings and node.type == "string_literal":
                self.leaves += self._dollars(node)
            kind = rules.scopes.get(node.type)
            if parent is not None and f"{node.type}<{parent.type}" in rules.scopes:
                kind = rules.scopes[f"{node.type}<{parent.type}"]
            if kind is None or parent is None or _is_mention(node):
                continue
            around = parent
            if parent.type == "try_with_resources_statement" and node.type != "block":
                around = parent.parent or parent  # `catch` does not see the resources
            scope = Scope(kind, node, self.scope_of(around))
            self.by_node[id(node)] = scope
            if kind in ("class", "namespace", "enum"):
                scope.owner = self._owner(node)
            elif kind == "function":
                scope.owner = self._receiver(node)

    def _dollars(self, node: Branch) -> Iterator[tuple[Branch, str]]:
        """Kotlin: names behind a dollar sign in a string, which the grammar leaves as text."""
        for found in re.finditer(r"\$([^\W\d]\w*)", self.text(node)):
            start = node.start + len(self.text(node)[: found.start(1)].encode())
            end = start + len(found[1].encode())
            yield Branch("identifier", "", True, start, end, node.line, node), found[1]

    def _owner(self, node: Branch) -> Owner:
        name = self._class_name(node)
        bases = [
            self.text(leaf)
            for child in node.children
            if child.type in self.rules.bases
            for leaf in child.walk()
            if leaf.type in self.rules.names and leaf.end - leaf.start > 0
        ]
        outside = ("impl_item", "method_declaration", "function_definition")
        known = next((one for one in self.owners if one.name == name and name), None)
        if known is not None and known.node.type in outside and node.type != "impl_item":
            known.node = node  # an `impl` or a method came first
            known.bases += [base for base in bases if base != name]
            return known
        if node.type == "impl_item":
            trait = node.part("trait")
            bases += (
                [self.text(x) for x in trait.walk() if x.type == "type_identifier"] if trait else []
            )
            if known is not None:
                known.bases += bases
                return known
        if node.type in ("type_spec", "struct_type", "interface_type", "type_alias_declaration"):
            bases += self._embedded(node)
        kinds = ("interface_declaration", "trait_item", "interface_type", "protocol")
        body = node.part("type")
        interface = node.type in kinds or (body is not None and body.type in kinds)
        made = Owner(name, node, [base for base in bases if base != name], {}, interface)
        self.owners.append(made)
        return made

    def _embedded(self, node: Branch) -> list[str]:
        """Go's embedded fields and types, TypeScript's `A & {...}`."""
        found = []
        for child in node.walk():
            if child.type == "field_declaration" and child.part("name") is None:
                found += [
                    self.text(leaf) for leaf in child.walk() if leaf.type == "type_identifier"
                ]
            if child.type in ("intersection_type", "type_elem"):
                found += [self.text(x) for x in child.children if x.type == "type_identifier"]
        return found

    def _class_name(self, node: Branch) -> str:
        name = node.part("name")
        if name is None and node.type == "impl_item":
            name = node.part("type")
            while name is not None and name.type in ("generic_type", "scoped_type_identifier"):
                name = name.part("type") or name.part("name")
        if name is None:
            name = node.first("identifier", "type_identifier") if node.named else None
        return self.text(name) if name is not None and node.type not in ("object",) else ""

    def _receiver(self, node: Branch) -> Owner | None:
        """The class a method is written outside of: Go's receiver, C++'s `Class::method`."""
        name = ""
        receiver = node.part("receiver")
        if receiver is not None:
            types = [self.text(leaf) for leaf in receiver.walk() if leaf.type == "type_identifier"]
            name = types[0] if types else ""
        elif (declarator := node.part("declarator")) is not None:
            paths = [one for one in declarator.walk() if one.type == "qualified_identifier"]
            inner = paths[0] if paths else None
            while inner is not None and (deeper := inner.part("name")) is not None:
                if deeper.type != "qualified_identifier":
                    break
                inner = deeper
            scope = inner.part("scope") if inner is not None else None
            if scope is not None:
                leaf = scope if not scope.children else scope.part("name") or scope
                name = self.text(leaf)
        if not name:
            return None
        for owner in self.owners:
            if owner.name == name:
                return owner
        made = Owner(name, node)
        self.owners.append(made)
        return made

    def _declare(self) -> None:
        for leaf, name in self.leaves:
            found = self._declaring(leaf, name)
            if found is not None:
                self._add(leaf, name, *found)

    def _declaring(self, leaf: Branch, name: str) -> tuple[str, str, Branch] | None:
        """Kind, place to declare in and carrying node, when this leaf declares its name."""
        rules, node = self.rules, leaf
        if leaf.type in rules.labels or leaf.place in rules.labels:
            return None
        if leaf.type == "string_fragment":
            node = leaf.parent or leaf
        path = False
        while node.parent is not None:
            if node.parent.type == "computed_property_name" and leaf.type != "string_fragment":
                return None
            place = node.place
            entry = rules.declares.get(place)
            path = path or node.parent.type == "qualified_identifier"
            if entry is not None:
                if path and node.parent.type != "function_definition":
                    return None  # C++: `int A::s = 1` defines what the class declares
                if not self._really(leaf, name, node.parent):
                    return None
                kind, where = entry.split()
                return kind, where, node.parent
            if place not in rules.patterns and f"{node.parent.type}." not in rules.patterns:
                return None
            if f"{node.parent.type}." in rules.patterns and node.field in (
                "type",
                "value",
                "right",
            ):
                return None
            node = node.parent
        return None

    def _really(self, leaf: Branch, name: str, node: Branch) -> bool:
        """Places that look like declarations and are none."""
        parent = leaf.parent
        if parent is None:
            return True
        if parent.type == "dotted_name":  # only `a` of `import a.b`, only a bare `case name`
            if node.type == "case_pattern":
                return len(parent.children) == 1
            return parent.children[0] is leaf
        if self.rules.constants_match and leaf.type == "identifier" and name[:1].isupper():
            if node.type in _PATTERNS:
                return False  # `None`, a constant, a unit variant
        if leaf.place == "import_specifier.name" and parent.part("alias") is not None:
            return False
        if leaf.place == "field_pattern.name" and leaf.type != "shorthand_field_identifier":
            return False
        if name[0] in "@" or (
            name[0] == "$" and node.type in ("assignment", "operator_assignment")
        ):
            return False  # Ruby: an instance's or everybody's
        if leaf.place == "qualified_identifier.name":
            function = self.by_node.get(id(node))
            if function is not None and function.owner is not None and function.owner.name == name:
                return False
        if leaf.place == "function_declarator.declarator" and name == self._class_around(node):
            return False  # C++: a constructor
        if node.type == "type_parameter_declaration":
            return leaf.type in ("type_identifier", "identifier") and leaf.field != "type"
        if node.type in (
            "class_specifier",
            "struct_specifier",
            "union_specifier",
            "enum_specifier",
        ):
            return node.part("body") is not None
        if node.type == "type_parameter" and leaf.field not in ("name", ""):
            return False
        if node.type == "class_parameter" or node.type == "parameter":
            names = [child for child in node.children if child.type == leaf.type]
            return leaf.parent is not node or leaf.field != "" or names[0] is leaf
        if node.type in ("catch_block", "enum_entry", "type_pattern", "import"):
            names = [child for child in node.children if child.type == leaf.type]
            return not names or names[-1 if node.type == "import" else 0] is leaf
        return True

    def _add(self, leaf: Branch, name: str, kind: str, where: str, node: Branch) -> None:
        scope = self._target(node, where, leaf)
        after = 0
        if (
            kind in ("local", "value")
            and scope.kind in ("block", "function")
            and self.rules.in_order
        ):
            after = node.end if where == "after" else leaf.start
            if scope.kind == "function" and node.type == "variable_declarator":
                after = 0 if _is_var(node) else after
        if kind == "parameter" and "record" in scope.node.type:
            kind = "field"
        owner: Owner | None = None
        if node.type == "enumerator" and (enum := self.scope_of(node)).owner is not None:
            owner = enum.owner
        elif where == "receiver" and (method := self.by_node.get(id(node))) and method.owner:
            owner, kind = method.owner, "method"
        elif where == "class" or _joins(scope, kind, where):
            owner = scope.owner
            if kind == "function" and scope.kind == "class":
                kind = "method"
            elif kind == "local" and scope.kind == "class":
                kind = "field"
        made = Declared(name, kind, leaf, node, scope, owner, after)
        self.by_leaf[id(leaf)] = made
        if owner is not None:
            owner.members.setdefault(name, []).append(made)
        if owner is None or scope.kind == "namespace" or node.type == "enumerator":
            scope.declared.setdefault(name, []).append(made)
        if kind == "parameter" and self._is_property(node):
            holder = next(
                (
                    self.by_node[id(up)]
                    for up in node.up()
                    if id(up) in self.by_node and self.by_node[id(up)].kind == "class"
                ),
                None,
            )
            if holder is not None and holder.owner is not None:
                holder.owner.members.setdefault(name, []).append(made)

    def _target(self, node: Branch, where: str, leaf: Branch) -> Scope:
        if where in ("outer", "receiver"):
            scope = self.scope_of(node, outside=True)
            if scope.kind == "enum":  # C: enumerators are visible around their enum
                scope = self.scope_of(scope.node, outside=True)
            return scope
        if where == "file":
            return self.file
        if (
            where == "function"
            and (elsewhere := self._announced(node, self.label(leaf))) is not None
        ):
            return elsewhere
        scope = self.scope_of(node)
        if where == "class":
            while scope.kind not in ("class", "enum") and scope.parent is not None:
                scope = scope.parent
        elif where == "function" or (node.type == "variable_declarator" and _is_var(node)):
            while scope.kind in ("block", "template") and scope.parent is not None:
                scope = scope.parent
        return scope

    def _announced(self, node: Branch, name: str) -> Scope | None:
        """Python's `global x` and `nonlocal x`: the scope that an assignment to x means."""
        function = self.scope_of(node)
        while function.kind == "block" and function.parent is not None:
            function = function.parent
        body = function.node.part("body") if function.kind == "function" else None
        if body is None:
            return None
        waiting = [body]
        while waiting:
            statement = waiting.pop()
            if statement.type not in ("function_definition", "class_definition", "lambda"):
                waiting.extend(statement.children)
            if statement.type in ("global_statement", "nonlocal_statement") and name in {
                self.text(child) for child in statement.children
            }:
                if statement.type == "global_statement":
                    return self.file
                outer = function.parent
                while outer is not None and name not in outer.declared and outer.parent is not None:
                    outer = outer.parent
                return outer
        return None

    def _class_around(self, node: Branch) -> str:
        """The class whose body `node` stands in."""
        scope = self.scope_of(node, outside=node.type == "function_definition")
        return scope.owner.name if scope.kind == "class" and scope.owner is not None else ""

    def _is_property(self, node: Branch) -> bool:
        """TypeScript's `constructor(private x)` and PHP's promoted parameters."""
        return node.type == "property_promotion_parameter" or (
            node.type in ("required_parameter", "optional_parameter")
            and any(
                child.type in ("accessibility_modifier", "readonly", "override_modifier")
                for child in node.children
            )
        )


def _is_mention(node: Branch) -> bool:
    """C: `struct S *p` names a type and opens nothing."""
    return node.type.endswith("_specifier") and node.part("body") is None


def _is_part(node: Branch, parent: Branch) -> bool:
    """Leaves that are no names: a lifetime's letters, a shell command's arguments."""
    if node.type == "word":
        return parent.type != "command_name" and node.place != "function_definition.name"
    return parent.type in ("lifetime", "label")


def _is_var(node: Branch) -> bool:
    """JavaScript's `var`, as opposed to `let` and `const`."""
    parent = node.parent
    return (
        parent is not None and parent.type == "variable_declaration" and bool(parent.first("var"))
    )


def _joins(scope: Scope, kind: str, where: str) -> bool:
    """Whether a name declared right in a class or module is its member."""
    own_name = where == "here" and kind in ("class", "function")  # `x = class Own {}`
    return (
        scope.kind in ("class", "namespace") and kind not in ("type", "parameter") and not own_name
    )


def _is_key(node: Branch) -> bool:
    """A whole string that may name a member, or be a literal type or its value."""
    text = node.parent
    if text is None or text.type != "string" or len(text.children) != 3 or text.parent is None:
        return False
    return "import" not in text.parent.type and "export" not in text.parent.type


_PATTERNS = frozenset(
    {"let_declaration", "let_condition", "match_pattern", "for_expression", "parameter"}
)
