"""The meaning of each use of one name: uses of the same thing become one `Meaning`.

Does not rename.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from specedit.scoping.languages.rules import Rules
from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Owner
from specedit.scoping.scope import Meaning as Meaning
from specedit.scoping.scope import Rewrite as Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import FOREIGN, UNKNOWN, Uses
from specedit.syntax.branch import Branch


def meanings_over(typings: Sequence[Typing], name: str) -> list[Meaning]:
    """The meanings of `name` in files of one language, those with a declaration first."""
    result = _Sorting(typings, name).groups()
    if any(typing.rules.sigils for typing in typings):
        result += _Sorting(typings, "$" + name).groups()
    return result


def members_called(typing: Typing, name: str, owners: list[Owner]) -> list[Meaning]:
    """The present meaning of `name` as a member of one of `owners`, declared or only used."""
    return [
        group
        for group in _Sorting([typing], name).groups()
        if any(owner is other for owner in owners for other in group.owners)
    ]


class _Sorting:
    """Union-find over declarations and places."""

    def __init__(self, typings: Sequence[Typing], name: str) -> None:
        self.typings, self.rules = typings, typings[0].rules
        self.name = name
        self.parent: dict[Hashable, Hashable] = {}
        self.leaves: list[tuple[Branch, Hashable]] = []
        self._importable: dict[int, list[Declared]] = {}  # of each file, by the id of its scopes
        self.declared = [
            declaration for typing in typings for declaration in typing.scopes.declarations(name)
        ]
        self._at_node: dict[int, list[Declared]] = {}
        for each in self.declared:
            self._at_node.setdefault(id(each.node), []).append(each)
        self.uses = [Uses(typing, name, self.declared, self._join) for typing in typings]

    def groups(self) -> list[Meaning]:
        self._join_declarations()
        for uses in self.uses:
            for leaf, name in uses.scopes.leaves:
                if name == self.name:
                    for key in uses.keys(leaf):
                        self.leaves.append((leaf, key))
        self._join_families()
        results: dict[Hashable, Meaning] = {}
        seen: set[tuple[int, int]] = set()  # (meaning, leaf)
        declared = set(self.declared)
        for declaration in self.declared:
            meaning = results.setdefault(self._root(declaration), Meaning(declaration.kind))
            meaning.declared.append(declaration)
            owner = declaration.member_of if declaration.kind != "import" else None
            if owner is not None and owner not in meaning.owners:
                meaning.owners.append(owner)
        owner_of = {key: owner for uses in self.uses for key, owner in uses.owner_of.items()}
        for leaf, key in self.leaves:
            root = self._root(key)
            kind = str(root[0]) if isinstance(root, tuple) else UNKNOWN
            meaning = results.setdefault(root, Meaning(kind))
            if isinstance(root, Declared) and root not in declared:
                declared.add(root)
                meaning.kind = root.kind  # declared in a file that was not asked about
                meaning.declared.append(root)
                meaning.owners += [root.owner] if root.owner is not None else []
            if kind in (FOREIGN, UNKNOWN) and isinstance(root, tuple):
                meaning.module = str(root[1])
            if (id(meaning), id(leaf)) not in seen:
                seen.add((id(meaning), id(leaf)))
                meaning.leaves.append(leaf)
            owner = owner_of.get(key)
            if owner is not None and owner not in meaning.owners:
                meaning.owners.append(owner)
        kept = [result for result in results.values() if result.leaves]
        return sorted(kept, key=lambda meaning: (not meaning.declared, meaning.leaves[0].start))

    # union-find

    def _root(self, key: Hashable) -> Hashable:
        root = key
        while (above := self.parent.get(root, root)) is not root and above != root:
            root = above
        while key is not root and (above := self.parent.get(key, root)) != root:
            self.parent[key] = root  # the next time this is one step
            key = above
        return root

    def _join(self, key: Hashable, other: Hashable) -> None:
        a, b = self._root(key), self._root(other)
        if a is b or a == b:
            return
        if isinstance(a, Declared):  # a declaration stays the root, so that kinds survive
            a, b = b, a
        self.parent[a] = b

    # declarations that are one thing

    def _join_declarations(self) -> None:
        together: dict[Hashable, Declared] = {}
        rebinding = {
            declaration
            for declaration in self.declared
            if declaration.after and declaration.node.type in self.rules.rebinds
        }
        in_builds = {
            id(binding.scope)
            for binding in rebinding
            if self.rules.is_conditional(binding.node, scopes_of(binding).text)
        }
        for declaration in self.declared:
            sort = self._sort(declaration)
            place: Hashable = id(declaration.owner or declaration.scope)
            if declaration in rebinding and id(declaration.scope) not in in_builds:
                place = (place, id(declaration.node))
            first = together.setdefault((place, sort), declaration)
            self._join(declaration, first)
        by_name: dict[int, Declared] = {}
        for declaration in self.declared:
            if declaration.owner is None and self.rules.merges:
                self._join(declaration, by_name.setdefault(id(declaration.scope), declaration))
            if declaration.kind == "import" and declaration.scope is not None:
                self._join_import(declaration)
        for typing in self.typings:
            self._join_files(typing)

    def _sort(self, declared: Declared) -> str:
        if declared.kind in TYPES - {"import"}:
            return "type"
        if self.rules.macros_apart and declared.kind == "macro":
            return "macro"
        apart = self.rules.methods_apart or (
            self.rules.members_apart and declared.owner is not None
        )
        if not apart or declared.kind not in FUNCTIONS:
            return "value"
        return "call" if self.rules.may_override(declared) else "own call"

    def _join_import(self, declared: Declared) -> None:
        """An import of what this file itself defines."""
        scopes = scopes_of(declared)
        if id(scopes) not in self._importable:
            self._importable[id(scopes)] = [
                other
                for other in scopes.declarations(self.name)
                if other.kind not in ("import", "local", "parameter")
            ]
        for other in self._importable[id(scopes)]:
            if self.rules.is_import_of(scopes_of(declared), declared, other):
                self._join(other, declared)

    def _join_files(self, typing: Typing) -> None:
        """An import of what another file defines, and what two files declare for each other."""
        for declaration in typing.scopes.declarations(self.name):
            if declaration.kind == "import":
                for other in typing.project.imported_declarations(typing, declaration) or ():
                    if other.name == self.name:
                        self._join(declaration, other)
            elif self.rules.parts_alone:
                for owner in typing.scopes.owners_at(declaration.node):
                    for part in typing.project.parts(owner):
                        for other in self._at_node.get(id(part.node), ()):
                            self._join(declaration, other)
            elif declaration.owner is None and not declaration.is_local:
                for other in typing.project.shared(typing, self.name):
                    inside = other.owner is not None and other.scope_kind == "namespace"
                    if self._sort(declaration) == self._sort(other) and not inside:
                        self._join(declaration, other)

    def _join_families(self) -> None:
        """A member and the one it overrides, or implements, are one thing."""
        by_owner: dict[int, list[Hashable]] = {}
        for declaration in self.declared:
            if declaration.member_of is not None:
                by_owner.setdefault(id(declaration.member_of), []).append(declaration)
        for uses in self.uses:
            for key, owner in uses.owner_of.items():
                by_owner.setdefault(id(owner), []).append(key)
        for keys in by_owner.values():
            for key in keys:
                if not isinstance(key, Declared) and len(keys) > 1:
                    self._join(key, keys[0])
        owners = ((here, owner) for here in self.typings for owner in here.scopes.owners)
        for typing, owner in owners:
            mine = by_owner.get(id(owner), [])
            for above in typing.above(owner) if mine else ():
                for member in mine:
                    for over in by_owner.get(id(above), []):
                        if self._are_one(member, over, above in typing.project.parts(owner)):
                            self._join(member, over)
            if mine and owner.node.type in self.rules.nameless:
                for wanted in self.rules.owner_of_literal(typing, owner.node) or ():
                    for member in typing.members((wanted,), self.name)[:1]:
                        self._join(mine[0], member)
        if len({id(each.member_of) for each in self.declared if each.member_of is not None}) > 1:
            for typing in self.typings:
                for member, other in self.rules.same_members(typing, self.name):
                    self._join(member, other)
        self._join_implied()

    def _are_one(self, member: Hashable, other: Hashable, is_part: bool) -> bool:
        """Fields hide where methods override; a field never overrides a method. `is_part`: the
        other is a member of the same class, in another file."""
        known = [key for key in (member, other) if isinstance(key, Declared)]
        apart = self.rules.fields_hide or self.rules.members_apart
        if apart and len(set(map(self._sort, known))) > 1:
            return False
        if is_part:
            return True
        if self.rules.implied:
            return False  # a method hides that of an embedded type, which calls its own one
        if isinstance(member, Declared) and isinstance(other, Declared):
            called = {member.kind, other.kind} <= FUNCTIONS
            if called and not self.rules.overrides(member, other, scopes_of(other).text):
                return False
        return not self.rules.fields_hide or all(key.kind in FUNCTIONS for key in known)

    def _join_implied(self) -> None:
        """Go: a type with all methods of an interface implements it without a declaration."""
        asked = [each for each in self.declared if each.node.type in self.rules.implied]
        methods = [each for each in self.declared if each.kind == "method"] if asked else []
        wanted = [(each, self._all_members(each.owner)[0]) for each in asked]
        owners = ((here, up) for here in self.typings if asked for up in here.scopes.owners)
        embedding = [(up, here.above(up)) for here, up in owners if self.name not in up.members]
        for method in (*methods, *asked):
            own, is_known = self._all_members(method.owner)
            holders = [up for up, above in embedding if method.owner in above]
            offered = [own, *(self._all_members(up)[0] for up in holders)]
            for interface, names in wanted:
                enough = not is_known or any(names <= each for each in offered)
                if enough and self.rules.overrides(method, interface, scopes_of(method).text):
                    self._join(method, interface)

    def _all_members(self, owner: Owner | None) -> tuple[set[str], bool]:
        """The names of all members of a type, and whether there are no others."""
        typing = self.typings[0].project.at(owner.home) if owner is not None else None
        if owner is None or typing is None:
            return set(), False
        every = (owner, *typing.above(owner))
        missing = {base for each in every for base in each.bases} - {each.name for each in every}
        return {name for each in every for name in each.members}, not missing


def scopes_of(declared: Declared) -> Scopes:
    assert isinstance(declared.home, Scopes)
    return declared.home


def has_sigil(meaning: Meaning, typing: Typing) -> bool:
    """PHP, Bash: a variable, which a sign tells from every word of the language."""
    return any(typing.rules.has_sigil(leaf, typing.scopes.text) for leaf in meaning.leaves)


def means_member(meaning: Meaning) -> bool:
    """Which half of a shorthand a meaning is: the member, or the variable."""
    variables = ("local", "parameter", "value", "function", "import")
    return meaning.is_member or meaning.kind not in variables


def stored_parameters(
    chosen: list[Meaning], candidates: list[Meaning], rules: Rules
) -> Iterator[tuple[Meaning, Branch]]:
    """The parameters of the name that a renamed member is set from, each with its place there."""
    members = {id(leaf) for meaning in chosen if meaning.is_member for leaf in meaning.leaves}
    for candidate in candidates:
        if candidate in chosen or candidate.kind != "parameter":
            continue
        for leaf in candidate.leaves:
            target = leaf.at("^ left") if leaf.place in rules.assigned else None
            if target is not None and any(id(x) in members for x in target.walk()):
                yield candidate, leaf
