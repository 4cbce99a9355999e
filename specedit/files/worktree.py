"""Where a file lies, counted as git counts in a patch: from the top of the work tree.

Knows folders that have a `.git` in them. Asks no git, which takes 0.1 s to import: that is
`specedit.files.git`.
"""

from __future__ import annotations

import os
from pathlib import Path


def real(path: str | Path) -> Path:
    """The path with every link followed; `Path.resolve` raises where they go round in circles."""
    return Path(os.path.realpath(path))


def top_of(folder: Path) -> Path | None:
    """The nearest folder, this one or one above it, that has a `.git` which can be one."""
    place = real(folder)
    return next((at for at in (place, *place.parents) if _is_git(at / ".git")), None)


def _is_git(place: Path) -> bool:
    """A file that names the repository's folder, or that folder; git passes an empty one by."""
    return place.is_file() or (place / "HEAD").is_file() or (place / "HEAD").is_symlink()


def in_work_tree(path: str | Path) -> bool:
    """Whether the file at `path`, links followed, is in a work tree."""
    return top_of(real(path).parent) is not None


def patch_name(name: str, path: Path | None) -> str:
    """What a patch calls a file, so that `git apply` finds it from here.

    In a work tree git counts from its top, in whatever folder it is called; outside, from here.
    A file of another work tree is counted from that one's top."""
    place, here = real(name if path is None else path), real(".")
    for base in (top_of(here), here, top_of(place.parent)):
        if base is not None and place.is_relative_to(base):
            return place.relative_to(base).as_posix()
    return str(place)
