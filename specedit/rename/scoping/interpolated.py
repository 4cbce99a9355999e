"""Names inside strings that are code, where the grammar leaves them as text.

Kotlin's `"$name"`, and Rust's `"{name:width$}"` where a macro formats it. Does not know what a
macro of somebody else does with its strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from specedit.rename.languages import Rules
from specedit.syntax.branch import Branch

Text = Callable[[Branch], str]

_DOLLAR = re.compile(r"\$([^\W\d]\w*)")
_FORMAT = re.compile(r"\\u\{[^}]*\}|\{\{|\}\}|\{(?P<inside>[^{}]*)\}")
_ARGUMENT = re.compile(r"^[^\W\d]\w*(?=\s*(?::|$))|(?<=[^\w$])[^\W\d]\w*(?=\$)")


def names_in_string(node: Branch, text: Text, rules: Rules) -> Iterator[Branch]:
    """The names in a string, each as a leaf of its own."""
    spans: list[tuple[int, int]] = []
    if rules.dollar_strings and node.type == "string_literal":
        spans = [found.span(1) for found in _DOLLAR.finditer(text(node))]
    elif rules.format_macros and node.type in rules.strings and _is_format(node, text, rules):
        spans = list(_arguments(text(node)))
    for first, last in spans:
        before = text(node)[:first]
        start = node.start + len(before.encode())
        end = start + len(text(node)[first:last].encode())
        yield Branch("identifier", "", True, start, end, node.line + before.count("\n"), node)


def _arguments(text: str) -> Iterator[tuple[int, int]]:
    for hole in _FORMAT.finditer(text):
        if hole["inside"]:
            for found in _ARGUMENT.finditer(hole["inside"]):
                at = hole.start("inside")
                yield at + found.start(), at + found.end()


def _is_format(node: Branch, text: Text, rules: Rules) -> bool:
    """Whether a string stands where its macro expects a format."""
    tokens = node.parent
    if tokens is None or tokens.type != "token_tree":
        return False
    where = rules.format_macros.get(_macro(tokens, text))
    before = tokens.children[: tokens.children.index(node)]
    return where == "any" or where == str(sum(text(one) == "," for one in before))


def _macro(tokens: Branch, text: Text) -> str:
    """The macro that the tokens belong to; inside of another macro it is tokens, too."""
    holder = tokens.parent
    if holder is None:
        return ""
    if holder.type == "macro_invocation":
        named = holder.part("macro")
        return text(named).rsplit("::", 1)[-1] if named is not None else ""
    at = holder.children.index(tokens)
    before = [text(one) for one in holder.children[max(at - 2, 0) : at]]
    return before[0] if before[1:] == ["!"] else ""
