"""tree-sitter's trees of a text: its syntax errors and its definitions.

A grammar is imported when it is first needed. Lines and columns count from 1.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from specedit.import_time import frozen, regex
from specedit.syntax.languages import BY_NAME, Language
from specedit.syntax.outline import Symbol, outline

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


@frozen
class SyntaxFault:
    """A place that does not parse."""

    line: int
    column: int
    what: str  # "unexpected ..." | "missing ..."
    last_line: int  # of what is unexpected

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@lru_cache(maxsize=32)
def _parser(grammar: str) -> Parser:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    module, function = grammar.split(":")
    return Parser(Grammar(getattr(importlib.import_module(module), function)()))


def parse(text: str, language: Language) -> Tree:
    """The tree of `text`; nodes count bytes of its UTF-8 form."""
    return _parse(text.encode("utf-8", "surrogatepass"), language)


def _parse(data: bytes, language: Language) -> Tree:
    """The tree of a text; of what `#if` chooses from, each part, where that parses."""
    tree = _parser(language.grammar).parse(data)
    if tree.root_node.has_error and language.name == "csharp" and b"#if" in data:
        blank = _DIRECTIVE.sub(lambda found: b" " * len(found[0]), data)
        other = _parser(language.grammar).parse(blank)
        return tree if other.root_node.has_error else other
    return tree


_DIRECTIVE = regex(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)\b[^\n]*", re.MULTILINE)


Span = tuple[int, int, bytes]  # bytes [start, end) of one line, and what stands there instead


def has_shape(
    tree: Tree, data: bytes, edits: Sequence[Span], after: bytes, language: Language
) -> bool:
    """Whether `after`, which is `data` with `edits`, has the same syntax tree as `data`."""
    parser, root = _parser(language.grammar), tree.root_node
    if not root.has_error:
        shifted, rows, row, at = tree.copy(), [], 0, 0
        for start, _, _ in edits:
            row, at = row + data.count(b"\n", at, start), start
            rows.append(row)
        for (start, end, new), row in zip(reversed(edits), reversed(rows), strict=True):
            column = start - data.rfind(b"\n", 0, start) - 1
            points = (row, column), (row, column + end - start), (row, column + len(new))
            shifted.edit(start, end, start + len(new), *points)
        if not shifted.changed_ranges(parser.parse(after, shifted)):
            return True  # the same as below, in half the time
    return str(root) == str(_parse(after, language).root_node)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything under it, in reading order, without recursion."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.children))


DIALECTS = {"typescript": "tsx", "c": "cpp"}


def dialect(text: str, language: Language) -> Language:
    """The language, or its dialect where only that one parses: JSX in a `.ts`, C++ in a `.h`."""
    other = DIALECTS.get(language.name)
    if other is None or not parse(text, language).root_node.has_error:
        return language
    return language if parse(text, BY_NAME[other]).root_node.has_error else BY_NAME[other]


def errors(text: str, language: Language | None) -> list[SyntaxFault] | None:
    """Every place that does not parse; None without a grammar."""
    if language is None or not language.grammar:
        return None
    root = parse(text, language).root_node
    return sorted(_faults(root), key=lambda fault: (fault.line, fault.column))


def _faults(root: Node) -> Iterator[SyntaxFault]:
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        line, column = node.start_point
        if node.is_missing:
            yield SyntaxFault(line + 1, column + 1, f"missing {node.type}", line + 1)
        elif node.is_error:
            shown = (node.text or b"").decode("utf-8", "replace").split("\n")[0][:40]
            last = node.end_point[0] + 1
            yield SyntaxFault(line + 1, column + 1, f"unexpected `{shown}`", last)
        waiting.extend(child for child in node.children if child.has_error or child.is_missing)


def symbols(text: str, language: Language | None, nested: bool = False) -> list[Symbol]:
    """Everything defined in `text`: functions, classes, types, members; outer before inner.
    `nested`: with namespaces, and with functions in functions."""
    if language is None or not language.grammar:
        return []
    return list(outline(parse(text, language).root_node, nested))


def find_symbol(text: str, language: Language | None, name: str) -> list[Symbol]:
    """The symbols called `name`, or `Class.member`; the last dotted parts must match."""
    wanted = name.replace("::", ".").replace("#", ".").split(".")
    return [
        symbol
        for symbol in symbols(text, language)
        if symbol.qualified.split(".")[-len(wanted) :] == wanted
    ]
