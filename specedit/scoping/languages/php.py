"""PHP: a variable's `$` keeps it apart from every other name."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from specedit.scoping.languages.packages import PackageRules
from specedit.scoping.languages.rules import Text, tables
from specedit.scoping.scope import Declared
from specedit.scoping.uses import EXTERNAL, Uses
from specedit.syntax.branch import Branch, first_of

PROMOTED = "property_promotion_parameter"


class Php(PackageRules):
    def label(self, leaf: Branch, text: Text) -> str:
        """A variable keeps its `$`; a property loses it."""
        name, holder = text(leaf), leaf.parent
        if holder is not None and holder.type == "variable_name":
            place = holder.place
            is_property = place in self.members or "propert" in place
            return name if is_property or _is_promoted(leaf, text) else "$" + name
        return "$" + name if _is_braced(leaf) else name

    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """`f(x: 1)` names a parameter `$x`, and `[$this, 'f']` a method."""
        if node.type == "argument" and (name := node.part("name")) is not None:
            yield node.within(text(node), 0, len(text(name)), "name"), "$" + text(name)
        elif node.type == "string_content" and _called_on(node) is not None:
            yield node.within(text(node), 0, len(text(node)), "name"), text(node)

    def has_sigil(self, leaf: Branch, text: Text) -> bool:
        variable = leaf.parent is not None and leaf.parent.type == "variable_name"
        return variable or leaf.place == "argument." or _is_braced(leaf)

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """The traits that a class uses."""
        body = node.part("body") or node.first("declaration_list")
        uses = (x for x in body.named_children() if x.type == "use_declaration") if body else ()
        return [text(name) for use in uses for name in use.children if name.type in self.names]

    def means_declared(self, uses: Uses, leaf: Branch, declared: Declared) -> list[Hashable]:
        if declared.node.type == "anonymous_function_use_clause":
            uses.join(declared, _variable(uses, uses.function(leaf)))
        return [declared]

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if uses.name[0] == "$":
            return [_variable(uses, leaf)] if leaf.place != "argument." else None
        if leaf.place == "use_as_clause.":
            return [uses.member_here(leaf)]
        holder = leaf.parent
        if leaf.place == "string_content." and holder is not None:
            known = uses.typing.type_of(_called_on(holder))
            has = uses.typing.members(known or (), uses.name, True)
            return [uses.member(known, True) if has else (EXTERNAL, "")]
        if holder is None or holder.place != "scoped_property_access_expression.name":
            return None
        return [uses.member(uses.typing.type_of(holder.at("^ scope")))]


def _called_on(string: Branch) -> Branch | None:
    """What the first of an array's two is: `[$this, 'f']`, `[Cart::class, 'f']`."""
    element = string.at("^ ^")
    listed = element.parent if element is not None else None
    parts = listed.named_children() if listed and listed.type == "array_creation_expression" else ()
    first = first_of(parts[0]) if len(parts) == 2 and parts[1] is element else None
    if first is not None and first.type == "class_constant_access_expression":
        return first_of(first)
    return first if first is not None and first.type == "variable_name" else None


def _is_promoted(leaf: Branch, text: Text) -> bool:
    """Whether a variable is a parameter of a constructor that is a property, too."""
    method = leaf.around("method_declaration")
    listed = method.part("parameters") if method is not None else None
    promoted = (x.part("name") for x in listed.children if x.type == PROMOTED) if listed else ()
    return any(name is not None and text(name) == "$" + text(leaf) for name in promoted)


def _is_braced(leaf: Branch) -> bool:
    """`"${name}"` and `"${name[0]}"`."""
    holder = leaf.parent
    if holder is not None and holder.type == "subscript_expression" and holder.children[0] is leaf:
        holder = holder.parent
    if holder is None or holder.type != "dynamic_variable_name":
        return False
    return holder.place.split(".")[0] in ("encapsed_string", "heredoc_body")


def _variable(uses: Uses, leaf: Branch) -> Hashable:
    """A variable belongs to its function; `fn` and `use` share the outer one."""
    node: Branch = leaf
    while True:
        function = uses.function(node)
        declared = uses.scopes.by_node[id(function)].declared.get(uses.name)
        if declared:
            return declared[0]
        if function.type != "arrow_function":
            return ("local", id(function))
        node = function


TABLES = """
names: name
scopes:
  function_definition method_declaration anonymous_function arrow_function: function
  class_declaration interface_declaration trait_declaration enum_declaration anonymous_class: class
declares:
  class_declaration.name interface_declaration.name trait_declaration.name: class outer
  enum_declaration.name: class outer
  function_definition.name: function outer
  method_declaration.name enum_case.name: method class
  const_element.: value class
  property_element.name: field class
  property_promotion_parameter.name: parameter property
  simple_parameter.name variadic_parameter.name anonymous_function_use_clause.: parameter here
  namespace_use_clause. namespace_use_clause.alias: import here
patterns: variable_name. qualified_name.
members:
  member_access_expression.name nullsafe_member_access_expression.name: object
  member_call_expression.name nullsafe_member_call_expression.name: object
  scoped_call_expression.name scoped_property_access_expression.name: scope
  class_constant_access_expression. qualified_name.: <
module_paths: qualified_name name
keys: argument.name argument.: argument
calls:
  function_call_expression: function
  member_call_expression scoped_call_expression: name
  object_creation_expression: <
type_places: named_type. base_clause. class_interface_clause. object_creation_expression.
  use_declaration.
bases: base_clause class_interface_clause use_declaration
field_reads: member_access_expression.name nullsafe_member_access_expression.name
strings: string encapsed_string heredoc nowdoc
holders: variable_name
self_words: this $this self static
super_words: super parent
self_types: self static
passes_on: parenthesized_expression
makers: __construct
casts: cast_expression
builds: object_creation_expression
loops: foreach_statement
indexes: subscript_expression
returns: return_statement
carries_up: property_element
assigned: assignment_expression.right
unions: union_type intersection_type
paths: qualified_name
inferred: mixed
keywords: __class__ __dir__ __file__ __function__ __halt_compiler __line__ __method__ __namespace__
  __trait__ abstract and array as break callable case catch class clone const continue declare
  default die do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile eval
  exit extends false final finally fn for foreach function global goto if implements include
  include_once instanceof insteadof interface isset list match namespace new null or print private
  protected public readonly require require_once return static switch throw trait true try unset use
  var while xor yield
flags: members_apart sigils any_case free_members
"""
RULES = Php(**tables(TABLES))
