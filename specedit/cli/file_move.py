"""`specedit rename OLD.ext NEW.ext`: move a file or a folder, with the imports of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.streams import put_json, put_patch
from specedit.errors import InputError, UsageError
from specedit.syntax.diff import moved_patch

if TYPE_CHECKING:
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
    from specedit.files.recorder import Recorder, Wish
    from specedit.files.undo import absolute, check_free
    from specedit.rename.follow_imports import follow, moved_files
    from specedit.view import summary
    from specedit.view.colours import terminal
    from specedit.view.diff_view import show

    if settings.test or settings.ask:
        raise UsageError("--test and --ask do not work when a file is moved.")
    tree, moved = moved_files(old, new)
    for before, after in moved.items():
        check_free(tree.root / before, tree.root / after)
    planned = follow(tree, moved, settings)
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
            place = tree.path(source.name)
            to = moved.get(place)
            put_patch(edit.diff if to is None else moved_patch(place, to, edit.diff))
    if settings.json:
        put_json(report)
    summary.show(console, report, verbose=settings.verbose, quiet=settings.quiet)
    return 1 if settings.check else report.exit_code()
