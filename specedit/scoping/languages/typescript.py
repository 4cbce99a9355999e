"""TypeScript: JavaScript with types, which are names of their own and merge with values."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages import javascript
from specedit.scoping.languages.javascript import owner_of_literal
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.scope import FUNCTIONS, Declared, Known, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch, first_of


class TypeScript(javascript.JavaScript):
    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """`type A = B & {...}`."""
        if node.type != "type_alias_declaration":
            return []
        return [
            text(leaf)
            for child in node.walk()
            if child.type == "intersection_type"
            for leaf in child.children
            if leaf.type == "type_identifier"
        ]

    def tested(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """`isCart(x) ? x.total : 0`, `if (x instanceof Cart)`, `isCart(x) && x.total`."""
        member, below = leaf.at("^ property"), leaf
        if member is None or leaf.field != "object":
            return None
        for up in leaf.up():
            if self.scopes.get(up.type) == "function":
                return None
            test = up.part("condition") if below.field == "consequence" else None
            if up.type == "binary_expression" and below.field == "right" and up.first("&&"):
                test = up.part("left")
            for part in _all_of(test):
                known = _shown_by(typing, part, typing.scopes.text(leaf), deep)
                if typing.members(known or (), typing.scopes.label(member)):
                    return known
            below = up
        return None

    def same_members(self, typing: Typing, name: str) -> Iterator[tuple[Declared, Declared]]:
        """Members of two types, where a value of the first is used as the second: `f(cart)`."""
        for node in typing.scopes.root.walk():
            if node.type in _VALUES and node.parent is not None and node.parent.type in _HOLDERS:
                whole = True
                wanted = owner_of_literal(typing, node)
            elif node.type == "spread_element" and node.parent is not None:
                whole = False
                wanted = owner_of_literal(typing, node.parent)
            else:
                continue
            if not typing.members(wanted or (), name):
                continue
            value = node if whole else first_of(node)
            for owner in typing.type_of(value) or ():
                mine = typing.members((owner,), name)
                own = {owner, *typing.above(owner)}  # of one of the wanted no more is asked
                if not mine or owner.module is not None or not own.isdisjoint(wanted or ()):
                    continue
                for other in wanted or ():
                    theirs = typing.members((other,), name)
                    if theirs and (not whole or _has_shape(typing, owner, other)):
                        yield mine[0], theirs[0]

    def is_alike(self, typing: Typing, owner: Owner, other: Owner) -> bool:
        if owner.name or owner.node.type != "object_type":
            return False
        whole = owner.node.place not in ("conditional_type.right", "constraint.")
        return _has_shape(typing, other, owner) and (not whole or _has_shape(typing, owner, other))

    def adds_elsewhere(self, typing: Typing, owner: Owner) -> bool:
        """Also `declare module "x" {…}`, `declare global {…}`, `declare namespace X {…}`."""
        around = (up.type for up in owner.node.up() if up.place == "ambient_declaration.")
        ours = {"module", "internal_module", "statement_block"}.isdisjoint(around)
        return not ours or super().adds_elsewhere(typing, owner)

    def declared_as(self, scopes: Scopes, leaf: Branch, node: Branch, entry: str) -> str:
        if node.type in ("required_parameter", "optional_parameter") and node.first(*_PROMOTES):
            return "parameter property"
        return super().declared_as(scopes, leaf, node, entry)


def _all_of(test: Branch | None) -> Iterator[Branch]:
    """The tests that hold where a test holds: both sides of `&&`."""
    while test is not None and test.type == "parenthesized_expression":
        test = first_of(test)
    if test is not None and test.type == "binary_expression" and test.first("&&"):
        yield from _all_of(test.part("left"))
        yield from _all_of(test.part("right"))
    elif test is not None:
        yield test


def _shown_by(typing: Typing, test: Branch, name: str, deep: int) -> Known:
    """The class that a test says a variable has."""
    left, right = test.part("left"), test.part("right")
    if test.first("instanceof") is not None and left is not None:
        return typing.type_of(right, deep + 1) if typing.scopes.text(left) == name else None
    listed = test.part("arguments") if test.type == "call_expression" else None
    called_leaf = typing.called_leaf(test) if listed is not None else None
    if listed is None or called_leaf is None or typing.scopes.text(listed) != f"({name})":
        return None
    called = typing.called(called_leaf, deep + 1)
    function = called.node if called is not None and called.kind in FUNCTIONS else None
    if called is not None and function is None:
        function = typing.rules.value_part(called)
    says = function.part("return_type") if function is not None else None
    inner = first_of(says) if says is not None else None
    return typing.named_type(inner.part("type"), deep + 1) if inner is not None else None


_HOLDERS = places(  # of a value that its place asks something of
    "arguments array arrow_function as_expression assignment_expression binary_expression pair",
    "public_field_definition required_parameter optional_parameter return_statement",
    "satisfies_expression ternary_expression type_assertion variable_declarator",
)
_VALUES = places(
    "identifier this member_expression call_expression new_expression await_expression",
    "non_null_expression subscript_expression",
)
_OPTIONAL = places("optional_parameter ?")


def _has_shape(typing: Typing, owner: Owner, wanted: Owner) -> bool:
    """Whether a type has every member that another requires."""
    known = {name for up in (owner, *typing.above(owner)) for name in up.members}
    every = (member for up in (wanted, *typing.above(wanted)) for member in up.members.items())
    return all(name in known or _is_optional(declared) for name, declared in every)


def _is_optional(declared: list[Declared]) -> bool:
    nodes = ((each.node, *each.node.children) for each in declared)
    return all(any(node.type in _OPTIONAL for node in marked) for marked in nodes)


_PROMOTES = ("accessibility_modifier", "readonly", "override_modifier")  # `constructor(private x)`

TABLES = """
overriding: override
bounds: constraint
names: type_identifier
scopes:
  function_signature method_signature abstract_method_signature function_type: function
  constructor_type call_signature construct_signature: function
  abstract_class_declaration interface_declaration enum_declaration type_alias_declaration: class
  object_type<type_annotation object_type<type_arguments object_type<array_type: class
  object_type<as_expression object_type<satisfies_expression object_type<constraint: class
  object_type<conditional_type: class
  internal_module module: namespace
  statement_block<internal_module statement_block<module: shared
  mapped_type_clause conditional_type: block
declares:
  function_signature.name: function outer
  abstract_class_declaration.name interface_declaration.name: class outer
  type_alias_declaration.name enum_declaration.name: class outer
  internal_module.name module.name: namespace outer
  type_parameter.name mapped_type_clause.name infer_type.: type here
  required_parameter.pattern optional_parameter.pattern: parameter here
  import_require_clause.: import here
  method_signature.name abstract_method_signature.name: method class
  public_field_definition.name property_signature.name enum_body.name: field class
  enum_assignment.name: field class
members:
  nested_type_identifier.name: module
  nested_identifier.property: object
type_names: type_identifier
type_places: nested_type_identifier.module
bases: extends_clause extends_type_clause implements_clause
open_types: enum_declaration
passes_on: non_null_expression satisfies_expression
casts: as_expression type_assertion
around_types: type_annotation parenthesized_type readonly_type
aliases: type_alias_declaration
lists: array_type tuple_type
records_of: Record
arguments: type_arguments
unions: union_type intersection_type
paths: nested_type_identifier nested_identifier
untyped: type_query string lookup_type index_type_query
takes_out: call_expression await_expression
awaits: await_expression
awaited: Promise PromiseLike
held:
  get pop shift at find findLast: last
  filter slice sort reverse concat values: same
inferred: any unknown ReturnType Awaited InstanceType Parameters ComponentProps
takes: required_parameter optional_parameter
wrappers: Readonly Partial Required NonNullable Exclude Extract Pick Omit
flags: all_implement
"""
RULES = TypeScript(**javascript.RULES.adding(**tables(TABLES)))
