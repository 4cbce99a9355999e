"""Python's return annotations against the values that are returned, where both are plain to see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.python_values import Values, values
from specedit.syntax.branch import Branch

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


def contradictions(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """Each return that its function's annotation does not allow."""
    for node in facts.root.walk():
        typed = node.part("return_type")
        body = values(facts, node) if node.type == "function_definition" and typed else None
        if typed is None or body is None:
            continue
        wanted = _wanted(facts.said(typed))
        name = node.part("name")
        if wanted is None or name is None or any(one.type == "yield" for one in body.own):
            continue
        says = f"`{facts.said(name)}` says it returns `{' '.join(facts.said(typed).split())}`"
        for one in body.own:
            if one.type != "return_statement":
                continue
            value = next(iter(one.named_children()), None)
            if not _fits(body, wanted, value):
                given = "nothing" if value is None else f"`{_short(facts.said(value))}`"
                yield one, f"{says} and returns {given}"


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


def _fits(body: Values, wanted: list[str], value: Branch | None) -> bool:
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


def _fits_tuple(body: Values, wanted: list[str], value: Branch) -> bool:
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
