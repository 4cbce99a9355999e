"""Syntax trees without what does not matter for matching: comments, white space, trailing commas,
the kind of quotes. A pattern is such a tree with holes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as stored
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

BYTES = ("utf-8", "surrogatepass")  # how a text becomes the bytes that offsets count
QUOTES_ALIKE = frozenset({"python", "javascript", "typescript", "tsx"})
_CLOSING = frozenset(")]}>")
_LITERALS = ("string", "char_literal", "character_literal", "heredoc")
_NOT_LEAVES = ("concatenated_string", "content", "fragment", "list")


@dataclass(frozen=True)
class Piece:
    """A node of a syntax tree, or a hole of a pattern."""

    kind: str
    text: str = ""  # of a leaf, with its quotes in one form
    children: tuple[Piece, ...] = ()
    named: bool = True
    field: str = stored(default="", compare=False)
    start: int = stored(default=0, compare=False)  # bytes [start, end) of its text
    end: int = stored(default=0, compare=False)
    hole: str = ""
    form: str = stored(default="", compare=False)  # of a hole: the kind of what the example has
    many: bool = False  # a hole for any number of neighbours

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Its tokens."""
        if self.hole or not self.children:
            return (self.hole or self.text,)
        return tuple(token for child in self.children for token in child.key)

    @cached_property
    def is_name(self) -> bool:
        return not self.children and self.named and is_word(self.text)

    def walk(self) -> Iterator[Piece]:
        yield self
        for child in self.children:
            yield from child.walk()

    def units(self) -> Iterator[Piece]:
        """Its tokens and holes, in reading order."""
        if self.hole or not self.children:
            yield self
            return
        for child in self.children:
            yield from child.units()

    def as_hole(self, hole: str, kind: str) -> Piece:
        """A hole for nodes of this kind ("": for every expression)."""
        form = self.form or self.kind
        return replace(self, kind=kind, text="", children=(), hole=hole, form=form)

    def with_children(self, children: Sequence[Piece]) -> Piece:
        return replace(self, children=tuple(children))


def is_word(text: str) -> bool:
    return text[:1].isalpha() or text[:1] in "_$@"


def is_literal(node: Node) -> bool:
    """Whether a node is a string, which is a leaf here whatever the grammar makes of it."""
    kind = node.type
    return any(word in kind for word in _LITERALS) and not any(w in kind for w in _NOT_LEAVES)


def parts(node: Node) -> list[Node]:
    """The children that count: no comments, no empty tokens, no comma before a closing bracket."""
    if is_literal(node) and node.is_named:
        return []
    children = node.children
    if not children:
        return children
    result = [
        child
        for child in children
        if not child.is_extra
        and "comment" not in child.type
        and child.end_byte > child.start_byte
        and child.type not in ("\n", "line_continuation")
    ]
    if len(result) > 2 and result[-1].type in _CLOSING and result[-2].type == ",":
        del result[-2]
    return result


def leaf_text(node: Node, data: bytes, language: str) -> str:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if language in QUOTES_ALIKE and len(text) > 1 and text[-1] in "\"'" and is_literal(node):
        return with_one_quote(text)
    return text


def with_one_quote(text: str) -> str:
    """A string with double quotes, where its content has no quotes and no escapes."""
    start = len(text) - len(text.lstrip("rRbBuUfF"))
    prefix, body = text[:start], text[start:]
    quote = body[:1]
    if quote not in "\"'" or body[-1] != quote:
        return text
    content = body[1:-1]
    if any(sign in content for sign in "\"'\\`"):
        return text
    return f'{prefix}"{content}"'


def piece_of(node: Node, data: bytes, language: str, field: str = "") -> Piece:
    """The Piece of a node and of all below it."""
    below = parts(node)
    text = "" if below else leaf_text(node, data, language)
    children = tuple(
        piece_of(child, data, language, name)
        for child, name in zip(below, field_names(node, below), strict=True)
    )
    return Piece(node.type, text, children, node.is_named, field, node.start_byte, node.end_byte)


def field_names(node: Node, below: Sequence[Node]) -> list[str]:
    """The field of each of these children."""
    if not below:
        return []
    names = {}
    for number, child in enumerate(node.children):
        if name := node.field_name_for_child(number):
            names[child.id] = name
    return [names.get(child.id, "") for child in below]
