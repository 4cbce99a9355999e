"""Bash: variables, functions and commands; a variable is named with or without its `$`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specedit.scoping.languages.rules import Rules, Text, places, table, tables
from specedit.syntax.branch import Branch


class Bash(Rules):
    def prepare(self, root: Branch, data: bytes) -> None:
        def text(node: Branch) -> str:
            return data[node.start : node.end].decode("utf-8", "replace")

        marked = [node for node in root.walk() if node.type in MARKED]
        keyed = keyed_arrays(marked, text)
        for node in marked:
            mark_functions(node, text)
            array = node.part("name") if node.type == "subscript" else None
            if array is not None and text(array) in keyed:
                node.field = KEYED

    def is_name(self, node: Branch) -> bool:
        if node.type == "word":  # a command's arguments are words, too
            return node.place in ("command_name.", "function_definition.name")
        return super().is_name(node)

    def names_in(self, node: Branch, text: Text) -> Iterable[tuple[Branch, str]]:
        """Names in the words right under a node; an index of a KEYED array is a plain word."""
        leaves: Iterable[Branch] = ()
        if node.type == "command":
            leaves = _arguments(node, text)
        elif node.type == "word" and _is_tested(node, text):
            leaves = list(_names(node, text, READ))[:1]
        elif node.type == "word" and (_is_counted(node) or _is_index(node)):
            leaves = _names(node, text, READ)
        return ((leaf, text(leaf)) for leaf in leaves)

    def has_sigil(self, leaf: Branch, text: Text) -> bool:
        return leaf.type == "variable_name"


TABLES = """
names: variable_name word
scopes: subshell: block
declares:
  function_definition.name: function outer
  variable_assignment.name for_statement.variable declaration_command. word.set: local outer
  raw_string.set string_content.set: local outer
strings: string raw_string ansi_c_string
keywords: case coproc do done elif else esac fi for function if select then time until while
flags: methods_apart
"""
RULES = Bash(
    calls={"command_name": "", "declaration_command": "function", "unset_command": "function"},
    **tables(TABLES),
)


MARKED = places("declaration_command subscript unset_command")  # what `prepare` reads
KEYED = "keyed"  # the field of an index of words
SET, READ = "set", "read"  # the field of a name that is made up here
BUILTINS = table(  # options with an argument, those whose argument is a name, operands: names
    """
    read: adinNptu a all
    mapfile readarray: dnOsuCc - all
    printf test: v v none
    wait: p p none
    getopts: - - 2
    """
)
_NAME = re.compile(r"(?<![\w$#])[^\W\d]\w*")
_ASSIGNS = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)")
_PLAIN = frozenset({"word", "string_content", "raw_string"})


def mark_functions(node: Branch, text: Text) -> None:
    """The names after `export -f` and `unset -f` are a function's: their field says so."""
    if node.type in ("declaration_command", "unset_command"):
        options = (text(child) for child in node.children if child.type == "word")
        if any(re.fullmatch(r"-\w*[fF]\w*", option) for option in options):
            for leaf in node.children:
                if leaf.type == "variable_name":
                    leaf.field = "function"


def keyed_arrays(marked: Iterable[Branch], text: Text) -> frozenset[str]:
    """The arrays that `declare -A` says have words as their keys."""
    return frozenset(
        text(leaf)
        for node in marked
        if node.type == "declaration_command"
        and any(re.match(r"-\w*A", text(child)) for child in node.children if child.type == "word")
        for leaf in node.walk()
        if leaf.type == "variable_name"
    )


def _arguments(command: Branch, text: Text) -> Iterator[Branch]:
    name = command.part("name")
    called = text(name) if name is not None else ""
    words = [child for child in command.children if child.field == "argument"]
    if called == "let":
        for word in words:
            for plain in word.walk():
                if plain.type in _PLAIN:
                    yield from _names(plain, text, READ)
    elif called in BUILTINS:
        for word in _naming(words, text, *BUILTINS[called].split()):
            if word.type == "word":
                yield from list(_names(word, text, SET))[:1]


def _naming(
    words: list[Branch], text: Text, takes: str, naming: str, operands: str
) -> Iterator[Branch]:
    """The arguments that are names, by the options before them."""
    option, plain = "", 0
    for word in words:
        written = text(word)
        if option:
            if option in naming:
                yield word
            option = ""
        elif plain == 0 and written.startswith("-") and written != "-":
            valued = next((at for at, letter in enumerate(written) if letter in takes and at), 0)
            option = written[valued] if valued and valued == len(written) - 1 else ""
        else:
            plain += 1
            if operands == "all" or operands == str(plain):
                yield word


def _names(node: Branch, text: Text, field: str) -> Iterator[Branch]:
    """The names in a plain text, each as a leaf of its own."""
    whole = text(node)
    for match in _NAME.finditer(whole):
        how = SET if _ASSIGNS.match(whole, match.end()) else field
        yield node.within(whole, *match.span(), "variable_name", how)


def _is_tested(word: Branch, text: Text) -> bool:
    """`[[ -v x ]]`."""
    operator = word.at("^ operator")
    return operator is not None and operator.type == "test_operator" and text(operator) == "-v"


def _is_counted(word: Branch) -> bool:
    """A word in the head of `for ((…))`."""
    below = word
    for up in word.up():
        if up.type == "c_style_for_statement":
            return below.field != "body"
        if not up.type.endswith(("_expression", "_assignment")):
            return False
        below = up
    return False


def _is_index(word: Branch) -> bool:
    """`${a[i]}` where `a` is numbered."""
    for up in word.up():
        if up.type == "subscript":
            return up.field != KEYED
        if not up.type.endswith("_expression"):
            return False
    return False
