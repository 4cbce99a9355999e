"""The outline of a file: its definitions with their names and lines.

One table of node types serves all languages: their names do not clash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

# `assignment` is Python's, of a module or a class; `assignment_expression` and `pair` are
# JavaScript's, of a function to a property and in an object literal.
_NODE_TYPES = {  # by kind; a namespace is not a definition itself
    "function": """
        function_definition function_declaration generator_function_declaration function_signature
        function_item function_signature_item local_function_statement macro_definition
        preproc_function_def assignment_expression
    """,
    "method": """
        method_definition method_declaration method_signature abstract_method_signature
        method_elem method singleton_method constructor_declaration
        compact_constructor_declaration destructor_declaration pair
    """,
    "class": """
        class_definition class_declaration abstract_class_declaration class_specifier class
        object_declaration object_definition struct_declaration record_declaration
        struct_specifier struct_item union_specifier union_item
    """,
    "interface": """
        interface_declaration annotation_type_declaration trait_item trait_declaration
        trait_definition
    """,
    "enum": "enum_declaration enum_definition enum_specifier enum_item",
    "type": """
        type_alias_declaration type_alias type_spec type_item alias_declaration type_definition
        delegate_declaration concept_definition
    """,
    "property": """
        property_declaration event_declaration field_definition public_field_definition
        property_signature field_declaration val_definition var_definition val_declaration
        var_declaration
    """,
    "value": "const_item static_item variable_declarator const_spec var_spec assignment",
    "namespace": """
        namespace_declaration file_scoped_namespace_declaration namespace_definition
        internal_module module mod_item impl_item companion_object
    """,
}
KINDS = {node: kind for kind, nodes in _NODE_TYPES.items() for node in nodes.split()}
# What wraps a definition and belongs to it: decorators, `export`, `template<...>`, `type (...)`.
WRAPPERS = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "ambient_declaration"}
)
CALLABLE = frozenset({"function", "method"})
FUNCTIONS = frozenset({"function_expression", "arrow_function", "function", "generator_function"})
_OF_FUNCTIONS = ("assignment_expression", "pair")
HIDES = frozenset({"function", "method", "property", "value"})


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition and its lines, decorators and doc comments above it included in neither."""

    name: str
    qualified: str  # "Class.member"
    kind: str
    first_line: int  # from 1
    last_line: int
    depth: int  # 0 at the top; namespaces do not count

    @property
    def own_name(self) -> str:
        """The name without what qualifies it: `Total` of Go's `Cart.Total`."""
        return self.name.rpartition(".")[2]


# A node and the same of its parent; tree-sitter finds a parent by a walk from the root.
Above = tuple["Node", "Above | None"]


def outline(root: Node, data: bytes, nested: bool = False) -> Iterator[Symbol]:
    """Definitions in reading order. `nested`: with namespaces, and with functions in functions."""
    waiting: list[tuple[Above, str, int, bool]] = [((root, None), "", 0, False)]
    while waiting:
        here, prefix, depth, inside = waiting.pop()
        node, parent = here
        kind = KINDS.get(node.type) if parent is not None else None
        value = node.child_by_field_name("value") if kind else None
        if node.type == "variable_declarator" and value is not None and value.type in FUNCTIONS:
            kind = "function"
        name = definition_name(node, data) if kind else ""
        local = inside and not (nested and kind in CALLABLE)
        if kind and name and _counts(here, kind, local, data):
            qualified = f"{prefix}.{name}" if prefix else name
            if kind != "namespace" or nested:
                whole = _wrapped(here)
                last = whole.end_point[0] + (1 if whole.end_point[1] else 0)
                yield Symbol(name, qualified, kind, whole.start_point[0] + 1, last, depth)
                depth += 1
            prefix = qualified
            is_object = value is not None and value.type == "object"  # its functions are listed
            inside = inside or (kind in HIDES and not is_object)
        for child in reversed(node.named_children):
            if child.descendant_count > 2 or child.type in KINDS:  # else it holds a leaf at most
                waiting.append(((child, here), prefix, depth, inside))


def _counts(here: Above, kind: str, inside: bool, data: bytes) -> bool:
    """Whether this is a definition to list: a declaration's body, not a mention or a local."""
    node, parent = here
    inside = inside and not _is_returned(here)
    if node.type in _OF_FUNCTIONS:
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        left = node.child_by_field_name("left") or node.child_by_field_name("key")
        named = left is not None and left.type in ("member_expression", "property_identifier")
        return not inside and named and value is not None and value.type in FUNCTIONS
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        alone = parent is not None and parent[0].type == "expression_statement"
        return not inside and alone and left is not None and left.type == "identifier"
    if node.type in ("class_specifier", "struct_specifier", "union_specifier", "enum_specifier"):
        return node.child_by_field_name("body") is not None
    if node.type == "field_declaration" and node.child_by_field_name("declarator"):
        return not inside and definition_name(node, data) != ""
    if kind in ("value", "property") or node.type == "type_definition":
        return not inside
    return not inside or kind not in CALLABLE


def _is_returned(here: Above) -> bool:
    """Whether a node is a member of an object literal that a function returns."""
    _, parent = here
    if parent is None or parent[0].type != "object" or parent[1] is None:
        return False
    return parent[1][0].type == "return_statement"


def _wrapped(here: Above) -> Node:
    node, parent = here
    if (
        node.type in ("variable_declarator", "assignment", *_OF_FUNCTIONS[:1])
        and parent is not None
    ):
        node, parent = parent
    while parent is not None and parent[0].type in WRAPPERS:
        node, parent = parent
    return node


def definition_name(node: Node, data: bytes) -> str:
    """The name a definition gives itself, or "". `data`: the text, whose nodes count its bytes."""
    name = node.child_by_field_name("name")
    if name is None and node.type in ("assignment", "assignment_expression", "pair"):
        name = node.child_by_field_name("left") or node.child_by_field_name("key")
        if name is not None and name.type == "member_expression":
            name = name.child_by_field_name("property")
    if name is None and node.type == "impl_item":
        name = node.child_by_field_name("type")
        if name is not None and name.type == "generic_type":
            name = name.child_by_field_name("type")
    if name is None:
        name = node.child_by_field_name("declarator") or node.child_by_field_name("property")
        while name is not None and name.child_count and name.type != "qualified_identifier":
            name = (
                name.child_by_field_name("declarator")
                or name.child_by_field_name("name")
                or next(
                    (c for c in name.children if "identifier" in c.type or c.type == "name"), None
                )
            )
    if name is None:
        kinds = ("identifier", "type_identifier", "simple_identifier", "variable_declaration")
        name = next((child for child in node.children if child.type in kinds), None)
        if name is not None and name.type == "variable_declaration":
            name = next((c for c in name.children if "identifier" in c.type), None)
    if name is None:
        return ""
    text = _text(name, data)
    if node.type == "method_declaration":  # Go: the receiver is the class
        receiver = node.child_by_field_name("receiver")
        inner = walk(receiver) if receiver is not None else iter(())
        owner = next((_text(node, data) for node in inner if node.type == "type_identifier"), "")
        return f"{owner}.{text}" if owner else text
    return text.replace("::", ".") if len(text) < 200 and "\n" not in text else ""


def _text(node: Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything under it, in reading order."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting.extend(reversed(inner.children))
