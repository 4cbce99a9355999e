"""`rename`: where a name means what, what to write there, and the file that predicts.

Tree-sitter finds the places; the model verifies them; `specedit.text.rename_guard` keeps both to
what the scope allows. Knows one file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from specedit.errors import UsageError
from specedit.text import names, syntax
from specedit.text.languages import Language
from specedit.text.meaning import EXTERNAL, FREE, MODULE, UNKNOWN, Meaning, meanings
from specedit.text.regions import Region, regions
from specedit.text.rewrite import Edit, clashes, edits_for, put
from specedit.text.rules import rules_of
from specedit.text.scopes import Declared
from specedit.text.tree import Branch, grow
from specedit.text.typing import Typing

SCOPES = ("code", "comments", "derived")
SHAPE = re.compile(r"['$@:]{0,2}[^\W\d][\w$]*|`[^`\n]+`|--?[\w-]+|[^\W\d][\w-]*")


@dataclass(frozen=True)
class Place:
    """One replacement. `offset` counts characters of the original."""

    offset: int
    line: int
    kind: str  # "code" | "comment" | "string" | "derived"
    replaced: str
    replacement: str


@dataclass(frozen=True)
class Outside:
    """Mentions the scope leaves alone, and the flag that would take them in."""

    name: str
    places: int
    lines: tuple[int, ...]
    flag: str

    def __str__(self) -> str:
        many = "place" if self.places == 1 else "places"
        return f"not renamed: {self.name}, {self.places} {many}; {self.flag}"


@dataclass(frozen=True)
class Collision:
    """NEW means something there already."""

    line: int
    message: str


@dataclass(frozen=True)
class RenameGuess:
    """The predicted text and everything a person should know about it."""

    old: str
    new: str
    text: str
    places: tuple[Place, ...]
    outside: tuple[Outside, ...] = ()
    collisions: tuple[Collision, ...] = ()
    scopes: int = 0  # how many things of that name were renamed
    notes: tuple[str, ...] = ()  # where a reader should look twice
    allowed: tuple[tuple[str, str], ...] = ()  # every (replaced, replacement) the scope permits

    @property
    def clean(self) -> bool:
        """Nothing to look at twice: no note, no collision, the name itself is nowhere left."""
        left = any(one.name.startswith(f"{self.old} in ") for one in self.outside)
        return not self.notes and not self.collisions and not left


def rename_places(
    text: str,
    language: Language | None,
    old: str,
    new: str,
    scope: str = "comments",
    line: int | None = None,
) -> RenameGuess:
    """The predicted rename of `old` (or `Class.member`) to `new`; `line` selects one meaning."""
    owner, old = _split(old)
    _check(text, old, new, scope)
    rules = rules_of(language.name) if language else None
    if language is None or rules is None:
        return _words(text, language, old, new, scope)
    dialect = syntax.dialect(text, language)
    found, typing = meanings(text, dialect, old.lstrip("$"))
    if old.startswith("$"):
        found = [one for one in found if _is_variable(one, typing)] or found
        old, new = old.lstrip("$"), new.lstrip("$")
    chosen, notes = _choose(found, typing, owner, line, old)
    data = typing.scopes.data
    edits = {edit.start: edit for edit in edits_for(chosen, found, typing, old, new)}
    parts = regions(typing.scopes.root, rules, data)
    inside = _reach(chosen, found, typing) if len(chosen) < len(found) else None
    comments = list(_comment_edits(data, parts, old, new, inside))
    wider = list(_derived_edits(data, parts, typing, old, new))
    code = list(edits.values()) + list(_opaque_edits(data, parts, old, new))
    levels = [code, comments, wider]
    taken = SCOPES.index(scope) + 1
    exact = [any(edit.old == old for edit in level) for level in levels]
    if not any(exact[:taken]) and any(exact):
        taken = exact.index(True) + 1
        notes.append(
            f"`{old}` is no identifier in this file: renamed in "
            f"{'comments' if taken == 2 else 'strings and derived names'}"
        )
    kept = [edit for level in levels[:taken] for edit in level]
    outside = _outside(levels, taken) + _others(found, chosen, old)
    renamed = _finish(text, data, old, new, kept)
    spelled = sorted({place.line for place in renamed[1] if _spelled_out(place)})
    if spelled:
        notes.append(f"a shorthand was spelled out on {_lines(spelled)}")
    if not _still_names(typing.scopes.root, grow(renamed[0], dialect), kept):
        notes.append(f"`{new}` is read as something else than a name there")
    return RenameGuess(
        old,
        new,
        renamed[0],
        renamed[1],
        tuple(outside),
        tuple(Collision(*one) for one in clashes(chosen, typing, new)),
        len(chosen),
        tuple(notes),
        tuple(sorted({(edit.old, edit.new) for edit in kept})),
    )


def _split(old: str) -> tuple[str, str]:
    """`Class.member` to its parts; lifetimes, `@x` and `$x` are names."""
    found = re.fullmatch(r"(.+?)(?:\.|::|#|->)\$?([^.:#>]+)", old)
    return (re.split(r"\.|::", found[1])[-1], found[2]) if found else ("", old)


def _check(text: str, old: str, new: str, scope: str) -> None:
    if scope not in SCOPES:
        raise UsageError(f"unknown scope {scope!r}", hint=f"One of {', '.join(SCOPES)}.")
    for name in (old, new):
        if not SHAPE.fullmatch(name):
            raise UsageError(f"{name!r} is not an identifier")
    if old.strip("'`$@") == "_":
        raise UsageError(f"{old!r} is a blank, not a name")
    if old == new:
        raise UsageError(f"OLD and NEW are both {old!r}")
    if old.lower() not in text.lower():
        raise UsageError(f"`{old}` does not occur in the file", hint=_near(text, old))


def _near(text: str, old: str) -> str:
    import difflib

    known = sorted(set(names.NAME.findall(text)))
    near = difflib.get_close_matches(old, known, n=3)
    return f"Did you mean {', '.join(near)}?" if near else "Check the spelling."


def _is_variable(one: Meaning, typing: Typing) -> bool:
    return any(
        leaf.parent is not None and leaf.parent.type == "variable_name" for leaf in one.leaves
    )


def _choose(
    found: list[Meaning], typing: Typing, owner: str, line: int | None, old: str
) -> tuple[list[Meaning], list[str]]:
    """The meanings to rename, and what is uncertain about that choice."""
    notes = _gather(found, typing)
    members = [one for one in found if one.is_member]
    unknown = next((one for one in found if one.kind == UNKNOWN), None)
    if line is None:  # strings are code only where a line says so
        found[:] = [one for one in found if one.kind != "literal"]
    chosen = list(found)
    if owner:
        chosen = [one for one in found if any(holder.name == owner for holder in one.owners)]
        if not chosen:
            holders = sorted({holder.name for one in members for holder in one.owners} - {""})
            hint = f"It is a member of {', '.join(holders)}." if holders else ""
            raise UsageError(f"`{owner}` has no member `{old}` in this file", hint=hint)
    if line is not None:
        here = [one for one in chosen if line in one.lines]
        if not here:
            lines = sorted({at for one in chosen for at in one.lines})
            raise UsageError(
                f"no `{old}` on line {line}",
                hint=f"It is on {'line' if len(lines) == 1 else 'lines'} "
                f"{', '.join(map(str, lines[:12]))}."
                if lines
                else "",
            )
        first = [
            one
            for one in here
            if one.kind == "label" or any(d.leaf.line == line for d in one.declared)
        ]
        chosen = first or here
        if len(chosen) > 1:  # the leftmost on the line, as a reader would point at it
            chosen.sort(key=lambda one: min(leaf.start for leaf in one.leaves if leaf.line == line))
            notes.append(
                f"line {line}: `{old}` means {len(chosen)} things there; "
                f"the first was renamed: {_describe(chosen[0])}"
            )
            chosen = chosen[:1]
    if line is None and not owner and len(chosen) > 1:
        notes.append(
            f"`{old}` means {len(chosen)} things here, all renamed: "
            + "; ".join(_describe(one) for one in chosen[:6])
        )
    if unknown is not None and unknown not in chosen and any(one.is_member for one in chosen):
        chosen.append(unknown)
        notes.append(
            f"the class before .{old} is not known on {_lines(unknown.lines)}; renamed there too"
        )
    if any(one.kind == "literal" for one in chosen):
        notes.append(f"every string {old!r} was taken for the same literal")
    if chosen and not any(one.declared for one in chosen) and chosen[0].kind != "label":
        notes.append(f"nothing in this file declares `{old}`; rename it where it is declared, too")
    notes += _overrides(chosen, typing) + _overloads(chosen, typing)
    notes += _cycles(chosen, typing) + _namesakes(chosen, found, typing)
    return chosen, notes


def _gather(found: list[Meaning], typing: Typing) -> list[str]:
    """Uses that can only mean the one thing this file declares, or the one thing it never does."""
    declared = [one for one in found if one.declared]
    loose = [one for one in found if not one.declared and one.kind not in ("label", "literal")]
    if len(declared) > 1:
        return []
    if declared:
        main = declared[0]
        seen = [one.scope.kind for one in main.declared if one.scope is not None]
        local = not main.is_member and not {"file", "namespace", "class"} & set(seen)
        joins = {UNKNOWN, "implicit"} if main.is_member else set()
        joins |= set() if local else {FREE}
        joins |= {"implicit"} if main.kind == "class" else set()
        joins |= {MODULE} if _is_given_out(main) else set()
    else:
        joins = {UNKNOWN, EXTERNAL, "implicit"}
        main = next((one for one in loose if one.kind in joins), Meaning(FREE))
    notes = []
    for one in loose:
        if one is not main and one.kind in joins:
            main.leaves += [leaf for leaf in one.leaves if leaf not in main.leaves]
            found.remove(one)
            notes.append(f"taken for the same: {_describe(one)}")
    return notes


def _is_given_out(one: Meaning) -> bool:
    """Declared here and exported under its own name."""
    return any(up.type == "export_statement" for x in one.declared for up in x.leaf.up())


def _describe(one: Meaning) -> str:
    kind = {
        EXTERNAL: "a member of another file's type",
        UNKNOWN: "a member",
        FREE: "a free name",
        MODULE: "another module's name",
        "implicit": "an undeclared member",
    }
    return f"{kind.get(one.kind, one.kind)} on {_lines(one.lines)}"


def _lines(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:5])) + ("…" if len(lines) > 5 else "")
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}"


def _overrides(chosen: list[Meaning], typing: Typing) -> list[str]:
    """Members that override something this file does not show."""
    found = []
    for one in chosen:
        for declared in one.declared:
            node = declared.node
            head = typing.scopes.data[node.start : declared.leaf.start]
            if declared.owner is None or not re.search(rb"\boverride\b|@Override\b", head):
                continue
            above = typing.above(declared.owner)
            if not any(declared.name in base.members for base in above):
                found.append(
                    f"line {declared.leaf.line}: `{declared.name}` overrides a member of a type "
                    "outside this file"
                )
    return found


def _cycles(chosen: list[Meaning], typing: Typing) -> list[str]:
    """Classes that extend each other: whose member is whose, nobody can say."""
    for one in chosen:
        for owner in one.owners:
            for base in typing.above(owner):
                if owner in typing.above(base):
                    return [f"{owner.name} and {base.name} extend each other"]
    return []


def _namesakes(chosen: list[Meaning], found: list[Meaning], typing: Typing) -> list[str]:
    """Parameters that set a renamed member and keep its old name."""
    notes = []
    members = {id(leaf) for one in chosen if one.is_member for leaf in one.leaves}
    for one in found:
        if one in chosen or one.kind != "parameter":
            continue
        for leaf in one.leaves:
            sides = ("assignment_expression.right", "assignment.right")
            target = leaf.parent.part("left") if leaf.parent and leaf.place in sides else None
            if target is not None and any(id(x) in members for x in target.walk()):
                notes.append(
                    f"line {leaf.line}: it is set from `{one.declared[0].name}`, which stays"
                )
    return notes


def _overloads(chosen: list[Meaning], typing: Typing) -> list[str]:
    """Methods of one name in one class that are told apart by their parameters."""
    found = []
    for one in chosen:
        methods: dict[int, list[Declared]] = {}
        for declared in one.declared:
            if declared.kind == "method" and declared.node.part("body") is not None:
                methods.setdefault(id(declared.owner), []).append(declared)
        for same in methods.values():
            if len(same) > 1 and typing.rules.overloads:
                lines = _lines([method.leaf.line for method in same])
                found.append(f"{len(same)} overloads were renamed together: {lines}")
    return found


def _reach(chosen: list[Meaning], found: list[Meaning], typing: Typing) -> list[Region] | None:
    """Where comments may speak of the chosen meanings; None: everywhere."""
    local = ("local", "parameter", "type", "label")
    if not all(one.kind in local for one in chosen):
        return None
    reach = []
    for one in chosen:
        for declared in one.declared:
            node = declared.scope.node if declared.scope is not None else declared.node
            start = node.start
            for sibling in reversed(node.parent.children if node.parent else []):
                if sibling.end <= start and "comment" in sibling.type:
                    start = sibling.start
            reach.append(Region(start, node.end, ""))
    return reach


def _comment_edits(
    data: bytes, parts: list[Region], old: str, new: str, inside: list[Region] | None
) -> list[Edit]:
    spellings = names.variants(old, new)
    found = []
    for part in parts:
        if part.kind != "comment":
            continue
        if inside is not None and not any(r.start <= part.start < r.end for r in inside):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        for offset, there, put_there in names.mentions(text, spellings):
            if not _speaks(text, offset, there):
                continue
            start = part.start + len(text[:offset].encode())
            found.append(Edit(start, start + len(there.encode()), there, put_there, "comment"))
    return found


def _speaks(text: str, offset: int, there: str) -> bool:
    """Whether a short or everyday word in a comment means the name: only when marked as code."""
    if len(there) >= names.SHORT and there.lower() not in names.COMMON:
        return True
    before, after = text[:offset][-12:], text[offset + len(there) :][:1]
    return bool(re.search(r"[`'\"\[{]$|@param\s+$|:param\s+$|name=\"$", before)) or after in "`'\"("


def _opaque_edits(data: bytes, parts: list[Region], old: str, new: str) -> list[Edit]:
    """Macro bodies are code that no grammar parsed: whole words."""
    found = []
    for part in parts:
        if part.kind == "opaque":
            text = data[part.start : part.end].decode("utf-8", "replace")
            for offset, there, put_there in names.mentions(text, {old: new}):
                start = part.start + len(text[:offset].encode())
                found.append(Edit(start, start + len(there.encode()), there, put_there, "code"))
    return found


def _derived_edits(
    data: bytes, parts: list[Region], typing: Typing, old: str, new: str
) -> list[Edit]:
    """Names built from OLD anywhere, and its mentions in strings."""
    found = []
    for leaf, name in typing.scopes.leaves:
        if name != old and leaf.type not in ("string_fragment", "interpreted_string_literal"):
            written = names.derived(name, old, new)
            if written is not None:
                start = leaf.end - len(name.encode())
                found.append(Edit(start, leaf.end, name, written, "derived"))
    spellings = names.variants(old, new)
    for part in parts:
        if part.kind not in ("string", "comment"):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        taken = set()
        if part.kind == "string":
            for offset, there, put_there in names.mentions(text, spellings):
                taken.add(offset)
                start = part.start + len(text[:offset].encode())
                found.append(Edit(start, start + len(there.encode()), there, put_there, "string"))
        for match in names.NAME.finditer(text):
            if match[0] in spellings or match.start() in taken:
                continue
            written = names.derived(match[0], old, new)
            if written is not None:
                start = part.start + len(text[: match.start()].encode())
                found.append(
                    Edit(start, start + len(match[0].encode()), match[0], written, "derived")
                )
    return found


def _outside(levels: list[list[Edit]], taken: int) -> list[Outside]:
    flags = {
        "comment": "--scope comments",
        "derived": "--scope derived",
        "string": "--scope derived",
    }
    counted: Counter[tuple[str, str]] = Counter()
    for level in levels[taken:]:
        for edit in level:
            counted[(edit.old, edit.kind)] += 1
    where = {"comment": " in comments", "string": " in strings"}
    return [
        Outside(name + where.get(kind, ""), many, (), flags[kind])
        for (name, kind), many in sorted(counted.items())
    ]


def _others(found: list[Meaning], chosen: list[Meaning], old: str) -> list[Outside]:
    return [
        Outside(
            f"{old} ({_describe(one)})", len(one.leaves), tuple(one.lines), f"--line {one.lines[0]}"
        )
        for one in found
        if one not in chosen
    ]


def _finish(
    text: str, data: bytes, old: str, new: str, edits: list[Edit]
) -> tuple[str, tuple[Place, ...]]:
    kept, written = put(data, edits)
    places = []
    for edit in kept:
        offset = len(data[: edit.start].decode("utf-8", "surrogatepass"))
        line = data.count(b"\n", 0, edit.start) + 1
        places.append(Place(offset, line, edit.kind, edit.old, edit.new))
    return written.decode("utf-8", "surrogatepass"), tuple(places)


def _spelled_out(place: Place) -> bool:
    return place.kind == "code" and ": " in place.replacement and ": " not in place.replaced


def _still_names(before: Branch, after: Branch, edits: list[Edit]) -> bool:
    """Whether the tree has the shape it had: NEW is no keyword, and opens or closes nothing."""
    if any(edit.kind == "code" and not SHAPE.fullmatch(edit.new) for edit in edits):
        return True  # a shorthand was spelled out: the shape changes by design
    pairs = zip(before.walk(), after.walk(), strict=False)
    return all(one.type == other.type for one, other in pairs)


def _words(text: str, language: Language | None, old: str, new: str, scope: str) -> RenameGuess:
    """A language without scope rules: every whole word outside comments."""
    data = text.encode("utf-8", "surrogatepass")
    root = grow(text, language) if language is not None and language.grammar else None
    parts = regions(root, None, data) if root is not None else []
    spans = [part for part in parts if part.kind == "comment"]
    edits: list[Edit] = []
    comments: list[Edit] = []
    for offset, there, put_there in names.mentions(text, {old: new}):
        start = len(text[:offset].encode("utf-8", "surrogatepass"))
        commented = any(span.start <= start < span.end for span in spans)
        edit = Edit(
            start, start + len(there.encode()), there, put_there, "comment" if commented else "code"
        )
        (comments if commented else edits).append(edit)
    if scope != "code" and spans:
        comments = _comment_edits(data, parts, old, new, None)
    levels = [edits, comments]
    taken = 1 if scope == "code" and edits else 2
    kept = [edit for level in levels[:taken] for edit in level]
    written, places = _finish(text, data, old, new, kept)
    named = language.name if language else "this language"
    return RenameGuess(
        old,
        new,
        written,
        places,
        tuple(_outside(levels, taken)),
        scopes=1,
        notes=(f"scopes not checked: {named} has no rules for names; whole words were replaced",),
        allowed=tuple(sorted({(edit.old, edit.new) for edit in kept})),
    )


__all__ = ["SCOPES", "Branch", "Collision", "Outside", "Place", "RenameGuess", "rename_places"]
