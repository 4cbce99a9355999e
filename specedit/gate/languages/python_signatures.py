"""What a Python definition takes: its parameters, those of a class's maker, and its decorators."""

from __future__ import annotations

from specedit.gate.facts import Facts
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

HARMLESS = places(
    "staticmethod classmethod property abstractmethod abc.abstractmethod override typing.override",
    "cache lru_cache functools.cache functools.lru_cache",
)


def decorators(facts: Facts, node: Branch) -> set[str]:
    around = node.parent
    if around is None or around.type != "decorated_definition":
        return set()
    said = (facts.said(one) for one in around.children if one.type == "decorator")
    return {one.lstrip("@ ").split("(")[0].split("#")[0].strip() for one in said}


def made(facts: Facts, declared: Declared) -> list[Signature]:
    """What a class takes that says all of it itself."""
    node = declared.node
    owners = facts.typing.scopes.owners if facts.typing else []
    owner = next((one for one in owners if one.node is node), None)
    if owner is None or decorators(facts, node):
        return []
    makers = owner.members.get("__init__", [])
    if "__new__" in owner.members or "__call__" in owner.members or len(makers) > 1:
        return []
    superclasses = node.part("superclasses")
    based = superclasses is not None and facts.said(superclasses).strip("() ") not in ("", "object")
    if not makers:
        return [] if based else [Signature()]
    if based and "metaclass" in facts.said(superclasses or node):
        return []
    if decorators(facts, makers[0].node):
        return []
    taken = parameters(facts, makers[0].node)
    return [behind_first(taken)] if taken is not None else []


def behind_first(taken: Signature) -> Signature:
    """Without the instance."""
    if not taken.places:
        return taken
    return Signature(
        taken.places[1:],
        taken.needed - {taken.places[0]},
        max(0, taken.only_places - 1),
        taken.only_named,
        taken.more,
        taken.any_name,
    )


def parameters(facts: Facts, node: Branch) -> Signature | None:
    listed = node.part("parameters")
    if listed is None:
        return None
    order: list[str] = []
    needed: set[str] = set()
    named: set[str] = set()
    more = any_name = only = False
    first = 0
    for one in listed.named_children():
        if "comment" in one.type:
            continue
        if one.type == "positional_separator":
            first = len(order)
            continue
        if one.type == "keyword_separator":
            only = True
            continue
        inner = one.children[0] if one.type == "typed_parameter" else one
        if inner.type == "list_splat_pattern":
            more = only = True
            continue
        if inner.type == "dictionary_splat_pattern":
            any_name = True
            continue
        leaf = inner.part("name") if "default" in inner.type else inner
        if leaf is None or leaf.type != "identifier":
            return None
        name = facts.said(leaf)
        if "default" not in one.type:
            needed.add(name)
        if only:
            named.add(name)
        else:
            order.append(name)
    taken = frozenset(needed), first, frozenset(named), more, any_name
    return Signature(tuple(order), *taken)
