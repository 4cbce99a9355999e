"""What a call gives and a function takes, and which parts of a function run together, by the words
that the grammars' types of nodes share.
"""

from __future__ import annotations

from dataclasses import dataclass

from specedit.scoping.languages.rules import Rules, Text
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

FORKS = places(  # in the types of nodes, parts of which may not run, or run later
    "if elif else case conditional ternary catch except try for while loop switch match binary",
    "boolean lambda arrow function closure select when arm and or guard comprehension generator",
    "method class do unless rescue",
)
MANY = places("splat spread ellipsis variadic")  # in the types of what stands for any number
CLASSES = places("cls class klass type super")  # words that variables of classes are called by
ANY_MORE = ("*", "params ", "this ")  # before a parameter that takes any number, or none


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call: how many have no name, and the names of the others; and whether it
    is on an instance, as far as the words tell."""

    count: int
    names: frozenset[str]
    bound: bool


def branch_of(leaf: Branch) -> Branch:
    """The largest part around a place that runs as a whole."""
    node = leaf
    for up in leaf.up():
        if _has(up, FORKS):
            break
        node = up
    return node


def has_only_written(literal: Branch) -> bool:
    """Whether all members of an object literal are written in it."""
    return not any(_has(child, MANY) for child in literal.children)


def arguments_of(rules: Rules, text: Text, call: Branch, receiver: Branch) -> Given | None:
    """What a call gives; None where that is not written."""
    listed = call.part("arguments")
    if listed is None or not rules.takes:
        return None
    every = [one for one in listed.named_children() if not _is_comment(one)]
    if any(_has(one, MANY) for one in every):
        return None
    if rules.spreads_results and len(every) == 1 and every[0].type in rules.calls:
        return None
    named = [one.part("name") for one in every if one.type in rules.names_arguments]
    names = frozenset(text(name) for name in named if name is not None)
    last = text(receiver).rpartition(".")[2].lstrip("_")
    return Given(len(every) - len(names), names, last[:1].islower() and last not in CLASSES)


def can_take(rules: Rules, text: Text, function: Declared, given: Given) -> bool:
    """Whether a function may be called so; True where that is not known."""
    listed = _parameters(function.node)
    if listed is None or not rules.is_plain_function(function):
        return True
    least, most, names = 0, 0, set[str]()
    for one in listed.named_children():
        if _is_comment(one) or "self" in one.type or text(one).startswith("this:"):
            continue
        spelling = text(one)
        if one.type not in rules.takes or "..." in spelling or spelling.startswith(ANY_MORE):
            return True
        names |= {text(inner) for inner in one.walk() if inner.type in rules.names}
        count = max(1, sum(child.field == "name" for child in one.children))  # Go: `a, b int`
        most += count
        least += 0 if _is_optional(one) else count
    if rules.gives_instance:
        least, most = least - 1, most - given.bound
    return given.names <= names and least <= given.count + len(given.names) <= most


def _parameters(node: Branch) -> Branch | None:
    """Those of a function, or of what a field's type or its value is."""
    inner: Branch | None = node
    for _ in range(4):
        if inner is None or (listed := inner.part("parameters")) is not None:
            return listed if inner is not None else None
        named = inner.named_children()
        inner = inner.part("type") or inner.part("value") or (named[0] if len(named) == 1 else None)
    return None


def _is_optional(parameter: Branch) -> bool:
    return parameter.first("=", "?") is not None or parameter.part("value") is not None


def _is_comment(node: Branch) -> bool:
    return "comment" in node.type


def _has(node: Branch, words: frozenset[str]) -> bool:
    return not words.isdisjoint(node.type.split("_"))
