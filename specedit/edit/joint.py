"""Files that are one change: all of them are written, or none.

Knows Edits, Sources and the journal's recorder. Does not know Jobs or backends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.errors import FileError
from specedit.files.recorder import Recorder
from specedit.files.replacement import check_unchanged
from specedit.files.source import Source
from specedit.report import Edit, Finding


@dataclass(frozen=True)
class ToWrite:
    """An Edit that waits to be written. `uncommitted`: git could not bring its text back."""

    source: Source
    edit: Edit
    uncommitted: bool = False


def written(recorder: Recorder, held: Sequence[ToWrite], broken: str = "") -> dict[str, Edit]:
    """What becomes of each file, by its path. `broken`: the file that keeps all from being written,
    if one does already."""
    for one in () if broken else held:
        try:
            check_unchanged(one.source)
        except (FileError, OSError):
            broken = one.edit.path
    done: dict[str, Edit] = {}
    for one in () if broken else held:
        try:
            done[one.edit.path] = put(recorder, one)
        except FileError as problem:  # a full disk, a file that somebody has just taken away
            broken = f"{one.edit.path} ({problem.reason})"
            _take_back(recorder)
            break
    return {one.edit.path: _refused(one.edit, broken) for one in held} if broken else done


def put(recorder: Recorder, one: ToWrite) -> Edit:
    """Write one file; its Edit, written."""
    recorder.write(one.source, one.edit.after)
    edit = replace(one.edit, status="edited", written=True)
    return edit.noting(held_uncommitted()) if one.uncommitted else edit


def _take_back(recorder: Recorder) -> None:
    """What was written of one change that cannot be written whole."""
    from specedit.files.undo import undo

    if recorder.run.files:
        undo(recorder.store, recorder.run.name, partly=True)


def _refused(edit: Edit, broken: str) -> Edit:
    return replace(edit, status="refused", written=False).noting(held_with(broken))


def held_uncommitted() -> Finding:
    said = "held uncommitted changes: edited as it was; specedit undo puts it back"
    return Finding("uncommitted", said)


def held_with(broken: str) -> Finding:
    said = f"not written: it is one change with {broken}, which could not be done"
    return Finding("held", said, refuses=True)
