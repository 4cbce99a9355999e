"""Which texts heads learn from: files that git tracks, of languages that are code.

Knows folders, names and text. Knows no ids and no model. A file is held out by its content, so the
same files are held out when training goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import FileError, UsageError

NO_CODE = ("json", "yaml", "toml", "html", "css", "markdown")
HELD = 12  # one file of so many is held out
LEAST, MOST = 400, 200_000  # characters of a text that is read


@dataclass(frozen=True)
class Text:
    """One file to learn from."""

    name: str
    text: str
    held: bool

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


def texts(paths: Sequence[Path]) -> list[Text]:
    """What the tracked files of these folders, and these tracked files, say."""
    found: dict[str, Text] = {}
    for path in _named(paths):
        text = _read(path)
        if text is not None:
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            found.setdefault(digest, Text(str(path), text, int(digest[:8], 16) % HELD == 0))
    if not found:
        where = ", ".join(map(str, paths))
        raise UsageError(
            f"There is nothing to learn from in {where}: no file that git tracks holds code.",
            hint="Name a folder of a repository with source files, or commit them first.",
        )
    ordered = [found[digest] for digest in sorted(found)]
    if all(one.held for one in ordered) or not any(one.held for one in ordered):
        # few files: the first in the order of digests is held out, if another is left to learn from
        last = len(ordered) > 1
        ordered = [Text(t.name, t.text, last and not n) for n, t in enumerate(ordered)]
    return ordered


def _named(paths: Iterable[Path]) -> Iterable[Path]:
    from specedit.files import git
    from specedit.files.worktree import real

    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} is not there.", hint="Name folders or files of a repository.")
        if path.is_dir():
            yield from git.under(path)
        elif real(path) in {real(one) for one in git.under(path.parent)}:
            yield path
        else:
            raise UsageError(
                f"{path} is not tracked by git, and only tracked files are learnt from.",
                hint=f"git add {path}",
            )


def _read(path: Path) -> str | None:
    """The text of a file of code; None where it is none."""
    from specedit.files.source import read
    from specedit.syntax.languages import language_of

    language = language_of(path.name)
    if language is None or language.name in NO_CODE:
        return None
    try:
        text = read(path).text
    except FileError:
        return None
    return text if LEAST <= len(text) <= MOST and text.strip() else None
