"""Which declaration a bare name means at a place, and which members a class has.

Knows scopes and inheritance. Does not look at expressions; `Typing` does.
"""

from __future__ import annotations

from collections.abc import Iterable

from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Owner, Scope
from specedit.scoping.scopes import Scopes
from specedit.scoping.written import is_assigned
from specedit.syntax.branch import Branch


class Lookup:
    """Answers for one file's scopes."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.rules = scopes.rules

    def lookup(self, name: str, at: Branch, hint: str = "value") -> Declared | None:
        """The declaration a bare name means at a place."""
        scope: Scope | None = self.scopes.scope_of(at)
        inner = True  # no function (Python: nothing) between the use and the scope we look in
        head = self._typed_by(at)  # there, its type parameters are seen and its parameters are not
        while scope is not None:
            found = list(scope.declared.get(name, ()))
            if scope is head:
                found = [one for one in found if one.kind != "parameter"]
            if scope.kind == "function" and self.rules.hoists:
                found = [one for one in found if not _is_in_body(one, scope, at)]
            if inner and scope.kind == "class" and self.rules.reads_class and scope.owner:
                found += [one for one in scope.owner.members.get(name, ()) if is_assigned(one, at)]
            elif (owner := scope.owner) is not None and (
                self.rules.bare_members
                or scope.node.type in self.rules.open_types
                or scope.kind == "namespace"
            ):
                found += self.members((owner,), name)
            for opened, only in scope.opens:
                found += self.members((opened,), name) if only in ("", name) else []
            chosen = self._choose(found, at, hint, inner)
            if chosen is not None:
                return chosen
            if scope.kind == "function" or self.rules.reads_class:
                inner = False
            scope = scope.parent
        return None

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
        """What `owner` extends, in this file, nearest first."""
        found: list[Owner] = []
        waiting = [owner]
        while waiting:
            one = waiting.pop(0)
            for base in one.bases:
                for known in self.scopes.owners:
                    if known.name == base and known is not owner and known not in found:
                        found.append(known)
                        waiting.append(known)
        return found

    def members(
        self, owners: Iterable[Owner], name: str, called: bool | None = None
    ) -> list[Declared]:
        """The members called `name` of these owners, or of the nearest base that has one."""
        for owner in owners:
            for one in (owner, *self.above(owner)):
                found = one.members.get(name, [])
                if self.rules.members_apart and called is not None:
                    apart = [x for x in found if (x.kind in FUNCTIONS) == called]
                    found = apart or ([] if self.rules.methods_apart else found)
                if found:
                    return found
        return []


def _is_in_body(one: Declared, function: Scope, at: Branch) -> bool:
    """JavaScript: whether a `var` of the body is none of a parameter's default's business."""
    head = function.node.part("parameters")
    return head is not None and head.start <= at.start < head.end <= one.leaf.start
