"""Scala: members are seen without a receiver, and an object shares its class's name."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from specedit.scoping.languages.packages import PackageRules
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Meaning, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import MODULE, Uses
from specedit.syntax.branch import Branch


class Scala(PackageRules):
    def label(self, leaf: Branch, text: Text) -> str:
        """A name in backquotes is the same name; `x_=` is called by an assignment to `x`."""
        return text(leaf).strip("`").removesuffix("_=")

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """`new Run { … }` is a Run."""
        if node.type != "template_body" or node.parent is None:
            return []
        types = (child for child in node.parent.children if child.end <= node.start)
        return [text(node) for node in types if node.type == "type_identifier"]

    def shown(self, node: Branch, text: Text) -> tuple[str, str] | None:
        """`import A._` shows all of `A`."""
        if node.type != "import_declaration" or node.first("namespace_wildcard") is None:
            return None
        named = [child for child in node.children if child.field == "path" and child.named]
        return (text(named[-1]), "") if named else None

    def is_import_of(self, scopes: Scopes, imported: Declared, other: Declared) -> bool:
        """`import A.b`, where A is in this file."""
        path = self.module_of(scopes, imported).split(".")
        if path[-1] == imported.name:
            path.pop()
        return other.owner is not None and path[-1:] == [other.owner.name]

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        if node.type == "enumerator" and leaf.start >= node.named_children()[0].end:
            return False  # `x <- xs` declares x, and reads xs
        if node.type == "import_declaration" and node.named_children()[-1] is not leaf:
            return False  # only `c` of `import a.b.c`
        compared = name[:1].isupper() or scopes.text(leaf).startswith("`")
        return node.type not in _MATCHES or not compared

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        statements = (up for up in imported.leaf.up() if up.type == "import_declaration")
        parts = [part for statement in statements for part in statement.children]
        path = [scopes.text(part) for part in parts if part.field == "path" and part.named]
        leaf = imported.leaf.at("^ name") or imported.leaf  # `{name => other}`
        selected = [] if leaf in parts else [scopes.text(leaf)]
        return ".".join([*path, *selected])

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        alias = here.scopes.by_leaf.get(id(leaf.at("^ alias")))
        yield from (project.imported_declarations(here, alias) if alias is not None else None) or ()

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if leaf.place == "arrow_renamed_identifier.name":
            return [(MODULE, "")]
        if leaf.place != "assignment_expression.left" or not self.names_argument(leaf):
            return None
        call = leaf.around("call_expression")
        callee = call.part("function") if call is not None else None
        if callee is None or uses.scopes.text(callee.part("field") or callee) != "copy":
            return None  # `p.copy(x = 1)` names what the class was made with
        copied = callee.part("value")
        member = uses.member(uses.typing.type_of(copied)) if copied is not None else None
        return [member or uses.member_here(leaf)]

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        """A name in backquotes stays in them: in a pattern they say that it is compared with."""
        if text(leaf).endswith("_="):
            return Rewrite(leaf.start, leaf.end, f"{old}_=", f"{new}_=")
        if not text(leaf).startswith("`"):
            return None
        return Rewrite(leaf.start, leaf.end, f"`{old}`", f"`{new}`")

    def names_argument(self, leaf: Branch) -> bool:
        """`f(x = 1)` names a parameter, `x = 1` elsewhere assigns."""
        around = leaf.at("^ ^")
        return around is not None and around.type == "arguments"


_MATCHES = places("case_clause enumerator")

TABLES = """
names: identifier type_identifier
scopes:
  function_definition function_declaration lambda_expression: function
  class_definition trait_definition object_definition package_object enum_definition: class
  full_enum_case given_definition template_body<instance_expression: class
  extension_definition: template
  block for_expression case_clause: block
declares:
  class_definition.name trait_definition.name object_definition.name: class outer
  enum_definition.name type_definition.name package_object.name: class outer
  function_definition.name function_declaration.name: function outer
  val_definition.pattern var_definition.pattern val_declaration.name: local here
  var_declaration.name case_clause.pattern enumerator.: local here
  given_definition.name: value outer
  simple_enum_case.name full_enum_case.name: field outer
  class_parameter.name: field class
  parameter.name binding.name lambda_expression.parameters: parameter here
  type_parameters.name: type here
  import_declaration.path namespace_selectors. arrow_renamed_identifier.alias: import here
patterns: tuple_pattern. case_class_pattern.pattern typed_pattern.pattern capture_pattern.name
  capture_pattern.pattern infix_pattern.left infix_pattern.right named_tuple_pattern.
  repeat_pattern.pattern
members:
  field_expression.field: value
  infix_expression.operator: left
  stable_type_identifier.: <
keys: assignment_expression.left: argument
calls:
  call_expression: function
  instance_expression: <
type_names: type_identifier
bases: extends_clause
adds_to: object_definition
constants: simple_enum_case full_enum_case
self_words: this
passes_on: parenthesized_expression
builds: instance_expression
aliases: type_definition
arguments: type_arguments
paths: stable_type_identifier
plain: string interpolated_string_expression character_literal integer_literal
builtins: Int List Map Math Nil Option Seq Set Some String System Vector java javax scala
keywords: abstract case catch class def do else extends false final finally for forSome if implicit
  import lazy macro match new null object override package private protected return sealed super
  this throw trait true try type val var while with yield enum given then export _
strings: string interpolated_string
flags: bare_members
"""
RULES = Scala(**tables(TABLES))
