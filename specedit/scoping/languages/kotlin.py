"""Kotlin: constructor parameters may be properties; names sit in bare `identifier` children."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.scoping.languages.rules import Rules, Text
from specedit.scoping.languages.tables import places, table
from specedit.scoping.scopes import Scopes
from specedit.syntax.branch import Branch

_DOLLAR = re.compile(r"\$([^\W\d]\w*)")


class Kotlin(Rules):
    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """`"$name"`, which the grammar leaves as text."""
        if node.type == "string_literal":
            for match in _DOLLAR.finditer(text(node)):
                leaf = node.within(text(node), *match.span(1), "identifier")
                yield leaf, match[1]

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        alike = [child for child in node.children if child.type == leaf.type]
        if node.type in ("class_parameter", "parameter"):
            return leaf.parent is not node or leaf.field != "" or alike[0] is leaf
        ends = node.type in ("catch_block", "enum_entry", "import") and alike
        return not ends or alike[-1 if node.type == "import" else 0] is leaf

    def names_argument(self, leaf: Branch) -> bool:
        holder = leaf.parent  # `f(x)` is positional, `f(x = 1)` names the parameter
        return holder is not None and (holder.children[0] is not leaf or len(holder.children) > 1)


RULES = Kotlin(
    names=places("identifier"),
    scopes=table(
        """
        function_declaration lambda_literal anonymous_function anonymous_initializer: function
        secondary_constructor getter setter: function
        class_declaration object_declaration companion_object object_literal: class
        block for_statement catch_block when_entry when_expression: block
        """
    ),
    declares=table(
        """
        class_declaration.name object_declaration.name type_alias.type: class outer
        companion_object.name: class outer
        function_declaration.name: function outer
        variable_declaration.: local here
        class_parameter.: field class
        parameter. lambda_parameters. catch_block.: parameter here
        type_parameter.: type here
        enum_entry.: field class
        import.: import here
        """
    ),
    patterns=places("multi_variable_declaration. qualified_identifier. variable_declaration."),
    members=table("navigation_expression.: <"),
    module_paths=places("qualified_identifier"),
    keys=table("value_argument.: argument"),
    calls=table("call_expression: <"),
    type_places=places("user_type."),
    bases=places("delegation_specifiers"),
    selves=places("this_expression"),
    supers=places("super_expression"),
    bare_members=True,
    overloads=True,
    members_apart=True,
    in_order=True,
    strings=places("string_literal multiline_string_literal"),
    passes_on=places("parenthesized_expression unary_expression try_expression"),
    aliases=places("type_alias"),
    casts=places("as_expression"),
    unnamed_values=table("variable_declaration: node"),
    loops=places("for_statement"),
    indexes=places("index_expression"),
    types=places("user_type nullable_type"),
    carries_up=places("variable_declaration"),
    assigned=places("assignment.right"),
    around_types=places("parenthesized_type nullable_type"),
    arguments=places("type_arguments"),
    paths=places("qualified_identifier"),
    plain=places("string_literal multiline_string_literal collection_literal character_literal"),
    builtins=places(
        "Boolean Double Float Int List Long Map Math Set String System java javax kotlin"
    ),
    keywords=places(
        "as break class continue do else false for fun if in interface is null object package",
        "return super this throw true try typealias typeof val var when while",
    ),
)
