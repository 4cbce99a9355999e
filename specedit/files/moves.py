"""Moves of files in a run: made after its texts are written, taken back before they are restored.

Git's index follows where it knows the file, as with `git mv`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from specedit.errors import InputError, SpeceditError
from specedit.files import git
from specedit.files.git_call import ask

Moves = Sequence[tuple[str, str]]  # absolute paths, from and to


def check_free(old: Path, new: Path) -> None:
    """An error where something else has the new name; another case of the same name is free."""
    if os.path.lexists(new) and not (new.exists() and old.samefile(new)):
        raise InputError("exists already; nothing was moved", file=str(new))


def make(moves: Moves) -> None:
    """Move files; those that are there already stay."""
    for old, new in moves:
        if os.path.lexists(old):
            _move(Path(old), Path(new))


def take_back(moves: Moves) -> list[tuple[str, str]]:
    """Move files back, where their old names are free; the moves that were taken back."""
    done = []
    for old, new in reversed(moves):
        if os.path.lexists(new) and not os.path.lexists(old):
            _move(Path(new), Path(old))
            with suppress(OSError):  # a folder that is not empty
                for folder in Path(new).parents:
                    folder.rmdir()
            done.append((old, new))
    return done


def place(path: str, moves: Moves) -> Path:
    """Where a file of a run is now."""
    return Path(next((n for o, n in moves if o == path and not os.path.lexists(o)), path))


def _move(old: Path, new: Path) -> None:
    check_free(old, new)
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
    except OSError as error:
        raise InputError(f"cannot be moved to {new}: {error.strerror}", file=str(old)) from error
    with suppress(SpeceditError, ValueError, OSError):  # the files are right without the index, too
        _follow(old, new)


def _follow(old: Path, new: Path) -> None:
    """Give the index's entry the new name, with the content that is staged."""
    root = git.top(new.parent)
    names = [os.fsencode(place.relative_to(root.resolve()).as_posix()) for place in (old, new)]
    entry = ask(root, "ls-files", "-z", "--stage", "--", os.fsdecode(names[0]))[1]
    if entry:
        meta = entry.partition(b"\t")[0]
        removed = b"0 " + b"0" * len(meta.split()[1]) + b"\t" + names[0]
        lines = b"\0".join((removed, meta + b"\t" + names[1], b""))
        ask(root, "update-index", "-z", "--index-info", stdin=lines)


def absolute(root: Path, moves: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The moves of paths that count from a folder."""
    top = root.resolve()
    return tuple((str(top / old), str(top / new)) for old, new in moves)
