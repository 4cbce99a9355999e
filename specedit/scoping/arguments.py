"""The parameter that a keyword argument names: `f(x=1)`, `F(x: 1)`."""

from __future__ import annotations

from collections.abc import Hashable

from specedit.scoping.scope import TYPES, Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

UNKNOWN_CALL = ("unknown", "")  # what is called is unknown
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
    last = typing.called_leaf(call) if call is not None else None
    if last is None:
        return UNKNOWN_CALL
    return _of_the_called(last, typing, declared)


def _of_the_called(leaf: Branch, typing: Typing, declared: list[Declared]) -> Hashable:
    """Over many files: the parameter of what is called, wherever that is declared."""
    receiver = typing.receiver(leaf)
    if receiver is not None and typing.type_of(receiver) is None:
        return UNKNOWN_CALL
    called = typing.called(leaf)
    if called is None or called.kind == "import":
        return OTHER_CALL
    home = typing.home(called) or typing
    built = home.type_of_declared(called) if called.kind in TYPES else None
    for owner in (each for one in built or () for each in (one, *home.above(one))):
        for item in declared:  # its constructor's, or a field that it is made from
            if _fills(item, owner, home):
                return item
    for item in declared:
        if item.kind == "parameter" and item.scope and item.scope.node is called.node:
            return item
    return OTHER_CALL


def _fills(one: Declared, owner: Owner, home: Typing) -> bool:
    """Whether an argument of the class's own call goes to `one`."""
    if one.owner is owner and one.kind in ("field", "local"):
        return True
    around = one.scope.parent.owner if one.scope and one.scope.parent else None
    return one.kind == "parameter" and around is owner and home.rules.constructs(one, owner)
