"""Python's return annotations against the values that are returned, where both are plain to see.

A value is plain where it is a literal, or a local that only ever was one kind of literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.syntax.branch import Branch

_KINDS = {
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
_FITS = {  # what an annotation takes, of the plain kinds
    "int": {"int", "bool"},
    "float": {"int", "float", "bool"},
    "complex": {"int", "float", "bool"},
    "str": {"str"},
    "bytes": set[str](),
    "bool": {"bool"},
    "None": {"None"},
    "list": {"list"},
    "dict": {"dict"},
    "set": {"set"},
    "tuple": {"tuple"},
}
_INNER = ("function_definition", "class_definition", "lambda")


def contradictions(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """Each return that its function's annotation does not allow."""
    for node in facts.root.walk():
        typed, body = node.part("return_type"), node.part("body")
        if node.type != "function_definition" or typed is None or body is None:
            continue
        wanted = _wanted(facts.said(typed))
        name = node.part("name")
        own, taken = list(body.walk(without=_INNER)), _taken(facts, node)
        if wanted is None or name is None or any(one.type == "yield" for one in own):
            continue
        says = f"`{facts.said(name)}` says it returns `{' '.join(facts.said(typed).split())}`"
        for one in own:
            if one.type != "return_statement":
                continue
            value = next(iter(one.named_children()), None)
            if not _fits(_Body(facts, own, taken), wanted, value):
                given = "nothing" if value is None else f"`{_short(facts.said(value))}`"
                yield one, f"{says} and returns {given}"


@dataclass(frozen=True)
class _Body:
    """What values of a function are read from: its body, and the names of its parameters."""

    facts: Facts
    own: list[Branch]
    taken: set[str]

    def kind(self, value: Branch | None) -> str:
        """The plain kind of a value, or ""."""
        return "None" if value is None else _kind(self.facts, self.own, self.taken, value)


def _wanted(said: str) -> list[str] | None:
    """The alternatives of an annotation; None where one of them is not plain."""
    said = said.strip().strip("\"'")
    optional = re.fullmatch(r"(?:typing\.)?Optional\[(.*)\]", said, re.DOTALL)
    if optional:
        inner = _wanted(optional[1])
        return None if inner is None else [*inner, "None"]
    parts = split(said, "|")
    return parts if all(_head(part) in _FITS for part in parts) else None


def _head(part: str) -> str:
    """`typing.List[int]` to `list`."""
    head = part.split("[")[0].removeprefix("typing.").strip()
    return head.lower() if head in ("List", "Dict", "Set", "Tuple") else head


def split(said: str, sign: str) -> list[str]:
    """Parts at a sign that stands in no brackets."""
    parts, deep = [""], 0
    for char in said:
        deep += (char in "[(") - (char in "])")
        if char == sign and not deep:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _taken(facts: Facts, function: Branch) -> set[str]:
    """The names of a function's parameters, and more: what stands in its list."""
    listed = function.part("parameters")
    leaves = listed.walk() if listed is not None else iter(())
    return {facts.said(leaf) for leaf in leaves if leaf.type == "identifier"}


def _kind(facts: Facts, own: list[Branch], taken: set[str], value: Branch) -> str:
    """The plain kind of a value, or ""."""
    while value.type == "parenthesized_expression" and value.named_children():
        value = value.named_children()[0]
    if value.type == "call":
        callee = value.part("function")
        name = facts.said(callee) if callee is not None else ""
        return _CALLS.get(name, "") if name not in facts.by_name else ""
    if value.type == "comparison_operator":
        return ""  # of arrays it is an array
    if value.type != "identifier":
        return _KINDS.get(value.type, "")
    name, kinds = facts.said(value), set[str]()
    if name in taken:
        return ""
    for one in own:
        if one.type == "assignment" and _is(facts, one.part("left"), name):
            right = one.part("right")
            if one.part("type") is not None or right is None:
                return ""
            kinds.add(_KINDS.get(right.type, ""))
        elif one.type == "identifier" and facts.said(one) == name and _binds(one):
            return ""
    plain = ("list", "dict", "set", "str", "tuple")
    return kinds.pop() if len(kinds) == 1 and kinds <= set(plain) else ""


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


def _fits(body: _Body, wanted: list[str], value: Branch | None) -> bool:
    """Whether a value is what one of the alternatives takes, or nobody can tell."""
    kind = body.kind(value)
    if not kind:
        return True
    for one in wanted:
        _, bracket, inner = one.partition("[")
        if kind not in _FITS[_head(one)]:
            continue
        if kind != "tuple" or not bracket or value is None:
            return True
        if _fits_tuple(body, split(inner.rpartition("]")[0], ","), value):
            return True
    return False


def _fits_tuple(body: _Body, wanted: list[str], value: Branch) -> bool:
    """The number of a tuple's parts, and the kinds of those that are plain."""
    while value.type == "parenthesized_expression":
        value = value.named_children()[0]
    parts = value.named_children()
    if value.type not in ("tuple", "expression_list") or "..." in wanted or wanted == ["()"]:
        return True
    if not parts or any(one.type == "list_splat" for one in parts):
        return True
    if len(parts) != len(wanted):
        return False
    for said, part in zip(wanted, parts, strict=True):
        inner = _wanted(said)
        if inner is not None and not _fits(body, inner, part):
            return False
    return True


def _short(said: str) -> str:
    line = " ".join(said.split())
    return line if len(line) <= 40 else line[:40] + "…"
