"""What a text's definitions lack that syntax can decide: documentation, type annotations.

Knows trees and each language's way to be public. Does not know rules, models or the hook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.syntax.languages import Language
from specedit.syntax.outline import CALLABLE, KINDS, WRAPPERS, definition_name
from specedit.syntax.passages import COMMENTS
from specedit.syntax.trees import parse

if TYPE_CHECKING:
    from tree_sitter import Node

DOCSTRINGS, ANNOTATIONS = "docstrings", "type annotations"
ORDERS = {  # to the model, where a rule gives no words of its own
    DOCSTRINGS: "Add a docstring (a doc comment, in other languages than Python) to every public "
    "function, method and class that has none. Change nothing else.",
    ANNOTATIONS: "Add the missing type annotations to every parameter and return value. "
    "Change nothing else.",
}
_LISTED = CALLABLE | {"class", "interface", "enum"}
_BETWEEN = frozenset({"attribute_item", "decorator", "annotation", "marker_annotation"})
_SELF = ("self", "cls")


@dataclass(frozen=True)
class Lack:
    """A definition that has not what is asked for."""

    line: int  # from 1
    name: str


def lacking(text: str, language: Language | None, what: str) -> list[Lack] | None:
    """Every definition without it; None where this language's syntax does not decide it."""
    found = _WAYS[what].get(language.name) if language is not None else None
    if found is None or language is None:
        return None
    tree = parse(text, language)
    return None if tree.root_node.has_error else list(found(tree.root_node))


def _definitions(root: Node, public: Callable[[Node, str], bool]) -> Iterator[tuple[Node, str]]:
    """Callables and types that are public, those in them too; nothing within a function."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = KINDS.get(node.type, "") if node.is_named else ""
        if kind in _LISTED or node.type == "type_spec":
            name = definition_name(node)
            if not name or not public(node, name.rpartition(".")[2]):
                continue
            yield node, name
            if kind in CALLABLE:
                continue
        waiting.extend(reversed(node.children))


def _python(root: Node) -> Iterator[Lack]:
    """A docstring is the first statement of a body."""
    for node, name in _definitions(root, _public_python):
        body = node.child_by_field_name("body")
        first = next((c for c in body.children if c.type not in COMMENTS), None) if body else None
        if first is not None and first.type == "expression_statement":
            first = first.children[0]
        plain = first is not None and first.type in ("string", "concatenated_string")
        parts = first.children if first is not None else []
        if not plain or any(part.type == "interpolation" for part in parts):  # an f-string is none
            yield Lack(node.start_point[0] + 1, name)


def _public_python(node: Node, name: str) -> bool:
    """Not `_name`, not `__name__`; not an overload's or a setter's further head."""
    if name.startswith("_"):
        return False
    parent = node.parent
    heads = parent.children if parent is not None and parent.type == "decorated_definition" else []
    said = [_text(one) for one in heads if one.type == "decorator"]
    further = ("overload", "typing.overload", f"{name}.setter", f"{name}.deleter", "override")
    return not any(one.removeprefix("@").strip() in further for one in said)


def _commented(public: Callable[[Node, str], bool]) -> Callable[[Node], Iterator[Lack]]:
    """A doc comment stands right above the definition, above its attributes and decorators."""

    def lacks(root: Node) -> Iterator[Lack]:
        for node, name in _definitions(root, public):
            whole = _whole(node)
            before = whole.prev_sibling
            while before is not None and before.type in _BETWEEN:
                whole, before = before, before.prev_sibling
            ends = before.end_point[0] - (before.end_point[1] == 0) if before is not None else -2
            if before is None or before.type not in COMMENTS or whole.start_point[0] - ends > 1:
                yield Lack(node.start_point[0] + 1, name)

    return lacks


def _whole(node: Node) -> Node:
    """With what wraps it: `export`, and Go's `type`."""
    parent = node.parent
    while parent is not None and (parent.type in WRAPPERS or parent.type == "type_declaration"):
        node, parent = parent, parent.parent
    return node


def _modifiers(*words: str) -> Callable[[Node, str], bool]:
    """Public by a word before it; in an interface, everything is."""

    def public(node: Node, name: str) -> bool:
        said = {
            _text(word)
            for child in node.children
            if child.type in ("modifiers", "modifier", "visibility_modifier")
            for word in (child, *child.children)
        }
        inside = node.parent.parent if node.parent is not None else None
        return bool(said & set(words)) or (
            inside is not None and inside.type == "interface_declaration"
        )

    return public


def _public_go(node: Node, name: str) -> bool:
    return name[:1].isupper()


def _public_script(node: Node, name: str) -> bool:
    """What a module exports, and the members of it that are not private."""
    if node.type in ("method_definition", "abstract_method_signature", "method_signature"):
        hidden = any(_text(c) in ("private", "protected") for c in node.children)
        return not hidden and not name.startswith(("#", "_")) and name != "constructor"
    return node.parent is not None and node.parent.type == "export_statement"


def _python_types(root: Node) -> Iterator[Lack]:
    for node in _walk(root, "function_definition"):
        name = definition_name(node)
        given = node.child_by_field_name("parameters")
        bare = [
            _text(one)
            for one in (given.named_children if given is not None else [])
            if one.type
            in ("identifier", "default_parameter", "list_splat_pattern", "dictionary_splat_pattern")
        ]
        if bare and bare[0] in _SELF and _is_method(node):
            bare = bare[1:]
        returns = name == "__init__" or node.child_by_field_name("return_type") is not None
        if bare or not returns:
            yield Lack(node.start_point[0] + 1, name)


def _is_method(node: Node) -> bool:
    block = node.parent
    if block is not None and block.type == "decorated_definition":
        block = block.parent
    owner = block.parent if block is not None else None
    return owner is not None and owner.type == "class_definition"


def _script_types(root: Node) -> Iterator[Lack]:
    for node in _walk(root, "function_declaration", "method_definition"):
        name = definition_name(node)
        given = node.child_by_field_name("parameters")
        bare = any(
            one.type in ("required_parameter", "optional_parameter")
            and one.child_by_field_name("type") is None
            and one.child_by_field_name("value") is None
            for one in (given.named_children if given is not None else [])
        )
        accessor = any(child.type in ("set", "get") for child in node.children)
        returns = name == "constructor" or accessor or node.child_by_field_name("return_type")
        if bare or not returns:
            yield Lack(node.start_point[0] + 1, name)


def _walk(root: Node, *types: str) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in types:
            yield node
        waiting.extend(reversed(node.children))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


_SCRIPT = _commented(_public_script)
_WAYS: dict[str, dict[str, Callable[[Node], Iterator[Lack]]]] = {
    DOCSTRINGS: {
        "python": _python,
        "java": _commented(_modifiers("public", "protected")),
        "csharp": _commented(_modifiers("public", "protected")),
        "rust": _commented(_modifiers("pub")),
        "go": _commented(_public_go),
        "javascript": _SCRIPT,
        "typescript": _SCRIPT,
        "tsx": _SCRIPT,
    },
    ANNOTATIONS: {"python": _python_types, "typescript": _script_types, "tsx": _script_types},
}
