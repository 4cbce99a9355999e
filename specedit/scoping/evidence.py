"""What the place of a member says where the class before it is not known: which classes it cannot
be a member of.

* `x.name(1, 2)`: a method that does not take two arguments is not called there
* `x.name` beside `x.other`: a class without `other` is not the class of `x`
* `{name: 1, other: 2}`: a class that wants more, and that has no `other`, is not meant

Only what is certain counts: a class that extends one of another project may have any member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from specedit.scoping.languages.calls import (
    Given,
    arguments_of,
    branch_of,
    can_take,
    has_only_written,
)
from specedit.scoping.meaning import Meaning, scopes_of
from specedit.scoping.scope import Owner
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

LEAVES = re.compile(rb"\b(return|raise|throw|continue|break|assert|panic|exit|goto|yield)\b")
LONGEST = 80  # bytes of what stands before the dot
MOST = 12  # other members of a variable that are asked about


def can_mean(typing: Typing, leaf: Branch, meaning: Meaning) -> bool:
    """Whether a member of something of unknown class can be this member."""
    if not meaning.is_member:
        return True
    given = _given(typing, leaf)
    if given is not None and meaning.declared:
        taking = (
            can_take(typing.rules, scopes_of(one).text, one, given) for one in meaning.declared
        )
        if not any(taking):
            return False
    others = members_beside(typing, leaf)
    return not others or any(_may_have(typing, owner, others) for owner in meaning.owners)


def _given(typing: Typing, leaf: Branch) -> Given | None:
    """What a call of the member gives it; None where it is not called."""
    receiver = typing.rules.receiver(leaf)
    if receiver is None or not typing.is_called(leaf):
        return None
    call = leaf.around(*typing.rules.calls)
    if call is None:
        return None
    return arguments_of(typing.rules, typing.scopes.text, call, receiver)


def fits(typing: Typing, literal: Owner, meaning: Meaning) -> bool:
    """Whether an object literal of no known type may be meant for one of a member's classes."""
    if literal.node.type not in typing.rules.nameless:
        return True
    if not has_only_written(literal.node):
        return True
    return any(_may_be(typing, literal, owner) for owner in meaning.owners)


def _may_be(typing: Typing, literal: Owner, owner: Owner) -> bool:
    home = typing.project.at(owner.home)
    if home is None or owner.node.type in home.rules.nameless or not _is_closed(home, owner):
        return True
    wanted = {
        name
        for up in (owner, *home.above(owner))
        for name, known in up.members.items()
        if any(home.rules.is_wanted(one, scopes_of(one).text) for one in known)
    }
    has = set(literal.members)
    extra = any(not home.members((owner,), name) for name in has)
    return not (extra and wanted - has)


def members_beside(typing: Typing, leaf: Branch) -> set[str]:
    """The other members of the variable before the dot that are certainly read, too, while it has
    the class that it has here."""
    receiver = typing.rules.receiver(leaf)
    name = _spelled(typing, receiver)
    if receiver is None or not name or not _is_set_once(typing, receiver):
        return set()
    function = typing.scopes.scope_of(leaf)
    while function.kind == "block" and function.parent is not None:
        function = function.parent
    found: set[str] = set()
    for other in _by_receiver(typing).get(name, ()):
        label = typing.scopes.label(other)
        if other is leaf or label == typing.scopes.label(leaf) or label in found:
            continue
        if not typing.rules.tells_class(typing, other, called=_is_called(typing, other)):
            continue
        if function.node.start <= other.start < function.node.end and _runs_with(
            typing, leaf, other
        ):
            found.add(label)
            if len(found) >= MOST:
                break
    return found


def _is_called(typing: Typing, leaf: Branch) -> bool:
    return leaf.parent is not None and typing.is_called(leaf)


def _spelled(typing: Typing, receiver: Branch | None) -> str:
    """A variable, or a member of one through any number of dots; else ""."""
    if receiver is None or receiver.end - receiver.start > LONGEST:
        return ""
    text = typing.scopes.text(receiver)
    return text if all(map(str.isidentifier, text.replace("?.", ".").split("."))) else ""


def _is_set_once(typing: Typing, receiver: Branch) -> bool:
    first = next((one for one in receiver.walk() if not one.children), receiver)
    name = typing.scopes.text(first)
    declared = typing.lookup(name, first)
    if declared is None or declared.scope is None or declared.kind not in ("local", "parameter"):
        return False
    if len(declared.scope.declared.get(name, ())) != 1:
        return False
    path = re.escape(typing.scopes.text(receiver).encode())
    around = typing.scopes.data[declared.scope.node.start : declared.scope.node.end]
    is_path = first is not receiver
    return len(re.findall(rb"(?<![\w.])" + path + rb"\s*:?=(?![=>])", around)) <= (not is_path)


def _by_receiver(typing: Typing) -> dict[str, list[Branch]]:
    """The members of a file, by what is written before the dot."""

    def find() -> dict[str, list[Branch]]:
        result: dict[str, list[Branch]] = {}
        for leaf, _ in typing.scopes.leaves:
            if leaf.place in typing.rules.members:
                name = _spelled(typing, typing.rules.receiver(leaf))
                if name:
                    result.setdefault(name, []).append(leaf)
        return result

    return typing.project.remembered(("by receiver", id(typing)), find)


def _runs_with(typing: Typing, leaf: Branch, other: Branch) -> bool:
    """Whether the other place runs whenever this one does, and no test stands between."""
    branch = branch_of(other)
    if not branch.start <= leaf.start < branch.end:
        return False
    if other.start < leaf.start:
        return True
    between = typing.scopes.data[leaf.end : other.start]
    return branch_of(leaf) is branch and LEAVES.search(between) is None


def _may_have(typing: Typing, owner: Owner, names: Iterable[str]) -> bool:
    home = typing.project.at(owner.home)
    if home is None or owner.node.type in home.rules.nameless or not _is_closed(home, owner):
        return True
    every = (owner, *home.above(owner))
    return all(
        home.members((owner,), name)
        or any(
            next(iter(there.rules.kept_in(up.node, name, there.scopes.text)), None) is not None
            for up in every
            if (there := typing.project.at(up.home)) is not None
        )
        for name in names
    )


def _is_closed(home: Typing, owner: Owner) -> bool:
    """Whether these files declare all that a class extends, and it has no member of any name."""
    if owner.module is not None or owner.folder or owner.node.parent is None:
        return False
    every = (owner, *home.above(owner))
    known = {up.name for up in every}
    bases = {base for up in every for base in up.bases}
    return bases <= known and all(home.rules.has_only_declared(up) for up in every)
