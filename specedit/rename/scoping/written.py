"""The type and the value that a declaration is written with, and from where on it holds."""

from __future__ import annotations

from specedit.rename.languages import places
from specedit.rename.scoping.scope import FUNCTIONS, Declared
from specedit.syntax.branch import Branch

_CARRIES_UP = places(
    "variable_declarator init_declarator pointer_declarator reference_declarator",
    "function_declarator declaration variable_declaration property_element spread_parameter",
    "array_declarator",
)


def is_self(one: Declared) -> bool:
    scope = one.scope
    listed = one.node.named_children() if one.node.type == "parameters" else []
    return bool(
        scope and scope.parent and scope.parent.kind == "class" and listed[:1] == [one.leaf]
    )


def is_assigned(one: Declared, at: Branch) -> bool:
    """Python: whether a class's body, read from the top, has set a name before it comes to `at`."""
    read = (one.node.part("right"), one.node.part("type"))
    return one.leaf.end <= at.start and not any(
        part is not None and part.start <= at.start < part.end for part in read
    )


def type_part(one: Declared) -> Branch | None:
    names = ("type", "returns", "return_type", "result") if one.kind in FUNCTIONS else ("type",)
    node: Branch | None = one.node
    for _ in range(3):
        if node is None:
            return None
        for name in names:
            if (typed := node.part(name)) is not None and typed is not one.leaf:
                return typed
        typed = node.first("user_type", "nullable_type")  # Kotlin has no field names here
        if typed is not None and typed.start > one.leaf.start:
            return typed
        if node.type not in _CARRIES_UP:
            return None
        node = node.parent
    return None


def value_part(one: Declared) -> Branch | None:
    node = one.node
    if node.type == "type_switch_statement":
        return None  # Go: every case gives it another type
    if one.leaf.parent is not node and one.leaf.parent is not None:
        lists = ("expression_list", "pattern_list")
        if one.leaf.parent.type in lists and len(one.leaf.parent.named_children()) > 1:
            return None
        if one.leaf.parent.type not in (*lists, "pointer_declarator", "reference_declarator"):
            return None
    value = node.part("value") or node.part("right")
    if value is None and node.type == "variable_declarator" and len(node.named_children()) > 1:
        value = node.named_children()[-1]
    if value is None and node.parent is not None and node.type == "variable_declaration":
        later = [x for x in node.parent.named_children() if x.start >= node.end]
        value = later[0] if later else None
    return value
