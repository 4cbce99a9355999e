"""What to write at each place of a rename, and where the new name is taken already.

A shorthand that names two things is spelled out when only one of them is renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specedit.rename.scoping.meaning import Meaning, members_called
from specedit.rename.scoping.scope import FUNCTIONS, TYPES, Declared
from specedit.rename.scoping.typing import Typing
from specedit.syntax.branch import Branch

SHORTHAND = frozenset(
    {
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "shorthand_field_identifier",
    }
)


@dataclass(frozen=True)
class Rewrite:
    """Bytes [start, end) become `new`."""

    start: int
    end: int
    old: str
    new: str
    kind: str


def put(data: bytes, edits: list[Rewrite]) -> tuple[list[Rewrite], bytes]:
    """The edits that do not overlap an earlier one, in order, and the bytes they make."""
    kept: list[Rewrite] = []
    out: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda one: (one.start, -one.end)):
        if edit.start < at:
            continue
        kept.append(edit)
        out += [data[at : edit.start], edit.new.encode("utf-8", "surrogatepass")]
        at = edit.end
    return kept, b"".join([*out, data[at:]])


def edits_for(
    chosen: list[Meaning], found: list[Meaning], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    """One edit for each place of the chosen meanings."""
    other = {id(leaf) for one in found if one not in chosen for leaf in one.leaves}
    seen: set[int] = set()
    for one in chosen:
        for leaf in one.leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            yield _edit(leaf, one, id(leaf) in other, typing, old, new)


def _edit(leaf: Branch, one: Meaning, split: bool, typing: Typing, old: str, new: str) -> Rewrite:
    text, parent = typing.scopes.text, leaf.parent
    assert parent is not None
    start, end = leaf.start, leaf.end
    if leaf.type == "simple_symbol":
        start += 1
    written = new
    if leaf.place == "import_spec.path":  # Go: an import's own name becomes an alias
        path = text(leaf)
        last = path.strip('"`').rsplit("/", 1)[-1]
        return Rewrite(start, end, path, path if last == new else f"{new} {path}", "code")
    imported = parent.part("path") if leaf.place == "import_spec.name" else None
    if imported is not None and text(imported).strip('"`').rsplit("/", 1)[-1] == new:
        between = text(Branch("", "", False, start, imported.start, 0))  # the alias says nothing
        return Rewrite(start, imported.start, between, "", "code")
    member = one.is_member or one.kind not in ("local", "parameter", "value", "function", "import")
    if (split and leaf.type in SHORTHAND) or (
        split and parent.type == "shorthand_field_initializer"
    ):
        if leaf.type == "shorthand_field_identifier":  # Rust: `ref x`, `mut x` move with the name
            prefix = text(Branch("", "", False, parent.start, start, 0))
            rest = f"{new}: {prefix}{old}" if member else f"{old}: {prefix}{new}"
            return Rewrite(parent.start, end, prefix + old, rest, "code")
        written = f"{new}: {old}" if member else f"{old}: {new}"
    elif parent.type in ("field_pattern", "field_initializer") and leaf.field in (
        "pattern",
        "value",
    ):
        name = parent.part("name") or parent.part("field")
        if name is not None and text(name) == new:  # Rust: `x: x` is written `x`
            return Rewrite(
                name.start, end, text(Branch("", "", False, name.start, end, 0)), new, "code"
            )
    return Rewrite(start, end, old, written, "code")


def clashes(chosen: list[Meaning], typing: Typing, new: str) -> Iterator[tuple[int, str]]:
    """Lines where NEW is declared already in a scope that the rename would put it into."""
    seen: set[int] = set()
    for one in chosen:
        for declared in one.declared:
            there: list[Declared] = []
            if declared.owner is not None:
                there += declared.owner.members.get(new, [])
            if declared.scope is not None:
                there += declared.scope.declared.get(new, [])
            for other in there:
                if id(other.leaf) in seen or not _same_sort(declared, other, typing):
                    continue
                seen.add(id(other.leaf))
                yield taken(other.leaf.line, new, other.kind)
        if one.is_member:  # `self.x = 0` declares nothing, and is a member all the same
            for met in members_called(typing, new, one.owners):
                if not met.declared and id(met.leaves[0]) not in seen:
                    seen.add(id(met.leaves[0]))
                    yield taken(met.leaves[0].line, new, "member")


def taken(line: int, new: str, kind: str) -> tuple[int, str]:
    """A line that has the new name already, and what is said of it."""
    article = "an" if kind.startswith(tuple("aeiou")) else "a"
    return line, f"line {line}: `{new}` is already {article} {kind} there"


def _same_sort(one: Declared, other: Declared, typing: Typing) -> bool:
    """Whether two declarations of one name would be in each other's way."""
    if (one.owner is None) != (other.owner is None):
        return False
    if (one.kind in TYPES) != (other.kind in TYPES):
        return False
    if typing.rules.methods_apart and (one.kind in FUNCTIONS) != (other.kind in FUNCTIONS):
        return False
    return not (
        one.kind == "local" and other.kind == "local" and one.node.type == "let_declaration"
    )
