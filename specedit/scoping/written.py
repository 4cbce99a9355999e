"""The type that a declaration is written with, and from where on its value holds."""

from __future__ import annotations

from specedit.scoping.languages import Rules
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.syntax.branch import Branch


def is_assigned(one: Declared, at: Branch) -> bool:
    """Python: whether a class's body, read from the top, has set a name before it comes to `at`."""
    read = (one.node.part("right"), one.node.part("type"))
    return one.leaf.end <= at.start and not any(
        part is not None and part.start <= at.start < part.end for part in read
    )


def type_part(one: Declared, rules: Rules) -> Branch | None:
    names = ("type", "returns", "return_type", "result") if one.kind in FUNCTIONS else ("type",)
    node: Branch | None = one.node
    for _ in range(3):
        if node is None:
            return None
        for name in names:
            if (typed := node.part(name)) is not None and typed is not one.leaf:
                return typed
        typed = node.first(*rules.types)
        if typed is not None and typed.start > one.leaf.start:
            return typed
        if node.type not in rules.carries_up:
            return None
        node = node.parent
    return None
