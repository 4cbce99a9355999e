"""A rename of a whole work tree: what becomes of each of its files, before any model is asked.

A name that is taken anywhere is found here, so that nothing is written where something is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from specedit.check.finding import SEVERAL, Finding
from specedit.errors import UsageError, listed
from specedit.rename.mentions import configuration_renamed, is_prose, rename_prose, string_rewrites
from specedit.rename.new_name import taken_elsewhere
from specedit.rename.places import MANY_NAMES, called, checked_names, guessed
from specedit.rename.questions import RenameGuess, doubt, without_prose
from specedit.rename.resolution import (
    DESCRIPTIONS,
    ResolvedName,
    choose_every_use,
    choose_locals,
    families,
    family_of,
    lines_text,
    resolve_name,
    spot_at,
)
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Meaning, scopes_of
from specedit.scoping.project import JVM, Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import Branch
from specedit.syntax.lines import places_of

MAX_NAMED_PLACES = 4  # declarations, or files, that are named in a sentence
MAX_SEARCHED_FILES = 2000  # for names that are like one that nothing declares


@dataclass(frozen=True, slots=True)
class Target:
    """Characters [start, end] of a file; a name that touches them is the one to rename."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class UseLeft:
    """A use that may mean what is renamed, and whose meaning the files do not tell: it stays."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class TreeRename:
    """A guess for each file that changes, and why the others stay; by paths from the top."""

    old: str
    new: str
    files: dict[str, RenameGuess]
    unchanged: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    declared: tuple[tuple[str, int, str], ...] = ()  # path, line, what is declared there
    moves: Mapping[str, str] = field(default_factory=dict)  # files named after a renamed class

    def only(self, paths: Collection[str]) -> TreeRename:
        """The part of it that is in these files, with a word about the others, once."""
        files = {path: guess for path, guess in self.files.items() if path in paths}
        rest = {path: guess for path, guess in self.files.items() if path not in paths}
        unchanged = {path: notes for path, notes in self.unchanged.items() if path in paths}
        if rest and files:
            where = [f"{path}:{line}" for path, line, _ in self.declared if path not in paths]
            used = {path: [place.line for place in guess.places] for path, guess in rest.items()}
            add(files, next(iter(files)), doubt(used_in(used, where[0] if where else "")))
        moves = {path: to for path, to in self.moves.items() if path in files}
        return replace(self, files=files, unchanged=unchanged, moves=moves)

    def without_prose(self, project: Project, why: str) -> TreeRename:
        """The rename without mentions that may be ordinary language."""
        left = {
            path: without_prose(project.text(path) or "", guess, why)
            for path, guess in self.files.items()
        }
        files = {path: guess for path, guess in left.items() if guess.places}
        unchanged = {path: guess.undecided for path, guess in left.items() if not guess.places}
        return replace(self, files=files, unchanged={**self.unchanged, **unchanged})

    @property
    def collisions(self) -> Iterator[tuple[str, Finding]]:
        for path, guess in self.files.items():
            yield from ((path, collision) for collision in guess.collisions)

    @property
    def undecided(self) -> dict[str, tuple[Finding, ...]]:
        own = {path: guess.undecided for path, guess in self.files.items() if guess.undecided}
        unchanged = {
            path: findings
            for path, findings in self.unchanged.items()
            if findings[0].kind != "stays"
        }
        return {**unchanged, **own}

    @property
    def left(self) -> tuple[UseLeft, ...]:
        """The uses that stay although they may be meant: with one, the rename is incomplete."""
        uses = (
            UseLeft(path, spot.line, spot.column)
            for path, findings in self.undecided.items()
            for finding in findings
            if finding.kind == "undecided"
            for spot in finding.places
        )
        return tuple(sorted(uses))


def add(
    files: dict[str, RenameGuess], path: str, *notes: Finding, collisions: Iterable[Finding] = ()
) -> None:
    """Add notes, or collisions, to what is known of a file."""
    guess = files[path]
    both = (*guess.collisions, *collisions)
    files[path] = replace(guess, notes=(*guess.notes, *notes), collisions=both)


def rename_tree(
    project: Project,
    paths: Sequence[str],
    old: str,
    new: str,
    scope: str,
    target: Target | None = None,
    *,
    strict: bool = True,
) -> TreeRename:
    """`paths`: the files that hold the name, in any spelling that the scope allows. `strict`: what
    nothing declares is an error; else it is renamed all the same, with a note."""
    owner, name = names.split_member(old)
    name, new = checked_names(name, new, scope)
    derives = scope == "derived"
    exact = [path for path in paths if name.lstrip("$") in (project.text(path) or "")]
    others = [path for path in _otherwise(project, exact, name) if path not in paths]
    exact, paths = [*exact, *others], [*paths, *others]
    every = _decided(project, exact, owner, name, target, strict=strict, derived=derives)
    chosen = any(resolved.chosen for resolved in every)
    if (strict or owner) and not chosen and not derives:
        refuse_nothing(project, owner, name, every)
    files: dict[str, RenameGuess] = {}
    left: dict[str, tuple[Finding, ...]] = {}
    for resolved in every:
        for path, typing in resolved.typings.items():
            named = string_rewrites(project, path, typing, every, name, new) if chosen else []
            if resolved.chosen or derives or named:
                # one thing of several: a comment speaks of it only next to it
                apart = bool(owner or target) and not resolved.here(path, resolved.chosen)
                kept = frozenset[int]()
                if derives:
                    kept = _kept_names(project, resolved.typings, path, name, new)
                guess = guessed(
                    resolved,
                    path,
                    name.lstrip("$"),
                    new.lstrip("$"),
                    "code" if apart and not derives else scope,
                    whole_tree=True,
                    kept_names=kept,
                    named_strings=named,
                )
                if resolved.chosen:  # else only a string there names another language's thing
                    guess = _with_others(project, guess, resolved, path, name)
                if guess.places:
                    files[path] = guess
                else:
                    left[path] = guess.undecided or tuple(_why_unchanged(guess))
            elif chosen:
                here = resolved.here(path, resolved.candidates)
                lines = sorted({line for part in here for line in part.lines})
                text = f"nothing of this language declares `{name}`: not renamed"
                kind = "undecided" if _may_call(resolved, every) else "stays"
                left[path] = (doubt(text, lines, kind),) if lines else ()
    for path in paths:
        if path not in files and path not in left:
            alone = _derived_only(project, path, owner, name, new) if derives else None
            alone = alone or configuration_renamed(project, path, every, name, new)
            if alone is not None and alone.places:
                files[path] = alone
            else:
                findings = (finding for guess in files.values() for finding in guess.outside)
                hints = not derives and not any(MANY_NAMES in finding.text for finding in findings)
                left[path] = tuple(_why_unread(project, path, name, hints))
    if not files and strict:
        refuse_nothing(project, owner, name, every)
    for path, finding in _accessed(project, every):
        if path in files:
            files[path] = replace(files[path], undecided=(*files[path].undecided, finding))
        else:
            left[path] = (finding, *left.get(path, ()))
    for resolved in every:
        for path, collision in taken_elsewhere(project, resolved, new):
            if path in files:
                add(files, path, collisions=[collision])
    declared = tuple(_declared_in(project, every))
    moves = {path: to for path, to in _moves(project, every, name, new) if path in files}
    for path, to in moves.items():
        exists = [doubt(f"{to} exists already", (), "taken")] if to in project.paths else []
        moved = Finding("moved", f"moves to {to}, as its class is named")
        add(files, path, moved, collisions=exists)
    if target is None and len(declared) > 1 and files and (text := _several(project, name, every)):
        first = next(iter(files))
        note = doubt(text, kind="unsure" if owner else SEVERAL)
        files[first] = replace(files[first], notes=(note, *files[first].notes))
    ordered = {path: files[path] for path in paths if path in files}
    unchanged = {path: findings for path, findings in left.items() if findings}
    return TreeRename(name, new, ordered, unchanged, declared, moves)


# what the name means in the files


def _decided(
    project: Project,
    paths: Sequence[str],
    owner: str,
    name: str,
    target: Target | None,
    *,
    strict: bool,
    derived: bool,
) -> list[ResolvedName]:
    """What is renamed, by language. `owner` is a class, or else a module."""
    at = _at(project, target) if target is not None else None
    every = [
        resolve_name(typings, name, owner, at, derived=derived)
        for typings in families(project, paths)
    ]
    if any(resolved.chosen for resolved in every):
        return every
    if target is None and owner:
        in_module = partial(_is_of_module, project, owner)
        meant = [each for known in every for each in known.pointed_at(known.candidates, in_module)]
        if len(meant) > 1:
            _refuse_several(project, owner, name, meant)
        return [
            resolve_name(resolved.typings, name, "", in_module, derived=derived)
            for resolved in every
        ]
    if target is None:
        for resolved in every:
            choose_locals(resolved)
    if not strict and not owner and not any(resolved.chosen for resolved in every):
        for resolved in every:
            choose_every_use(resolved)
    return every


def _otherwise(project: Project, paths: Sequence[str], name: str) -> Iterator[str]:
    """The files that may mean the name by another spelling of it."""
    kinds = {(family_of(project, path), posixpath.splitext(path)[1]) for path in paths}
    for family, end in sorted(kinds):
        rules = rules_of(family)
        other = rules.other_spelling(name) if rules is not None else name
        if other != name:
            yield from project.matching(rf"\b{re.escape(other)}\b", (end,))


def _accessed(project: Project, every: Sequence[ResolvedName]) -> Iterator[tuple[str, Finding]]:
    """The uses of what is renamed under a name that is made of its own: `x.getTotal()`."""
    declared = [(x.rules.accessors(each), each) for x in every for each in x.chosen_declarations()]
    for (words, ends), each in declared:
        pattern = rf"(?:{'|'.join(map(re.escape, words))})\b"
        paths = project.matching(pattern, ends) if words else ()
        for path, typing in ((path, project.typing(path)) for path in paths):
            for leaf, word in typing.scopes.leaves if typing is not None else ():
                if typing is None or word not in words:
                    continue
                receiver, here = typing.rules.receiver(leaf), typing.enclosing(leaf)
                known = typing.type_of(receiver) if receiver else (here,) if here else ()
                if typing.members(known or (), word):
                    continue
                above = [up for x in known or () for up in (x, *typing.above(x))]
                bases = [base for up in above for base in up.bases]  # also what is not found
                if (
                    known is None
                    or each.owner in above
                    or (each.owner and each.owner.name in bases)
                ):
                    spot = spot_at(typing.scopes.data, leaf.start, leaf.line)
                    text = f"`{word}` on line {leaf.line}: not renamed, it may mean `{each.name}`"
                    yield path, Finding("undecided", text, (spot,))


def _is_of_module(project: Project, module: str, path: str, leaf: Branch) -> bool:
    """Whether a place declares something that a module or a package has: `middleware.RealIP`."""
    typing = project.typing(path)
    declared = typing.scopes.by_leaf.get(id(leaf)) if typing is not None else None
    if typing is None or declared is None:
        return False
    if declared.kind == "import":  # which the module gives out again
        leads = project.imported_declarations(typing, declared)
        return bool(leads) and typing.rules.is_module(project, path, module)
    outside = declared.owner is None and declared.scope_kind in ("file", "namespace")
    return outside and typing.rules.is_module(project, path, module)


def _at(project: Project, target: Target) -> Callable[[str, Branch], bool]:
    text = project.text(target.path) or ""
    start = len(text[: target.start].encode("utf-8", "surrogatepass"))
    end = len(text[: target.end].encode("utf-8", "surrogatepass"))
    return lambda path, leaf: path == target.path and leaf.start <= end and start <= leaf.end


def _may_call(resolved: ResolvedName, every: Sequence[ResolvedName]) -> bool:
    """Whether files of one language may use what another language declares."""

    def languages(of: Iterable[ResolvedName]) -> set[str]:
        return {x.scopes.language.name for resolved in of for x in resolved.typings.values()}

    return bool(JVM & languages([resolved]) and JVM & languages(x for x in every if x.chosen))


def _moves(
    project: Project, every: Sequence[ResolvedName], old: str, new: str
) -> Iterator[tuple[str, str]]:
    """The files that are named after a renamed class, each with its new path."""
    for resolved in every:
        for declared in resolved.chosen_declarations() if resolved.rules.named_files else ():
            path = project.path(declared.home)
            folder, file = posixpath.split(path)
            stem, end = posixpath.splitext(file)
            outermost = declared.scope_kind in ("file", "namespace")
            if declared.kind == "class" and outermost and stem == old:
                yield path, posixpath.join(folder, new + end)


# names that are built from the old one


def _kept_names(
    project: Project, typings: Mapping[str, Typing], path: str, old: str, new: str
) -> frozenset[int]:
    """Where a name that is built from OLD is known to be another project's."""

    def places(name: str) -> set[tuple[str, int]]:
        holding = {p: t for p, t in typings.items() if name in (project.text(p) or "")}
        known = resolve_name(holding, name, "")
        return {
            (p, leaf.start)
            for p, parts in known.others.items()
            for part in parts
            if part.kind in (EXTERNAL, FOREIGN, "import")
            for leaf in part.leaves
        }

    key = id(typings) if len(typings) > 1 else path
    leaves = {name for _, name in typings[path].scopes.leaves if name != old}
    known = (
        project.remembered(("foreign", key, name), partial(places, name))
        for name in leaves
        if names.derived(name, old, new) is not None
    )
    return frozenset(start for each in known for p, start in each if p == path)


def _derived_only(
    project: Project, path: str, owner: str, old: str, new: str
) -> RenameGuess | None:
    """A file that holds only names that are built from OLD, or code in prose."""
    if is_prose(path):
        return rename_prose(project.text(path) or "", owner, old, new)
    if (typing := project.typing(path)) is None:
        return None
    kept = _kept_names(project, {path: typing}, path, old, new)
    none = ResolvedName({path: typing}, [])
    return guessed(none, path, old, new, "derived", whole_tree=True, kept_names=kept)


# what is reported


def _with_others(
    project: Project, guess: RenameGuess, resolved: ResolvedName, path: str, old: str
) -> RenameGuess:
    """The guess with the uses that stay in the file: undecided ones, and those of another thing."""
    data = resolved.typings[path].scopes.data
    undecided = (
        Finding(
            "undecided",
            f"`{old}` on {lines_text(part.lines)}: not renamed, {why}",
            tuple(spot_at(data, leaf.start, leaf.line) for leaf in part.leaves),
        )
        for part, why in resolved.left.get(path, [])
    )
    others = (
        doubt(f"`{old}` is {_meant_there(project, part)}", part.lines, "other")
        for part in resolved.others.get(path, [])
        if part.kind != "module"
    )
    return replace(
        guess, undecided=(*guess.undecided, *undecided), outside=(*guess.outside, *others)
    )


def _meant_there(project: Project, part: Meaning) -> str:
    """What a use that stays is bound to, or why nothing renamed can be meant."""
    for declared in part.declared:
        if declared.is_own:
            return (
                f"the {_described(declared)} ({project.path(declared.home)}:{declared.leaf.line})"
            )
    for owner in part.owners:
        if owner.module is None:
            return f"a member of {owner.name} ({project.path(owner.home)}:{owner.node.line})"
    imported = (declared for declared in part.declared if declared.kind == "import")
    modules = (scopes_of(d).rules.module_of(scopes_of(d), d) for d in imported)
    if module := part.module if part.kind == FOREIGN else next(modules, ""):
        return f"of {module}, which is not in this work tree"
    return DESCRIPTIONS.get(part.kind, part.kind) + ", which cannot be the renamed one"


def _why_unchanged(guess: RenameGuess) -> Iterator[Finding]:
    """Why a file of code stays that holds the name."""
    for finding in guess.outside:
        if finding.kind == "other":
            yield replace(finding, kind="stays", text=f"{finding.text} there")
            return
        if finding.kind == "left":
            _, how, flag = finding.text.partition("; ")
            text = f"`{guess.old}` stands in comments or strings alone{how}{flag}"
            yield Finding("stays", text, finding.places)
            return


def _why_unread(project: Project, path: str, old: str, hints: bool) -> Iterator[Finding]:
    """Why a file stays that is not code. `hints`: --scope derived touches few other names."""
    text = project.text(path)
    if text is None:
        yield doubt("cannot be read as text, or is too large: not renamed", (), "skipped")
        return
    if project.typing(path) is not None:
        return
    mentioned = (at for at, _, _ in names.mentions(text, {old: old}))
    lines = sorted({line for line, _ in places_of(text, mentioned)})
    if lines:
        how = "" if is_prose(path) else ": name the file to rename there"
        if is_prose(path) and hints:
            how = ": --scope derived renames its code spans and blocks"
        message = f"holds `{old}` on {lines_text(lines)}, but is not code{how}"
        yield doubt(message, lines, "skipped")


def _declared_in(project: Project, every: Sequence[ResolvedName]) -> Iterator[tuple[str, int, str]]:
    """Where what is renamed is declared: path, line, and what it is."""
    for resolved in every:
        for each in resolved.chosen:
            own = [declared for declared in each.declared if declared.is_own]
            for declared in own:
                yield project.path(declared.home), declared.leaf.line, _described(declared)
            owner = next((up for up in each.owners if up.module is None), None)
            if not own and owner is not None:  # `self.x = 0` declares nothing
                home = project.path(owner.home)
                at_home = (leaf for leaf in each.leaves if resolved.path_of(leaf) == home)
                first = next(at_home, each.leaves[0])
                yield resolved.path_of(first), first.line, f"member of {owner.name}"


def _described(declared: Declared) -> str:
    of = f" of {declared.member_of.name}" if declared.member_of and declared.member_of.name else ""
    return called(declared) + of


def _several(project: Project, name: str, every: Sequence[ResolvedName]) -> str:
    """That more than one thing is renamed, and how to say which."""
    firsts = []  # declarations of the things
    holders = []
    for each in (each for resolved in every for each in resolved.chosen):
        first = next((declared for declared in each.declared if declared.is_own), None)
        if first is not None:
            firsts.append(first)
            holders += [o.name for o in {id(o): o for o in each.owners}.values() if o.name]
    if len(firsts) < 2:
        return ""
    shown = [f"{_described(x)} ({project.path(x.home)}:{x.leaf.line})" for x in firsts]
    more = f" and {len(shown) - MAX_NAMED_PLACES} more" if len(shown) > MAX_NAMED_PLACES else ""
    named = "; ".join(shown[:MAX_NAMED_PLACES])
    message = f"`{name}` means {len(shown)} things, which change together: {named}{more}"
    holder = next((name for name in holders if holders.count(name) == 1), "")
    return f"{message}; `{holder}.{name}` means one" if holder else message


def refuse_nothing(
    project: Project, owner: str, name: str, every: Sequence[ResolvedName]
) -> NoReturn:
    """An error: the tree does not declare the name; with the nearest that it does."""
    if owner:
        holders = {
            up.name for resolved in every for each in resolved.candidates for up in each.owners
        }
        known = ", ".join(sorted(holders - {""})[:MAX_NAMED_PLACES])
        hint = f"It is a member of {known}." if known else ""
        raise UsageError(f"`{owner}` has no member `{name}` in this work tree.", hint=hint)
    used = [
        f"{path}:{part.lines[0]}"
        for resolved in every
        for path in resolved.typings
        for part in resolved.here(path, resolved.candidates)[:1]
    ]
    if name in project.folders:
        hint = f"To move the folder: specedit rename ./{name} ./NEW"
    elif used:
        where = ", ".join(used[:MAX_NAMED_PLACES])
        hint = f"It is used in {where}: name a file to rename it there alone."
    else:
        texts = (
            project.text(path) or ""
            for path in sorted(project.paths)[:MAX_SEARCHED_FILES]
            if project.language(path) is not None
        )
        words = {word for text in texts for word in names.NAME.findall(text)}
        hint = names.near(name, words - {name})
    raise UsageError(f"`{name}` is not declared in this work tree.", hint=hint)


def _refuse_several(project: Project, module: str, name: str, meant: Iterable[Meaning]) -> NoReturn:
    """An error: several modules of one name have what is to be renamed."""
    declared = (declared for meaning in meant for declared in meaning.declared)
    places = sorted({f"{project.path(x.home)}:{x.leaf.line}" for x in declared})
    raise UsageError(
        f"`{module}.{name}` may be each of {', '.join(places[:MAX_NAMED_PLACES])}; "
        "nothing was renamed.",
        hint=f"Rename `{name}` without `{module}`, or in one file with FILE and --line.",
    )


def used_in(lines: Mapping[str, Iterable[int]], declared: str) -> str:
    """That other files keep the name, and where it is declared, if in one of them."""
    files = [f"{path} ({lines_text(sorted(set(at)))})" for path, at in lines.items()]
    where = f"declared in {declared}; " if declared else ""
    return f"{where}used in {listed(files, MAX_NAMED_PLACES)}, which keep the old name"


def used_elsewhere(
    project: Project, paths: Iterable[str], path: str, old: str, line: int | None
) -> tuple[dict[str, list[int]], str]:
    """The lines of other files that use what `old` means in one (on `line`, if so), and where that
    is declared, if not in this one."""
    owner, name = names.split_member(old)
    family = family_of(project, path)
    related = {word for word in paths if family_of(project, word) == family}
    if not related - {path}:
        return {}, ""  # before the file is read again
    typings = next((family for family in families(project, related) if path in family), None)
    if typings is None:
        return {}, ""

    def on_line(there: str, leaf: Branch) -> bool:
        return there == path and leaf.line == line

    resolved = resolve_name(typings, name, owner, on_line if line is not None else None)
    lines: dict[str, list[int]] = {}
    declared = ""
    for each in resolved.chosen:
        at = [(resolved.path_of(leaf), leaf.line) for leaf in each.leaves]
        here = any(there == path and line in (None, number) for there, number in at)
        if not here or not (each.declared or each.owners):
            continue
        for there, number in at:
            if there != path:
                lines.setdefault(there, []).append(number)
        own = [declared for declared in each.declared if declared.is_own]
        if own and all(project.path(d.home) != path for d in own):
            declared = f"{project.path(own[0].home)}:{own[0].leaf.line} ({called(own[0])})"
    return dict(sorted(lines.items())), declared
