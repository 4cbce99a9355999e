"""TypeScript's structural types: what a value of one type is used as, where the types are declared
apart and name nothing of each other.

`f(cart)` asks of `cart` what the type of the parameter has, so that their members are one thing.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages.javascript import owner_of_literal
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch, first_of

_HOLDERS = places(  # of a value that its place asks something of
    "arguments array arrow_function as_expression assignment_expression binary_expression pair",
    "public_field_definition required_parameter optional_parameter return_statement",
    "satisfies_expression ternary_expression type_assertion variable_declarator",
)
_VALUES = places(
    "identifier this member_expression call_expression new_expression await_expression",
    "non_null_expression subscript_expression",
)
_OPTIONAL = places("optional_parameter ?")


def same_members(typing: Typing, name: str) -> Iterator[tuple[Declared, Declared]]:
    """Members of one name of two types, where a value of the first is used as the second."""
    for node in typing.scopes.root.walk():
        if node.type in _VALUES and node.parent is not None and node.parent.type in _HOLDERS:
            whole = True
            wanted = owner_of_literal(typing, node)
        elif node.type == "spread_element" and node.parent is not None:
            whole = False
            wanted = owner_of_literal(typing, node.parent)
        else:
            continue
        if not typing.members(wanted or (), name):
            continue
        value = node if whole else first_of(node)
        for owner in typing.type_of(value) or ():
            mine = typing.members((owner,), name)
            if not mine or owner.module is not None or _is_one_of(typing, owner, wanted or ()):
                continue
            for other in wanted or ():
                theirs = typing.members((other,), name)
                if theirs and (not whole or _has_shape(typing, owner, other)):
                    yield mine[0], theirs[0]


def _is_one_of(typing: Typing, owner: Owner, wanted: tuple[Owner, ...]) -> bool:
    """Whether a type is, or extends, one of these: nothing else of them is asked for."""
    own = {id(owner), *map(id, typing.above(owner))}
    return any(id(other) in own for other in wanted)


def _has_shape(typing: Typing, owner: Owner, wanted: Owner) -> bool:
    """Whether a type has every member that another requires."""
    known = {name for up in (owner, *typing.above(owner)) for name in up.members}
    every = (item for up in (wanted, *typing.above(wanted)) for item in up.members.items())
    return all(name in known or _is_optional(declared) for name, declared in every)


def _is_optional(declared: list[Declared]) -> bool:
    return all(_is_marked(each.node) for each in declared)


def _is_marked(node: Branch) -> bool:
    return node.type in _OPTIONAL or any(child.type in _OPTIONAL for child in node.children)
