"""Python's three ways to fill a text: `%`, `str.format`, and logging's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.places import braces, percents, wrong
from specedit.scoping.languages.tables import places
from specedit.syntax.branch import Branch

VERBS = "diouxXeEfFgGcrsa"
LEVELS = places("debug info warning warn error critical exception fatal")
LOGGER = re.compile(r"(?i)(?:^|[._])_*(?:log|logger|logging)$")
_STARTS = places("print Exception ValueError TypeError RuntimeError KeyError")


def formats(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """Each text that does not fit what is put into it."""
    for node in facts.root.walk():
        why = ""
        if node.type == "call":
            why = _called(facts, node)
        elif node.type == "binary_operator":
            why = _modulo(facts, node)
        if why:
            yield node, why


def _called(facts: Facts, call: Branch) -> str:
    callee, listed = call.part("function"), call.part("arguments")
    if callee is None or listed is None or listed.type != "argument_list":
        return ""
    given = [one for one in listed.named_children() if one.type != "comment"]
    if any(one.type in ("list_splat", "dictionary_splat") for one in given):
        return ""
    if callee.type != "attribute":
        return _forgotten(facts, given) if facts.said(callee) in _STARTS else ""
    owner, name = callee.part("object"), callee.part("attribute")
    if owner is None or name is None:
        return ""
    if facts.said(name) == "format":
        return _format(facts, owner, given)
    if facts.said(name) in LEVELS and LOGGER.search(facts.said(owner)):
        return _logged(facts, given)
    return ""


def _format(facts: Facts, text: Branch, given: list[Branch]) -> str:
    said = literal(facts, text)
    wants = braces(said) if said is not None else None
    if wants is None:
        return ""
    named = [one for one in given if one.type == "keyword_argument"]
    names = frozenset(facts.said(name) for one in named if (name := one.part("name")))
    lacking = sorted(wants.names - names)
    if lacking:
        return f"has a place for `{lacking[0]}`, which nothing fills"
    return wrong(wants, len(given) - len(named), names)


def _logged(facts: Facts, given: list[Branch]) -> str:
    values = [one for one in given if one.type != "keyword_argument"]
    said = literal(facts, values[0]) if values else None
    if said is None:
        return ""
    if len(values) == 1:
        return _forgotten(facts, values)
    wants = percents(said, VERBS)
    if wants is None or wants.names or (not wants.count and "{" in said):
        return ""
    return wrong(wants, len(values) - 1)


def _modulo(facts: Facts, node: Branch) -> str:
    left, right = node.part("left"), node.part("right")
    sign = node.part("operator")
    if left is None or right is None or sign is None or facts.said(sign) != "%":
        return ""
    said = literal(facts, left)
    wants = percents(said, VERBS) if said is not None else None
    if wants is None:
        return ""
    if right.type == "tuple":
        inner = right.named_children()
        if any(one.type in ("list_splat", "comment") for one in inner):
            return ""
        return wrong(wants, len(inner)) if not wants.names else "wants its values by name"
    if right.type in ("string", "integer", "float") and not wants.names:
        return wrong(wants, 1)
    if right.type == "dictionary" and wants.names:
        keys = [one.part("key") for one in right.children if one.type == "pair"]
        plain = all(key is not None and key.type == "string" for key in keys)
        if len(keys) != len(right.named_children()) or not plain:
            return ""
        had = {literal(facts, key) for key in keys if key is not None}
        lacking = sorted(wants.names - {one for one in had if one is not None})
        return f"has a place for `{lacking[0]}`, which nothing fills" if lacking else ""
    return ""


def _forgotten(facts: Facts, given: list[Branch]) -> str:
    """`print("Hello {name}")`: every place of a text that is shown as it is names a local."""
    typing = facts.typing
    said = literal(facts, given[0]) if len(given) == 1 else None
    wants = braces(said) if said is not None else None
    if wants is None or typing is None or wants.count or not wants.names:
        return ""
    for name in wants.names:
        found = typing.lookup(name, given[0]) if name.isidentifier() else None
        if found is None or found.kind not in ("local", "parameter"):
            return ""
    name = min(wants.names)
    return f"has a place for `{name}` and is no f-string"


def literal(facts: Facts, node: Branch) -> str | None:
    """What a text says that is written out in whole; None where it is not."""
    while node.type == "parenthesized_expression" and node.named_children():
        node = node.named_children()[0]
    if node.type == "concatenated_string":
        parts = [literal(facts, one) for one in node.named_children()]
        return None if None in parts else "".join(filter(None, parts))
    if node.type != "string" or node.first("interpolation") is not None:
        return None
    start = node.first("string_start")
    if start is None or "f" in facts.said(start).lower():
        return None
    return "".join(facts.said(one) for one in node.children if one.type == "string_content")
