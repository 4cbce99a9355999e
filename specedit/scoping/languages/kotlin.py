"""Kotlin: constructor parameters may be properties; names sit in bare `identifier` children."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from specedit.scoping.languages.java import accessors_of
from specedit.scoping.languages.packages import PackageRules
from specedit.scoping.languages.rules import Text, tables
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import UNKNOWN, Uses
from specedit.syntax.branch import Branch, first_of

TESTS = ("is_expression", "as_expression", "when_subject")
_DOLLAR = re.compile(r"\$([^\W\d]\w*)")


class Kotlin(PackageRules):
    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """`"$name"`, which the grammar leaves as text."""
        if node.type == "string_literal":
            for match in _DOLLAR.finditer(text(node)):
                yield node.within(text(node), *match.span(1), "identifier"), match[1]

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        alike = [child for child in node.children if child.type == leaf.type]
        if node.type in ("class_parameter", "parameter"):
            return leaf.parent is not node or leaf.field != "" or alike[0] is leaf
        ends = node.type in ("catch_block", "enum_entry", "import") and alike
        return not ends or alike[-1 if node.type == "import" else 0] is leaf

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The class that `this@Cart` stands for."""
        if node.type != "this_expression":
            return None
        label = here.scopes.text(node).partition("@")[2]
        return next(iter(here.scopes.owners_named(label)), None) if label else None

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        """What no class that is known there has: an extension, or a member of `x` after a test, as
        in `if (x is Cart) x.total`."""
        receiver, text = self.receiver(leaf), uses.scopes.text
        known = uses.typing.type_of(receiver)
        if receiver is None or uses.typing.members(known or (), uses.name):
            return None
        types = [(each, typed) for each in uses.declared if (typed := _extended(each)) is not None]
        if len({id(each.scope) for each, _ in types}) == 1:
            names = {up.name for each in known or () for up in (each, *uses.typing.above(each))}
            meant = [each for each, typed in types if not known or uses.typing.head(typed) in names]
            others = any(each.member_of is not None for each in uses.declared)
            return [meant[0] if meant and (known or not others) else (UNKNOWN, "")]
        around = leaf.around("function_declaration") or uses.scopes.root
        tested = (first_of(node) for node in around.walk() if node.type in TESTS)
        same = (node is not None and text(node) == text(receiver) for node in tested)
        return [(UNKNOWN, "")] if any(same) else None

    def accessors(self, declared: Declared) -> tuple[list[str], tuple[str, ...]]:
        return accessors_of(declared.name) if declared.kind == "field" else [], (".java",)

    def names_argument(self, leaf: Branch) -> bool:
        holder = leaf.parent  # `f(x)` is positional, `f(x = 1)` names the parameter
        return holder is not None and holder.children[0] is leaf and len(holder.children) > 1


def _extended(declared: Declared) -> Branch | None:
    """The type that a function or a property extends: `fun Cart.total()`."""
    for node in (declared.node, declared.node.parent):
        if node is not None and (dot := node.first(".")) is not None:
            return node.named_before(dot.start)
    return None


TABLES = """
names: identifier
scopes:
  function_declaration lambda_literal anonymous_function anonymous_initializer: function
  secondary_constructor getter setter: function
  class_declaration object_declaration object_literal: class
  block for_statement catch_block when_entry when_expression: block
declares:
  class_declaration.name object_declaration.name type_alias.type companion_object.name: class outer
  function_declaration.name: function outer
  variable_declaration.: local here
  class_parameter. enum_entry.: field class
  parameter. lambda_parameters. catch_block.: parameter here
  type_parameter.: type here
  import.: import here
patterns: multi_variable_declaration. qualified_identifier. variable_declaration.
members: navigation_expression.: <
module_paths: qualified_identifier
keys: value_argument.: argument
calls: call_expression: <
type_places: user_type.
bases: delegation_specifiers
strings: string_literal multiline_string_literal
passes_on: parenthesized_expression unary_expression try_expression
aliases: type_alias
casts: as_expression
unnamed_values: variable_declaration: node
loops: for_statement
indexes: index_expression
types: user_type nullable_type
carries_up: variable_declaration
assigned: assignment.right
around_types: parenthesized_type nullable_type
arguments: type_arguments
paths: qualified_identifier
plain: string_literal multiline_string_literal collection_literal character_literal
builtins: Boolean Double Float Int List Long Map Math Set String System java javax kotlin
keywords: as break class continue do else false for fun if in interface is null object package
  return super this throw true try typealias typeof val var when while
flags: bare_members members_apart in_order
"""
RULES = Kotlin(**tables(TABLES))
