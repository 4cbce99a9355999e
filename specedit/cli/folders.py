"""Folders as the tracked files in them."""

from __future__ import annotations

import sys
from pathlib import Path

from specedit.files.worktree import top_of
from specedit.view.terminal import name as shown


def expanded(name: str) -> list[str]:
    """A folder of a work tree stands for the files in it that git tracks and whose language is
    known; any other is a folder, which cannot be edited."""
    if not (Path(name).is_dir() and top_of(Path(name).absolute())):
        return [name]
    from specedit.files import git
    from specedit.syntax.languages import language_of

    results = [str(path) for path in git.under(Path(name))]
    known = [one for one in results if (kind := language_of(one)) is not None and kind.grammar]
    if not known:
        message = (
            f"specedit: {shown(name)} holds no tracked file of a known language; nothing to do"
        )
        print(message, file=sys.stderr)
    return known
