"""A syntax tree in plain Python, with cheap parents and fields, and its comments and strings.

Offsets are bytes of the UTF-8 text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as stored
from functools import cached_property, lru_cache
from sys import intern
from typing import TYPE_CHECKING, SupportsIndex

from specedit.syntax import trees
from specedit.syntax.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Tree

UNPARSED = "ERROR"  # the type of a node that tree-sitter could not read
MIN_INDEXED_CHILDREN = 16  # children from which they are found by an index


class Children(tuple["Branch", ...]):
    """Many children of one node. Nothing is looked for among all of them again and again: a text
    that does not parse may be one node with a child for each of its characters."""

    @cached_property
    def by_field(self) -> dict[str, Branch]:
        """The first child of each field."""
        return {child.field: child for child in reversed(self)}

    @cached_property
    def by_type(self) -> dict[str, int]:
        """The number of the first child of each type."""
        return {self[number].type: number for number in range(len(self) - 1, -1, -1)}

    @cached_property
    def named(self) -> list[Branch]:
        return [child for child in self if child.named]

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(child): number for number, child in enumerate(self)}

    def index(self, value: object, *_: SupportsIndex) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            raise ValueError("not a child of this node")
        return number


@dataclass(eq=False, slots=True)
class Branch:
    """One node: what it is, which field of its parent it fills, and where."""

    type: str
    field: str
    named: bool
    start: int
    end: int
    line: int  # from 1
    parent: Branch | None = stored(default=None, repr=False)
    children: Sequence[Branch] = stored(default=(), repr=False)

    @property
    def place(self) -> str:
        """ "parent_type.field": the key the rules' tables use."""
        return f"{self.parent.type}.{self.field}" if self.parent else ""

    def part(self, name: str) -> Branch | None:
        if isinstance(self.children, Children):
            return self.children.by_field.get(name)
        for child in self.children:
            if child.field == name:
                return child
        return None

    def first(self, *types: str) -> Branch | None:
        if isinstance(self.children, Children):
            by_type = self.children.by_type
            numbers = [by_type[type] for type in types if type in by_type]
            return self.children[min(numbers)] if numbers else None
        for child in self.children:
            if child.type in types:
                return child
        return None

    def at(self, path: str) -> Branch | None:
        """Where a path of fields leads, "^" being the parent: `leaf.at("^ ^ value")`."""
        node: Branch | None = self
        for step in path.split():
            if node is not None:
                node = node.parent if step == "^" else node.part(step)
        return node

    def around(self, *types: str) -> Branch | None:
        return next((up for up in self.up() if up.type in types), None)

    def named_children(self) -> Sequence[Branch]:
        if isinstance(self.children, Children):
            return self.children.named
        return [child for child in self.children if child.named]

    def named_before(self, place: int) -> Branch | None:
        """The last named child that ends at a byte or before it."""
        named = self.named_children()
        number = bisect_right(named, place, key=lambda child: child.end)
        return named[number - 1] if number else None

    def named_after(self, place: int) -> Branch | None:
        """The first named child that starts at a byte or after it."""
        named = self.named_children()
        number = bisect_left(named, place, key=lambda child: child.start)
        return named[number] if number < len(named) else None

    def within(self, text: str, first: int, last: int, type: str, field: str = "") -> Branch:
        """A leaf for characters [first, last) of this node's `text`, which the grammar left."""
        start = self.start + len(text[:first].encode())
        end = start + len(text[first:last].encode())
        return Branch(type, field, True, start, end, self.line + text.count("\n", 0, first), self)

    def through(self, other: Branch) -> Branch:
        """The stretch from here to the end of `other`, as a node of no type."""
        return Branch("", "", False, self.start, other.end, self.line)

    def until(self, end: int) -> Branch:
        """The stretch of this node before `end`, as a node of no type."""
        return Branch("", "", False, self.start, end, self.line)

    def walk(self, without: Container[str] = ()) -> Iterator[Branch]:
        """This node and all below it, in order; those of a type in `without` are left out whole."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.children:
                below = reversed(node.children)
                waiting += (x for x in below if x.type not in without) if without else below

    def up(self) -> Iterator[Branch]:
        """The parents, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


def first_of(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[0] if named else None


def last_of(node: Branch) -> Branch | None:
    named = node.named_children()
    return named[-1] if named else None


def grow(text: str, language: Language) -> Branch:
    tree = trees.parse(text, language)
    with trees.uncollected():
        return _grown(tree, text.encode("utf-8", "surrogatepass"), language)


def grow_fragment(
    data: bytes, language: Language, holder: Branch, around: tuple[bytes, bytes], type: str
) -> Branch | None:
    """The content between the first and the last child of `holder`, read as code: the node of a
    `type` that it becomes between two texts `around` it; None where it does not parse."""
    start, end = holder.children[0].end, holder.children[-1].start
    piece = around[0] + data[start:end] + around[1]
    tree = trees.fragment(piece, language)
    if tree is None:
        return None
    offset, first = start - len(around[0]), len(around[0])
    for node in _grown(tree, piece, language).walk():
        if node.type == type and node.start < first:
            for below in node.walk():
                below.start, below.end = below.start + offset, below.end + offset
                below.line += holder.line - 1
            node.children = node.children[1:-1]  # its brackets, which are not in the text
            node.start, node.end, node.parent = start, end, holder
            return node
    return None


def _grown(tree: Tree, data: bytes, language: Language) -> Branch:
    cursor = tree.walk()
    kinds, numbers = _kinds(language.grammar), _numbers()
    ends = [match.start() for match in re.finditer(rb"\n", data)] + [len(data)]
    above: Branch | None = None
    levels: list[list[Branch]] = [[]]  # for each node above, its children so far
    line = 0
    while True:
        node = cursor.node
        assert node is not None
        start, end, kind = node.start_byte, node.end_byte, node.kind_id
        while ends[line] < start:  # nodes come in the order of their starts
            line += 1
        if kind not in kinds:
            kinds[kind] = (intern(node.type), node.is_named)
        if end < len(numbers):  # equal numbers are one object: they were a fifth of the memory
            start, end = numbers[start], numbers[end]
        type_, named = kinds[kind]
        made = Branch(type_, cursor.field_name or "", named, start, end, line + 1, above)
        levels[-1].append(made)
        if cursor.goto_first_child():
            above = made
            levels.append([])
            continue
        while not cursor.goto_next_sibling():
            if above is None or not cursor.goto_parent():
                return levels[0][0]
            below = levels.pop()
            above.children = tuple(below) if len(below) < MIN_INDEXED_CHILDREN else Children(below)
            above = above.parent


@lru_cache(maxsize=32)
def _kinds(grammar: str) -> dict[int, tuple[str, bool]]:
    """A grammar's kinds of nodes that were met: the name of each, and whether it is named."""
    return {}


@lru_cache(maxsize=1)
def _numbers() -> list[int]:
    return list(range(1 << 16))


COMMENTS = frozenset(
    {"comment", "line_comment", "block_comment", "html_comment", "js_comment", "doc_comment"}
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Bytes [start, end)."""

    start: int
    end: int
    kind: str  # "comment" | "string" | "opaque"
    node: Branch | None = None  # the comment or the string that it is of


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
            results.append(Passage(node.start, node.end, "comment", node))
        elif node.type in opaque:
            results += _unparsed(node, data)
        elif node.type in strings or node.type in _INTERPOLATED:
            kind = "comment" if _documents(node) else "string"
            results += _literal(node, kind)
            waiting.extend(child for child in node.children if _is_code(child))
        elif node.children:
            waiting.extend(reversed(node.children))
    return sorted(results, key=lambda passage: passage.start)


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
            result.append(Passage(at, child.start, kind, node))
            at = child.end
    result.append(Passage(at, node.end, kind, node))
    return [passage for passage in result if passage.end > passage.start]


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
