"""`specedit rename OLD.ext NEW.ext`: move a file or a folder, with the imports of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.streams import put_json, put_patch
from specedit.errors import InputError, UsageError

if TYPE_CHECKING:
    from specedit.edit.report import Edit
    from specedit.files.source import Source
    from specedit.rename.tree import Tree
    from specedit.settings import Settings


def is_move(old: str, new: str) -> bool:
    """Whether OLD is a file or a folder, and NEW can be its new place."""
    place = Path(old)
    is_path = "/" in new or Path(new).suffix == place.suffix != ""
    if is_path and "/" in old and not place.exists():
        raise InputError("no such file", file=old)
    return place.exists() and (is_path or (place.is_dir() and "/" in old))


def move(old: str, new: str, settings: Settings) -> int:
    """Move OLD and rewrite the imports that lead to it: one change, which undo takes back."""
    from specedit.edit.report import Report
    from specedit.files.journal import home
    from specedit.files.moves import absolute, check_free
    from specedit.files.recorder import Recorder, Wish
    from specedit.view import summary
    from specedit.view.colours import terminal
    from specedit.view.diff_view import show

    if settings.test or settings.ask:
        raise UsageError("--test and --ask do not work when a file is moved.")
    tree, moved = _moved(old, new)
    for before, after in moved.items():
        check_free(tree.root / before, tree.root / after)
    planned = _planned(tree, moved, settings)
    report = Report("rename", tuple(edit for _, edit in planned))
    if not (settings.check or settings.diff):
        recorder = Recorder(home(), "rename", Wish(f"{old} to {new}"))
        kept = [one for one in planned if one[1].changed or tree.path(one[1].path) in moved]
        recorder.write_all(
            [(source, edit.after) for source, edit in kept], absolute(tree.root, moved.items())
        )
        done = {source.name for source, edit in kept if edit.changed}
        edits = (
            replace(edit, status="edited", written=True) if source.name in done else edit
            for source, edit in planned
        )
        report = Report("rename", tuple(edits))
    console = terminal()
    for source, edit in planned:
        if not settings.quiet:
            show(console, edit)
        if settings.diff:
            put_patch(_patch(tree.path(source.name), edit, moved))
    if settings.json:
        put_json(report)
    summary.show(console, report, verbose=settings.verbose, quiet=settings.quiet)
    return 1 if settings.check else report.exit_code()


def _moved(old: str, new: str) -> tuple[Tree, dict[str, str]]:
    """The work tree, and the new path of each file that moves."""
    from specedit.rename.tree import Tree

    source, target = Path(old), Path(new)
    if source.is_symlink():
        raise InputError("a symbolic link; nothing was moved", file=old)
    if target.is_dir() or new.endswith("/"):
        target = target / source.name
    tree = Tree.around([old])
    if tree is None:
        raise InputError(
            "not in a git work tree: what imports it cannot be found; nothing was moved", file=old
        )
    before, after = tree.path(old), tree.path(str(target))
    if after.startswith("../"):
        raise UsageError(f"{new} is outside the work tree of {old}.")
    if not source.is_dir():
        return tree, {before: after}
    files = [path for path in tree.project.paths if path.startswith(f"{before}/")]
    there = [path for path in files if (tree.root / path).is_file()]
    if not there:
        raise InputError("a folder without files that git knows; nothing was moved", file=old)
    return tree, {path: after + path[len(before) :] for path in sorted(there)}


def _planned(tree: Tree, moved: dict[str, str], settings: Settings) -> list[tuple[Source, Edit]]:
    """Each file that changes or moves, with its Edit."""
    from specedit.check.finding import Finding
    from specedit.edit.outcome import outcome
    from specedit.files.source import read
    from specedit.rename.follow_imports import follow, refuse_taken

    refuse_taken(tree.project, moved)
    plan = follow(tree, moved, settings)
    result = []
    for path in dict.fromkeys((*moved, *plan.texts, *plan.notes)):
        try:
            source = read(tree.shown(path))
        except InputError:
            if path in plan.texts:
                raise
            source = _unread(tree, path)
        edit = outcome(source, plan.texts.get(path, source.text))
        if path in moved:
            edit = edit.noting(Finding("moved", f"moved to {moved[path]}"))
        if path in plan.notes:
            edit = edit.noting(Finding("stays", plan.notes[path]))
        result.append((source, edit))
    return result


def _unread(tree: Tree, path: str) -> Source:
    """A file that moves as it is: empty, or not text."""
    from specedit.files import regular
    from specedit.files.source import Source

    place = (tree.root / path).resolve()
    return Source(tree.shown(path), "", regular.read(place), place)


def _patch(path: str, edit: Edit, moved: dict[str, str]) -> str:
    """The patch of a file; that of a moved one names both places, as git writes it."""
    new = moved.get(path)
    if new is None:
        return edit.diff
    head = f"diff --git a/{path} b/{new}\n"
    lines = edit.diff.splitlines(keepends=True)[3:]
    names = f"rename from {path}\nrename to {new}\n"
    share = "similarity index 100%\n" if not lines else ""
    both = f"--- a/{path}\n+++ b/{new}\n" if lines else ""
    return "".join([head, share, names, both, *lines])
