"""Ruby: a name's sign says what it belongs to, and a bare word may be a call."""

from __future__ import annotations

from collections.abc import Hashable

from specedit.scoping.languages.rules import Rules, Text
from specedit.scoping.languages.tables import places, table
from specedit.scoping.meaning import Meaning, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.uses import Uses
from specedit.syntax.branch import Branch


class Ruby(Rules):
    def label(self, leaf: Branch, text: Text) -> str:
        return text(leaf)[1:] if leaf.type == "simple_symbol" else text(leaf)

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        assigned = node.type in ("assignment", "operator_assignment")
        return name[0] != "@" and (name[0] != "$" or not assigned)  # an instance's, or global

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if uses.name[0] == "@":
            return [uses.member_here(leaf)]
        if uses.name[0] == "$":
            return [uses.bare(leaf, "value")]
        return None

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        start = leaf.start + (leaf.type == "simple_symbol")
        return Rewrite(start, leaf.end, old, new)


RULES = Ruby(
    names=places(
        "identifier constant instance_variable class_variable global_variable simple_symbol",
        "hash_key_symbol bare_symbol",
    ),
    scopes=table(
        """
        method singleton_method lambda: function
        class singleton_class: class
        module: class
        block do_block: block
        """
    ),
    declares=table(
        """
        class.name module.name: class outer
        method.name singleton_method.name: method class
        assignment.left left_assignment_list. operator_assignment.left: local function
        method_parameters. lambda_parameters. block_parameters.: parameter here
        optional_parameter.name splat_parameter.name keyword_parameter.name: parameter here
        hash_splat_parameter.name block_parameter.name destructured_parameter.: parameter here
        exception_variable. for.pattern: local function
        """
    ),
    patterns=places("left_assignment_list. rest_assignment. destructured_left_assignment."),
    members=table("call.method: receiver"),
    keys=table("pair.key: argument"),
    calls=table("call: method"),
    bases=places("superclass"),
    self_words=places("self"),
    bare_members=True,
    strings=places("string heredoc_body"),
    assigned=places("assignment.right"),
    free_members=True,
    plain=places("array hash integer float string string_array symbol_array regex"),
    builtins=places("Array Dir File Float Hash Integer Kernel Math String Time"),
    keywords=places(
        "__ENCODING__ __FILE__ __LINE__ BEGIN END alias and begin break case class def defined do",
        "else elsif end ensure false for if in module next nil not or redo rescue retry return",
        "self super then true undef unless until when while yield",
    ),
)
