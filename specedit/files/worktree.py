"""Where a file lies, counted as git counts in a patch: from the top of the work tree.

Looks for folders with a `.git`, without git itself, whose module (`specedit.files.git`) takes 0.1 s
to import.
"""

from __future__ import annotations

import os
from pathlib import Path

from specedit.errors import InputError


def real(path: str | Path) -> Path:
    """The path with every link followed; `Path.resolve` raises where they go round in circles."""
    return Path(os.path.realpath(path))


def path_of_uri(uri: str) -> Path:
    """The path that a `file:` URI names."""
    from urllib.parse import unquote, urlsplit  # few commands have URIs

    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
        if parts.scheme == "file" and "\0" not in os.fsdecode(os.fsencode(path)):
            if os.name == "nt":
                from urllib.request import url2pathname

                place = f"//{parts.netloc}{parts.path}" if parts.netloc else parts.path
                return Path(url2pathname(place))
            return Path(path)
    except ValueError:
        pass  # it is not a URI, or not a name that a file can have
    raise InputError(f"{uri} does not name a file")


def top_of(folder: Path) -> Path | None:
    """The nearest folder, this one or one above it, that has a `.git` which can be one."""
    place = real(folder)
    return next((at for at in (place, *place.parents) if _is_git(at / ".git")), None)


def _is_git(place: Path) -> bool:
    """A file that names the repository's folder, or that folder; git passes an empty one by."""
    return place.is_file() or (place / "HEAD").is_file() or (place / "HEAD").is_symlink()


def beyond(name: str | Path) -> Path | None:
    """Where a file really lies, when a link on the way there leads out of the work tree that the
    link is in, or into its `.git`. A cloned repository may bring such a link."""
    target, at = real(name), Path.cwd()
    if target == Path(name).absolute():
        return None  # no link on the way
    for part in Path(name).parts:
        at = real(at).parent if part == ".." else at / part
        if not at.is_symlink():
            continue
        top = top_of(at.parent)
        if top is not None and not is_inside(target, top):
            return target
        at = real(at)
    return None


def is_inside(target: Path, top: Path) -> bool:
    """Whether a file, links followed, is in the work tree and not in a `.git`."""
    if not target.is_relative_to(top):
        return False
    return all(part.lower() != ".git" for part in target.relative_to(top).parts)


def check_within(name: str | Path, allowed: Path | None = None) -> None:
    """Refuse a file that a link puts outside, unless its target is the one that was `allowed`."""
    target = beyond(name)
    if target is not None and target != allowed:
        raise InputError(
            f"a link to {target}, which is outside its work tree or in its .git",
            file=os.fspath(name),
            hint="Name that file itself if it is the one to edit; at a terminal you are asked.",
        )


def in_work_tree(path: str | Path) -> bool:
    """Whether the file at `path`, links followed, is in a work tree."""
    return top_of(real(path).parent) is not None


def patch_name(name: str, path: Path | None, root: Path = Path()) -> str:
    """The name of a file in a patch, so that `git apply` finds it from `root`.

    In a work tree git counts from its top, in whatever folder it is called; outside, from there.
    A file of another work tree is counted from that one's top."""
    place, here = real(root / name if path is None else path), real(root)
    if (base := top_of(here)) is None or not place.is_relative_to(base):
        base = here if place.is_relative_to(here) else top_of(place.parent)
    return str(place) if base is None else place.relative_to(base).as_posix()
