"""Imports of a file, in every language of the benchmark."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.syntax.trees import walk

if TYPE_CHECKING:
    from tree_sitter import Node

IMPORTS = frozenset(
    {
        "import_statement",
        "import_from_statement",
        "future_import_statement",
        "import_spec",
        "import_declaration",
        "using_directive",
        "use_declaration",
        "extern_crate_declaration",
    }
)
JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})


@dataclass(frozen=True)
class Imported:
    """One imported name."""

    key: tuple[str, ...]  # equal for equal imports
    bound: str  # the name that the file may use; "" where that cannot be told


def imported(node: Node, language: str) -> Iterator[Imported]:
    """What an import statement imports."""
    text = " ".join(text_of(node).split())
    if language == "python":
        tree = python_tree(textwrap.dedent(text_of(node)))
        for line in tree.body if tree else ():
            assert isinstance(line, ast.Import | ast.ImportFrom)
            module = (
                "." * line.level + (line.module or "") if isinstance(line, ast.ImportFrom) else ""
            )
            for alias in line.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield Imported((module, alias.name, alias.asname or ""), bound.strip("*"))
    elif language in JAVASCRIPT:
        origin = next((text_of(n)[1:-1] for n in walk(node) if n.type == "string"), text)
        names = [
            n
            for n in walk(node)
            if n.type in ("import_specifier", "namespace_import", "identifier", "pair_pattern")
            or n.type == "shorthand_property_identifier_pattern"
        ]
        for name in names:
            parent = name.parent.type if name.parent is not None else ""
            if name.type == "identifier" and parent not in (
                "import_clause",
                "variable_declarator",
            ):
                continue
            words = re.findall(r"[\w$]+", text_of(name))
            yield Imported((origin, " ".join(words)), words[-1] if words else "")
        if not names:
            yield Imported((origin,), "")
    elif language == "go":
        path = next((text_of(n) for n in walk(node) if "string" in n.type), text).strip('"`')
        own = text_of(node.child_by_field_name("name"))
        last = re.sub(r"/v\d+$", "", path).rpartition("/")[2]
        yield Imported((path, own), "" if own in ("_", ".") else own or last)
    elif language == "rust":
        for path in _expanded(re.sub(r"^(?:pub(?:\([^)]*\))?\s+)?use\s+|;$", "", text)):
            last = re.split(r"::|\bas\b", path)[-1].strip()
            yield Imported((path,), "" if last in ("*", "self", "_") else last)
    elif language == "java":
        last = text.rstrip(" ;").rpartition(".")[2].strip()
        yield Imported((text,), "" if last == "*" else last)
    else:
        yield Imported((text,), "")


def requires(node: Node) -> bool:
    if node.type not in ("lexical_declaration", "variable_declaration"):
        return False
    values = [
        one.child_by_field_name("value")
        for one in node.named_children
        if one.type == "variable_declarator"
    ]
    return bool(values) and all(text_of(value).startswith("require(") for value in values)


def _expanded(path: str) -> Iterator[str]:
    """`a::{b, c::d}` as `a::b` and `a::c::d`."""
    head, brace, rest = path.partition("{")
    if not brace:
        if path.strip():
            yield "".join(path.split()) if " as " not in path else path.strip()
        return
    inner, depth, start = rest.rpartition("}")[0], 0, 0
    for index, letter in enumerate([*inner, ","]):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            yield from _expanded(head + inner[start:index].strip())
            start = index + 1


def python_tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def text_of(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
