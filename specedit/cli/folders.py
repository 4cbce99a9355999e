"""Folders as their files, and which of many files an instruction is about.

Knows git's files and what is said where there are none. Does not know what is done to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import FileError, UsageError
from specedit.files.worktree import top_of
from specedit.text.terminal import name as shown

if TYPE_CHECKING:
    from specedit.edit.backend import Backend

NOT_MEANT = "it holds few of the instruction's words, and the model does not mean it"


def expanded(name: str) -> list[str]:
    """A folder of a work tree stands for the files in it that git tracks and whose language is
    known; any other is a folder, which cannot be edited."""
    if not (Path(name).is_dir() and top_of(Path(name).absolute())):
        return [name]
    from specedit.files import git
    from specedit.syntax.languages import language_of

    found = [str(path) for path in git.under(Path(name))]
    known = [one for one in found if (kind := language_of(one)) is not None and kind.grammar]
    if not known:
        said = f"specedit: {shown(name)} holds no tracked file of a known language; nothing to do"
        print(said, file=sys.stderr)
    return known


def left(
    names: Iterable[str], instruction: str, backend: Backend, *, quiet: bool
) -> dict[str, str]:
    """Of the files, those that the instruction is not likely to be about, each with why: told by
    names and words, and by the model where they leave it open. A single
    one is meant."""
    from specedit.files import source as sources
    from specedit.focus.files import sifted

    texts = {}
    for name in names:
        with suppress(FileError):  # its own run says why
            texts[name] = sources.read(name).text
    if len(texts) < 2:
        return {}
    found = sifted(texts, instruction)
    out = dict(found.left)
    if found.doubtful:
        from specedit.edit.which import MOST, meant

        asked = found.doubtful[:MOST]
        several = f"{len(asked)} files" if len(asked) > 1 else shown(asked[0])
        if not quiet:
            print(f"specedit: asking the model about {several}", file=sys.stderr)
        wanted = set(meant(texts, asked, instruction, backend))
        out = {n: NOT_MEANT if n in asked else why for n, why in out.items() if n not in wanted}
    if len(out) == len(texts):
        raise UsageError(
            f"None of the {len(texts)} files holds what the instruction speaks of.",
            hint="Name the files, or leave out --find: then each is asked about.",
        )
    return out
