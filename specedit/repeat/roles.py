"""The role of a piece in the code around it: a value, a member, what is called, a definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from specedit.repeat.origin import LOCAL, Origins
from specedit.repeat.piece import Piece

if TYPE_CHECKING:
    from specedit.repeat.example import NodeChange

ARGUMENTS = ("argument_list", "arguments")  # kinds of lists of arguments
SELVES = frozenset({"self", "this", "super", "cls", "base", "Self"})
FIXED_FIELDS = frozenset(
    {"function", "attribute", "property", "method", "constructor", "field", "macro", "key", "label"}
)
_RECEIVERS = frozenset({"object", "operand", "receiver", "expression", "scope", "path", "value"})
_DECLARING = ("declarator", "parameter", "assignment", "declaration", "let", "pattern", "binding")
MEMBERS = ("attribute", "member", "selector", "field_expression", "navigation", "scoped", "access")
_EXPRESSIONS = (
    *("expression", "identifier", "literal", "call", "attribute", "subscript", "operator"),
    *("access", "invocation", "type", "string", "integer", "float", "number", "lambda", "tuple"),
    *("dictionary", "array", "object", "true", "false", "none", "null", "nil", "self", "this"),
    *("comprehension", "constant", "name", "generic_name", "selector", "literal_value", "symbol"),
)
DEFINING = ("_declaration", "_definition", "_item", "_spec")
_MORE_EXPRESSIONS = frozenset({"list", "set", "await", "hash", "lambda_literal", "function"})


def is_expression(kind: str) -> bool:
    return kind in _MORE_EXPRESSIONS or kind.endswith(_EXPRESSIONS)


def is_part(change: NodeChange) -> bool:
    """Whether what changed says nothing without the node around it: a list, a member's name."""
    if len(change.old) != 1 or not change.above:
        return False
    node = change.old[0]
    if node.type.endswith(_PARTS) or node.type in ("block", "pair", "case"):
        return True
    parent = node.parent
    if parent is None or node.child_count:
        return False
    if not node.is_named:
        return True
    is_member = any(word in parent.type for word in MEMBERS) and parent.children[0].id != node.id
    return is_member or parent.type in ("method_invocation", "call", "generic_name")


_PARTS = (
    *("argument_list", "arguments", "parameters", "parameter_list", "_list", "expression_list"),
    *("keyword_argument", "argument", "_arguments", "initializer", "declarator", "token_tree"),
    *("formal_parameter", "parameter", "field_initializer", "type_annotation", "value_spec"),
)


def is_callee(piece: Piece, parent: Piece | None) -> bool:
    return piece.field in ("function", "method") or (
        parent is not None and parent.kind == "method_invocation" and piece.field == "name"
    )


def is_type_parameter(name: str) -> bool:
    """Whether a name is one by convention: `T`, `TResult`."""
    return name[:1] == "T" and (len(name) == 1 or (name[1].isupper() and not name.isupper()))


def stands_alone(piece: Piece, parent: Piece | None) -> bool:
    """Whether a name is a value: neither called nor something of which a member is read."""
    if is_callee(piece, parent):
        return False
    return parent is None or not any(word in parent.kind for word in MEMBERS)


def with_parents(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Piece | None]]:
    waiting: list[tuple[Piece, Piece | None]] = [(piece, None) for piece in pieces]
    while waiting:
        piece, parent = waiting.pop()
        yield piece, parent
        waiting += [(child, piece) for child in piece.children]


def may_vary(piece: Piece) -> bool:
    """Whether a node can be a hole: it holds a name or a literal."""
    return any(leaf.named and not leaf.children for leaf in piece.walk())


def _is_member(piece: Piece, parent: Piece) -> bool:
    """Whether a name is read from something: the last part of a member access."""
    return (
        any(word in parent.kind for word in MEMBERS)
        and len(parent.children) > 1
        and parent.children[0] is not piece
        and piece is parent.children[-1]
    ) or (parent.kind in ("method_invocation", "call") and piece.field in ("name", "method"))


def is_own_name(piece: Piece, parent: Piece | None) -> bool:
    """Whether a name stands for itself: not a member, a key or the name of an argument."""
    if parent is None:
        return piece.kind in ("identifier", "type_identifier", "constant", "name")
    if piece.kind not in ("identifier", "type_identifier", "constant", "name", "simple_identifier"):
        return False
    if piece.field in ("attribute", "property", "field", "key", "label", "method"):
        return False
    if parent.kind in ("keyword_argument", "keyword_parameter") and piece.field == "name":
        return False
    has_object = any(child.field in ("object", "receiver") for child in parent.children)
    return not (_is_member(piece, parent) and (has_object or parent.kind != "method_invocation"))


def is_fixed(piece: Piece, parent: Piece, origins: Origins) -> bool:
    """Whether a node says what is done there, and so is no hole although both sides have it."""
    if piece.field in ("function", "macro"):
        return True  # what it is a member of may be a hole
    if "import" in parent.kind or parent.kind in ("decorator", "command_name"):
        return True
    if piece.children:
        return False
    if parent.kind == "token_tree":  # a macro's tokens, whose roles the grammar does not tell
        number = next(n for n, child in enumerate(parent.children) if child is piece)
        around = parent.children[max(0, number - 1) : number + 2]
        signs = {child.text for child in around if child is not piece and not child.children}
        called = around[-1].kind == "token_tree" and around[-1] is not piece
        return called or bool(signs & {".", "::", "!"})
    if piece.text in SELVES or piece.kind in ("this", "super", "self"):
        return True
    if not piece.is_name:
        return piece.kind in ("type_identifier", "predefined_type") and parent.field == "function"
    if piece.field in FIXED_FIELDS or _is_member(piece, parent):
        return True
    if piece.field == "name" and parent.kind.endswith(DEFINING):
        return False
    if piece.field == "name" and not any(word in parent.kind for word in _DECLARING):
        return True
    if piece.field == "type" and parent.kind.endswith(("creation_expression", "new_expression")):
        return True
    is_receiver = parent.children[0] is piece and (
        any(word in parent.kind for word in MEMBERS)
        or (parent.kind in ("method_invocation", "call") and piece.field in _RECEIVERS)
    )
    if is_receiver:
        return origins.of(piece.text) != LOCAL
    return False
