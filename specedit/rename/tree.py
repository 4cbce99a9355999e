"""The Jobs of a rename of a work tree: the files that git does not ignore, read when renaming asks.

Runs no model and writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from specedit.check.finding import EXISTING_NAME, Finding
from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.errors import GitError, InputError, RefusedEdit
from specedit.files import git
from specedit.files.git import real
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.rename.declared import elsewhere, is_here
from specedit.rename.guess import doubt
from specedit.rename.planning import MAX_SHOWN_CHARACTERS, job_of, untouched
from specedit.rename.tree_rename import Target, TreeRename, rename_tree
from specedit.scoping.project import Project
from specedit.settings import Settings
from specedit.syntax.identifiers import sought

MAX_FILE_BYTES = 2_000_000  # bytes of a file that is read to learn what it declares
MAX_NAMED_PLACES = 6  # places that an error names
MAX_REPORTED_FILES = 300  # files that are read to report other uses of a name


class Tree:
    """One work tree. Names of files are as the command line has them; paths count from its top."""

    def __init__(
        self, root: Path, tracked: Sequence[str], *, tracks: bool = True, here: Path = Path()
    ) -> None:
        self.root = root
        self.here = here  # names count from it
        self.tracks = tracks  # git knows the files; else only those that were named are known
        self.project = Project(tracked, self._read)
        self.unasked = MAX_SHOWN_CHARACTERS  # characters that the model may still be shown

    @classmethod
    def around(cls, names: Sequence[str]) -> Tree | None:
        """The git work tree around these files, or here; None outside of one."""
        place = Path(names[0]).absolute().parent if names else Path.cwd()
        try:
            root = git.top(place)
        except GitError:
            return None
        extra = [os.path.relpath(Path(name).absolute(), root) for name in names]
        inside = [Path(name).as_posix() for name in extra if not name.startswith("..")]
        if len(inside) != len(names):
            return None
        named = (name for name in inside if not (root / name).is_dir())
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
        """The files named, and nothing else."""
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

    def rename(
        self, names: Sequence[str], old: str, new: str, settings: Settings, *, some: bool = False
    ) -> TreeRename:
        """The result of the rename in these files; an error where it cannot be. `some`: others may
        hold the name, too: they are read, and stay."""
        own = [self.path(name) for name in names]
        others: list[str] = []
        if some and self.tracks:
            held = self.holding(old, derived=settings.scope == "derived")
            others = [path for path in held if path not in own]
        paths = [*own, *others]
        result = self.rename_in(paths, old, new, settings, own=own if some else None)
        self.refuse_taken(result, settings)
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
        """The result in files of the tree of the rename of a name, or of the one at `target`.
        `own`: the user named these, and the others stay."""
        strict = own is None
        result = rename_tree(
            self.project, paths, old, new, settings.scope, self.is_here, target, strict=strict
        )
        return self._without_generated(result) if own is None else result.only(own)

    def _without_generated(self, result: TreeRename) -> TreeRename:
        """The rename without files that another program writes, or another project."""
        reasons = {
            path: why for path in result.files if (why := origin(path, self.project.text(path)))
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
            left[path] = (doubt(f"a {why} file, left as it is: {how}", (), "stays"),)
        files = {path: guess for path, guess in result.files.items() if path not in reasons}
        if files and self.tracks and (apart := git.submodules(self.root)):
            first = next(iter(files))
            note = doubt(f"submodules are not searched: {', '.join(apart)}")
            files[first] = replace(files[first], notes=(*files[first].notes, note))
        return replace(result, files=files, unchanged={**result.unchanged, **left})

    def _how_to_make(self, path: str) -> str:
        """How a generated file is written anew, as far as its head says."""
        head = _head(self.project.text(path))
        made = next((line for line in head if _GENERATED.search(line)), "").strip(" /*#<!->")
        return f"run its generator again (it says “{made[:120]}”)" if made else ""

    def refuse_taken(self, result: TreeRename, settings: Settings) -> None:
        """An error that names the places where the new name is taken, unless that is accepted."""
        if (taken := list(result.collisions)) and EXISTING_NAME not in settings.allowed:
            others = [f"{path}, {finding.text}" for path, finding in taken[1:MAX_NAMED_PLACES]]
            more = (
                f"; and {len(taken) - MAX_NAMED_PLACES} more"
                if len(taken) > MAX_NAMED_PLACES
                else ""
            )
            message = "; ".join([taken[0][1].text, *others]) + more
            raise RefusedEdit(
                f"{message}; nothing was renamed",
                file=taken[0][0],
                hint="Choose another name, or add --allow existing-name.",
            )

    def elsewhere(self, name: str, old: str, line: int | None) -> Finding | None:
        """That other files use what is renamed in one."""
        path = self.path(name)
        paths = self.holding(old, derived=False)
        if len(paths) > MAX_REPORTED_FILES:
            return None
        text = elsewhere(self.project, {*paths, path}, path, old, line, self.is_here)
        return Finding("elsewhere", text) if text else None

    def is_here(self, module: str, path: str) -> bool:
        return is_here(module, self.root / path)

    def _read(self, path: str) -> str:
        place = self.root / path
        if place.is_symlink() or not place.is_file() or place.stat().st_size > MAX_FILE_BYTES:
            raise InputError("cannot be read: not a regular file, or too large", file=path)
        return read_source(place, any_encoding=True).text if place.stat().st_size else ""


VENDORED = frozenset({"vendor", "node_modules", "third_party", "third-party", "bower_components"})
_GENERATED_NAME = re.compile(
    r"(_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.g\.(cs|dart)|\.designer\.cs|[.-]min\.(js|css))$", re.I
)
_GENERATED = re.compile(
    r"@generated|<auto-?generated|code generated .*do not edit|generated by .*do not (edit|modify)",
    re.I,
)


def origin(path: str, text: str | None) -> str:
    """ "generated" or "vendored", where a file's name or its first lines say so; else ""."""
    if VENDORED & set(Path(path).parts[:-1]):
        return "vendored"
    named = _GENERATED_NAME.search(path) or any(map(_GENERATED.search, _head(text)))
    return "generated" if named else ""


def _head(text: str | None) -> list[str]:
    """The lines that may say what wrote a file."""
    return (text or "")[:2000].splitlines()[:10]


def plan(tree: Tree, result: TreeRename, source: Source, settings: Settings) -> Job | Edit:
    """One file's part of a rename of the tree."""
    path = tree.path(source.name)
    guess = result.files.get(path)
    if guess is None:
        return untouched(source, *result.unchanged.get(path, ()))
    if tree.project.text(path) != source.text:
        raise InputError("changed while it was read; run it again", file=source.name)
    job = job_of(source, guess, settings, tree.unasked)
    if job.about is not source:
        tree.unasked -= len(job.about.text)
    return job


def with_mention(planned: Job | Edit, note: Finding | None) -> Job | Edit:
    """A plan for one file, with what other files have of the name."""
    if note is None:
        return planned
    findings = [finding for finding in planned.findings if not _is_undeclared(finding)]
    return replace(planned, findings=(*findings, note))


def _is_undeclared(finding: Finding) -> bool:
    return finding.kind == "unsure" and finding.text.startswith("nothing in this file declares")
