"""A rename of a whole work tree: what becomes of each of its files, before any model is asked.

Reads texts, writes nothing; a name that is taken anywhere is found here, so that nothing is written
where something would be refused. `--scope derived` renames the names that are built from the old
one, too, and code in prose: in Markdown, reStructuredText and plain text that is code spans, and
code blocks of a language.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath

from specedit.check.finding import Finding
from specedit.rename.declared import (
    declared_in,
    refuse_nothing,
    refuse_several,
    several,
    used_elsewhere,
)
from specedit.rename.guess import Place, RenameGuess, applied, doubt, lines_text
from specedit.rename.mentions import configuration_renamed, string_rewrites
from specedit.rename.new_name import hidden_elsewhere, taken_elsewhere
from specedit.rename.places import check_names, guessed, other
from specedit.rename.resolution import (
    ResolvedName,
    families,
    family_of,
    locals_too,
    resolve_name,
    whatever,
)
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Rewrite
from specedit.scoping.project import Project
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import Branch
from specedit.syntax.lines import places_of

SUFFIXES = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.{-]*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode)::\s*\w")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")


def kept_places(
    project: Project,
    typings: Mapping[str, Typing],
    path: str,
    old: str,
    new: str,
    is_here: Callable[[str, str], bool],
) -> frozenset[int]:
    """Where a name that is built from OLD is known to be another project's."""

    def places(name: str) -> set[tuple[str, int]]:
        holding = {p: t for p, t in typings.items() if name in (project.text(p) or "")}
        known = resolve_name(holding, name, "", is_here)
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


def derived_only(
    project: Project,
    path: str,
    owner: str,
    old: str,
    new: str,
    is_here: Callable[[str, str], bool],
) -> RenameGuess | None:
    """A file that holds only names that are built from OLD, or code in prose."""
    if is_prose(path):
        return rename_prose(project.text(path) or "", owner, old, new)
    if (typing := project.typing(path)) is None:
        return None
    kept = kept_places(project, {path: typing}, path, old, new, is_here)
    none = ResolvedName({path: typing}, [])
    return guessed(none, path, old, new, "derived", whole_tree=True, kept_names=kept)


def is_prose(path: str) -> bool:
    return PurePath(path).suffix.lower() in SUFFIXES


def rename_prose(text: str, owner: str, old: str, new: str) -> RenameGuess:
    """The text with OLD renamed in its code. `owner`: only as a member of this class."""
    before = rf"(?<=\b{re.escape(owner)}[.#:])" if owner else r"(?<![\w$])"
    word = re.compile(before + re.escape(old) + r"(?![\w$])")
    found: list[tuple[int, str]] = []
    for start, end, why in _code(text):
        found += [(match.start(), why) for match in word.finditer(text, start, end)]
    places = [
        Place(at, line, "derived", old, new, column, why)
        for (at, why), (line, column) in zip(
            found, places_of(text, (at for at, _ in found)), strict=True
        )
    ]
    written = applied(text, [(place.offset, place) for place in places])
    return RenameGuess(old, new, written, tuple(places))


def _code(text: str) -> Iterator[tuple[int, int, str]]:
    """The ranges of characters that are code."""
    fence, named, indent = "", False, -1  # the open fence; the indentation of a directive
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        depth = len(line) - len(line.lstrip())
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            elif named:
                yield start, at, "a code block"
        elif mark:
            fence, named = mark[1], bool(mark[2])
        elif indent >= 0 and (not line.strip() or depth > indent):
            yield start, at, "a code block"
        else:
            directive = _DIRECTIVE.match(line)
            indent = len(directive[1]) if directive else -1
            for span in _SPAN.finditer(line):
                yield start + span.start(2), start + span.end(2), "a code span"


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
    """The result of a rename: a guess for each file that changes, and why the others stay.

    Paths count from the project's top."""

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
            first = next(iter(files))
            where = [f"{path}:{line}" for path, line, _ in self.declared if path not in paths]
            used = {path: [place.line for place in guess.places] for path, guess in rest.items()}
            text = used_elsewhere(used, where[0] if where else "")
            files[first] = replace(files[first], notes=(*files[first].notes, doubt(text)))
        moves = {path: to for path, to in self.moves.items() if path in files}
        return replace(self, files=files, unchanged=unchanged, moves=moves)

    def without_doubtful(self, project: Project) -> TreeRename:
        """The rename without mentions that may be ordinary language, which are undecided then."""
        files, unchanged = dict(self.files), dict(self.unchanged)
        for path, guess in self.files.items():
            lines = sorted({place.line for place in guess.places if place.undecided})
            if not lines:
                continue
            text = f"`{self.old}` on {lines_text(lines)} may be ordinary language: not renamed"
            doubts = (*guess.undecided, doubt(text, lines))
            if places := tuple(place for place in guess.places if not place.undecided):
                text = applied(
                    project.text(path) or "", ((place.offset, place) for place in places)
                )
                files[path] = replace(guess, places=places, text=text, undecided=doubts)
            else:
                unchanged[path] = doubts
                del files[path]
        return replace(self, files=files, unchanged=unchanged)

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
        """The uses that may be meant and stay: with one of them, the rename is incomplete."""
        uses = (
            UseLeft(path, spot.line, spot.column)
            for path, findings in self.undecided.items()
            for finding in findings
            if finding.kind == "undecided"
            for spot in finding.places
        )
        return tuple(sorted(uses))


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
    nothing declares is an error; else it is renamed all the same, with a note."""
    owner, name = names.split_member(old)
    check_names(name, new, scope)
    derives = scope == "derived"
    at = _at(project, target) if target is not None else None
    exact = [path for path in paths if name.lstrip("$") in (project.text(path) or "")]
    others = [path for path in _otherwise(project, exact, name) if path not in paths]
    exact, paths = [*exact, *others], [*paths, *others]
    every = [
        resolve_name(typings, name, owner, is_here, at, derived=derives)
        for typings in families(project, exact)
    ]
    if target is None and owner and not any(resolved.chosen for resolved in every):
        in_module = partial(_is_of_module, project, owner)
        meant = [each for known in every for each in known.pointed_at(known.candidates, in_module)]
        if len(meant) > 1:
            refuse_several(project, owner, name, meant)
        every = [
            resolve_name(resolved.typings, name, "", is_here, in_module, derived=derives)
            for resolved in every
        ]
    if target is None and not owner and not any(resolved.chosen for resolved in every):
        for resolved in every:
            locals_too(resolved)
    if not strict and not owner and not any(resolved.chosen for resolved in every):
        for resolved in every:
            whatever(resolved)
    chosen = any(resolved.chosen for resolved in every)
    if (strict or owner) and not chosen and not derives:
        refuse_nothing(project, owner, name, every)
    files: dict[str, RenameGuess] = {}
    left: dict[str, tuple[Finding, ...]] = {}
    for resolved in every:
        for path, typing in resolved.typings.items():
            named = string_rewrites(project, path, typing, every, name, new) if chosen else []
            if resolved.chosen or derives or named:
                kept = (
                    kept_places(project, resolved.typings, path, name, new, is_here)
                    if derives
                    else frozenset()
                )
                # one thing of several: a comment speaks of it only next to it
                apart = bool(owner or target) and not resolved.here(path, resolved.chosen)
                how = "code" if apart and not derives else scope
                guess = _of_file(resolved, path, name, new, how, kept, named)
                if guess.places:
                    files[path] = guess
                    continue
                left[path] = guess.undecided or tuple(_why_left(guess))
            elif chosen:
                here = resolved.here(path, resolved.candidates)
                lines = sorted({line for part in here for line in part.lines})
                text = f"nothing of this language declares `{name}`: not renamed"
                kind = "undecided" if _may_call(resolved, every) else "stays"
                left[path] = (doubt(text, lines, kind),) if lines else ()
    for path in paths:
        if path not in files and path not in left:
            alone = derived_only(project, path, owner, name, new, is_here) if derives else None
            alone = alone or configuration_renamed(project, path, every, name, new)
            if alone is not None and alone.places:
                files[path] = alone
            else:
                left[path] = tuple(_unread(project, path, name, derives))
    if not files and strict:
        refuse_nothing(project, owner, name, every)
    for resolved in every:
        inside = taken_elsewhere(project, resolved, new)
        for path, more in (*inside, *hidden_elsewhere(project, resolved, new)):
            if path in files:
                both = (*files[path].collisions, more)
                files[path] = replace(files[path], collisions=both)
    declared = tuple(declared_in(project, every))
    moves = {path: to for path, to in _moves(project, every, name, new) if path in files}
    for path, to in moves.items():
        exists = [doubt(f"{to} exists already", (), "taken")] if to in project.paths else []
        notes = (*files[path].notes, Finding("moved", f"moves to {to}, as its class is named"))
        collisions = (*files[path].collisions, *exists)
        files[path] = replace(files[path], notes=notes, collisions=collisions)
    if target is None and len(declared) > 1 and files:
        first = next(iter(files))
        text = several(project, name, every)
        if text:
            files[first] = replace(files[first], notes=(doubt(text), *files[first].notes))
    ordered = {path: files[path] for path in paths if path in files}
    unchanged = {path: findings for path, findings in left.items() if findings}
    return TreeRename(name, new, ordered, unchanged, declared, moves)


def _otherwise(project: Project, paths: Sequence[str], name: str) -> Iterator[str]:
    """The files that may mean the name by another spelling of it."""
    kinds = {(family_of(project, path), posixpath.splitext(path)[1]) for path in paths}
    for family, end in sorted(kinds):
        rules = rules_of(family)
        other = rules.other_spelling(name) if rules is not None else name
        if other != name:
            yield from project.matching(rf"\b{re.escape(other)}\b", (end,))


def _moves(
    project: Project, every: Sequence[ResolvedName], old: str, new: str
) -> Iterator[tuple[str, str]]:
    """The files that are named after a renamed class, each with its new path."""
    for declared in (
        declared
        for resolved in every
        if resolved.typings and resolved.rules.named_files
        for meaning in resolved.chosen
        for declared in meaning.declared
    ):
        path = project.path(declared.home)
        folder, file = posixpath.split(path)
        stem, end = posixpath.splitext(file)
        outermost = declared.scope is not None and declared.scope.kind in ("file", "namespace")
        if declared.kind == "class" and outermost and stem == old:
            yield path, posixpath.join(folder, new + end)


JVM = frozenset({"java", "kotlin", "scala"})  # each uses the others' classes under their names


def _may_call(resolved: ResolvedName, every: Sequence[ResolvedName]) -> bool:
    """Whether files of one language may use what another language declares."""
    chosen = {language for other in every if other.chosen for language in other.languages}
    return bool(JVM & resolved.languages and JVM & chosen)


def _is_of_module(project: Project, module: str, path: str, leaf: Branch) -> bool:
    """Whether a place declares something that a module or a package has: `middleware.RealIP`."""
    typing = project.typing(path)
    declared = typing.scopes.by_leaf.get(id(leaf)) if typing is not None else None
    if typing is None or declared is None or declared.kind == "import" or declared.scope is None:
        return False
    outside = declared.owner is None and declared.scope.kind in ("file", "namespace")
    return outside and typing.rules.is_module(project, path, module)


def _at(project: Project, target: Target) -> Callable[[str, Branch], bool]:
    text = project.text(target.path) or ""
    start = len(text[: target.start].encode("utf-8", "surrogatepass"))
    end = len(text[: target.end].encode("utf-8", "surrogatepass"))

    def at(path: str, leaf: Branch) -> bool:
        return path == target.path and leaf.start <= end and start <= leaf.end

    return at


def _of_file(
    resolved: ResolvedName,
    path: str,
    old: str,
    new: str,
    scope: str,
    kept: frozenset[int],
    named: Sequence[Rewrite],
) -> RenameGuess:
    bare = old.lstrip("$"), new.lstrip("$")
    guess = guessed(
        resolved, path, *bare, scope, whole_tree=True, kept_names=kept, named_strings=named
    )
    if not resolved.chosen:  # only a string there names what another language declares
        return guess
    undecided = tuple(
        Finding(
            "undecided",
            f"`{old}` on {lines_text(part.lines)}: not renamed, {why}",
            tuple(resolved.spot(path, leaf) for leaf in part.leaves),
        )
        for part, why in resolved.left.get(path, [])
    )
    others = tuple(
        other(part, old, kind="other")
        for part in resolved.others.get(path, [])
        if part.kind != "module"
    )
    undecided = (*guess.undecided, *undecided)
    return replace(guess, undecided=undecided, outside=(*guess.outside, *others))


def _why_left(guess: RenameGuess) -> Iterator[Finding]:
    """Why a file of code stays that holds the name."""
    for finding in guess.outside:
        if finding.kind == "other":
            yield Finding("stays", f"`{guess.old}` means something else there", finding.places)
            return
        if finding.kind == "left":
            flag = finding.text.rpartition("; ")[2]
            text = f"`{guess.old}` stands in comments or strings alone; {flag}"
            yield Finding("stays", text, finding.places)
            return


def _unread(project: Project, path: str, old: str, derives: bool) -> Iterator[Finding]:
    """Why a file stays that is not code."""
    text = project.text(path)
    if text is None:
        yield doubt("cannot be read as text, or is too large: not renamed", (), "skipped")
        return
    if project.typing(path) is not None:
        return
    mentioned = (at for at, _, _ in names.mentions(text, {old: old}))
    lines = sorted({line for line, _ in places_of(text, mentioned)})
    if lines:
        how = "name the file to rename there"
        if is_prose(path) and not derives:
            how = "--scope derived renames its code spans and blocks"
        message = f"holds `{old}` on {lines_text(lines)}, but is not code: {how}"
        yield doubt(message, lines, "skipped")
