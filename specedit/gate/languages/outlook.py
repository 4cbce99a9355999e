"""One language as the gate sees it: tables of node types and words, and hooks beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.gate.signature import Given, Signature
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Outlook:
    """One language; what is left out, the gate has nothing to say of."""

    given: frozenset[str] = NONE  # names that are there without anybody declaring them
    blocks: frozenset[str] = NONE  # lists of statements
    ends: frozenset[str] = NONE  # statements, or statement>its part, that nothing runs behind
    hoisted: frozenset[str] = NONE  # what may stand behind one: declarations
    arguments: frozenset[str] = NONE  # lists of a call's arguments
    spreads: frozenset[str] = NONE  # arguments that are several

    once: frozenset[str] = NONE  # definitions that stand once in a scope
    overloads: bool = False  # of them, those of other parameters are others
    imports: frozenset[str] = NONE  # statements whose names bring something in

    # names

    def tells(self, facts: Facts) -> bool:
        """Whether this file says where its names come from: no star import, no template."""
        return False

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        """Whether a free name at this place can come from nowhere else."""
        return True

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        """Whether an import that nobody names is of no use."""
        return True

    # calls

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        """What a definition takes when it is called so; empty where nobody can tell."""
        return []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        """What a definition takes, the instance left out."""
        return None

    def is_once(self, facts: Facts, node: Branch) -> bool:
        """Whether a definition of `once` replaces another one."""
        return True

    def gives(self, facts: Facts, call: Branch) -> Given | None:
        """What a call gives; None where nobody can tell."""
        listed = call.first(*self.arguments)
        if listed is None:
            return None
        places, named = 0, set[str]()
        for one in listed.named_children():
            if "comment" in one.type:
                continue
            if one.type in self.spreads:
                return None
            name = self.argument_name(facts, one)
            if name:
                named.add(name)
            else:
                places += 1
        return Given(places, frozenset(named))

    def argument_name(self, facts: Facts, argument: Branch) -> str:
        """The parameter that an argument names, or ""."""
        return ""

    # texts with places to fill

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        """Strings whose places do not fit what is put into them: where, and what is wrong."""
        yield from ()

    # what is given back

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        """Returns that a definition's own words do not allow: where, and in one sentence."""
        yield from ()

    def given_back(self, facts: Facts) -> Iterator[tuple[Branch, list[str]]]:
        """Each function that returns something, and the kinds of its values, "" where nobody can
        tell: list, dict, set, tuple, str, bool, int, float, None."""
        yield from ()

    # the ways through a function

    def returning(self, facts: Facts) -> Iterator[tuple[str, Branch, bool]]:
        """Each function that returns values, by name, and whether it does so on every way."""
        yield from ()

    def traps(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        """Loops without an end, and locals that may not be set where they are read."""
        yield from ()

    # what does nothing

    def idle(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        """Code that runs and has no effect: where, and in one sentence."""
        yield from ()

    def form(self, text: str) -> str | None:
        """A form that only texts have that do the same; None where there is none."""
        return None
