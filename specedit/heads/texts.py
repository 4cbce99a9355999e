"""The texts that heads learn from: files of code that git tracks.

A file is held out by its content, so the same files are held out when training continues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specedit.errors import FileError, UsageError

NOT_CODE = ("json", "yaml", "toml", "html", "css", "markdown")
HELD = 12  # one file of so many is held out
LEAST, MOST = 400, 200_000  # characters of a text


@dataclass(frozen=True)
class Text:
    """One file to learn from."""

    name: str
    text: str
    held: bool = False  # out of learning, to measure acceptance

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


def read_texts(paths: Sequence[Path]) -> list[Text]:
    """The tracked files of these folders, and these tracked files, in the order of digests."""
    unique: dict[str, Text] = {}
    for path in _tracked(paths):
        text = _read(path)
        if text is not None:
            unique.setdefault(text.digest, text)
    if not unique:
        where = ", ".join(map(str, paths))
        raise UsageError(
            f"There is nothing to learn from in {where}: no file that git tracks holds code.",
            hint="Name a folder of a repository with source files, or commit them first.",
        )
    held = {digest for digest in unique if int(digest[:8], 16) % HELD == 0}
    if not held or len(held) == len(unique):  # few files: the first one, if another one is left
        held = set(sorted(unique)[: int(len(unique) > 1)])
    return [replace(unique[digest], held=digest in held) for digest in sorted(unique)]


def _tracked(paths: Sequence[Path]) -> Iterator[Path]:
    from specedit.files import git
    from specedit.files.worktree import real

    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist.", hint="Name folders or files.")
        if path.is_dir():
            yield from git.under(path)
        elif real(path) in {real(one) for one in git.under(path.parent)}:
            yield path
        else:
            raise UsageError(f"{path} is not tracked by git.", hint=f"git add {path}")


def _read(path: Path) -> Text | None:
    """A file of code; None for other files."""
    from specedit.files.source import read
    from specedit.syntax.languages import language_of

    language = language_of(path.name)
    if language is None or language.name in NOT_CODE:
        return None
    try:
        text = read(path).text
    except FileError:
        return None
    return Text(str(path), text) if LEAST <= len(text) <= MOST and text.strip() else None
