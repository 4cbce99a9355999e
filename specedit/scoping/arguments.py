"""The parameter that a keyword argument names: `f(x=1)`, `F(x: 1)`."""

from __future__ import annotations

from collections.abc import Hashable

from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

UNKNOWN_CALL = ("unknown", "")  # nobody knows what is called
OTHER_CALL = ("outside", "argument")  # what is called is defined elsewhere


def takes_any(one: Declared, rest: frozenset[str]) -> bool:
    """Whether the parameter's function takes arguments of any name beside it: `**rest`."""
    listed = one.scope.node.part("parameters") if one.scope is not None else None
    return listed is not None and any(
        not rest.isdisjoint((child.type, *(inner.type for inner in child.children)))
        for child in listed.children
    )


def parameter_named(leaf: Branch, typing: Typing, declared: list[Declared]) -> Hashable | None:
    """The parameter a keyword argument names."""
    if not typing.rules.names_argument(leaf):
        return None
    call = next((up for up in leaf.up() if up.type in typing.rules.calls), None)
    if call is None:
        return UNKNOWN_CALL
    where = typing.rules.calls[call.type]
    callee = call.named_children()[0] if where == "<" else call.part(where)
    if callee is None:
        return UNKNOWN_CALL
    last = [one for one in callee.walk() if one.type in typing.rules.names]
    name = typing.scopes.label(last[-1]) if last else ""
    for one in declared:
        if one.kind not in ("parameter", "field") or one.scope is None:
            continue
        holder = one.scope.node.part("name")
        owner = one.owner.name if one.owner is not None else ""
        around = one.scope.parent.owner.name if one.scope.parent and one.scope.parent.owner else ""
        if (holder is not None and typing.scopes.text(holder) == name) or name in (owner, around):
            return one
    return OTHER_CALL
