"""The request of a command, and its inputs: files by name, or standard input."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.errors import InputError, Skipped, UsageError
from specedit.files import source as sources
from specedit.files.git import check_within, in_work_tree
from specedit.files.source import Source
from specedit.files.undo import Moves

if TYPE_CHECKING:
    from specedit.check.project_checks import Verification
    from specedit.files.recorder import Wish
    from specedit.settings import Settings

# Plans the Job of one source; an Edit where there is nothing to ask a model.
Planner = Callable[[Source], Job | Edit]


@dataclass(frozen=True, slots=True)
class Input:
    """A text to edit, not read yet."""

    name: str
    read: Callable[[], Source]
    is_uncommitted: Callable[[], bool] = bool  # its text is in no commit: git cannot restore it


@dataclass(frozen=True, slots=True)
class Request:
    """The request of a command. `writes`: files are journalled and written; else Edits are only
    returned, and what is tried in the work tree is taken out. `together`: all files are one change,
    so that nothing is written if one of them cannot be edited. `alone`: the instruction is for one
    file, so that an answer without a change is asked for again. `moves`: of files of one change,
    from one absolute path to another. `verification`: files of one change are put back where it
    finds them broken. `confirms_unsure`: an edit that is likely wrong takes effect only if the sink
    confirms it. `keeps`: a refused answer is kept where the user can look at it."""

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


def of_files(
    names: Iterable[str],
    uncommitted: Callable[[], Collection[str]] = set,
    beyond: Mapping[str, Path] = MappingProxyType({}),
    root: Path = Path(),
    *,
    skips: bool = False,
) -> list[Input]:
    """`uncommitted`: asked before a file is written. `beyond`: the links out of a work tree that
    may be followed, each with its target. `root`: the names count from it. `skips`: a search chose
    the files; one that is not text stays."""
    return [
        Input(
            name,
            partial(_read, name, beyond.get(name), root, skips),
            lambda name=name: name in uncommitted(),  # type: ignore[misc]
        )
        for name in names
    ]


def _read(name: str, allowed: Path | None, root: Path, skips: bool) -> Source:
    try:
        source = sources.read(name, root, any_encoding=skips)
    except InputError as problem:
        if skips:
            raise Skipped(f"not renamed: {problem.reason}", hint=problem.hint) from problem
        raise
    check_within(root / name, allowed)
    return source


def of_stdin(data: bytes, name: str) -> Input:
    """Standard input, a text without a file."""
    name = name or "stdin"
    if Path(name).name == "":
        raise UsageError(f"--stdin-filename {name!r} names no file.")
    return Input(name, partial(Source.from_bytes, name, data))


def uncommitted(names: Iterable[str], settings: Settings, root: Path = Path()) -> set[str]:
    """Of the files named, those whose text is in no commit; an error with --clean-only."""
    places = {name: root / name for name in names}
    if not any(map(in_work_tree, places.values())):  # GitPython takes 0.1 s to import
        return set()
    from specedit.files import git

    dirty = git.dirty(places.values())
    listed = [name for name, place in places.items() if place in dirty]  # as named: `./a.py`
    if listed and settings.clean_only:
        raise UsageError(
            f"Uncommitted changes in {', '.join(listed)}.",
            hint="Commit or stash them, or run without --clean-only. Nothing was changed.",
        )
    return set(listed)
