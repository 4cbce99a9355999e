"""Which of a name's meanings a rename is about: of a tree's files, or of one alone.

Each place is renamed (`chosen`), known to be something else (`others`), or undecided (`left`). In a
tree, what every file can see is renamed; local things and those of other projects stay.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from specedit.check.finding import Finding, Spot
from specedit.errors import UsageError
from specedit.rename.questions import doubt
from specedit.scoping.languages import rules_of
from specedit.scoping.languages.calls import can_mean
from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import Meaning, has_sigil, meanings_over, scopes_of, stored_parameters
from specedit.scoping.project import Project
from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Home, Owner
from specedit.scoping.scopes import PLAIN
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN, FREE, MODULE, UNKNOWN
from specedit.syntax.branch import UNPARSED, Branch

WORD = re.compile(r"[^\W\d]\w*")
STATIC_IMPORT = re.compile(rb"\b(?:import|using)\s+static\b")
DESCRIPTIONS = {  # of a meaning without a declaration
    EXTERNAL: "a member of another file's type",
    FOREIGN: "a member of an import",
    UNKNOWN: "a member",
    FREE: "a free name",
    MODULE: "another module's name",
    "implicit": "an undeclared member",
}


@dataclass
class ResolvedName:
    """One family of languages: what the name means in its files, and what is renamed."""

    typings: Mapping[str, Typing]  # by path
    candidates: list[Meaning]
    chosen: list[Meaning] = field(default_factory=list)
    notes: dict[str, list[Finding]] = field(default_factory=dict)  # by path
    left: dict[str, list[tuple[Meaning, str]]] = field(default_factory=dict)  # undecided, and why
    others: dict[str, list[Meaning]] = field(default_factory=dict)  # known to be something else

    def __post_init__(self) -> None:
        self._grouped: dict[int, tuple[int, dict[str, list[Branch]]]] = {}
        self._imports: dict[int, dict[Home | None, list[Declared]]] = {}  # of a meaning, by file

    @property
    def rules(self) -> Rules:
        return next(iter(self.typings.values())).rules

    def chosen_declarations(self) -> Iterator[Declared]:
        return (declared for meaning in self.chosen for declared in meaning.declared)

    def parts(self, meaning: Meaning) -> Iterator[tuple[str, Meaning]]:
        """A meaning by file."""
        return ((path, part) for path in self.typings for part in self.here(path, [meaning]))

    def path_of(self, leaf: Branch) -> str:
        typing = self.typing_of(leaf)
        path: str = typing.project.path(typing.scopes)
        return path

    def typing_of(self, leaf: Branch) -> Typing:
        typing: Typing = next(iter(self.typings.values())).project.over(leaf)
        return typing

    def here(self, path: str, meanings: Iterable[Meaning]) -> list[Meaning]:
        """Of these meanings, what stands in one file, without what others import."""
        home = self.typings[path].scopes
        result = []
        for meaning in meanings:
            if leaves := self._by_path(meaning).get(path):
                known = self._imports[id(meaning)]
                declared = [*known.get(None, ()), *known.get(home, ())]
                result.append(replace(meaning, leaves=leaves, declared=declared))
        return result

    def _by_path(self, meaning: Meaning) -> dict[str, list[Branch]]:
        """A meaning's leaves by file; counted again where it got more of them."""
        count, result = self._grouped.get(id(meaning), (-1, {}))
        if count != len(meaning.leaves):
            result = {}
            for leaf in meaning.leaves:
                result.setdefault(self.path_of(leaf), []).append(leaf)
            self._grouped[id(meaning)] = (len(meaning.leaves), result)
            imports: dict[Home | None, list[Declared]] = {}
            for each in meaning.declared:
                imports.setdefault(None if each.is_own else each.home, []).append(each)
            self._imports[id(meaning)] = imports
        return result

    def pointed_at(
        self, meanings: Iterable[Meaning], at: Callable[[str, Branch], bool]
    ) -> list[Meaning]:
        """The names at a place: those that are declared there first, then from left to right."""

        def there(leaf: Branch) -> bool:
            return at(self.path_of(leaf), leaf)

        here = [meaning for meaning in meanings if any(map(there, meaning.leaves))]
        declared = [
            meaning
            for meaning in here
            if meaning.kind == "label" or any(there(d.leaf) for d in meaning.declared)
        ]
        return sorted(
            declared or here, key=lambda meaning: min(x.start for x in meaning.leaves if there(x))
        )

    def doubt(self, path: str, text: str, lines: Iterable[int] = ()) -> None:
        self.notes.setdefault(path, []).append(doubt(text, lines))

    def parameters_stored(self, name: str, among: Sequence[Meaning], *, derived: bool) -> None:
        """Parameters that a renamed field is set from: renamed too (`derived`), or noted."""
        for meaning, leaf in list(stored_parameters(self.chosen, list(among), self.rules)):
            if not derived:
                text = f"line {leaf.line}: it is set from the parameter `{name}`, which stays"
                self.doubt(self.path_of(leaf), f"{text}; --scope derived renames it", (leaf.line,))
            elif meaning not in self.chosen:
                self.chosen.append(meaning)


def families(project: Project, paths: Iterable[str]) -> list[dict[str, Typing]]:
    """The files that are code, by languages that can see each other."""
    results: dict[str, dict[str, Typing]] = {}
    for path in paths:
        family, typing = family_of(project, path), project.typing(path)
        if family and typing is not None:
            results.setdefault(family, {})[path] = typing
    return list(results.values())


def family_of(project: Project, path: str) -> str:
    """The languages that can see a file's names; "" where it is not code."""
    language = project.language(path)
    rules = rules_of(language.name) if language is not None else None
    return rules.family or language.name if rules is not None and language is not None else ""


def lines_text(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:5])) + ("…" if len(lines) > 5 else "")
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}"


def describe(meaning: Meaning) -> str:
    what = DESCRIPTIONS.get(meaning.kind, meaning.kind)
    if meaning.kind == FOREIGN and meaning.module:
        what = f"a member of {meaning.module}"
    return f"{what} on {lines_text(meaning.lines)}"


def spot_at(data: bytes, start: int, line: int) -> Spot:
    """Where a byte of a line stands, in lines and characters from 1."""
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    return Spot(line, len(before.decode("utf-8", "replace")) + 1)


def without(leaves: Sequence[Branch], others: Sequence[Branch]) -> list[Branch]:
    present = set(map(id, others))
    return [leaf for leaf in leaves if id(leaf) not in present]


def is_foreign(meaning: Meaning, rules: Rules, is_here: Callable[[str], bool]) -> bool:
    """Whether a meaning comes from the language itself or from a module of another project."""
    if meaning.kind == FOREIGN:
        modules = [meaning.module]
    elif any(declared.kind not in ("import", "module") for declared in meaning.declared):
        return False
    else:
        imports = (declared for declared in meaning.declared if declared.kind == "import")
        modules = [rules.module_of(scopes_of(declared), declared) for declared in imports]
    theirs = rules.builtins | {PLAIN}
    return any(module and (module in theirs or not is_here(module)) for module in modules)


def resolve_name(
    typings: Mapping[str, Typing],
    name: str,
    owner: str,
    at: Callable[[str, Branch], bool] | None = None,
    *,
    derived: bool = False,
) -> ResolvedName:
    """The meanings of `name` in these files. `at`: whether a place is the one that is asked for;
    `derived`: a parameter that is stored in a renamed field of the same name is renamed too."""
    resolved = _candidates(typings, name)
    resolved.candidates = [each for each in resolved.candidates if each.kind != "literal"]
    theirs = [each for each in resolved.candidates if _is_theirs(resolved, each)]
    ours = [each for each in resolved.candidates if each not in theirs]
    if at is not None:
        resolved.chosen = _at_place(resolved, ours, at)
    elif owner:
        resolved.chosen = _members_of(ours, owner, resolved.rules)
    else:
        visible = [each for each in ours if _is_declared(each) and not _is_local(each)]
        for stays in (_adds_elsewhere, _is_literal):
            visible = [each for each in visible if not stays(resolved, each)] or visible
        alone = [each for each in visible if not _is_of_class(each)]  # as a bare name says
        others = [each for each in visible if not all(owner.name for owner in each.owners)]
        resolved.chosen = [x for x in visible if x in alone or x in others] if alone else visible
    _include_clear_uses(resolved, ours)
    resolved.parameters_stored(name.lstrip("$"), ours, derived=derived)
    if any(_adds_elsewhere(resolved, each) for each in resolved.chosen):
        theirs = [each for each in theirs if not each.module]
    _sort_unchosen(resolved, theirs)
    return resolved


def resolve_alone(
    typing: Typing,
    name: str,
    owner: str,
    line: int | None,
    is_here: Callable[[str], bool] | None,
    *,
    derived: bool,
) -> ResolvedName:
    """The meanings of `name` in one file, all of which are renamed that `line`, or `owner`, means.

    `is_here`: other files are renamed, too, those of modules that it takes for the project's."""
    path = typing.project.path(typing.scopes)
    resolved = _candidates({path: typing}, name)
    every, old = resolved.candidates, name.lstrip("$")
    if line is None:  # strings are code only where a line says so
        every[:] = [each for each in every if each.kind != "literal"]
    known = any(each.declared for each in every)
    if line is None and is_here is not None:
        ours = [each for each in every if not is_foreign(each, typing.rules, is_here)]
    else:
        ours = [each for each in every if line or not known or each.kind != FOREIGN]
    _join_clear_uses(resolved, ours)
    if line is not None:
        here = resolved.pointed_at(ours, lambda _, leaf: leaf.line == line)
        if not here:
            lines = sorted({at for meaning in ours for at in meaning.lines})
            hint = f"It is on {lines_text(lines)}." if lines else ""
            raise UsageError(f"no `{old}` on line {line}", hint=hint)
        resolved.chosen = here[:1]
        if len(here) > 1:
            text = f"line {line}: `{old}` means {len(here)} things there; the first was renamed"
            resolved.doubt(path, f"{text}: {describe(here[0])}", (line,))
    elif owner:
        resolved.chosen = _members_of(every, owner, resolved.rules)
        if not resolved.chosen:
            holders = sorted({up.name for each in every for up in each.owners} - {""})
            hint = f"It is a member of {', '.join(holders)}." if holders else ""
            raise UsageError(f"`{owner}` has no member `{old}` in this file", hint=hint)
    else:
        resolved.chosen = list(ours)
        if len(resolved.chosen) > 1:
            things = "; ".join(describe(meaning) for meaning in resolved.chosen[:6])
            text = f"`{old}` means {len(resolved.chosen)} things here, all renamed: {things}"
            lines = sorted({at for meaning in resolved.chosen for at in meaning.lines})
            resolved.doubt(path, text, lines)
    chosen = resolved.chosen
    if not any(each.declared for each in chosen) and chosen[:1] and chosen[0].kind != "label":
        text = f"nothing in this file declares `{old}`; rename it where it is declared, too"
        resolved.doubt(path, text)
    if any(each.kind == "literal" for each in chosen):
        resolved.doubt(path, f"every string {old!r} was taken for the same literal")
    literals = [x for x in ours if _is_literal(resolved, x) and x not in resolved.chosen]
    unsure = {FREE, FOREIGN, MODULE, *((UNKNOWN,) if literals else ())}
    sure = [x for x in ours if x.kind not in unsure and x not in literals]
    _include_clear_uses(resolved, sure)
    for each in resolved.candidates if any(x.is_member for x in resolved.chosen) else ():
        if each.kind == UNKNOWN and each not in resolved.chosen and each.leaves:
            text = f"the class before it is not known on {lines_text(each.lines)}: not renamed"
            resolved.doubt(path, text, each.lines)
    resolved.parameters_stored(old, ours, derived=derived)
    return resolved


def _join_clear_uses(resolved: ResolvedName, ours: list[Meaning]) -> None:
    """Uses that can only mean the one thing the file declares, or the one thing it never does."""
    declared = [each for each in ours if each.declared]
    loose = [x for x in ours if not x.declared and x.kind not in ("label", "literal")]
    loosest = (each for each in loose if each.kind in (UNKNOWN, EXTERNAL, FOREIGN, "implicit"))
    main = declared[0] if declared else next(loosest, None)
    if main is None or len(declared) > 1:
        return
    for use in loose:
        leaves = [x for x in use.leaves if use is not main and _is_clear(resolved, main, use, x)]
        if leaves:
            text = f"taken for the same: {describe(replace(use, leaves=leaves))}"
            path = resolved.path_of(leaves[0])
            resolved.doubt(path, text, sorted({leaf.line for leaf in leaves}))
            main.leaves += without(leaves, main.leaves)
            use.leaves = without(use.leaves, leaves)
    ours[:] = [each for each in ours if each.leaves]
    resolved.candidates[:] = [each for each in resolved.candidates if each.leaves]


def _is_clear(resolved: ResolvedName, main: Meaning, use: Meaning, leaf: Branch) -> bool:
    """Whether a use can only mean `main`, where the file declares nothing else of the name."""
    rules, typing = resolved.rules, resolved.typing_of(leaf)
    if not main.declared:  # another class's undeclared member is its own
        return use.kind not in (FREE, MODULE) and {use.kind, main.kind} != {"implicit"}
    if use.kind == MODULE:  # given out under its own name
        above = (up for each in main.declared for up in each.leaf.up())
        return any(up.type in rules.exports for up in above)
    if use.kind == UNKNOWN:
        return main.is_member and can_mean(typing, leaf, [main])
    if use.kind == "implicit":
        return main.is_member or main.kind == "class"
    if use.kind != FREE:
        return False
    if rules.methods_apart and main.kind in {"local", "field", "value", *FUNCTIONS}:
        called = leaf.parent is not None and rules.calls.get(leaf.parent.type) == leaf.field
        if called != (main.kind in FUNCTIONS):
            return False
    if main.is_member:  # only where the member is visible
        owner = typing.enclosing(leaf)
        return owner is not None and any(x in main.owners for x in (owner, *typing.above(owner)))
    return any(each.scope_kind in ("file", "namespace", "class") for each in main.declared)


def _candidates(typings: Mapping[str, Typing], name: str) -> ResolvedName:
    """All that a name means; with a `$`, the variables alone, if there are."""
    result = meanings_over(list(typings.values()), name.lstrip("$"))
    first = next(iter(typings.values()))
    own = [each for each in result if has_sigil(each, first)] if name.startswith("$") else []
    return ResolvedName(typings, own or result)


def _members_of(meanings: Iterable[Meaning], owner: str, rules: Rules) -> list[Meaning]:
    """Of these, the members of a class or a module of this name; its own methods before those
    of its traits (Rust)."""
    found = [
        each
        for each in meanings
        if any(owner in (up.name, PurePath(up.name).stem) for up in each.owners)
    ]
    methods = [x for x in found if x.declared and all(d.kind in FUNCTIONS for d in x.declared)]
    own = [x for x in methods if not any(map(rules.may_override, x.declared))]
    return [each for each in found if each not in methods or each in own or not own]


def choose_locals(resolved: ResolvedName) -> None:
    """Nothing that other files can see has the name: the local things are renamed."""
    resolved.chosen = [each for each in resolved.candidates if _is_declared(each)]
    for path, others in list(resolved.others.items()):
        resolved.others[path] = [each for each in others if not any(each.declared)]
    left, resolved.left = resolved.left, {}
    for path, parts in left.items():
        for part, why in parts:
            uses = [leaf for leaf in part.leaves if _may_mean(resolved, part, path, leaf)]
            if uses:
                resolved.left.setdefault(path, []).append((replace(part, leaves=uses), why))


def choose_every_use(resolved: ResolvedName) -> None:
    """Nothing declares the name: every use that may be the project's is renamed, with a note."""
    stays = [part for parts in resolved.others.values() for part in parts]
    for each in resolved.candidates:
        for path, part in resolved.parts(each):
            if any(other.leaves == part.leaves for other in stays):
                continue
            if each not in resolved.chosen:
                resolved.chosen.append(each)
            text = f"nothing declares it: renamed on {lines_text(part.lines)}"
            resolved.doubt(path, text, part.lines)
    resolved.left.clear()


def _at_place(
    resolved: ResolvedName, ours: Sequence[Meaning], at: Callable[[str, Branch], bool]
) -> list[Meaning]:
    results = resolved.pointed_at(ours, at)
    if len(results) == 1 and results[0].kind == UNKNOWN:  # the one member it can be, if there is
        members = [each for each in ours if each.is_member]
        return [*members, *results] if len(members) == 1 else results
    return results[:1]


def _include_clear_uses(resolved: ResolvedName, ours: Sequence[Meaning]) -> None:
    """Uses that can mean nothing else, as far as the files show: renamed, with a note."""
    rules = resolved.rules
    members = [each for each in ours if each.is_member and not _is_literal(resolved, each)]
    chosen_members = [each for each in resolved.chosen if _is_member(resolved, each)]
    single = [each for each in resolved.chosen if not each.is_member and not _is_local(each)]
    every = all(each in resolved.chosen for each in members)
    for each in ours:
        literal = _is_literal(resolved, each)
        if each in resolved.chosen or (_is_used(each) if literal else _is_declared(each)):
            continue
        taken = each
        if literal and chosen_members:
            takes = every and not _adds_elsewhere(resolved, each)
            text = "an object literal has it"
        elif each.kind == UNKNOWN and chosen_members:
            label = resolved.typing_of(each.leaves[0]).scopes.label(each.leaves[0])
            if label in rules.of_many:
                continue
            leaves = _only_of(resolved, each, members, chosen_members)
            text, takes = "the class before it is not known", bool(leaves)
            if len(leaves) < len(each.leaves):  # the others stay what they are
                taken = replace(each, leaves=leaves)
        elif each.kind == FREE and single and (rules.bare_members or not follows_imports(rules)):
            text = "nothing that the file shows declares it"
            takes = len(single) == 1 and not rules.shows_all
        elif each.kind in (FOREIGN, MODULE) and resolved.chosen and not follows_imports(rules):
            text, takes = "it may come from another module", True
        else:
            continue
        if not takes:
            continue
        if taken is not each:
            each.leaves = without(each.leaves, taken.leaves)
            resolved.candidates.append(taken)
        resolved.chosen.append(taken)
        for path, part in resolved.parts(taken):
            message = f"{text} on {lines_text(part.lines)}; renamed there too"
            resolved.doubt(path, message, part.lines)


def _only_of(
    resolved: ResolvedName, each: Meaning, members: Sequence[Meaning], chosen: Sequence[Meaning]
) -> list[Branch]:
    """The uses of unknown class that can be a chosen member, and no other one."""
    others = [member for member in members if member not in chosen]
    result = []
    for leaf in each.leaves:
        typing = resolved.typing_of(leaf)
        if can_mean(typing, leaf, chosen) and not can_mean(typing, leaf, others):
            result.append(leaf)
    return result


def _sort_unchosen(resolved: ResolvedName, theirs: Sequence[Meaning]) -> None:
    """The places that stay: known to be something else, or undecided."""
    for each in resolved.candidates:
        if each in resolved.chosen:
            continue
        why = _why_undecided(resolved, each, theirs)
        local = _is_declared(each) and _is_local(each)
        for path, part in resolved.parts(each):
            uses: dict[str, list[Branch]] = {}  # by the reason why they are undecided
            for leaf in part.leaves:
                reason = ""
                if resolved.chosen and _is_unparsed(leaf, local=local):
                    reason = "it does not parse there"
                elif why and _may_mean(resolved, each, path, leaf):
                    reason = why
                uses.setdefault(reason, []).append(leaf)
            for reason, leaves in uses.items():
                some = replace(part, leaves=leaves)
                if reason:
                    resolved.left.setdefault(path, []).append((some, reason))
                else:
                    resolved.others.setdefault(path, []).append(some)


def _why_undecided(resolved: ResolvedName, each: Meaning, theirs: Sequence[Meaning]) -> str:
    """Why a meaning may be a chosen one; "" where it is known to be something else."""
    chosen = resolved.chosen
    of_class = any(_is_member(resolved, it) for it in chosen)
    if each not in theirs and not _is_declared(each):
        first = each.leaves[0]
        label = resolved.typing_of(first).scopes.label(first)
        own = each.kind == FREE and label in resolved.rules.prelude  # the language brings it
        led = each.kind == "import" and _leads_elsewhere(resolved, each)
        if not (own or led):
            return {
                UNKNOWN: "the class before it is not known",
                FREE: "nothing that the file shows declares it",
                FOREIGN: f"it may be a member of {each.module or 'an import'}",
                "import": "where it comes from was not found",
            }.get(each.kind, "")
    # type parameters, which no member can mean
    types = bool(chosen) and all(d.kind == "type" for d in resolved.chosen_declarations())
    shorthand = bool(each.owners) and not each.declared  # `{x}`
    shorthand = shorthand and all(up.node.type in resolved.rules.nameless for up in each.owners)
    literal = _is_literal(resolved, each) or shorthand
    if literal and not _is_used(each) and not types and of_class:
        return "an object literal of no known type has it"
    wanted = [owner for it in chosen for owner in it.owners]
    for path, _ in resolved.parts(each) if each not in theirs else ():
        typing = resolved.typings[path]
        if any(resolved.rules.is_alike(typing, own, up) for own in each.owners for up in wanted):
            return "a type with the same members may be meant"
    mine = [declared for declared in resolved.chosen_declarations() if declared.is_own]
    if mine and all(declared.node.type in resolved.rules.constants for declared in mine):
        return ""  # nothing overrides an enum's constant
    if of_class and _extends_unknown(resolved, each):
        return "what its class extends is not known"
    if each.is_member and any(_extends_unknown(resolved, it) for it in chosen):
        return "what the renamed one's class extends is not known"
    return ""


def _leads_elsewhere(resolved: ResolvedName, each: Meaning) -> bool:
    """Whether imports bring in what is known not to be the chosen thing."""
    for declared in each.declared:
        typing = resolved.typing_of(declared.leaf)
        if declared.kind != "import":
            return False
        found = typing.project.imported_declarations(typing, declared)
        if not found and not resolved.rules.imports_module(declared):
            return False
    return bool(each.declared)


def _extends_unknown(resolved: ResolvedName, each: Meaning) -> bool:
    """Whether a member may override a chosen one, by what its class extends."""
    return any(
        resolved.rules.may_override(it) and _misses_base(resolved.typing_of(it.leaf), [it.owner])
        for it in each.declared
        if it.owner
    )


def _misses_base(typing: Typing, owners: Iterable[Owner]) -> bool:
    """Whether one of these extends a variable's value, or a class of the tree that is not found."""
    every = [each for owner in owners for each in (owner, *typing.above(owner))]
    missing = {base for owner in every for base in owner.bases} - {owner.name for owner in every}
    for name in missing:
        found = [typing.lookup(name, owner.node.parent or owner.node) for owner in owners]
        if any(each is not None and each.kind == "parameter" for each in found):
            return True
        if name[:1].isupper() and typing.project.declares(typing, name):
            return True
    return False


def _may_mean(resolved: ResolvedName, each: Meaning, path: str, leaf: Branch) -> bool:
    """Whether a use of unknown meaning can be one of the chosen things by where it stands."""
    rules, chosen, typing = resolved.rules, resolved.chosen, resolved.typings[path]
    declared = resolved.chosen_declarations()
    if chosen and all(map(_is_local, chosen)):
        return any(d.kind == "parameter" for d in declared) and leaf.place in rules.keys
    if each.kind == UNKNOWN and chosen:
        if _names_type(resolved, leaf):
            return any(d.kind in TYPES for d in declared)
        if not any(map(_is_of_class, chosen)):
            values = (rules.is_read_from_values(typing.project, d) for d in declared)
            return not rules.is_value_member(leaf) and any(values)
        known = [meaning for meaning in chosen if meaning.kind != UNKNOWN]
        of_class = all("class" in owner.node.type for it in known for owner in it.owners)
        of_many = typing.scopes.label(leaf) in rules.of_many
        if of_class and of_many and path not in near(resolved, path):
            return False
        return can_mean(typing, leaf, known or chosen)
    if each.kind != FREE:
        return True
    names_type = bool(chosen) and _names_type(resolved, leaf)
    if names_type and not any(d.kind in TYPES for d in declared):
        return False
    if rules.shows_all:
        members = bool(chosen) and all(meaning.is_member for meaning in chosen)
        return _may_be_inherited(typing, leaf, unexplained=members and not names_type)
    if names_type:
        return True
    behind_dots = all(meaning.is_member for meaning in chosen) and all(
        d.kind != "value" and d.node.type not in rules.constants for d in declared
    )
    if behind_dots and leaf.place not in rules.macro_arguments:
        return rules.bare_members and typing.enclosing(leaf) is not None
    return True


def near(resolved: ResolvedName, path: str) -> frozenset[str]:
    """The files where a value of unknown class may be a chosen one: those with the name of such a
    class, and those that they import, or are imported by, as far as words tell."""
    project = resolved.typings[path].project
    owners = [owner for meaning in resolved.chosen for owner in meaning.owners]
    chosen = {id(owner) for owner in owners}
    names = {owner.name for owner in owners}
    for declared in resolved.chosen_declarations():  # a parameter: of a function that is called
        named = declared.scope.node.part("name") if declared.scope is not None else None
        names |= {scopes_of(declared).text(named)} if named is not None else set()
    for typing in resolved.typings.values():
        for owner in typing.scopes.owners:
            above = typing.above(owner)
            if any(id(each) in chosen for each in (owner, *above)):
                names |= {each.name for each in (owner, *above)}
    family = family_of(project, path)

    def find() -> frozenset[str]:
        own = (file for file in project.paths if family_of(project, file) == family)
        words = {file: frozenset(WORD.findall(project.text(file) or "")) for file in own}
        holding = [file for file, known in words.items() if not known.isdisjoint(names)]
        if any(_stem(file) == "conftest" for file in holding):
            return frozenset(words)
        stems = frozenset(map(_stem, holding))
        named = frozenset(word for file in holding for word in words[file])
        return frozenset(
            file
            for file, known in words.items()
            if file in holding or _stem(file) in named or not known.isdisjoint(stems)
        )

    near: frozenset[str] = project.remembered(("near", family, frozenset(names)), find)
    return near


def _stem(path: str) -> str:
    """The word that an import of a file ends in."""
    folder, file = posixpath.split(path)
    stem = file.partition(".")[0]
    return posixpath.basename(folder) if stem in ("__init__", "index") else stem


def _may_be_inherited(typing: Typing, leaf: Branch, *, unexplained: bool) -> bool:
    """Whether a class around a place extends one of the tree that is not known. `unexplained`: or
    whether nothing of another project can have the name there."""
    around = (typing.scopes.by_node.get(id(up)) for up in leaf.up())
    owners = [scope.owner for scope in around if scope is not None and scope.owner is not None]
    bases = any(each.bases for owner in owners for each in (owner, *typing.above(owner)))
    return _misses_base(typing, owners) or (
        unexplained and not bases and not STATIC_IMPORT.search(typing.scopes.data)
    )


def _is_of_class(meaning: Meaning) -> bool:
    """Whether it is a member of something else than a namespace."""
    scopes = (scopes_of(d).by_node.get(id(d.owner.node)) for d in meaning.declared if d.owner)
    kinds = {scope.kind for scope in scopes if scope is not None}
    return meaning.is_member and kinds != {"namespace"}


def _names_type(resolved: ResolvedName, leaf: Branch) -> bool:
    return leaf.type in resolved.rules.type_names or resolved.rules.is_type(leaf)


def _is_unparsed(leaf: Branch, *, local: bool) -> bool:
    """Whether it stands in a part that does not parse. `local`: it means a variable of a function,
    which is certain unless no part of the file parses."""
    return any(up.type == UNPARSED and not (local and up.parent) for up in leaf.up())


def _is_declared(meaning: Meaning) -> bool:
    """Whether the tree says what it is: a declaration, or a member that is set."""
    if any(each.kind not in ("import", "module") for each in meaning.declared):
        return True
    return any(owner.module is None for owner in meaning.owners)


def _is_local(meaning: Meaning) -> bool:
    return not meaning.owners and all(
        each.kind in ("type", "label") or each.is_local
        for each in meaning.declared
        if each.kind not in ("import", "module")
    )


def _is_literal(resolved: ResolvedName, each: Meaning) -> bool:
    """A member of object literals alone, which no type is known to want."""
    owners = [declared.member_of for declared in each.declared]
    nameless = resolved.rules.nameless
    return bool(owners) and all(o is not None and o.node.type in nameless for o in owners)


def _adds_elsewhere(resolved: ResolvedName, each: Meaning) -> bool:
    """Whether a member may be one of another project's class."""
    own = [owner for owner in each.owners if owner.module is None]
    adds = (resolved.rules.adds_elsewhere(resolved.typing_of(up.node), up) for up in own)
    return bool(own) and all(adds)


def _is_member(resolved: ResolvedName, each: Meaning) -> bool:
    """Whether it is a member, and not a function that an object literal stands in for."""
    named = any(owner.node.type not in resolved.rules.nameless for owner in each.owners)
    return each.is_member and (named or all(it.member_of for it in each.declared if it.is_own))


def _is_used(each: Meaning) -> bool:
    """Whether it is met next to where it is declared: an object literal's own member."""
    return len(each.leaves) > max(1, len(each.declared))


def _is_theirs(resolved: ResolvedName, each: Meaning) -> bool:
    """Whether a meaning is known to be another project's."""
    if each.kind == EXTERNAL:
        return True
    if _is_declared(each):
        return False
    first = each.leaves[0]
    project, path = resolved.typing_of(first).project, resolved.path_of(first)
    return is_foreign(each, resolved.rules, lambda module: project.is_here(module, path))


def follows_imports(rules: Rules) -> bool:
    own = type(rules)
    return own.imports is not Rules.imports or own.shared is not Rules.shared
