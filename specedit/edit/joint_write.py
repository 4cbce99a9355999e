"""Files that are one change: all of them are written, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit.report import Edit, Finding
from specedit.errors import FileError
from specedit.files.recorder import Recorder
from specedit.files.source import Source


@dataclass(frozen=True)
class ToWrite:
    """An Edit that waits to be written. `uncommitted`: git could not bring its text back."""

    source: Source
    edit: Edit
    uncommitted: bool = False


def written(recorder: Recorder, held: Sequence[ToWrite], broken: str = "") -> dict[str, Edit]:
    """What becomes of each file, by its path. `broken`: the file that keeps all from being written,
    if one does already."""
    if not broken:
        try:
            recorder.write_all([(one.source, one.edit.after) for one in held])
        except FileError as problem:  # a full disk, a file that another program changed or removed
            broken = f"{problem.file or held[0].edit.path} ({problem.reason})"
    return {one.edit.path: _refused(one.edit, broken) if broken else _done(one) for one in held}


def put(recorder: Recorder, one: ToWrite) -> Edit:
    """Write one file; its Edit, written."""
    recorder.write(one.source, one.edit.after)
    return _done(one)


def _done(one: ToWrite) -> Edit:
    edit = replace(one.edit, status="edited", written=True)
    return edit.noting(held_uncommitted()) if one.uncommitted else edit


def _refused(edit: Edit, broken: str) -> Edit:
    return replace(edit, status="refused", written=False).noting(held_with(broken))


def held_uncommitted() -> Finding:
    message = "held uncommitted changes: edited as it was; specedit undo puts it back"
    return Finding("uncommitted", message)


def held_with(broken: str) -> Finding:
    message = f"not written: it is one change with {broken}, which could not be done"
    return Finding("held", message, refuses=True)
