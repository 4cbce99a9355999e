"""What kind of value a Python expression is, where that is plain to see: a literal, a call of a
built-in type, or a local that only ever was one kind of literal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from specedit.gate.facts import Facts
from specedit.syntax.branch import Branch

KINDS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "None",
    "list": "list",
    "list_comprehension": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
    "tuple": "tuple",
    "expression_list": "tuple",
    "comparison_operator": "bool",
    "not_operator": "bool",
}
_CALLS = {"len": "int", "sorted": "list", "str": "str", "int": "int", "list": "list"}
_CALLS |= {"dict": "dict", "set": "set", "tuple": "tuple", "bool": "bool", "float": "float"}
_PLAIN = frozenset({"list", "dict", "set", "str", "tuple"})  # what a local can be known to be
_INNER = ("function_definition", "class_definition", "lambda")


@dataclass(frozen=True)
class Values:
    """What values of a function are read from: its nodes, those of inner definitions left out, and
    the names of its parameters."""

    facts: Facts
    own: list[Branch]
    taken: set[str]
    known: dict[str, str] = field(default_factory=dict)  # kinds of locals, as they are asked for

    def kind(self, value: Branch | None) -> str:
        """The plain kind of a value, or ""."""
        if value is None:
            return "None"
        while value.type == "parenthesized_expression" and value.named_children():
            value = value.named_children()[0]
        if value.type == "call":
            return self._called(value)
        if value.type == "comparison_operator":
            return ""  # of arrays it is an array
        if value.type != "identifier":
            return KINDS.get(value.type, "")
        name = self.facts.said(value)
        if name not in self.known:
            self.known[name] = self._local(name)
        return self.known[name]

    def _called(self, call: Branch) -> str:
        callee = call.part("function")
        name = self.facts.said(callee) if callee is not None else ""
        return _CALLS.get(name, "") if name not in self.facts.by_name else ""

    def _local(self, name: str) -> str:
        kinds = set[str]()
        if name in self.taken:
            return ""
        for one in self.own:
            if one.type == "assignment" and _is(self.facts, one.part("left"), name):
                right = one.part("right")
                if one.part("type") is not None or right is None:
                    return ""
                made = right.type == "call" and right.part("function")
                bare = made and made.type == "identifier"
                kinds.add(self._called(right) if bare else KINDS.get(right.type, ""))
            elif one.type == "identifier" and self.facts.said(one) == name and _binds(one):
                return ""
        return kinds.pop() if len(kinds) == 1 and kinds <= _PLAIN else ""


def values(facts: Facts, function: Branch) -> Values | None:
    """The values of one function; None of what has no body."""
    body = function.part("body")
    if body is None:
        return None
    listed = function.part("parameters")
    leaves = listed.walk() if listed is not None else iter(())
    taken = {facts.said(leaf) for leaf in leaves if leaf.type == "identifier"}
    return Values(facts, list(body.walk(without=_INNER)), taken)


def given_back(facts: Facts) -> Iterator[tuple[Branch, list[str]]]:
    """Each function that returns something, and the kinds of what it returns."""
    for node in facts.root.walk():
        body = values(facts, node) if node.type == "function_definition" else None
        if body is None or any(one.type == "yield" for one in body.own):
            continue
        returned = (one for one in body.own if one.type == "return_statement")
        given = [one for node in returned for one in node.named_children()[:1]]
        if given:
            yield node, [body.kind(one) or _counted(facts, one) for one in given]


def _counted(facts: Facts, value: Branch) -> str:
    """ "number" for what can only be one, as far as collections go."""
    sign = value.part("operator") if value.type == "binary_operator" else None
    if sign is None or facts.said(sign) not in ("/", "//", "**", "-"):
        return ""
    sides = (value.part("left"), value.part("right"))
    numbers = any(side is not None and _is_number(facts, side) for side in sides)
    return "number" if facts.said(sign) != "-" or numbers else ""


def _is_number(facts: Facts, value: Branch) -> bool:
    callee = value.part("function") if value.type == "call" else None
    counts = callee is not None and facts.said(callee) in ("len", "sum", "int", "float", "round")
    return counts or value.type in ("integer", "float")


def _is(facts: Facts, node: Branch | None, name: str) -> bool:
    return node is not None and node.type == "identifier" and facts.said(node) == name


def _binds(leaf: Branch) -> bool:
    """Whether a name is bound here in another way than by a plain assignment."""
    for up in (leaf, *leaf.up()):
        if up.field == "left" and up.parent is not None:
            return not (up.parent.type == "assignment" and up is leaf)
        if up.type.endswith("_statement") or up.type in ("call", "block", "attribute", "subscript"):
            return up.type in ("global_statement", "nonlocal_statement", "delete_statement")
        if up.type in ("as_pattern_target", "named_expression"):
            return True
    return False
