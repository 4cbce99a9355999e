"""The Jobs of a rename: of one file, and of a work tree, whose files are read when renaming asks.

Runs no model and writes nothing.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from specedit.check.finding import EXISTING_NAME, Finding, Spot
from specedit.edit.job import Job
from specedit.edit.report import Edit, outcome
from specedit.errors import GitError, InputError, RefusedEdit, UsageError, listed
from specedit.files import git, regular
from specedit.files.git import real
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.rename.places import SCOPES, rename_places
from specedit.rename.questions import MAX_SHOWN_CHARACTERS, doubt, job_of, why_by_rule
from specedit.rename.tree_rename import (
    Target,
    TreeRename,
    add,
    rename_tree,
    used_elsewhere,
    used_in,
)
from specedit.scoping.project import SOURCE_FOLDERS, Project
from specedit.settings import Settings
from specedit.syntax.identifiers import sought, split_member

MAX_FILE_BYTES = 2_000_000  # bytes of a file that is read to learn what it declares
MAX_NAMED_PLACES = 6  # places that an error names
MAX_NAMED_LINES = 3  # lines that a clause names
MAX_REPORTED_FILES = 300  # files that are read to report other uses of a name


# one file


def plan_rename(
    source: Source,
    old: str,
    new: str,
    settings: Settings,
    *,
    line: int | None = None,
    absent_ok: bool = False,
) -> Job | Edit:
    """Rename an identifier of one file; an error where it is not in it, or where NEW is taken.
    `absent_ok`: it is one of many files, which come back unchanged where nothing is renamed."""
    there, derived = source.text.lower(), settings.scope == "derived"
    if absent_ok and not any(name.lower() in there for name in sought(old, derived=derived)):
        return _unchanged(source)
    is_ours = partial(is_here, file=source.path) if absent_ok else None
    try:
        guess = rename_places(source.text, source.language, old, new, settings.scope, line, is_ours)
    except UsageError as problem:  # about this file: others may still be renamed
        if absent_ok and split_member(old)[0]:
            return _unchanged(source, Finding("skipped", problem.message))
        raise InputError(problem.message, file=source.name, hint=problem.hint) from problem
    if absent_ok and not {place.kind for place in guess.places} & SCOPES[settings.scope]:
        return _unchanged(source, *guess.outside)
    if guess.collisions and EXISTING_NAME not in settings.allowed:
        raise RefusedEdit(
            "; ".join(collision.text for collision in guess.collisions),
            file=source.name,
            hint="Choose another name, or add --allow existing-name.",
        )
    if not absent_ok and all(place.kind != "code" for place in guess.places):
        named = (replace(place, undecided=False) for place in guess.places)  # its text was named
        guess = replace(guess, places=tuple(named))
    job = job_of(source, guess, settings)
    if job.known == source.text:
        if absent_ok:
            return _unchanged(source, *job.findings)
        known = "; ".join(finding.text for finding in job.findings)
        raise InputError(
            f"no `{old}` to rename here, with --scope {settings.scope}",
            file=source.name,
            hint=known or "Check the spelling, or widen the scope.",
        )
    return job


def _unchanged(source: Source, *notes: Finding) -> Edit:
    return outcome(source, source.text).noting(*notes)


def old_name_left(source: Source, old: str) -> str:
    """Where the name that a rename would still change stands, as a clause."""
    use = re.compile(rf"\b{re.escape(old.rpartition('.')[2])}\b")
    lines = [str(n) for n, text in enumerate(source.text.split("\n"), 1) if use.search(text)]
    more = ", …" if len(lines) > MAX_NAMED_LINES else ""
    where = f" on line {', '.join(lines[:MAX_NAMED_LINES])}{more}" if lines else ""
    return f"`{old}` still stands{where}"


# a work tree


class Tree:
    """One work tree. Names of files are as the command line has them; paths count from its top."""

    def __init__(
        self, root: Path, tracked: Sequence[str], *, tracks: bool = True, here: Path = Path()
    ) -> None:
        self.root = root
        self.here = here  # names count from it
        self.tracks = tracks  # git knows the files; else only those that were named are known
        self.project = Project(tracked, self._read, self.is_here)
        self.unasked = MAX_SHOWN_CHARACTERS  # characters that the model may still be shown

    @classmethod
    def around(cls, names: Sequence[str]) -> Tree | None:
        """The git work tree around these files, or here; None outside of one."""
        place = Path(names[0]).absolute().parent if names else Path.cwd()
        try:
            root = git.top(place)
        except GitError:
            return None
        paths = [Path(os.path.relpath(Path(name).absolute(), root)).as_posix() for name in names]
        if any(path.startswith("..") for path in paths):
            return None
        named = (path for path in paths if not (root / path).is_dir())
        return cls(root, sorted({*git.known(root), *named}))

    @classmethod
    def within(cls, folder: Path, here: Path) -> Tree:
        """The files of a git work tree that are below a folder, and that no link puts elsewhere."""
        root, place = real(git.top(folder)), real(folder)
        parents: dict[Path, bool] = {}
        paths = []
        for path in git.known(root):
            parent = (root / path).parent
            if parent not in parents:
                parents[parent] = parent.is_relative_to(place) and real(parent) == parent
            if parents[parent]:
                paths.append(path)
        return cls(root, paths, here=here)

    @classmethod
    def of_files(cls, names: Sequence[str], here: Path = Path()) -> Tree:
        places = [(here / name).absolute() for name in names]
        root = Path(os.path.commonpath([place.parent for place in places]))
        known = [place.relative_to(root).as_posix() for place in places]
        return cls(root, known, tracks=False, here=here)

    def path(self, name: str) -> str:
        return os.path.relpath(self.here / name, self.root).replace(os.sep, "/")

    def shown(self, path: str) -> str:
        """A path of the tree as a name."""
        return os.path.relpath(self.root / path, self.here)

    def holding(self, old: str, *, derived: bool) -> list[str]:
        """The files that have the name, in a spelling that is looked for."""
        result = git.choose(self.root, containing=sought(old, derived=derived), any_case=derived)
        paths = (os.path.relpath(path, self.root).replace(os.sep, "/") for path in result)
        return [path for path in paths if path in self.project.paths]

    def target(self, path: str, old: str, line: int) -> Target:
        """The first use of a name in a line of a file."""
        if (text := self.project.text(path)) is None:
            raise InputError("not text, or ignored by git", file=path)
        lines, name = text.split("\n"), split_member(old)[1]
        use = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        match = use.search(lines[line - 1]) if 0 < line <= len(lines) else None
        if match is None:
            known = [str(number) for number, text in enumerate(lines, 1) if use.search(text)]
            where = listed(known, 20) or "none"
            problem = f"line {line} has no `{name}`; lines that have it: {where}"
            raise InputError(problem, file=path)
        start = sum(len(text) + 1 for text in lines[: line - 1]) + match.start()
        return Target(path, start, start + len(name))

    def rename(
        self,
        names: Sequence[str],
        old: str,
        new: str,
        settings: Settings,
        target: Target | None = None,
        *,
        some: bool = False,
    ) -> TreeRename:
        """The rename in these files, or an error. `some`: others that have the name stay."""
        paths = own = [self.path(name) for name in names]
        if some and self.tracks:
            held = self.holding(old, derived=settings.scope == "derived")
            paths = [*own, *(path for path in held if path not in own)]
        result = self.rename_in(paths, old, new, settings, target, own=own if some else None)
        self.refuse_taken(result, settings)
        undecided = any(
            place.undecided for guess in result.files.values() for place in guess.places
        )
        if undecided and settings.scope != "derived" and (why := why_by_rule(settings)):
            result = result.without_prose(self.project, why)
        self.project = self.project.unparsed()
        return result

    def rename_in(
        self,
        paths: Sequence[str],
        old: str,
        new: str,
        settings: Settings,
        target: Target | None = None,
        own: Sequence[str] | None = None,
    ) -> TreeRename:
        """The rename of a name, or of that at `target`. `own`: the only files that may change."""
        strict = own is None
        built = [path for path in paths if strict and is_built(path, self.project.text(path))]
        if len(built) < len(paths):
            paths = [path for path in paths if path not in built]
        result = rename_tree(self.project, paths, old, new, settings.scope, target, strict=strict)
        if own is not None:
            return result.only(own)
        found = doubt("built from other files, and not searched", (), "skipped")
        unchanged = {**result.unchanged, **{path: (found,) for path in built if path not in paths}}
        return self._without_generated(replace(result, unchanged=unchanged), old)

    def _without_generated(self, result: TreeRename, old: str) -> TreeRename:
        """The rename without generated and foreign files: a use in one makes it incomplete."""
        attributes = self.project.matching("linguist-", (".gitattributes",)) if self.tracks else []
        words = ("linguist-generated", "linguist-vendored")
        marks = git.marked(self.root, list(result.files), *words) if attributes else {}
        reasons = {
            path: why
            for path in result.files
            if (why := origin(path, self.project.text(path)))
            or (why := marks.get(path, "").removeprefix("linguist-"))
        }
        for path, line, what in result.declared:
            if path in reasons:
                raise RefusedEdit(
                    f"line {line} declares it ({what}), in a {reasons[path]} file; "
                    "nothing was renamed",
                    file=path,
                    hint=self._how_to_make(path)
                    or "Rename it where that file comes from, or name the files to rename.",
                )
        left: dict[str, tuple[Finding, ...]] = {}
        for path, why in reasons.items():
            how = self._how_to_make(path) or "name it to rename there"
            uses = (place for place in result.files[path].places if place.kind == "code")
            spots = tuple(Spot(place.line, place.column) for place in uses)
            text = f"a {why} file, left as it is: {how}"
            left[path] = (Finding("undecided" if spots else "stays", text, spots),)
        files = {path: guess for path, guess in result.files.items() if path not in reasons}
        if files and self.tracks and (apart := git.submodules(self.root)):
            note = doubt(f"submodules are not searched: {', '.join(apart)}")
            add(files, next(iter(files)), note)
        name = split_member(old)[1].strip("`")
        if files and self.tracks and (absent := git.not_checked_out(self.root, name)):
            text = f"files that are not checked out have `{name}`, and stay: {listed(absent, 5)}"
            add(files, next(iter(files)), doubt(text))
        return replace(result, files=files, unchanged={**result.unchanged, **left})

    def _how_to_make(self, path: str) -> str:
        """How a generated file is written anew, as far as its head says."""
        head = _head(self.project.text(path))
        made = next((line for line in head if _GENERATED.search(line)), "").strip(" /*#<!->")
        return f"run its generator again (it says “{made[:120]}”)" if made else ""

    def refuse_taken(self, result: TreeRename, settings: Settings) -> None:
        """An error that names the places where the new name is taken, unless that is accepted."""
        taken = list(result.collisions)
        if not taken or EXISTING_NAME in settings.allowed:
            return
        (first, finding), *others = taken[:MAX_NAMED_PLACES]
        texts = [finding.text, *(f"{path}, {other.text}" for path, other in others)]
        if len(taken) > MAX_NAMED_PLACES:
            texts.append(f"and {len(taken) - MAX_NAMED_PLACES} more")
        raise RefusedEdit(
            f"{'; '.join(texts)}; nothing was renamed",
            file=first,
            hint="Choose another name, or add --allow existing-name.",
        )

    def plan(self, result: TreeRename, source: Source, settings: Settings) -> Job | Edit:
        """One file's part of a rename of the tree."""
        path = self.path(source.name)
        guess = result.files.get(path)
        if guess is None:
            return _unchanged(source, *result.unchanged.get(path, ()))
        if self.project.text(path) != source.text:
            raise InputError("changed while it was read; run it again", file=source.name)
        job = job_of(source, guess, settings, self.unasked)
        if job.about is not source:
            self.unasked -= len(job.about.text)
        return job

    def with_other_uses(
        self, planned: Job | Edit, name: str, old: str, line: int | None
    ) -> Job | Edit:
        """The plan for one file, with a note where other files use what is renamed in it."""
        path = self.path(name)
        paths = self.holding(old, derived=False)
        if len(paths) > MAX_REPORTED_FILES:
            return planned
        around = {*paths, path}
        lines, declared = used_elsewhere(self.project, around, path, old, line)
        if not lines:
            return planned
        all_of = "name no file" if line is None else f"--line {name}:{line} without FILE"
        text = f"{used_in(lines, declared)}: {all_of}, and all are renamed"
        findings = (
            finding
            for finding in planned.findings
            if finding.kind != "unsure"
            or not finding.text.startswith("nothing in this file declares")
        )
        return replace(planned, findings=(*findings, Finding("elsewhere", text)))

    def is_here(self, module: str, path: str) -> bool:
        return is_here(module, self.root / path)

    def _read(self, path: str) -> str:
        place = self.root / path
        if place.is_symlink() or not place.is_file() or place.stat().st_size > MAX_FILE_BYTES:
            raise InputError("cannot be read: not a regular file, or too large", file=path)
        return read_source(place, any_encoding=True).text if place.stat().st_size else ""


Texts = Mapping[str, Callable[[], str]]  # how each file is read


def uses_of_old_name(
    root: Path, before: Texts, after: Texts, path: str, old: str, new: str
) -> dict[str, list[int]]:
    """The lines of other files of the index that use by its old name what one file declares."""
    ours = Tree(root, [*after]).is_here
    project = Project(before, lambda path: before[path](), ours)
    then, now = project.typing(path), Project(after, lambda path: after[path]()).typing(path)
    name = split_member(old)[1]
    if then is None or now is None:
        return {}
    gone = len(then.scopes.declarations(name)) - len(now.scopes.declarations(name))
    if gone <= 0 or len(then.scopes.declarations(new)) >= len(now.scopes.declarations(new)):
        return {}
    paths = {path, *git.indexed_with(root, name)}
    lines, declared = used_elsewhere(project, paths, path, old, None)
    return {} if declared else lines


# files that another program writes, or another project


VENDORED = frozenset({"vendor", "node_modules", "third_party", "third-party", "bower_components"})
_BUILT_NAME = re.compile(
    r"(^|/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|gradle\.lockfile)$"
    r"|\.(lock|map)$|[.-]min\.([mc]?js|css)$",
    re.I,
)
_BUNDLED = re.compile(  # a long line, or what bundlers write around what they put together
    r"[^\n]{5000}|__webpack_require__|\n/[/*]# sourceMappingURL=\S+[\s*/]*$"
    r"|typeof exports === ['\"]object['\"] && typeof module !== ['\"]undefined['\"]\s*\?"
)
_GENERATED_NAME = re.compile(
    r"(_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.g\.(cs|dart)|\.designer\.cs)$", re.I
)
_GENERATED = re.compile(
    r"@generated|<auto-?generated|code generated .*do not edit|generated by .*do not (edit|modify)",
    re.I,
)


def is_built(path: str, text: str | None) -> bool:
    """Whether a file is a lock file, or is minified or bundled from others."""
    bundles = path.endswith((".js", ".mjs", ".cjs", ".css"))
    return bool(_BUILT_NAME.search(path) or (bundles and _BUNDLED.search(text or "")))


def origin(path: str, text: str | None) -> str:
    """ "generated" or "vendored", where a file's name or its first lines say so; else ""."""
    if VENDORED & set(Path(path).parts[:-1]):
        return "vendored"
    named = _GENERATED_NAME.search(path) or any(map(_GENERATED.search, _head(text)))
    return "generated" if named else ""


def _head(text: str | None) -> list[str]:
    """The lines that may say what wrote a file."""
    return (text or "")[:2000].splitlines()[:10]


# modules that may be of the project. One of unknown origin counts as it: only names that are known
# to come from elsewhere stay


ROOTS = (".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml")
RELATIVE = re.compile(r"[.@~#/]|(?:crate|self|super)\b")  # `@/x`, `~/x`, `#x` are aliases of one
SCOPED = re.compile(r"@[\w-]+/[\w.-]+")  # npm's `@owner/package`


def is_here(module: str, file: Path | None) -> bool:
    """Whether a module may be one of the project that `file` is in."""
    parts = [part for part in re.split(r"[./\\:]+", module) if part]
    if file is None or not parts:
        return True
    above = list(file.absolute().parents)
    root = next((up for up in above if any((up / mark).exists() for mark in ROOTS)), above[0])
    if (scoped := SCOPED.match(module)) is not None:
        installed = root / "node_modules" / scoped[0]
        return installed.is_symlink() or not installed.exists()
    if RELATIVE.match(module):
        return True
    if ("/" in module or file.suffix == ".go") and (own := _go_module(root)):
        return module == own or module.startswith(own + "/")
    if "::" in module and parts[0] == root.name.replace("-", "_"):
        return True
    folders = above[: above.index(root) + 1]
    # a package begins as the file's own folders do: `com.acme` of `com.acme.store.Item`
    first, outer = parts[: 2 if len(parts) > 2 else 1], [up.name for up in reversed(folders)]
    if any(outer[at : at + len(first)] == first for at in range(len(outer))):
        return True
    return any(_leads(folder, parts) for folder in [*folders, *(root / x for x in SOURCE_FOLDERS)])


def _go_module(root: Path) -> str:
    """The path that Go's own modules begin with."""
    try:
        text = regular.read(root / "go.mod").decode()
    except (OSError, UnicodeDecodeError):
        return ""
    match = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    return match[1] if match else ""


def _leads(folder: Path, parts: list[str]) -> bool:
    """Whether a path is there: as a folder, as a file of any language, or as a name in one."""
    for steps in (parts, parts[:-1]) if len(parts) > 1 else (parts,):
        place = folder.joinpath(*steps)
        files = f"{glob.escape(place.name)}.*"
        if place.is_dir() or next(place.parent.glob(files), None) is not None:
            return True
    return False
