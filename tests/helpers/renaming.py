"""Renames of texts without a work tree: of one file, and of several by path."""

import re
from collections.abc import Mapping
from pathlib import Path

from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.files.source import Source
from specedit.rename.places import rename_places
from specedit.rename.questions import MAX_SHOWN_CHARACTERS, RenameGuess
from specedit.rename.tree import Tree, is_here, plan_rename
from specedit.rename.tree_rename import Target, TreeRename, rename_tree
from specedit.scoping.project import Project
from specedit.settings import Settings
from specedit.syntax.identifiers import sought
from specedit.syntax.languages import BY_NAME, language_of

__all__ = ("MAX_SHOWN_CHARACTERS", "Tree", "is_here")
MARK = re.compile("«(.*?)»")


def rename_text(
    text: str,
    old: str,
    new: str,
    scope: str = "code",
    line: int | None = None,
    language: str | None = "python",
) -> RenameGuess:
    """The rename in one text. `language`: its name, or that of a file, or None."""
    known = BY_NAME.get(language or "") or (language_of(language) if language else None)
    return rename_places(text, known, old, new, scope, line)


def rename_texts(
    texts: Mapping[str, str],
    old: str,
    new: str = "other",
    scope: str = "code",
    *,
    at: tuple[str, int] | None = None,
    root: Path | None = None,
) -> TreeRename:
    """The rename in a tree of these texts. `at`: a path, and where in its text the name stands.
    `root`: their folder on the disk; without it no module without a file is the project's."""
    spelled = sought(old, derived=scope == "derived")
    held = [path for path, text in texts.items() if any(x in text.lower() for x in spelled[1:])]
    held += [path for path, text in texts.items() if spelled[0] in text and path not in held]
    target = Target(*at, at[1] + len(old)) if at is not None else None

    def ours(module: str, path: str) -> bool:
        return root is not None and is_here(module, root / path)

    project = Project(texts, texts.__getitem__, ours)
    return rename_tree(project, [p for p in texts if p in held], old, new, scope, target)


def texts_after(texts: Mapping[str, str], result: TreeRename) -> dict[str, str]:
    """All texts as a rename leaves them."""
    changed = {path: guess.text for path, guess in result.files.items()}
    return {**texts, **changed}


def planned(
    text: str | bytes,
    old: str,
    new: str,
    path: str = "a.py",
    line: int | None = None,
    **chosen: object,
) -> Job | Edit:
    """What a rename of one file asks, or what it already knows."""
    data = text if isinstance(text, bytes) else text.encode()
    settings = Settings(**chosen)  # type: ignore[arg-type]
    return plan_rename(Source.from_bytes(path, data), old, new, settings, line=line)


def planned_of_many(text: str, old: str, new: str, place: Path) -> Job | Edit:
    """The same for one of many files of a project, as the hook asks for it."""
    source = Source.from_bytes(place.name, text.encode(), place)
    return plan_rename(source, old, new, Settings(), absent_ok=True)
