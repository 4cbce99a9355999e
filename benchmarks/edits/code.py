"""One version of a file as the judge sees it: definitions, imports, comments, plain lines.

It reads the package's outline and adds what users call by name and the outline leaves out:
assigned constants and fields in Python, functions that JavaScript assigns to properties.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from specedit.syntax.languages import Language
from specedit.syntax.outline import CALLABLE, KINDS, outline, walk
from specedit.syntax.trees import dialect, errors, parse

if TYPE_CHECKING:
    from tree_sitter import Node

IMPORTS = frozenset(
    {
        *("import_statement", "import_from_statement", "future_import_statement"),
        *("import_declaration", "using_directive"),
        *("use_declaration", "extern_crate_declaration"),
    }
)
KEYWORDS = frozenset({"import", "from", "as", "using", "use", "static", "const", "require", "type"})
JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
ATTRIBUTES = frozenset({"attribute_item", "inner_attribute_item"})
UNNAMED = frozenset({"module", "exports", "prototype", "this", "window", "self"})
LOCAL = frozenset({"arrow_function", "function_expression", "function", "lambda", "func_literal"})
FUNCTIONS = LOCAL | {
    kind
    for kind, what in KINDS.items()
    if what in CALLABLE and kind not in ("assignment_expression", "pair")  # assigned functions
}
HOLDERS = frozenset({"object", "new_expression", "call_expression"})  # JavaScript's members


@dataclass(frozen=True)
class Definition:
    """A definition and its lines, counted from 0, `end` excluded."""

    name: str  # "Class.method"
    top: int  # with the comments directly above
    first: int
    end: int

    @property
    def parent(self) -> str:
        return self.name.rpartition(".")[0]


class Code:
    """A text with its syntax tree."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = dialect(text, language)
        self.lines = text.split("\n")

    @cached_property
    def bytes(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def root(self) -> Node:
        return parse(self.text, self.language).root_node

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(walk(self.root))

    @cached_property
    def faults(self) -> int:
        """The number of syntax errors."""
        if self.root.has_error:
            return len(errors(self.text, self.language) or [])
        return int(self.language.name == "python" and self.syntax is None)

    @cached_property
    def syntax(self) -> ast.Module | None:
        """Python's own tree, or None where the text is not Python 3."""
        return python_tree(self.text)

    @cached_property
    def loose(self) -> frozenset[str]:
        """Python names that are used and defined nowhere in the file."""
        if self.language.name != "python" or self.syntax is None:
            return frozenset()
        used: set[str] = set()
        bound = {*dir(builtins), "__file__", "__path__"}
        for node in ast.walk(self.syntax):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    used.add(name)
                case ast.Name(id=name) | ast.arg(arg=name):
                    bound.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    bound.add(name)
                case ast.ClassDef(name=name):
                    bound.add(name)
                case ast.alias(name=name, asname=other):
                    if name == "*":
                        return frozenset()
                    bound.add(other or name.partition(".")[0])
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    bound.add(name)
                case _:
                    pass
        return frozenset(used - bound)

    # -- comments ----------------------------------------------------------------------------------

    @cached_property
    def comments(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if "comment" in node.type)

    @cached_property
    def docstrings(self) -> tuple[Node, ...]:
        if self.language.name != "python":
            return ()
        return tuple(node for node in self.nodes if _is_docstring(node))

    def docstrings_of(self, definition: Definition) -> list[Node]:
        found = []
        for node in self.docstrings:
            owner = node.parent.parent if node.parent is not None else None
            row = -1 if owner is None else owner.start_point[0]
            inner = [one for one in self.definitions if one.first <= row < one.end]
            if inner and max(inner, key=lambda one: one.first) == definition:
                found.append(node)
        return found

    @cached_property
    def code(self) -> str:
        """The text with its comments blanked out; the lines stay where they are."""
        return self.blanked(self.comments)

    def blanked(self, nodes: tuple[Node, ...]) -> str:
        data = bytearray(self.bytes)
        for node in nodes:
            for index in range(node.start_byte, node.end_byte):
                if data[index] not in b"\r\n":
                    data[index] = 0x20
        return data.decode("utf-8", "surrogatepass")

    @cached_property
    def _above(self) -> frozenset[int]:
        """Lines that hold nothing but a comment or an attribute."""
        nodes = [*self.comments, *(n for n in self.nodes if n.type in ATTRIBUTES)]
        lines: set[int] = set()
        for node in nodes:
            if not self.lines[node.start_point[0]].encode()[: node.start_point[1]].strip():
                lines.update(range(node.start_point[0], _last_row(node) + 1))
        return frozenset(lines)

    # -- definitions -------------------------------------------------------------------------------

    @cached_property
    def main(self) -> range:
        """The lines of Python's `if __name__ == "__main__"`."""
        for node in self.root.named_children if self.language.name == "python" else ():
            if node.type == "if_statement" and "__name__" in text_of(node).split("\n")[0]:
                return _rows(node)
        return range(0)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        outlined = {
            (one.own_name, one.first_line - 1, number): (one.qualified, one.last_line)
            for number, one in enumerate(outline(self.root, self.bytes))
        }
        assigned = list(self._assigned())
        known = {(name.rpartition(".")[2], first) for name, first, _ in assigned}
        found = [
            (name, first, end)
            for (own, first, _), (name, end) in outlined.items()
            if (own, first) not in known
        ] + assigned
        inside = {row for node in self.import_nodes for row in _rows(node)}
        return tuple(
            Definition(name, self._top(first), first, end)
            for name, first, end in found
            if first not in inside and first not in self.main and first not in self._bodies
        )

    @cached_property
    def _bodies(self) -> frozenset[int]:
        """The lines of functions but for the first: what they define is local."""
        functions = (node for node in self.nodes if node.type in FUNCTIONS and node.is_named)
        return frozenset(row for node in functions for row in _rows(node)[1:])

    def _top(self, first: int) -> int:
        if first > 1 and not self.lines[first - 1].strip() and first - 2 in self._above:
            first -= self.lines[first - 2].rstrip().endswith("*/")  # a blank line below JSDoc
        while first and first - 1 in self._above:
            first -= 1
        return first

    def _assigned(self) -> Iterator[tuple[str, int, int]]:
        waiting: list[tuple[Node, str]] = [(self.root, "")]
        while waiting:
            node, prefix = waiting.pop()
            path, value = self._assignment(node)
            if path and node.parent is not None:
                name = ".".join([*filter(None, [prefix]), *path])
                whole = node.parent if node.parent.type.endswith("statement") else node
                yield name, whole.start_point[0], _last_row(whole) + 1
                if value is not None and (value.type in HOLDERS or path == ["exports"]):
                    prefix = "" if path == ["exports"] else name
            elif KINDS.get(node.type) == "class" or node.type == "variable_declarator":
                own = node.child_by_field_name("name")
                prefix = ".".join(filter(None, [prefix, text_of(own)]))
            if node.type in FUNCTIONS:
                continue
            waiting.extend((child, prefix) for child in reversed(node.named_children))

    def _assignment(self, node: Node) -> tuple[list[str], Node | None]:
        """The dotted name that a node assigns, and the value."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if self.language.name == "python" and node.type == "assignment":
            left = node.child_by_field_name("left")
            return (
                [text_of(left)] if left is not None and left.type == "identifier" else []
            ), value
        if self.language.name not in JAVASCRIPT:
            return [], None
        if node.type == "assignment_expression":
            left = node.child_by_field_name("left")
            parts = text_of(left).split(".") if left is not None else []
            if not all(re.fullmatch(r"[\w$]+", part) for part in parts):
                return [], None
            return [part for part in parts if part not in UNNAMED] or parts[-1:], value
        if node.type in ("pair", "method_definition") and node.parent is not None:
            key = node.child_by_field_name("key") or node.child_by_field_name("name")
            if node.parent.type == "object" and key is not None:
                return [text_of(key).strip("'\"")], value
        return [], None

    def named(self, name: str) -> list[Definition]:
        """The definitions called `name`, exactly so or as the last part of a longer name."""
        exact = [definition for definition in self.definitions if definition.name == name]
        return exact or [
            definition for definition in self.definitions if definition.name.endswith(f".{name}")
        ]

    def source(self, name: str | None, *, comments: bool = False) -> str:
        """The text of a definition, or of the whole file, without comments unless asked for."""
        if comments:
            return self._pick(self.lines, [(span.top, span.end) for span in self._spans(name)])
        spans = [(span.first, span.end) for span in self._spans(name)]
        return self._pick(self.code.split("\n"), spans)

    def bare(self, name: str | None) -> str:
        """The text of a definition, or of the whole file, without comments and doc strings."""
        lines = self.blanked((*self.comments, *self.docstrings)).split("\n")
        return self._pick(lines, [(span.first, span.end) for span in self._spans(name)])

    def _spans(self, name: str | None) -> list[Definition]:
        return self.named(name) if name else [Definition("", 0, 0, len(self.lines))]

    @staticmethod
    def _pick(lines: list[str], spans: list[tuple[int, int]]) -> str:
        return "\n".join("\n".join(lines[first:end]) for first, end in spans)

    # -- imports -----------------------------------------------------------------------------------

    @cached_property
    def import_nodes(self) -> tuple[Node, ...]:
        found = []
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.type in IMPORTS or (self.language.name in JAVASCRIPT and _requires(node)):
                found.append(node)
            elif node.type not in FUNCTIONS:
                waiting.extend(reversed(node.named_children))
        return tuple(found)

    @cached_property
    def import_lines(self) -> dict[str, range]:
        """The lines of import statements, each statement with its rows; of a block of Go, the rows
        of each import and of its brackets."""
        return {
            "\n".join(self.lines[rows.start : rows.stop]): rows
            for rows in map(_rows, self.import_nodes)
        }

    @cached_property
    def imports(self) -> frozenset[frozenset[str]]:
        """The words of each import statement."""
        return frozenset(
            frozenset(_WORD.findall(text_of(node))) - KEYWORDS for node in self.import_nodes
        )

    @cached_property
    def imported(self) -> frozenset[str]:
        return frozenset().union(*self.imports)

    @cached_property
    def used(self) -> frozenset[str]:
        """Every word of the code outside imports."""
        body = self.blanked((*self.comments, *self.import_nodes))
        return frozenset(_WORD.findall(body))


def _last_row(node: Node) -> int:
    """The last line that holds something of the node."""
    row, column = node.end_point
    return row if column or row == node.start_point[0] else row - 1


def _rows(node: Node) -> range:
    return range(node.start_point[0], _last_row(node) + 1)


def _is_docstring(node: Node) -> bool:
    if node.type != "expression_statement" or node.named_child_count != 1:
        return False
    if node.named_children[0].type != "string" or node.parent is None:
        return False
    siblings = [n for n in node.parent.named_children if n.type != "comment"]
    owner = node.parent.parent
    is_body = node.parent.type == "module" or (
        owner is not None and owner.type in ("function_definition", "class_definition")
    )
    return is_body and siblings[0].start_byte == node.start_byte


def _requires(node: Node) -> bool:
    if node.type not in ("lexical_declaration", "variable_declaration"):
        return False
    values = [
        child.child_by_field_name("value")
        for child in node.named_children
        if child.type == "variable_declarator"
    ]
    return bool(values) and all(text_of(value).startswith("require(") for value in values)


def python_tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def text_of(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
