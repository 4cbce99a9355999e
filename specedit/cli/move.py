"""`specedit rename OLD.ext NEW.ext`: a file or a folder moves, and imports follow it."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from specedit.cli.streams import put_json, put_patch
from specedit.edit.report import Report
from specedit.errors import UsageError
from specedit.files.journal import home
from specedit.files.recorder import Recorder, Wish
from specedit.files.undo import absolute, check_free
from specedit.rename.follow_imports import follow, moved_files
from specedit.settings import Settings
from specedit.syntax.lines import moved_patch
from specedit.view import colours, summary, terminal
from specedit.view.colours import count, say
from specedit.view.diff_view import show


def move(old: str, new: str, settings: Settings) -> int:
    """Move OLD and rewrite the imports that lead to it: one change, which undo takes back."""
    if settings.test or settings.ask:
        raise UsageError("--test and --ask do not work when a file is moved.")
    tree, moved = moved_files(old, new)
    for before, after in moved.items():
        check_free(tree.root / before, tree.root / after)
    planned = follow(tree, moved, settings)
    report = Report("rename", tuple(edit for _, edit in planned))
    if not (settings.check or settings.diff):
        recorder = Recorder(home(), "rename", Wish(f"{old} to {new}"))
        kept = [file for file in planned if file[1].changed or tree.path(file[1].path) in moved]
        recorder.write_all(
            [(source, edit.after) for source, edit in kept], absolute(tree.root, moved.items())
        )
        done = {source.name for source, edit in kept if edit.changed}
        edits = (
            replace(edit, status="edited", written=True) if source.name in done else edit
            for source, edit in planned
        )
        report = Report("rename", tuple(edits))
    console = colours.terminal()
    for source, edit in planned:
        if settings.verbose:
            show(console, edit)
        elif edit.changed and not settings.quiet:
            lines = count(max(edit.added, edit.removed), "line")
            say(console, Text(f"  {terminal.name(edit.path)}: {lines}"))
        if settings.diff:
            place = tree.path(source.name)
            to = moved.get(place)
            put_patch(edit.diff if to is None else moved_patch(place, to, edit.diff))
    if settings.json:
        put_json(report)
    summary.show(console, report, verbose=settings.verbose, quiet=settings.quiet)
    return 1 if settings.check else report.exit_code()
