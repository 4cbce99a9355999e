"""Bash: variables, functions and commands; a variable is named with or without its `$`."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages.bash_words import keyed_arrays, shell_names, tell_functions
from specedit.scoping.languages.rules import Rules, Text
from specedit.scoping.languages.tables import places, table
from specedit.syntax.branch import Branch


class Bash(Rules):
    def prepare(self, root: Branch, text: Text) -> frozenset[str]:
        for node in root.walk():
            tell_functions(node, text)
        return keyed_arrays(root, text)

    def is_name(self, node: Branch) -> bool:
        if node.type == "word":  # a command's arguments are words, too
            return node.place in ("command_name.", "function_definition.name")
        return super().is_name(node)

    def names_in(
        self, node: Branch, text: Text, told: frozenset[str]
    ) -> Iterator[tuple[Branch, str]]:
        yield from ((leaf, text(leaf)) for leaf in shell_names(node, text, told))

    def has_sigil(self, leaf: Branch, text: Text) -> bool:
        return leaf.type == "variable_name"


RULES = Bash(
    names=places("variable_name word"),
    scopes=table("subshell: block"),
    declares=table(
        """
        function_definition.name: function outer
        variable_assignment.name for_statement.variable declaration_command.: local outer
        word.set raw_string.set string_content.set: local outer
        """
    ),
    calls={"command_name": "", "declaration_command": "function", "unset_command": "function"},
    methods_apart=True,
    strings=places("string raw_string ansi_c_string"),
    keywords=places(
        "case coproc do done elif else esac fi for function if select then time until while",
    ),
)
