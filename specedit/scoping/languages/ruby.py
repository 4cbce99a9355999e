"""Ruby: a name's sign says what it belongs to, and a bare word may be a call."""

from __future__ import annotations

import re
from collections.abc import Hashable

from specedit.scoping.languages.rules import Rules, Text, places, tables
from specedit.scoping.scope import Declared, Meaning, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.uses import UNKNOWN, Uses
from specedit.syntax.branch import Branch


class Ruby(Rules):
    def label(self, leaf: Branch, text: Text) -> str:
        """A symbol's name, and that of a variable which `attr_reader` reads: `x` for `@x`."""
        name, around = text(leaf), leaf.around("class")
        body = around.part("body") if around and leaf.type == "instance_variable" else None
        calls = [x for x in body.named_children() if x.type == "call"] if body else []
        attributes = (x for x in calls if text(x.part("method") or x).startswith("attr_"))
        read = (re.search(rf":{name[1:]}\b", text(call)) for call in attributes)
        return name[1:] if leaf.type == "simple_symbol" or any(read) else name

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        if node.type == "argument_list":
            method = node.at("^ method")
            is_attribute = method is not None and scopes.text(method).startswith("attr_")
            return is_attribute and leaf.type == "simple_symbol"
        assigned = node.type in ("assignment", "operator_assignment")
        of_instance = leaf.type == "instance_variable" or name[0] == "@"
        return not of_instance and (name[0] != "$" or not assigned)  # or it is global

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if uses.name[0] == "@" or leaf.type == "instance_variable":
            return [uses.member_here(leaf)]
        if uses.name[0] == "$":
            return [uses.bare(leaf, "value")]
        call = leaf.at("^ ^") if leaf.place == "argument_list." else None
        receiver = call.part("receiver") if call is not None else None
        if call is None or receiver is None:
            return [(UNKNOWN, "")] if leaf.place == "block_argument." else None  # `map(&:total)`
        by_name = uses.scopes.text(call.part("method") or call) in BY_NAME
        return [uses.member(uses.typing.type_of(receiver), called=True)] if by_name else None

    def accessors(self, declared: Declared) -> tuple[list[str], tuple[str, ...]]:
        return ["@" + declared.name] if declared.node.type == "argument_list" else [], (".rb",)

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        named = leaf.type == "instance_variable" and old[0] != "@"
        start = leaf.start + (named or leaf.type == "simple_symbol")
        return Rewrite(start, leaf.end, old, new)


BY_NAME = places("send public_send __send__ try method public_method respond_to? instance_method")
TABLES = """
names: identifier constant instance_variable class_variable global_variable simple_symbol
  hash_key_symbol bare_symbol
scopes:
  method singleton_method lambda: function
  class singleton_class module: class
  block do_block: block
declares:
  class.name module.name: class outer
  method.name singleton_method.name argument_list.: method class
  assignment.left left_assignment_list. operator_assignment.left exception_variable.: local function
  for.pattern: local function
  method_parameters. lambda_parameters. block_parameters. optional_parameter.name: parameter here
  splat_parameter.name keyword_parameter.name hash_splat_parameter.name: parameter here
  block_parameter.name destructured_parameter.: parameter here
patterns: left_assignment_list. rest_assignment. destructured_left_assignment.
members:
  call.method: receiver
  scope_resolution.name: scope
keys: pair.key: argument
calls: call: method
makers: initialize new
bases: superclass
self_words: self
strings: string heredoc_body
assigned: assignment.right
plain: array hash integer float string string_array symbol_array regex
builtins: Array Dir File Float Hash Integer Kernel Math String Time
keywords: __ENCODING__ __FILE__ __LINE__ BEGIN END alias and begin break case class def defined do
  else elsif end ensure false for if in module next nil not or redo rescue retry return self super
  then true undef unless until when while yield
flags: bare_members free_members
"""
RULES = Ruby(**tables(TABLES))
