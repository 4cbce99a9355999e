"""Names in Rust's macros, which the grammar leaves as tokens: `"{name:width$}"`, `x.name`."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from specedit.scoping.languages.rules import Text
from specedit.scoping.languages.tables import table
from specedit.scoping.uses import EXTERNAL, UNKNOWN, Uses
from specedit.syntax.branch import Branch

MACROS = table(  # macro -> which of its arguments is the format
    """
    print println eprint eprintln format format_args panic todo unimplemented: 0
    unreachable anyhow bail: 0
    write writeln assert debug_assert ensure: 1
    assert_eq assert_ne debug_assert_eq debug_assert_ne: 2
    trace debug info warn error log: any
    """
)
_HOLE = re.compile(r"\\u\{[^}]*\}|\{\{|\}\}|\{(?P<inside>[^{}]*)\}")
_ARGUMENT = re.compile(r"^[^\W\d]\w*(?=\s*(?::|$))|(?<=[^\w$])[^\W\d]\w*(?=\$)")
_STRINGS = frozenset({"string_literal", "raw_string_literal", "char_literal"})


_PATHS = ("identifier", "self", "super", "crate")


def formatted(node: Branch, text: Text) -> Iterator[Branch]:
    """The names in a string, each as a leaf of its own."""
    if node.type in _STRINGS and _is_format(node, text):
        whole = text(node)
        for first, last in _arguments(whole):
            yield node.within(whole, first, last, "identifier")


def _arguments(text: str) -> Iterator[tuple[int, int]]:
    for hole in _HOLE.finditer(text):
        if hole["inside"]:
            for match in _ARGUMENT.finditer(hole["inside"]):
                at = hole.start("inside")
                yield at + match.start(), at + match.end()


def _is_format(node: Branch, text: Text) -> bool:
    """Whether a string stands where its macro expects a format."""
    tokens = node.parent
    if tokens is None or tokens.type != "token_tree":
        return False
    where = MACROS.get(_macro(tokens, text))
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


def in_macro(uses: Uses, leaf: Branch) -> Hashable:
    """A macro's tokens have no structure but their neighbours."""
    parent = leaf.parent
    assert parent is not None
    at = parent.children.index(leaf)
    before = parent.children[at - 1] if at else None
    sign = uses.scopes.text(before) if before is not None else ""
    if sign in (".", "::") and at > 1:
        receiver = parent.children[at - 2]
        chained = at > 2 and uses.scopes.text(parent.children[at - 3]) in (".", "::")
        if receiver.type in _PATHS and not (chained and sign == "."):
            return uses.member(uses.typing.type_of(receiver))
        return (UNKNOWN, "") if sign == "." else (EXTERNAL, "")
    return uses.bare(leaf, "any")
