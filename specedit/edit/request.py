"""The request of a command, and how its files are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from specedit.edit.job import Job
from specedit.edit.report import Edit, failed
from specedit.errors import FileError, GitError, InputError, NotDefined, Skipped, UsageError
from specedit.files import source as sources
from specedit.files.git import check_within, real, top_of
from specedit.files.source import Source
from specedit.files.undo import Moves

if TYPE_CHECKING:
    from specedit.check.project_checks import Verification
    from specedit.files.recorder import Wish
    from specedit.settings import Settings

# Plans the Job of one source; an Edit where there is nothing to ask a model.
Planner = Callable[[Source], Job | Edit]


@dataclass(frozen=True, slots=True)
class Request:
    """The request of a command. `writes`: files are journalled and written; else Edits are only
    returned, and what is tried in the work tree is taken out. `together`: all files are one change,
    so that nothing is written if one of them cannot be edited. `alone`: the instruction is for one
    file, so that an answer without a change is asked for again. `moves`: of files of one change,
    from one absolute path to another. `verification`: files of one change are put back where it
    finds them broken. `confirms_unsure`: an edit that is likely wrong takes effect only if the sink
    confirms it. `keeps`: a refused answer is kept where the user can look at it. `read`: the source
    of the file of that name. `uncommitted`: the files whose text is in no commit, so that git
    cannot restore it; asked before one is written."""

    command: str
    planner: Planner
    settings: Settings
    writes: bool = False
    wish: Wish | None = None
    together: bool = False
    alone: bool = True
    moves: Moves = ()
    verification: Verification | None = None
    confirms_unsure: bool = False
    keeps: bool = True
    read: Callable[[str], Source] = sources.read
    uncommitted: Callable[[], Collection[str]] = set


def not_done(name: str, problem: FileError, request: Request) -> Edit:
    """The Edit of a file that could not be done; of several, the instruction is about another."""
    if isinstance(problem, NotDefined) and not request.alone:
        problem = Skipped(problem.reason)
    return failed(name, problem)


def read_file(
    name: str,
    links: Mapping[str, Path] = MappingProxyType({}),
    root: Path = Path(),
    *,
    skips: bool = False,
) -> Source:
    """The source of a file. `links`: those out of a work tree that may be followed, each with its
    target. `root`: the names count from it. `skips`: a search chose the files; one that is not text
    stays."""
    try:
        source = sources.read(name, root, any_encoding=skips)
    except InputError as problem:
        if skips:
            raise Skipped(f"not renamed: {problem.reason}", hint=problem.hint) from problem
        raise
    check_within(root / name, links.get(name))
    return source


def uncommitted(names: Iterable[str], settings: Settings, root: Path = Path()) -> set[str]:
    """Of the files named, those whose text is in no commit; an error with --clean-only."""
    if not any(top_of(real(root / name).parent) for name in names):
        return set()  # without GitPython, which takes 0.1 s to import
    from specedit.files import git

    places = {name: root / name for name in names}
    try:
        dirty = git.dirty(places.values())
    except GitError:  # an edit needs no git
        if settings.clean_only:
            raise
        return set()
    listed = [name for name, place in places.items() if place in dirty]  # as named: `./a.py`
    if listed and settings.clean_only:
        raise UsageError(
            f"Uncommitted changes in {', '.join(listed)}.",
            hint="Commit or stash them, or run without --clean-only. Nothing was changed.",
        )
    return set(listed)
