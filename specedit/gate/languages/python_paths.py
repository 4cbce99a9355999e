"""The ways through a Python function: whether it gives a value on every one of them, and whether a
loop can ever end.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.scoping.languages.tables import places
from specedit.syntax.branch import Branch

_INNER = places("function_definition class_definition lambda")
_LEAVES = places(  # ways out of a loop, and what may change anything
    "return_statement raise_statement break_statement yield await",
    "global_statement nonlocal_statement",
)
_TELLING = places("call attribute subscript named_expression await")  # may be another each time


def returning(facts: Facts) -> Iterator[tuple[str, Branch, bool]]:
    """Each function that returns values, by name, and whether it does so on every way."""
    for node in facts.root.walk():
        name, body = node.part("name"), node.part("body")
        if node.type != "function_definition" or name is None or body is None:
            continue
        own = list(body.walk(without=_INNER))
        if any(one.type == "yield" for one in own):
            continue
        if any(one.type == "return_statement" and one.named_children() for one in own):
            yield facts.said(name), node, leaves(facts, body)


def leaves(facts: Facts, block: Branch) -> bool:
    """Whether nothing runs behind a block: it returns or raises in the end, whatever happens."""
    inner = [one for one in block.named_children() if "comment" not in one.type]
    return any(_ends(facts, one) for one in inner)


def _ends(facts: Facts, node: Branch) -> bool:
    if node.type in ("return_statement", "raise_statement"):
        return True
    if node.type == "expression_statement":
        return any(word in facts.said(node) for word in ("exit(", "abort(", "fail("))
    if node.type == "while_statement":
        asked = node.part("condition")
        always = asked is not None and facts.said(asked) in ("True", "1")
        return always and not any(one.type == "break_statement" for one in node.walk())
    if node.type in ("with_statement", "match_statement"):
        return node.type == "match_statement" or has(facts, node.part("body"))
    if node.type == "if_statement":
        sides = [one for one in node.children if one.field == "alternative"]
        closed = bool(sides) and sides[-1].type == "else_clause"
        bodies = [node.part("consequence"), *(body_of(one) for one in sides)]
        return closed and all(has(facts, one) for one in bodies)
    if node.type == "try_statement":
        last = node.first("finally_clause")
        if last is not None and has(facts, last.first("block")):
            return True
        handlers = [one.first("block") for one in node.children if one.type == "except_clause"]
        other = node.first("else_clause")
        first = has(facts, node.part("body")) or (other is not None and has(facts, body_of(other)))
        return first and all(has(facts, one) for one in handlers)
    return False


def body_of(clause: Branch) -> Branch | None:
    return clause.part("body") or clause.part("consequence")


def has(facts: Facts, block: Branch | None) -> bool:
    return block is not None and leaves(facts, block)


def endless(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """`while left < right:` over a body that changes neither and never leaves."""
    for loop in facts.root.walk():
        asked, body = loop.part("condition"), loop.part("body")
        if loop.type != "while_statement" or asked is None or body is None:
            continue
        names = {facts.said(one) for one in asked.walk() if one.type == "identifier"}
        own = list(body.walk())
        if any(one.type in _TELLING for one in asked.walk()) or not names:
            continue
        if any(one.type in _LEAVES for one in own):
            continue
        touched = {facts.said(one) for one in own if one.type == "identifier" and _is_touched(one)}
        if not names & touched:
            yield (
                loop,
                f"`while {facts.said(asked)}` has no end: nothing in it changes what it asks",
            )


def _is_touched(leaf: Branch) -> bool:
    """Whether a name may mean another value afterwards: set, or something that can be changed."""
    for up in (leaf, *leaf.up()):
        if up.type == "block":
            return False
        if up.field in ("left", "alias", "name") or up.place == "attribute.object":
            return True
        if up.type in ("delete_statement", "argument_list", "as_pattern_target"):
            return True
    return False
