"""The class an object literal or an object pattern is meant for, by what stands around it.

TypeScript checks `{name: 1}` against the type its place asks for; so do we, within one file.
"""

from __future__ import annotations

from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.written import DEEP, Known
from specedit.syntax.branch import Branch, first_of, last_of

EACH = frozenset({"every", "filter", "find", "findIndex", "flatMap", "forEach", "map", "some"})
ADDS = frozenset({"push", "unshift", "add", "fill", "includes", "indexOf"})  # to a list


def owner_of_literal(typing: Typing, node: Branch, deep: int = 0) -> Known:
    """The class an object literal is meant for, by where it stands."""
    parent = node.parent
    if parent is None or deep > DEEP:
        return None
    typed = _context_type(typing, node, parent, deep)
    if typed is not None:
        return typing.named_type(typed, deep + 1)
    if node.place == "assignment_expression.right":
        left = parent.part("left")
        gives_out = left is not None and typing.scopes.text(left) == "module.exports"
        return None if gives_out else typing.type_of(left, deep + 1)
    if node.place == "pair.value" and parent.parent is not None:
        key = parent.part("key")
        around = owner_of_literal(typing, parent.parent, deep + 1)
        result = typing.members(around or (), typing.scopes.text(key).strip("'\"")) if key else []
        return typing.type_of_declared(result[0], deep + 1) if result else None
    if parent.type in ("parenthesized_expression", "ternary_expression"):
        return owner_of_literal(typing, parent, deep + 1)
    return None


def taken_apart(typing: Typing, pattern: Branch, deep: int = 0) -> Known:
    """The class of what an object pattern takes apart."""
    holder = pattern.parent
    if holder is None or deep > DEEP:
        return None
    if (typed := holder.part("type")) is not None:
        return typing.named_type(typed, deep + 1)
    if holder.type in ("object_assignment_pattern", "assignment_pattern"):
        return taken_apart(typing, holder, deep + 1)
    if holder.type == "pair_pattern" and holder.parent is not None:
        key = holder.part("key")
        around = taken_apart(typing, holder.parent, deep + 1)
        result = typing.members(around or (), typing.scopes.text(key)) if key else []
        return typing.type_of_declared(result[0], deep + 1) if result else None
    if holder.type == "array_pattern" and holder.parent is not None:
        return typing.element_of(holder.parent.part("value"), deep + 1)
    if holder.type == "for_in_statement":
        return typing.element_of(holder.part("right"), deep + 1)
    value = holder.part("value") or holder.part("right")
    return typing.type_of(value, deep + 1) if value is not pattern else None


def type_of_literal(typing: Typing, node: Branch) -> Branch | None:
    """The type expression that says what an object literal must be."""
    return _context_type(typing, node, node.parent, 0) if node.parent is not None else None


def given_to_callback(typing: Typing, declared: Declared | None, deep: int) -> Known:
    """The class of a callback's parameter, by what the function that takes the callback says."""
    if declared is None or declared.kind != "parameter" or declared.scope is None:
        return None
    function = declared.scope.node
    arguments = function.parent
    if arguments is None or arguments.type != "arguments":
        return None
    listed = function.part("parameters")
    names = listed.named_children() if listed is not None else [declared.leaf]
    at = next((n for n, one in enumerate(names) if one in (declared.node, declared.leaf)), 0)
    callee = arguments.at("^ function")
    member = typing.member_leaf(callee) if callee is not None else None
    if member is not None and at == 0 and typing.scopes.label(member) in EACH:
        return typing.element_of(typing.rules.receiver(member), deep)
    wanted = _parameter_type(typing, arguments, function)
    while wanted is not None and wanted.type in typing.rules.around_types:
        wanted = first_of(wanted)
    taken = wanted.part("parameters") if wanted is not None else None
    types = [one.part("type") for one in taken.named_children()] if taken is not None else []
    return typing.named_type(types[at], deep) if at < len(types) else None


def _context_type(typing: Typing, node: Branch, parent: Branch, deep: int) -> Branch | None:
    """The type expression that says what an expression must be."""
    if parent.type in ("as_expression", "satisfies_expression"):
        return last_of(parent)
    if parent.type == "type_assertion":
        return first_of(parent)
    if node.field == "value" and (typed := parent.part("type")) is not None:
        return typed
    if parent.type == "return_statement" or node.place == "arrow_function.body":
        for up in node.up():
            if typing.rules.scopes.get(up.type) == "function":
                return up.part("return_type")
    if parent.type == "parenthesized_expression" and parent.place == "arrow_function.body":
        return _context_type(typing, parent, parent.parent or parent, deep)
    if parent.type == "array":
        typed = _context_type(typing, parent, parent.parent or parent, deep + 1)
        return typing.element(typed)
    if parent.type == "arguments" and parent.parent is not None:
        return _parameter_type(typing, parent, node)
    return None


def _parameter_type(typing: Typing, arguments: Branch, node: Branch) -> Branch | None:
    callee = arguments.at("^ function") or arguments.at("^ constructor")
    if callee is None:
        return None
    declared: Declared | None = None
    if callee.type in typing.rules.names:
        declared = typing.resolved(typing.lookup(typing.scopes.label(callee), callee, "call"))
    elif (member := typing.member_leaf(callee)) is not None:
        if typing.scopes.label(member) in ADDS:
            return typing.element(typing.type_written(typing.rules.receiver(member)))
        owners = typing.type_of(typing.rules.receiver(member))
        result = typing.members(owners or (), typing.scopes.label(member))
        declared = result[0] if result else None
    if declared is None:
        return None
    function = declared.node
    if declared.kind == "class":
        home = typing.home(declared) or typing
        result = typing.members(home.scopes.owners_at(function), "constructor")
        function = result[0].node if result else function
    parameters = function.part("parameters")
    at = arguments.named_children().index(node)
    if parameters is None or at >= len(parameters.named_children()):
        return None
    return parameters.named_children()[at].part("type")
