"""Which declaration a bare name means at a place, and which members a class has.

Does not look at expressions; `Typing` does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Owner, Scope
from specedit.scoping.scopes import Scopes
from specedit.syntax.branch import MIN_INDEXED_CHILDREN, Branch


class Lookup:
    """Answers for one file's scopes. `project`: the files around it, which build on this module."""

    def __init__(self, scopes: Scopes, project: Any) -> None:
        self.scopes = scopes
        self.rules = scopes.rules
        self.project = project
        self._found: dict[int, list[Owner]] = {}  # what a class extends in other files
        self._ordered: dict[Hashable, tuple[object, list[Declared]]] = {}

    def lookup(self, name: str, at: Branch, hint: str = "value") -> Declared | None:
        scope: Scope | None = self.scopes.scope_of(at)
        inner = True  # no function (Python: nothing) between the use and the scope we look in
        head = self._typed_by(at)  # there, its type parameters are seen and its parameters are not
        called = {"call": True, "value": False}.get(hint)
        steps = 0
        while scope is not None:
            steps += 1 + len(scope.opens)
            before = at.start if inner or not self.rules.hoists else None
            results: list[Declared] = []
            if (declared := scope.declared.get(name)) is not None:
                seen = self._seen(declared, scope, at, typed=scope is head)
                results += self._meant(declared, hint, before) if seen is declared else seen
            if inner and scope.kind == "class" and self.rules.reads_class and scope.owner:
                results += self._assigned(scope.owner.members.get(name, []), at, hint)
            elif (owner := scope.owner) is not None and (
                self.rules.bare_members
                or scope.node.type in self.rules.open_types
                or scope.kind == "namespace"
            ):
                results += self._meant(self.members((owner,), name, called), hint, before)
            for opened, only in scope.opens:
                shown = self.members((opened,), name) if only in ("", name) else []
                results += self._meant(shown, hint, before)
            visible = [each for each in results if before is None or each.after <= before]
            if ordered := self._in_order(visible, hint):
                self.project.count(self, steps)
                return ordered[-1]
            if scope.kind == "function" or self.rules.reads_class:
                inner = False
            scope = scope.parent
        self.project.count(self, steps)
        elsewhere = self.project.shared(self, name)
        return next((declared for declared in elsewhere if self._accepts(declared, hint)), None)

    def _seen(
        self, declared: list[Declared], scope: Scope, at: Branch, *, typed: bool
    ) -> list[Declared]:
        """The declarations that a place can see. `typed`: it is in a parameter's type."""
        end = _end_of_head(scope, at) if self.rules.hoists else None
        if typed:
            declared = [each for each in declared if each.kind != "parameter"]
        if end is not None:
            declared = [each for each in declared if each.leaf.start < end]
        return declared

    def _meant(self, found: list[Declared], hint: str, before: int | None) -> list[Declared]:
        """Declarations of one name; of many, the one that is meant, found by bisection. `before`:
        it must be visible from this byte."""
        if len(found) < MIN_INDEXED_CHILDREN:
            return found
        key = (id(found), hint)  # its id is its own as long as it is kept
        if key not in self._ordered:
            self._ordered[key] = found, self._in_order(found, hint)
        _, ordered = self._ordered[key]
        number = len(ordered)
        if before is not None and hint != "type":
            number = bisect_right(ordered, (True, before), key=lambda each: _rank(each)[:2])
        return ordered[max(0, number - 1) : number]

    def _in_order(self, found: Iterable[Declared], hint: str) -> list[Declared]:
        """What a place may mean; the last one is what it does."""
        accepted = [declared for declared in found if self._accepts(declared, hint)]
        return accepted if hint == "type" else sorted(accepted, key=_rank)

    def _assigned(self, found: list[Declared], at: Branch, hint: str) -> list[Declared]:
        """The last member that a class's body has set before it comes to `at`."""
        last: list[Declared] = []
        for declared in reversed(found):
            if is_assigned(declared, at) and self._accepts(declared, hint):
                if declared.kind not in TYPES or hint == "type":
                    return [declared]
                last = last or [declared]
        return last

    def _typed_by(self, at: Branch) -> Scope | None:
        """Go, C: the function one of whose parameters' types `at` is part of."""
        previous = at
        for up in at.up():
            if up.type in self.rules.typed_parameters and previous.field == "type":
                return self.scopes.scope_of(up)
            if self.rules.scopes.get(up.type) == "block":
                return None
            previous = up
        return None

    def _accepts(self, declared: Declared, hint: str) -> bool:
        if self.rules.macros_apart and "macro" in (declared.kind, hint):
            return hint == "macro" and declared.kind in ("macro", "import")
        if hint == "type":
            return declared.kind in TYPES
        if hint == "any" or not self.rules.methods_apart:
            return True
        return (declared.kind in FUNCTIONS) == (hint == "call") or declared.kind == "import"

    def enclosing(self, at: Branch) -> Owner | None:
        """The class around a place; an object literal only for what stands in its methods."""
        scope: Scope | None = self.scopes.scope_of(at)
        in_method = False
        while scope is not None:
            of_class = scope.owner is not None and scope.kind in ("class", "function", "enum")
            if of_class and (in_method or scope.node.type not in self.rules.nameless):
                return scope.owner
            in_method = in_method or scope.node.type in self.rules.own_this
            scope = scope.parent
        return None

    def above(self, owner: Owner) -> list[Owner]:
        """The owners that `owner` extends, nearest first; its own parts elsewhere come before."""
        known_ids, waiting = {id(owner)}, [owner]
        for declared in waiting:
            for known in (*self.project.parts(declared), *self._bases(declared)):
                if id(known) not in known_ids:
                    known_ids.add(id(known))
                    waiting.append(known)
        return waiting[1:]

    def _bases(self, owner: Owner) -> Iterator[Owner]:
        home = self.project.at(owner.home) or self
        own = {
            base: [other for other in home.scopes.owners_named(base) if other is not owner]
            for base in owner.bases
        }
        for base in owner.bases:
            yield from own[base]
        if missing := [base for base in owner.bases if not own[base]]:
            yield from home.extended(owner, missing)

    def extended(self, owner: Owner, bases: list[str]) -> list[Owner]:
        """The bases in other files of a class of this file."""
        known = self._found.get(id(owner))
        if known is None:
            known = self._found[id(owner)] = []  # a question on the way gets what is known by then
            for base in bases:  # `class A(models.B)`: the second name is of the first
                known += self.elsewhere(base, owner.node.parent or owner.node, list(known))
        return known

    def elsewhere(self, base: str, at: Branch, modules: list[Owner]) -> list[Owner]:
        """The classes of other files that a base names."""
        return []

    def members(
        self, owners: Iterable[Owner], name: str, called: bool | None = None
    ) -> list[Declared]:
        """The members called `name` of these owners, or of the nearest base that has one."""
        other: list[Declared] = []  # what is of the other sort, where nothing is of this one
        for owner in owners:
            for up in (owner, *self.above(owner)):
                result = up.members.get(name, [])
                if not result:
                    result = self.project.declared_elsewhere(up, name)
                if self.rules.members_apart and called is not None:
                    other = other or ([] if self.rules.methods_apart else result)
                    result = [x for x in result if (x.kind in FUNCTIONS) == called]
                    result = [x for x in result if not self.rules.may_override(x)] or result
                if result:
                    return result
        return other


def _end_of_head(function: Scope, at: Branch) -> int | None:
    """JavaScript: the end of a function's parameters, if `at` is in them: it sees no more."""
    if function.kind != "function":
        return None
    head = function.node.part("parameters")
    return head.end if head is not None and head.start <= at.start < head.end else None


def is_assigned(declared: Declared, at: Branch) -> bool:
    """Python: whether a class's body, read from the top, has set a name before it comes to `at`."""
    if declared.leaf.end > at.start:
        return False
    read = (declared.node.part("right"), declared.node.part("type"))
    return not any(part is not None and part.start <= at.start < part.end for part in read)


def _rank(declared: Declared) -> tuple[bool, int, int]:
    return declared.kind not in TYPES, declared.after, declared.leaf.start
