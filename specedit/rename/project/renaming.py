"""A rename of a whole work tree: what becomes of each of its files, before any model is asked.

Knows meanings over files and what is written at a place. Reads texts, writes nothing; a name that
is taken anywhere is found here, so that nothing is written where something would be refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from specedit.errors import UsageError
from specedit.rename.choosing import describe, said_lines
from specedit.rename.guess import Collision, Doubt, Outside, RenameGuess
from specedit.rename.places import Choice, check_names, guessed
from specedit.rename.project.meant import Meant, families, locals_too, meant, whatever
from specedit.rename.rewrite import called, taken
from specedit.scoping.meaning import Meaning
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN
from specedit.syntax import trees
from specedit.syntax.branch import Branch
from specedit.text import names

SHOWN = 4  # declarations that are named in a sentence


@dataclass(frozen=True)
class Target:
    """A place somebody points at: a file, and a character of it. `end`: of a line, any of it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True)
class TreeRename:
    """What a rename comes to: a guess for each file that changes, and what is said of the others.

    Paths count from the project's top."""

    old: str
    new: str
    files: dict[str, RenameGuess]
    left: dict[str, tuple[Doubt, ...]] = field(
        default_factory=dict
    )  # of files that stay as they are
    declared: tuple[tuple[str, int, str], ...] = ()  # path, line, what is declared there

    def only(self, paths: Collection[str]) -> TreeRename:
        """The part of it that is in these files, with a word about the others, once."""
        files = {path: guess for path, guess in self.files.items() if path in paths}
        rest = {path: guess for path, guess in self.files.items() if path not in paths}
        left = {path: said for path, said in self.left.items() if path in paths}
        if rest and files:
            first = next(iter(files))
            where = [f"{path}:{line}" for path, line, _ in self.declared if path not in paths]
            said = f"declared in {where[0]}; " if where else ""
            used = [
                f"{path} ({said_lines(sorted({place.line for place in guess.places}))})"
                for path, guess in rest.items()
            ]
            more = f" and {len(used) - SHOWN} more files" if len(used) > SHOWN else ""
            said += f"used in {', '.join(used[:SHOWN])}{more}, which keep the old name"
            files[first] = replace(files[first], notes=(*files[first].notes, Doubt(said)))
        return replace(self, files=files, left=left)

    @property
    def collisions(self) -> Iterator[tuple[str, Collision]]:
        for path, guess in self.files.items():
            yield from ((path, one) for one in guess.collisions)

    @property
    def undecided(self) -> dict[str, tuple[Doubt, ...]]:
        own = {path: guess.undecided for path, guess in self.files.items() if guess.undecided}
        return {**self.left, **own}


def rename_tree(
    project: Project,
    paths: Sequence[str],
    old: str,
    new: str,
    scope: str,
    is_here: Callable[[str, str], bool],
    target: Target | None = None,
    *,
    strict: bool = True,
) -> TreeRename:
    """`paths`: the files that hold the name, in any spelling that the scope allows. `strict`: what
    nothing declares is an error; else it is renamed all the same, and said."""
    owner, name = names.split_member(old)
    check_names(name, new, scope)
    derives = scope == "derived"
    at = _at(project, target) if target is not None else None
    exact = [path for path in paths if name.lstrip("$") in (project.text(path) or "")]
    every = [
        meant(project, typings, name, owner, is_here, at) for typings in families(project, exact)
    ]
    if target is None and not owner and not any(one.chosen for one in every):
        for one in every:
            locals_too(one)
    if not strict and not owner and not any(one.chosen for one in every):
        for one in every:
            whatever(one)
    chosen = any(one.chosen for one in every)
    if strict or owner:
        _refuse_nothing(project, paths, owner, name, every, chosen or derives)
    files: dict[str, RenameGuess] = {}
    left: dict[str, tuple[Doubt, ...]] = {}
    for one in every:
        for path in one.typings:
            if one.chosen or derives:
                kept = _kept(project, one, path, name, new, is_here) if derives else frozenset()
                guess = _of_file(project, one, path, name, new, scope, kept, chosen)
                if guess.places:
                    files[path] = guess
                    continue
                left[path] = guess.undecided
            elif chosen:
                lines = sorted(
                    {leaf.line for each in one.found for leaf in one_here(one, path, each)}
                )
                said = f"nothing of this language declares `{name}`: not renamed"
                left[path] = (Doubt(said, tuple(lines)),) if lines else ()
    for path in paths:
        if path not in files and path not in left:
            alone = _words_only(project, path, name, new, scope, is_here) if derives else None
            if alone is not None and alone.places:
                files[path] = alone
            else:
                left[path] = tuple(_unread(project, path, name))
    if not files and strict:
        _refuse_nothing(project, paths, owner, name, every, False)
    for one in every:
        for path, more in _taken_elsewhere(project, one, name, new):
            if path in files:
                both = (*files[path].collisions, more)
                files[path] = replace(files[path], collisions=both)
    declared = tuple(_declared(project, every))
    if target is None and len(declared) > 1 and files:
        first = next(iter(files))
        said = _several(project, name, every)
        if said:
            files[first] = replace(files[first], notes=(Doubt(said), *files[first].notes))
    ordered = {path: files[path] for path in paths if path in files}
    return TreeRename(
        name, new, ordered, {path: said for path, said in left.items() if said}, declared
    )


def one_here(one: Meant, path: str, each: Meaning) -> Iterator[Branch]:
    for part in one.here(path, [each]):
        yield from part.leaves


def _at(project: Project, target: Target) -> Callable[[str, Branch], bool]:
    text = project.text(target.path) or ""
    start = len(text[: target.start].encode("utf-8", "surrogatepass"))
    end = len(text[: target.end].encode("utf-8", "surrogatepass"))

    def at(path: str, leaf: Branch) -> bool:
        return path == target.path and leaf.start <= end and start <= leaf.end

    return at


def _of_file(
    project: Project,
    one: Meant,
    path: str,
    old: str,
    new: str,
    scope: str,
    kept: frozenset[int],
    chosen: bool,
) -> RenameGuess:
    typing = one.typings[path]
    found = one.here(path, one.found)
    here = one.here(path, one.chosen)
    here = [next(x for x in found if x.leaves == each.leaves) for each in here]
    choice = Choice(typing, found, here, list(one.notes.get(path, [])), whole_tree=True, kept=kept)
    language = project.language(path)
    assert language is not None
    text = project.text(path) or ""
    guess = guessed(
        choice, trees.dialect(text, language), old.lstrip("$"), new.lstrip("$"), scope, text
    )
    undecided = tuple(
        Doubt(f"`{old}` on {said_lines(part.lines)}: not renamed, {why}", tuple(part.lines))
        for part, why in one.left.get(path, [])
    )
    others = tuple(
        Outside(f"{old} ({describe(part)})", len(part.leaves), tuple(part.lines), "", known=True)
        for part in one.others.get(path, [])
        if part.kind != "module"
    )
    return replace(guess, undecided=undecided, outside=(*guess.outside, *others))


def _kept(
    project: Project,
    one: Meant,
    path: str,
    old: str,
    new: str,
    is_here: Callable[[str, str], bool],
) -> frozenset[int]:
    """Where a name that is built from OLD is known to be somebody else's."""
    typing = one.typings[path]
    built = {
        name
        for _, name in typing.scopes.leaves
        if name != old and names.derived(name, old, new) is not None
    }
    return _foreign(project, one.typings, path, built, is_here)


def _foreign(
    project: Project,
    typings: object,
    path: str,
    built: Iterable[str],
    is_here: Callable[[str, str], bool],
) -> frozenset[int]:
    assert isinstance(typings, dict)
    found: set[int] = set()
    for name in built:
        key = ("foreign", id(typings), name)
        if key not in project.notes:
            holding = {p: t for p, t in typings.items() if name in (project.text(p) or "")}
            known = meant(project, holding, name, "", is_here)
            project.notes[key] = {
                (p, leaf.start)
                for p, parts in known.others.items()
                for part in parts
                if part.kind in (EXTERNAL, FOREIGN, "import")
                for leaf in part.leaves
            }
        known_places = project.notes[key]
        assert isinstance(known_places, set)
        found |= {start for p, start in known_places if p == path}
    return frozenset(found)


def _words_only(
    project: Project,
    path: str,
    old: str,
    new: str,
    scope: str,
    is_here: Callable[[str, str], bool],
) -> RenameGuess | None:
    """A file that holds only names that are built from OLD."""
    typing, language = project.typing(path), project.language(path)
    if typing is None or language is None:
        return None
    built = {name for _, name in typing.scopes.leaves if names.derived(name, old, new) is not None}
    group = project.notes.setdefault(("alone", typing.rules.family or language.name), {})
    assert isinstance(group, dict)
    group[path] = typing
    kept = _foreign(project, {path: typing}, path, built, is_here)
    text = project.text(path) or ""
    choice = Choice(typing, [], [], [], whole_tree=True, kept=kept)
    return guessed(choice, trees.dialect(text, language), old, new, scope, text)


def _unread(project: Project, path: str, old: str) -> Iterator[Doubt]:
    """Where a file that is no code speaks of the name."""
    text = project.text(path)
    if text is None or project.typing(path) is not None:
        return
    lines = sorted({text.count("\n", 0, at) + 1 for at, _, _ in names.mentions(text, {old: old})})
    if lines:
        said = (
            f"holds `{old}` on {said_lines(lines)}, but is no code: name the file to rename there"
        )
        yield Doubt(said, tuple(lines))


def _declared(project: Project, every: Sequence[Meant]) -> Iterator[tuple[str, int, str]]:
    for one in every:
        for each in one.chosen:
            own = [d for d in each.declared if d.kind not in ("import", "module", "export")]
            for declared in own:
                yield project.path(declared.home), declared.leaf.line, _said(declared)
            owner = next((up for up in each.owners if up.module is None), None)
            if not own and owner is not None:  # `self.x = 0` declares nothing
                homes = [
                    leaf for leaf in each.leaves if one.path_of(leaf) == project.path(owner.home)
                ]
                first = (homes or each.leaves)[0]
                yield one.path_of(first), first.line, f"member of {owner.name}"


def _said(one: Declared) -> str:
    of = f" of {one.member_of.name}" if one.member_of and one.member_of.name else ""
    return called(one) + of


def _several(project: Project, name: str, every: Sequence[Meant]) -> str:
    """That more than one thing is renamed, and how to say which."""
    things = [
        each
        for one in every
        for each in one.chosen
        if any(d.kind not in ("import", "module", "export") for d in each.declared)
    ]
    if len(things) < 2:
        return ""
    shown = []
    for each in things:
        first = next(d for d in each.declared if d.kind not in ("import", "module", "export"))
        shown.append(f"{_said(first)} ({project.path(first.home)}:{first.leaf.line})")
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    said = f"`{name}` means {len(things)} things, all renamed: {'; '.join(shown[:SHOWN])}{more}"
    holders = [
        o.name for each in things for o in {id(o): o for o in each.owners}.values() if o.name
    ]
    holder = next((one for one in holders if holders.count(one) == 1), "")
    return f"{said}; `{holder}.{name}` means one" if holder else said


def _refuse_nothing(
    project: Project,
    paths: Sequence[str],
    owner: str,
    name: str,
    every: Sequence[Meant],
    something: bool,
) -> None:
    """An error where the tree does not declare the name, with the nearest that it does."""
    if something:
        return
    if owner:
        holders = {up.name for one in every for each in one.found for up in each.owners} - {""}
        hint = f"It is a member of {', '.join(sorted(holders)[:SHOWN])}." if holders else ""
        raise UsageError(f"`{owner}` has no member `{name}` in this work tree.", hint=hint)
    used = [
        f"{path}:{part.lines[0]}"
        for one in every
        for path in one.typings
        for part in one.here(path, one.found)[:1]
    ]
    hint = (
        f"It is used in {', '.join(used[:SHOWN])}: name a file to rename it there alone."
        if used
        else _near(project, name)
    )
    raise UsageError(f"Nothing in this work tree declares `{name}`.", hint=hint)


def _near(project: Project, name: str) -> str:
    known: set[str] = set()
    for path in sorted(project.paths)[:2000]:
        if project.language(path) is not None:
            known.update(names.NAME.findall(project.text(path) or ""))
    near = difflib.get_close_matches(name, sorted(known - {name}), n=3)
    return f"Did you mean {', '.join(near)}?" if near else "Check the spelling."


# names that are taken


def _taken_elsewhere(
    project: Project, one: Meant, old: str, new: str
) -> Iterator[tuple[str, Collision]]:
    """Where NEW stands in another file's way: in a class of the family, or in the same package."""
    owners = {id(owner) for each in one.chosen for owner in each.owners if owner.module is None}
    suffixes = tuple({re.sub(r".*(\.\w+)$", r"\1", path) for path in one.typings})
    word = rf"(?<!\w){re.escape(new)}(?!\w)"
    for path in project.matching(word, suffixes) if owners else ():
        typing = project.typing(path)
        for owner in typing.scopes.owners if typing is not None else ():
            assert typing is not None
            above = [owner, *typing.above(owner)]
            for declared in owner.members.get(new, ()):
                home = next((up for up in above if id(up) in owners), None)
                if home is None or declared.home is home.home:
                    continue
                where = next(iter(one.typings))
                first = project.path(home.home)
                at = first if first in one.typings else where
                line, said = taken(declared.leaf.line, new, declared.kind)
                yield at, Collision(line, f"{path}, {said}")
    for each in one.chosen:
        for declared in each.declared:
            here = project.at(declared.home)
            local = declared.owner is not None or declared.kind in ("import", "module", "export")
            if (
                local
                or not isinstance(here, Typing)
                or declared.scope is None
                or declared.scope.is_local
            ):
                continue
            for other in here.rules.shared(project, here, new, declared.node):
                path = project.path(other.home)
                line, said = taken(other.leaf.line, new, other.kind)
                yield project.path(declared.home), Collision(line, f"{path}, {said}")
                break
