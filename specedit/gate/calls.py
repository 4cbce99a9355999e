"""Calls whose arguments no longer fit a definition of the same file.

A call that is new or changed is of kind "arguments"; one that the edit left as it was, while the
definition took other parameters, is of kind "parameters". Knows what resolves to one definition,
or to several of one name that all refuse; everything else is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import Outlook, outlook_of
from specedit.gate.signature import misfit
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.syntax.branch import Branch

SHOWN = 60


@dataclass(frozen=True)
class Call:
    """A call of a definition in the file. `why`: how it does not fit, "" when it does."""

    node: Branch
    name: str
    text: str
    why: str


def hits(change: Change) -> Iterator[Hit]:
    before = list(calls(change.before))
    broken = {(one.name, one.text, one.why) for one in before if one.why}
    stood = {(one.name, one.text) for one in before}
    for one in calls(change.after):
        if not one.why or (one.name, one.text, one.why) in broken:
            continue
        kind = "parameters" if (one.name, one.text) in stood else "arguments"
        said = " ".join(one.text.split())
        said = said if len(said) <= SHOWN else said[:SHOWN] + "…"
        yield Hit(kind, one.node.line, f"`{said}`: `{one.name}` {one.why}")


def calls(facts: Facts) -> Iterator[Call]:
    """Every call of something that the file defines."""
    outlook, typing = outlook_of(facts.language.name), facts.typing
    if outlook is None or typing is None:
        return
    for node in facts.root.walk():
        where = typing.rules.calls.get(node.type)
        if where is None:
            continue
        callee = _callee(facts, node, where)
        if callee is None:
            continue
        name = typing.scopes.label(callee)
        meant = facts.keys(callee, name)
        if len(meant) == 1 and isinstance(meant[0], Declared):
            why = _why(facts, outlook, meant[0], callee, node)
            if why is not None:
                yield Call(node, name, facts.said(node), why)


def _callee(facts: Facts, node: Branch, where: str) -> Branch | None:
    """The name that is called."""
    typing = facts.typing
    assert typing is not None
    named = node.named_children()
    callee = (named[0] if named else None) if where == "<" else node.part(where)
    if callee is None or callee.type in typing.rules.names:
        return callee
    return typing.member_leaf(callee)


def _why(
    facts: Facts, outlook: Outlook, meant: Declared, callee: Branch, call: Branch
) -> str | None:
    """How a call does not fit any definition of the name; None where nobody can tell."""
    if meant.kind not in (*FUNCTIONS, "class"):
        return None
    given = outlook.gives(facts, call)
    if given is None:
        return None
    together = [
        one
        for one in facts.by_name.get(meant.name, ())
        if one.scope is meant.scope and one.owner is meant.owner
    ]
    if any(one.kind not in (*FUNCTIONS, "class") for one in together):
        return None
    found = ""
    for one in together:
        takes = outlook.signatures(facts, one, callee)
        if not takes:
            return None
        for signature in takes:
            found = misfit(signature, given)
            if not found:
                return ""
    return found
