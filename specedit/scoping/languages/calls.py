"""Arguments that rule out a method of an unknown class: `x.name(1, 2)` gives it two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specedit.scoping.languages.rules import Rules, Text, places
from specedit.scoping.meaning import scopes_of
from specedit.scoping.scope import FUNCTIONS, Declared, Meaning
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

VARIADIC = places("splat spread ellipsis variadic")  # in the types of what stands for any number
CLASSES = places("cls class klass type super")  # words that variables of classes are called by
ANY_MORE = ("*", "params ", "this ")  # before a parameter that takes any number, or none
LISTS = ("argument_list", "arguments")


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call: how many have no name, and the names of the others; and whether it
    is on an instance, as far as the words tell."""

    count: int
    names: frozenset[str]
    bound: bool


def can_mean(typing: Typing, leaf: Branch, meanings: Sequence[Meaning]) -> bool:
    """Whether a member of something of unknown class can be one of these."""
    given = _given(typing, leaf) if meanings else None
    rules, member = typing.rules, typing.rules.receiver(leaf) is not None
    called = member and typing.is_called(leaf)
    read = member and not called and leaf.place in rules.field_reads
    read = read or rules.keys.get(leaf.place) == "argument"  # `f(name=1)` means no method
    return any(
        not meaning.is_member
        or not meaning.declared
        or any(
            (not called or rules.may_be_called(typing, declared))
            and not (read and declared.kind in FUNCTIONS)
            and (given is None or _can_take(rules, scopes_of(declared).text, declared, given))
            for declared in meaning.declared
        )
        for meaning in meanings
    )


def _given(typing: Typing, leaf: Branch) -> Given | None:
    """The arguments in a call of the member; None where it is not called, or they are unknown."""
    rules, text = typing.rules, typing.scopes.text
    receiver = rules.receiver(leaf)
    call = leaf.around(*rules.calls) if receiver is not None and typing.is_called(leaf) else None
    listed = call.part("arguments") if call is not None else None
    if receiver is None or listed is None or listed.type not in LISTS or not rules.takes:
        return None
    if leaf.parent is not None and "scoped" in leaf.parent.type:  # Rust: `T::name(of, 1)`
        return None
    every = [argument for argument in listed.named_children() if "comment" not in argument.type]
    if any(not VARIADIC.isdisjoint(argument.type.split("_")) for argument in every):
        return None
    if rules.spreads_results and len(every) == 1 and every[0].type in rules.calls:
        return None
    named = [argument.part("name") for argument in every if argument.type in rules.names_arguments]
    names = frozenset(text(name) for name in named if name is not None)
    return Given(len(every) - len(names), names, _is_instance(text(receiver)))


def _is_instance(receiver: str) -> bool:
    """Whether the name of a variable or of a member says that it is not a class."""
    words = receiver.split(".")
    last = words[-1].strip("_")
    named = all(map(str.isidentifier, words)) and last[:1].islower()
    return named and CLASSES.isdisjoint(last.split("_"))


def _can_take(rules: Rules, text: Text, function: Declared, given: Given) -> bool:
    """Whether a function may be called so; True where that is not known."""
    around = function.node.parent
    decorated = around is not None and around.type in rules.decorated
    listed = None if decorated else _parameters(function)
    if listed is None:
        return True
    least, most, names = 0, 0, set[str]()
    for parameter in listed.named_children():
        written = text(parameter)
        if "comment" in parameter.type or "self" in parameter.type or written.startswith("this:"):
            continue
        if parameter.type not in rules.takes or "..." in written or written.startswith(ANY_MORE):
            return True
        names |= {text(inner) for inner in parameter.walk() if inner.type in rules.names}
        count = sum(child.field == "name" for child in parameter.children)  # Go: `a, b int`
        most += max(1, count)
        optional = parameter.first("=", "?") or parameter.part("value")
        least += 0 if optional else max(1, count)
    if rules.gives_instance:
        least, most = least - 1, most - given.bound
    return given.names <= names and least <= given.count + len(given.names) <= most


def _parameters(function: Declared) -> Branch | None:
    """Those of a function, or of what a field's type or its value is."""
    inner: Branch | None = function.node
    if function.kind not in (*FUNCTIONS, "field"):
        return None
    for _ in range(4):
        if inner is None or (listed := inner.part("parameters")) is not None:
            return listed if inner is not None else None
        named = inner.named_children()
        inner = inner.part("type") or inner.part("value") or (named[0] if len(named) == 1 else None)
    return None
