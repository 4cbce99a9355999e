"""Which declaration a bare name means at a place, and which members a class has.

Does not look at expressions; `Typing` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Owner, Scope
from specedit.scoping.scopes import Scopes
from specedit.syntax.branch import Branch

if TYPE_CHECKING:
    from specedit.scoping.languages.rules import Project  # it builds on this module


class Lookup:
    """Answers for one file's scopes. `project`: the files around it."""

    def __init__(self, scopes: Scopes, project: Project) -> None:
        self.scopes = scopes
        self.rules = scopes.rules
        self.project = project
        self._found: dict[int, list[Owner]] = {}  # what a class extends in other files

    def lookup(self, name: str, at: Branch, hint: str = "value") -> Declared | None:
        """The declaration a bare name means at a place."""
        scope: Scope | None = self.scopes.scope_of(at)
        inner = True  # no function (Python: nothing) between the use and the scope we look in
        head = self._typed_by(at)  # there, its type parameters are seen and its parameters are not
        while scope is not None:
            results = list(scope.declared.get(name, ()))
            if scope is head:
                results = [one for one in results if one.kind != "parameter"]
            if scope.kind == "function" and self.rules.hoists:
                results = [one for one in results if not _is_in_body(one, scope, at)]
            if inner and scope.kind == "class" and self.rules.reads_class and scope.owner:
                results += [
                    one for one in scope.owner.members.get(name, ()) if is_assigned(one, at)
                ]
            elif (owner := scope.owner) is not None and (
                self.rules.bare_members
                or scope.node.type in self.rules.open_types
                or scope.kind == "namespace"
            ):
                results += self.members((owner,), name)
            for opened, only in scope.opens:
                results += self.members((opened,), name) if only in ("", name) else []
            chosen = self._choose(results, at, hint, inner)
            if chosen is not None:
                return chosen
            if scope.kind == "function" or self.rules.reads_class:
                inner = False
            scope = scope.parent
        shown = self.project.shared(self, name, at)
        return next((one for one in shown if self._accepts(one, hint)), None)

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

    def _choose(
        self, found: Iterable[Declared], at: Branch, hint: str, inner: bool
    ) -> Declared | None:
        fits = [one for one in found if self._accepts(one, hint)]
        if not fits:
            return None
        if inner or not self.rules.hoists:
            fits = [one for one in fits if one.after <= at.start]
        if hint != "type":
            fits.sort(key=lambda one: (one.kind not in TYPES, one.after, one.leaf.start))
            latest = [one for one in fits if one.kind not in TYPES and one.after]
            return latest[-1] if latest else (fits[-1] if fits else None)
        return fits[-1] if fits else None

    def _accepts(self, one: Declared, hint: str) -> bool:
        if self.rules.macros_apart and "macro" in (one.kind, hint):
            return hint == "macro" and one.kind in ("macro", "import")
        if hint == "type":
            return one.kind in TYPES
        if hint == "any" or not self.rules.methods_apart:
            return True
        return (one.kind in FUNCTIONS) == (hint == "call") or one.kind == "import"

    def enclosing(self, at: Branch) -> Owner | None:
        """The class around a place."""
        scope: Scope | None = self.scopes.scope_of(at)
        while scope is not None:
            if scope.owner is not None and scope.kind in ("class", "function", "enum"):
                return scope.owner
            scope = scope.parent
        return None

    def above(self, owner: Owner) -> list[Owner]:
        """What `owner` extends, nearest first: what it is itself elsewhere comes before."""
        known_ids, waiting = {id(owner)}, [owner]
        for one in waiting:
            for known in (*self.project.parts(one), *self._bases(one)):
                if id(known) not in known_ids:
                    known_ids.add(id(known))
                    waiting.append(known)
        return waiting[1:]

    def _bases(self, one: Owner) -> Iterator[Owner]:
        """What a class says that it extends."""
        home = self.project.at(one.home) or self
        own = {
            base: [other for other in home.scopes.owners_named(base) if other is not one]
            for base in one.bases
        }
        for base in one.bases:
            yield from own[base]
        if missing := [base for base in one.bases if not own[base]]:
            yield from home.extended(one, missing)

    def extended(self, one: Owner, bases: list[str]) -> list[Owner]:
        """What a class of this file extends in other files."""
        known = self._found.get(id(one))
        if known is None:
            known = self._found[id(one)] = []  # a question on the way gets what is known by then
            for base in bases:  # `class A(models.B)`: the second name is of the first
                known += self.elsewhere(base, one.node.parent or one.node, list(known))
        return known

    def elsewhere(self, base: str, at: Branch, modules: list[Owner]) -> list[Owner]:
        """The classes of other files that a base names."""
        return []

    def members(
        self, owners: Iterable[Owner], name: str, called: bool | None = None
    ) -> list[Declared]:
        """The members called `name` of these owners, or of the nearest base that has one."""
        for owner in owners:
            for one in (owner, *self.above(owner)):
                result = one.members.get(name, [])
                if not result:
                    result = self.project.declared_elsewhere(one, name)
                if self.rules.members_apart and called is not None:
                    apart = [x for x in result if (x.kind in FUNCTIONS) == called]
                    result = apart or ([] if self.rules.methods_apart else result)
                if result:
                    return result
        return []


def _is_in_body(one: Declared, function: Scope, at: Branch) -> bool:
    """JavaScript: whether a `var` of the body is invisible to a parameter's default."""
    head = function.node.part("parameters")
    return head is not None and head.start <= at.start < head.end <= one.leaf.start


def is_assigned(one: Declared, at: Branch) -> bool:
    """Python: whether a class's body, read from the top, has set a name before it comes to `at`."""
    read = (one.node.part("right"), one.node.part("type"))
    return one.leaf.end <= at.start and not any(
        part is not None and part.start <= at.start < part.end for part in read
    )
