"""What to write at each place of a rename, and where the new name is taken already.

A shorthand that names two things is spelled out when only one of them is renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specedit.scoping.meaning import Meaning, Rewrite, means_member
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch


def put(data: bytes, rewrites: list[Rewrite]) -> tuple[list[Rewrite], bytes]:
    """The rewrites that do not overlap an earlier one, in order, and the bytes they make."""
    kept: list[Rewrite] = []
    out: list[bytes] = []
    at = 0
    for rewrite in sorted(rewrites, key=lambda one: (one.start, -one.end)):
        if rewrite.start < at:
            continue
        kept.append(rewrite)
        out += [data[at : rewrite.start], rewrite.new.encode("utf-8", "surrogatepass")]
        at = rewrite.end
    return kept, b"".join([*out, data[at:]])


def rewrites_for(
    chosen: list[Meaning], candidates: list[Meaning], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    """One rewrite for each place of the chosen meanings."""
    other = {id(leaf) for one in candidates if one not in chosen for leaf in one.leaves}
    seen: set[int] = set()
    for one in chosen:
        declared = {id(each.leaf): each for each in one.declared}
        for leaf in one.leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            made = _rewrite(leaf, one, id(leaf) in other, typing, old, new)
            if made.old != made.new:  # `self` brings a name without having it
                yield replace(made, why=_reason(declared.get(id(leaf)), one))


def _rewrite(
    leaf: Branch, one: Meaning, split: bool, typing: Typing, old: str, new: str
) -> Rewrite:
    special = typing.rules.rewrite(leaf, one, split, typing.scopes.text, old, new)
    if special is not None:
        return special
    written = new
    if split and typing.rules.is_shorthand(leaf):
        written = f"{new}: {old}" if means_member(one) else f"{old}: {new}"
    return Rewrite(leaf.start, leaf.end, old, written, "code")


def _reason(declared: Declared | None, one: Meaning) -> str:
    """Why a place is one that is renamed: it declares the name, or uses it."""
    owners = sorted({owner.name for owner in one.owners} - {""})
    of = f" of {', '.join(owners[:3])}" if owners else ""
    if declared is not None:
        return "import" if declared.kind == "import" else f"declares the {called(declared)}{of}"
    if not one.declared and not one.owners:
        return {"unknown": "a member of a class that is not known"}.get(one.kind, one.kind)
    kinds = (called(d) for d in one.declared if d.kind not in ("import", "export"))
    return f"use of the {next(kinds, 'member')}{of}"


def called(one: Declared) -> str:
    """What a person calls a declaration."""
    whole = one.kind == "local" and one.scope is not None and not one.scope.is_local
    return "global" if whole else one.kind
