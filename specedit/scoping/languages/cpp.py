"""C++: C with classes, whose methods may be written outside of them."""

from __future__ import annotations

import re
from collections.abc import Hashable

from specedit.scoping.languages import c
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.meaning import scopes_of
from specedit.scoping.scope import Declared
from specedit.scoping.scopes import Scopes
from specedit.scoping.uses import Uses
from specedit.syntax.branch import Branch


class Cpp(c.C):
    def receiver_name(self, function: Branch, text: Text) -> str:
        """`Class` of `Class::method`."""
        inner = function.part("declarator")
        while inner is not None and inner.type != "qualified_identifier":
            inner = inner.part("declarator") or inner.first(*_WRAPS)
        while inner is not None and (deeper := inner.part("name")) is not None:
            if deeper.type != "qualified_identifier":
                break
            inner = deeper
        scope = inner.part("scope") if inner is not None else None
        if scope is None:
            return ""
        return text(scope if not scope.children else scope.part("name") or scope)

    def shown(self, node: Branch, text: Text) -> tuple[str, str] | None:
        """`using namespace a` shows all of `a`, `using a::x` one name of it."""
        if node.type != "using_declaration":
            return None
        path = text(node).rstrip("; ").split()[-1].split("::")
        only = "" if node.first("namespace", "enum") else path.pop()
        return (path[-1], only) if path else None

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        if node.parent is not None and node.parent.type == "friend_declaration":
            return False  # no member
        if node.type != "function_definition" and _has_path(leaf, node):
            return False  # `int A::s = 1` defines what the class declares
        if leaf.place == "qualified_identifier.name":
            function = scopes.by_node.get(id(node))
            if function is not None and function.owner is not None and function.owner.name == name:
                return False  # `A::A()`
        if leaf.place == "function_declarator.declarator" and name == _class_around(scopes, node):
            return False  # a constructor
        if node.type == "type_parameter_declaration":
            return leaf.type in ("type_identifier", "identifier") and leaf.field != "type"
        return super().is_declaration(scopes, leaf, name, node)

    def declared_as(self, scopes: Scopes, leaf: Branch, node: Branch, entry: str) -> str:
        if entry == "value enumerator" and (listed := node.around("enum_specifier")) is not None:
            return "value class" if listed.first("class", "struct") else entry
        is_method = leaf.place == "function_declarator.declarator"
        return entry.replace("field ", "method ") if is_method else entry

    def overrides(self, declared: Declared, other: Declared, text: Text) -> bool:
        """Only what is virtual is overridden; anything else is hidden, unless `using` shows it."""
        own = scopes_of(declared).text(declared.owner.node) if declared.owner is not None else ""
        if re.search(rf"\busing\s.*::\s*{re.escape(declared.name)}\s*;", own):
            return True
        whole = other.node.parent if other.node.type.endswith("_declarator") else other.node
        head = text(whole or other.node).split("{")[0]
        return re.search(r"\b(?:virtual|override|final)\b", head) is not None

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        owner = uses.typing.enclosing(leaf)
        if leaf.place == "function_declarator.declarator" and owner and owner.name == uses.name:
            return [uses.own(leaf)]  # a constructor
        if leaf.place == "qualified_identifier.name":
            scope = self.receiver(leaf)
            if scope is None:  # `::x`
                return [uses.bare(uses.scopes.root, uses._hint(leaf))]
            named = scope.part("name") or scope
            if uses.scopes.text(named) == uses.name:  # `A::A()`
                return uses.keys(named)
        if leaf.place == "field_initializer.":
            key = uses.member_here(leaf)
            if not isinstance(key, Declared):  # no field, but a class that it extends
                key = uses.typing.lookup(uses.name, leaf, "type") or key
            return [key]
        return super().means(uses, leaf)

    def takes_element(self, looped: Declared) -> bool:
        return looped.leaf.place != "structured_binding_declarator."

    def receiver(self, leaf: Branch) -> Branch | None:
        """`a` of `a::b::c` for `b`, too, and of `a.b<c>()`."""
        holder = leaf.parent
        while holder is not None and holder.type in _TEMPLATES:
            leaf, holder = holder, holder.parent
        if holder is not None and leaf.place == "qualified_identifier.scope":
            inner = holder.parent if holder.place == "qualified_identifier.name" else None
            return inner.part("scope") if inner is not None else None
        return super().receiver(leaf)


_TEMPLATES = places("template_method template_function template_type dependent_name")
_WRAPS = ("function_declarator", "qualified_identifier")  # in `int& A::f()`, which has no field


def _has_path(leaf: Branch, node: Branch) -> bool:
    """Whether a declared name is qualified."""
    for up in leaf.up():
        if up.type == "qualified_identifier":
            return True
        if up is node:
            return False
    return False


def _class_around(scopes: Scopes, node: Branch) -> str:
    """The class whose body `node` stands in."""
    scope = scopes.scope_of(node, outside=node.type == "function_definition")
    return scope.owner.name if scope.kind == "class" and scope.owner is not None else ""


TABLES = """
names: namespace_identifier
scopes:
  lambda_expression: function
  template_declaration: template
  class_specifier: class
  namespace_definition: namespace
  for_range_loop catch_clause: block
declares:
  class_specifier.name alias_declaration.name concept_definition.name: class outer
  namespace_definition.name namespace_alias_definition.name: namespace outer
  condition_clause.declarator for_range_loop.declarator: local here
  optional_parameter_declaration.declarator: parameter here
  variadic_parameter_declaration.declarator: parameter here
  lambda_capture_initializer.left: local after
  type_parameter_declaration. variadic_type_parameter_declaration.: type here
  optional_type_parameter_declaration.name: type here
patterns: reference_declarator. structured_binding_declarator. variadic_declarator.
  qualified_identifier.name
members:
  qualified_identifier.name qualified_identifier.scope: scope
  template_method.name template_function.name template_type.name: argument
keys: field_initializer.: constructor
calls: new_expression: type
type_names: namespace_identifier
own_names: destructor_name.
bases: base_class_clause
builds: new_expression
loops: for_range_loop
carries_up: reference_declarator
declarators: reference_declarator
aliases: alias_declaration
arguments: template_argument_list
paths: qualified_identifier
untyped: placeholder_type_specifier
builtins: std
wrappers: shared_ptr unique_ptr weak_ptr
strings: raw_string_literal
"""
RULES = Cpp(
    **{
        **c.RULES.adding(**tables(TABLES)),
        "passes_on": c.RULES.passes_on - {"subscript_expression"},  # `[]` may be of any class
        "indexes": places("subscript_expression"),
        "keywords": c.WORDS
        | places(
            "and and_eq bitand bitor catch char16_t char32_t char8_t class co_await co_return",
            "co_yield compl concept const_cast consteval constinit decltype delete dynamic_cast",
            "explicit export friend mutable namespace new noexcept not not_eq operator or or_eq",
            "private protected public reinterpret_cast requires static_cast template this throw",
            "std try typeid typename using virtual wchar_t xor xor_eq",
        ),
    }
)
