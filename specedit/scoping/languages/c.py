"""C: declarators wrap the name; macro bodies are words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from specedit.scoping.languages import c_includes
from specedit.scoping.languages.rules import Rules
from specedit.scoping.languages.tables import places, table
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import Uses
from specedit.syntax.branch import Branch


class C(Rules):
    def opens(self, node: Branch) -> bool:
        """`struct S *p` names a type, and a function's head belongs to its body."""
        if node.type.endswith("_specifier") and node.part("body") is None:
            return False
        around = (up for up in node.up() if not up.type.endswith("_declarator"))
        return node.type != "function_declarator" or next(around).type != "function_definition"

    def declares_as(
        self, scopes: Scopes, leaf: Branch, name: str, node: Branch, kind: str, where: str
    ) -> tuple[str, str] | None:
        if node.type in _TAGGED and node.part("body") is None:
            return None
        return kind, where

    def shared(self, project: Project, here: Typing, name: str, at: Branch) -> Iterator[Declared]:
        yield from c_includes.shared(project, here, name)

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        yield from c_includes.parts(project, owner)

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if leaf.place == "field_designator.":  # `{.name = 1}`
            holder = next((up for up in leaf.up() if up.part("type") is not None), None)
            typed = holder.part("type") if holder is not None else None
            return [uses.member(uses.typing.named_type(typed))]
        return None


_TAGGED = places("class_specifier struct_specifier union_specifier enum_specifier")
WORDS = places(
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register return short signed sizeof static struct switch typedef union",
    "unsigned void volatile while alignas alignof asm bool constexpr false nullptr",
    "static_assert thread_local true",
)


RULES = C(
    names=places("identifier type_identifier field_identifier statement_identifier"),
    scopes=table(
        """
        function_definition preproc_function_def function_declarator: function
        struct_specifier union_specifier: class
        enum_specifier: enum
        compound_statement for_statement if_statement while_statement switch_statement: block
        """
    ),
    declares=table(
        """
        struct_specifier.name union_specifier.name enum_specifier.name: class outer
        type_definition.declarator: class outer
        declaration.declarator init_declarator.declarator: local here
        function_definition.declarator: function receiver
        field_declaration.declarator: field class
        enumerator.name: value enumerator
        parameter_declaration.declarator: parameter here
        preproc_def.name preproc_function_def.name: macro file
        preproc_params.: parameter here
        """
    ),
    patterns=places(
        "pointer_declarator.declarator array_declarator.declarator init_declarator.declarator",
        "function_declarator.declarator parenthesized_declarator. attributed_declarator.",
    ),
    members=table("field_expression.field: argument"),
    keys=table("field_designator.: literal"),
    calls=table("call_expression: function"),
    type_names=places("type_identifier"),
    labels=places("statement_identifier"),
    assigned=places("assignment_expression.right"),
    passes_on=places("parenthesized_expression unary_expression pointer_expression"),
    aliases=places("type_definition"),
    casts=places("cast_expression"),
    builds=places("compound_literal_expression"),
    indexes=places("subscript_expression"),
    returns=places("return_statement"),
    carries_up=places(
        "init_declarator pointer_declarator function_declarator declaration array_declarator",
    ),
    declarators=places("pointer_declarator"),
    inferred=places("auto const"),
    typed_parameters=places("parameter_declaration"),
    bare_members=True,
    overloads=True,
    fields_hide=True,
    in_order=True,
    opaque=places("preproc_arg"),
    family="c",
    keywords=WORDS
    | places(
        "restrict typeof typeof_unqual _Alignas _Alignof _Atomic _BitInt _Bool _Complex",
        "_Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert",
        "_Thread_local",
    ),
    strings=places("string_literal char_literal system_lib_string"),
)
