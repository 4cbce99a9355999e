"""The content of containers: the class of what is taken out of one or given to a callback.

By the type that is written for it, `List<Order>`: a language names the methods of its library
(`Tables.held`, `Tables.callbacks`); members of a generic class follow its type parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

from specedit.scoping.languages.rules import Rules
from specedit.scoping.scope import FUNCTIONS, Declared, Known
from specedit.scoping.typing import SAME, Typing, is_alone, only_result, type_part
from specedit.syntax.branch import Branch, first_of, last_of

MAX_STEPS = 12  # steps through calls
FIRST = "first"  # the argument that a method gives; else the last one, or all of them (`SAME`)


class HeldRules(Rules):
    """The rules of a language whose written types say what a container holds."""

    def taken_out(self, typing: Typing, node: Branch, deep: int) -> Known:
        """The class of `orders.get(0)`, `entry.getValue()`, `await task`."""
        if node.type not in self.awaits:
            member = typing.member_called(node)
            which = self.held.get(typing.scopes.label(member)) if member is not None else None
            if which in (None, SAME):
                return None
        return typing.named_type(_taken(typing, node, deep), deep + 1)

    def argument(self, typing: Typing, typed: Branch | None, number: int) -> Branch | None:
        """What a container holds, by its type: one of the arguments of that."""
        while typed is not None and typed.type in self.around_types:
            typed = typed.part("type") or first_of(typed)
        home = (typing.over(typed) or typing) if typed is not None else typing
        if typed is not None and typed.type in self.lists:
            return home.element(typed)
        listed = _arguments(typing, typed)
        return listed[number] if listed else None

    def written(self, typing: Typing, node: Branch | None, deep: int) -> Branch | None:
        """The type that is written for an expression."""
        if node is None or deep > MAX_STEPS:
            return None
        if (home := typing.over(node)) is not None:
            return self.written(home, node, deep)
        start, project = node, typing.project
        known: Branch | None = project.remembered(
            ("written", id(start)), lambda: _written(typing, start, deep)
        )
        return known

    def member_out_of(
        self, typing: Typing, leaf: Branch, declared: Declared, known: Known, deep: int
    ) -> Known:
        """The class of a member, also where its type is a type parameter of its class."""
        typed = type_part(declared, self)
        home = typing.home(declared) or typing
        if typed is None or declared.owner is None or deep > MAX_STEPS:
            return known
        names = [home.scopes.text(inner) for inner in typed.walk() if inner.type in self.names]
        parameters = self.type_parameters(home, declared)
        if len(names) != 1 or names[0] not in parameters:
            return known
        listed = _given_to(self.written(typing, self.receiver(leaf), deep + 1), typing)
        at = parameters.index(names[0])
        return typing.named_type(listed[at], deep + 1) if len(listed) == len(parameters) else None

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class of a callback's parameter that has no type: `orders.forEach(order -> …)`."""
        declared = typing.lookup(typing.scopes.label(leaf), leaf)
        if declared is None or declared.scope is None or deep > MAX_STEPS:
            return None
        function = declared.scope.node
        inside = (typing.scopes.by_leaf.get(id(inner)) for inner in function.walk())
        own = [each for each in inside if each is not None and each.scope is declared.scope]
        parameters = [each.leaf for each in own if each.kind == "parameter"]
        if declared.leaf not in parameters:
            return None
        at = parameters.index(declared.leaf)
        if (target := _kept_as(typing, function, deep)) is not None:
            listed = _arguments(typing, target)
            return typing.named_type(listed[at], deep + 1) if at < len(listed) else None
        call = next((up for up in function.up() if up.type in self.calls), None)
        callee = typing.called_leaf(call) if call is not None else None
        if callee is None or call is None:
            return None
        called = typing.called(callee, deep + 1)
        if called is not None:
            return _wanted(typing, called, call, function, at, deep)
        member = typing.member_called(call)
        if member is None or typing.scopes.label(member) not in self.callbacks:
            return None
        typed = self.written(typing, self.receiver(member), deep + 1)
        listed = _arguments(typing, typed)
        if len(listed) == len(parameters) == 2:
            return typing.named_type(listed[at], deep + 1)
        single = len(parameters) == 1 and len(listed) == 1
        return typing.named_type(listed[-1], deep + 1) if single else None


def _kept_as(typing: Typing, function: Branch, deep: int) -> Branch | None:
    """The type of the variable that a function is assigned to."""
    node = function
    while node.parent is not None and (
        node.parent.type in typing.rules.passes_on or node.field in ("consequence", "alternative")
    ):
        node = node.parent
    if node.parent is None:
        return None
    if node.field == "right":
        return typing.rules.written(typing, node.parent.part("left"), deep + 1)
    name = node.parent.part("name") if node.field == "value" else None
    declared = typing.scopes.by_leaf.get(id(name)) if name is not None else None
    return type_part(declared, typing.rules) if declared is not None else None


def _written(typing: Typing, node: Branch, deep: int) -> Branch | None:
    rules = typing.rules
    while node.type in rules.passes_on - rules.awaits or is_alone(node, rules):
        inner = node.part("value") or first_of(node)
        if inner is None:
            return None
        node = inner
    if node.type in rules.names:
        return _of_name(typing, node, deep)
    if node.type in rules.calls and node.type not in rules.builds:
        leaf = typing.called_leaf(node)
        if (called := typing.callee_of(node, deep + 1)) is not None:
            if called.kind not in FUNCTIONS and type_part(called, rules) is None:
                value = (typing.home(called) or typing).rules.value_part(called)
                return value.part("return_type") if value is not None else None
            typed = type_part(called, rules) if called.kind in FUNCTIONS else None
            return only_result(typed, rules)
        if leaf is not None and typing.scopes.text(leaf) in rules.allocates:
            listed = last_of(node)
            return first_of(listed) if listed is not None else None
    elif (typed := typing.type_written(node, deep)) is not None:
        return typed
    return _taken(typing, node, deep)


def _taken(typing: Typing, node: Branch, deep: int) -> Branch | None:
    """The type of `orders.get(0)`, or of `await task`, by that of the receiver."""
    rules = typing.rules
    if node.type in rules.awaits:
        typed = rules.written(typing, first_of(node), deep + 1)
        waits = typed is not None and (not rules.awaited or typing.head(typed) in rules.awaited)
        return rules.argument(typing, typed, 0) if waits else None
    member = typing.member_called(node)
    which = rules.held.get(typing.scopes.label(member)) if member is not None else None
    if member is None or which is None:
        return None
    typed = rules.written(typing, rules.receiver(member), deep + 1)
    return typed if which == SAME else rules.argument(typing, typed, 0 if which == FIRST else -1)


def _of_name(typing: Typing, node: Branch, deep: int) -> Branch | None:
    """The type of a variable: written, or that of its value."""
    declared = typing.resolved(typing.lookup(typing.scopes.label(node), node))
    if declared is None or declared.kind in (*FUNCTIONS, "class", "import", "module"):
        return None
    home, rules = typing.home(declared) or typing, typing.rules
    typed = type_part(declared, rules)
    inferred = typed is not None and home.scopes.text(typed) in rules.inferred
    if typed is not None and not inferred:
        return typed
    if declared.node.type in rules.loops:
        if not rules.takes_element(declared):
            return None
        value = declared.node.part("right") or declared.node.part("value")
        over = home.rules.written(home, value, deep + 1)
        if over is None or home.is_keyed(value, over):
            return None
        return (home.over(over) or home).element(over)
    return home.rules.written(home, rules.value_part(declared), deep + 1)


def _wanted(
    typing: Typing, called: Declared, call: Branch, function: Branch, at: int, deep: int
) -> Known:
    """The class that a method of these files gives its callback: `Consumer<Order>`."""
    listed = next((up for up in function.up() if up.parent is call), None)
    taken = called.node.part("parameters")
    arguments = listed.named_children() if listed is not None else ()
    number = next((n for n, argument in enumerate(arguments) if function in argument.walk()), None)
    types = taken.named_children() if taken is not None else ()
    if number is None or number >= len(types):
        return None
    home = typing.home(called) or typing
    given_types = _arguments(home, types[number].part("type"))
    return home.named_type(given_types[at], deep + 1) if at < len(given_types) else None


def _arguments(typing: Typing, typed: Branch | None) -> Sequence[Branch]:
    """The arguments of a generic type of another project."""
    if typed is None:
        return ()
    home = typing.over(typed) or typing
    known = home.named_type(typed)
    if known and any(owner.module is None for owner in known):
        return ()
    return _given_to(typed, typing)


def _given_to(typed: Branch | None, typing: Typing) -> Sequence[Branch]:
    listed = (
        (inner for inner in typed.walk() if inner.type in typing.rules.arguments) if typed else ()
    )
    first = next(iter(listed), None)
    return first.named_children() if first is not None else ()
