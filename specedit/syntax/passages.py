"""Which bytes of a file are comments, strings, or code that no grammar parsed.

Everything else is code. A doc string counts as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.syntax.branch import Branch

COMMENTS = frozenset(
    {"comment", "line_comment", "block_comment", "html_comment", "js_comment", "doc_comment"}
)


@dataclass(frozen=True)
class Passage:
    """Bytes [start, end)."""

    start: int
    end: int
    kind: str  # "comment" | "string" | "opaque"


def passages(
    root: Branch,
    data: bytes,
    strings: frozenset[str] = frozenset(),
    opaque: frozenset[str] = frozenset(),
) -> list[Passage]:
    """The passages in reading order; code inside strings (interpolation) is code.

    `strings` and `opaque`: the language's node types of literals and of unparsed code."""
    results: list[Passage] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in COMMENTS:
            results.append(Passage(node.start, node.end, "comment"))
        elif node.type in opaque:
            results += _unparsed(node, data)
        elif node.type in strings or node.type in _INTERPOLATED:
            kind = "comment" if _documents(node) else "string"
            results += _literal(node, kind)
            waiting.extend(child for child in node.children if _is_code(child))
        else:
            waiting.extend(reversed(node.children))
    return sorted(results, key=lambda one: one.start)


_INTERPOLATED = frozenset({"interpolated_string_expression", "template_string", "encapsed_string"})
_LITERAL = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|//.*", re.DOTALL)
_CONTENT = frozenset({"string_start", "string_end", "interpolation_start", "escape_sequence"})


def _is_code(child: Branch) -> bool:
    return (
        child.named
        and "content" not in child.type
        and "fragment" not in child.type
        and "string" not in child.type.replace("interpolated_string_expression", "")
        and child.type not in _CONTENT
    )


def _literal(node: Branch, kind: str) -> list[Passage]:
    """The parts of a string between its interpolations."""
    result, at = [], node.start
    for child in node.children:
        if _is_code(child):
            result.append(Passage(at, child.start, kind))
            at = child.end
    result.append(Passage(at, node.end, kind))
    return [one for one in result if one.end > one.start]


def _unparsed(node: Branch, data: bytes) -> Iterator[Passage]:
    """A macro's body, with the strings and the comment in it told apart."""
    at = node.start
    for literal in _LITERAL.finditer(data, node.start, node.end):
        yield Passage(at, literal.start(), "opaque")
        kind = "comment" if literal[0].startswith(b"/") else "string"
        yield Passage(literal.start(), literal.end(), kind)
        at = literal.end()
    yield Passage(at, node.end, "opaque")


def _documents(node: Branch) -> bool:
    """A string that stands alone as a statement: Python's doc strings."""
    parent = node.parent
    return (
        node.type == "string"
        and parent is not None
        and parent.type == "expression_statement"
        and len(parent.children) == 1
    )
