"""Which of a name's meanings to rename in one file alone, and what is uncertain about that.

`--line` and `Class.member` select; uses that can mean nothing else are included, with a note.
"""

from __future__ import annotations

from collections.abc import Callable

from specedit.check.finding import Finding
from specedit.errors import UsageError
from specedit.rename.guess import doubt, lines_text, stays_as_parameter
from specedit.rename.resolution import ResolvedName, is_foreign, without
from specedit.scoping.languages.calls import can_mean
from specedit.scoping.meaning import Meaning, stored_parameters
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN, FREE, MODULE, UNKNOWN
from specedit.syntax.branch import Branch


def choose(
    resolved: ResolvedName,
    owner: str,
    line: int | None,
    old: str,
    is_here: Callable[[str], bool] | None = None,
    *,
    derived: bool = False,
) -> None:
    """Decide which meanings of one file are renamed, and note what is uncertain about that.

    `is_here`: other files are renamed, too, those of modules that it takes for the project's.
    `derived`: a parameter that is stored in a renamed field of the same name is renamed too."""
    ((path, typing),), candidates = resolved.typings.items(), resolved.candidates
    elsewhere = _elsewhere(candidates, typing, is_here) if line is None else []
    candidates[:] = [candidate for candidate in candidates if candidate not in elsewhere]
    notes = _gather(candidates, typing)
    members = [candidate for candidate in candidates if candidate.is_member]
    unknown = next((candidate for candidate in candidates if candidate.kind == UNKNOWN), None)
    if line is None:  # strings are code only where a line says so
        candidates[:] = [candidate for candidate in candidates if candidate.kind != "literal"]
    chosen = list(candidates)
    candidates += elsewhere
    if owner:
        chosen = [
            candidate
            for candidate in candidates
            if any(holder.name == owner for holder in candidate.owners)
        ]
        if not chosen:
            holders = sorted({holder.name for member in members for holder in member.owners} - {""})
            hint = f"It is a member of {', '.join(holders)}." if holders else ""
            raise UsageError(f"`{owner}` has no member `{old}` in this file", hint=hint)
    if line is not None:
        here = resolved.pointed_at(chosen, lambda _, leaf: leaf.line == line)
        if not here:
            lines = sorted({at for meaning in chosen for at in meaning.lines})
            hint = f"It is on {lines_text(lines)}." if lines else ""
            raise UsageError(f"no `{old}` on line {line}", hint=hint)
        chosen = here[:1]
        if len(here) > 1:
            message = f"line {line}: `{old}` means {len(here)} things there; the first was renamed"
            notes.append(doubt(f"{message}: {describe(here[0])}", (line,)))
    if line is None and not owner and len(chosen) > 1:
        things = "; ".join(describe(meaning) for meaning in chosen[:6])
        message = f"`{old}` means {len(chosen)} things here, all renamed: {things}"
        notes.append(doubt(message, sorted({at for meaning in chosen for at in meaning.lines})))
    if (
        unknown is not None
        and unknown not in chosen
        and any(meaning.is_member for meaning in chosen)
    ):
        others = [member for member in members if member not in chosen]
        stays = [leaf for leaf in unknown.leaves if can_mean(typing, leaf, others)]
        taken = Meaning(UNKNOWN, leaves=without(unknown.leaves, stays))
        for meaning, what in ((taken, "; renamed there too"), (Meaning(UNKNOWN, leaves=stays), "")):
            message = f"the class before .{old} is not known on {lines_text(meaning.lines)}"
            if meaning.leaves:
                notes.append(doubt(message + (what or ": not renamed"), meaning.lines))
        if taken.leaves:
            unknown.leaves = stays
            chosen.append(taken)
            candidates.append(taken)
    if any(meaning.kind == "literal" for meaning in chosen):
        notes.append(doubt(f"every string {old!r} was taken for the same literal"))
    if derived:
        chosen += {
            id(meaning): meaning
            for meaning, _ in stored_parameters(chosen, candidates, typing.rules)
        }.values()
    if chosen and not any(meaning.declared for meaning in chosen) and chosen[0].kind != "label":
        message = f"nothing in this file declares `{old}`; rename it where it is declared, too"
        notes.append(doubt(message))
    notes += _overloads(chosen, typing) + _cycles(chosen, typing)
    notes += [
        doubt(stays_as_parameter(leaf, old), (leaf.line,))
        for _, leaf in stored_parameters(chosen, candidates, typing.rules)
    ]
    notes += _literals(chosen, candidates, typing.rules.nameless)
    resolved.chosen, resolved.notes[path] = chosen, notes


def _elsewhere(
    candidates: list[Meaning], typing: Typing, is_here: Callable[[str], bool] | None
) -> list[Meaning]:
    """The places of another module that only have the name of what is renamed."""
    if is_here is None:
        known = any(candidate.declared for candidate in candidates)
        return [candidate for candidate in candidates if known and candidate.kind == FOREIGN]
    return [candidate for candidate in candidates if is_foreign(candidate, typing.rules, is_here)]


def _gather(candidates: list[Meaning], typing: Typing) -> list[Finding]:
    """Uses that can only mean the one thing this file declares, or the one thing it never does."""
    declared = [candidate for candidate in candidates if candidate.declared]
    loose = [
        candidate
        for candidate in candidates
        if not candidate.declared and candidate.kind not in ("label", "literal")
    ]
    if len(declared) > 1:
        return []
    if declared:
        main = declared[0]
        seen = [
            declaration.scope.kind for declaration in main.declared if declaration.scope is not None
        ]
        local = not main.is_member and not {"file", "namespace", "class"} & set(seen)
        joins = {UNKNOWN, "implicit"} if main.is_member else set()
        joins |= set() if local else {FREE}
        joins |= {"implicit"} if main.kind == "class" else set()
        joins |= {MODULE} if _is_given_out(main, typing.rules.exports) else set()
    else:
        joins = {UNKNOWN, EXTERNAL, FOREIGN, "implicit"}
        main = next((meaning for meaning in loose if meaning.kind in joins), Meaning(FREE))
        joins -= {"implicit"} if main.kind == "implicit" else set()  # another class's is its own
    notes = []
    for meaning in loose:
        if meaning.kind == FREE and main.is_member:  # only where the member is visible
            inside = [leaf for leaf in meaning.leaves if _is_inside(leaf, main, typing)]
            outside = without(meaning.leaves, inside)
            if inside and outside:
                candidates.append(Meaning(FREE, leaves=outside))
                meaning.leaves = inside
            elif outside:
                continue
        if meaning.kind == FREE and _is_apart(meaning, main, typing):
            continue
        if meaning is not main and meaning.kind in joins:
            main.leaves += without(meaning.leaves, main.leaves)
            candidates.remove(meaning)
            notes.append(doubt(f"taken for the same: {describe(meaning)}", meaning.lines))
    return notes


def _is_inside(leaf: Branch, main: Meaning, typing: Typing) -> bool:
    """Whether a bare name stands in a class that has the member, or in one made from it."""
    owner = typing.enclosing(leaf)
    return owner is not None and any(x in main.owners for x in (owner, *typing.above(owner)))


def _is_apart(meaning: Meaning, main: Meaning, typing: Typing) -> bool:
    """Whether one is called and the other is a variable, where those are named apart."""
    if not typing.rules.methods_apart or main.kind not in {"local", "field", "value", *FUNCTIONS}:
        return False
    calls = {typing.rules.calls.get(x.parent.type) == x.field for x in meaning.leaves if x.parent}
    return calls == {main.kind not in FUNCTIONS}


def _is_given_out(meaning: Meaning, exports: frozenset[str]) -> bool:
    """Declared here and exported under its own name."""
    return any(up.type in exports for x in meaning.declared for up in x.leaf.up())


def describe(meaning: Meaning) -> str:
    kind = {
        EXTERNAL: "a member of another file's type",
        FOREIGN: f"a member of {meaning.module}" if meaning.module else "a member of an import",
        UNKNOWN: "a member",
        FREE: "a free name",
        MODULE: "another module's name",
        "implicit": "an undeclared member",
    }
    return f"{kind.get(meaning.kind, meaning.kind)} on {lines_text(meaning.lines)}"


def _cycles(chosen: list[Meaning], typing: Typing) -> list[Finding]:
    """Classes that extend each other: a member cannot be assigned to one of them."""
    for meaning in chosen:
        for owner in meaning.owners:
            for base in typing.above(owner):
                if owner in typing.above(base):
                    return [doubt(f"{owner.name} and {base.name} extend each other")]
    return []


def _literals(
    chosen: list[Meaning], candidates: list[Meaning], nameless: frozenset[str]
) -> list[Finding]:
    """Object literals of no known class that have a member of the name."""
    if not any(meaning.is_member for meaning in chosen):
        return []
    lines = sorted(
        line
        for candidate in candidates
        if candidate not in chosen
        and candidate.owners
        and all(x.node.type in nameless for x in candidate.owners)
        for line in candidate.lines
    )
    message = f"an object literal may have it, too, and stays: {lines_text(lines)}"
    return [doubt(message, lines)] if lines else []


def _overloads(chosen: list[Meaning], typing: Typing) -> list[Finding]:
    """Methods of one name in one class that differ in their parameters."""
    results = []
    for meaning in chosen:
        methods: dict[int, list[Declared]] = {}
        for declared in meaning.declared:
            if declared.kind == "method" and declared.node.part("body") is not None:
                methods.setdefault(id(declared.owner), []).append(declared)
        for same in methods.values():
            if len(same) > 1 and typing.rules.overloads:
                lines = [method.leaf.line for method in same]
                message = f"{len(same)} overloads were renamed together: {lines_text(lines)}"
                results.append(doubt(message, lines))
    return results
