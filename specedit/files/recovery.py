"""Changes that a killed process left unfinished: the next command completes or reverts each.

Reverting is the default. A change is completed where every file has its new text already, so that
nothing but the mark is missing; and a single file where it was being written in place, for it has
hard links. What a living process writes is left alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from specedit.errors import SpeceditError
from specedit.files import moves, regular, replacement
from specedit.files.journal import (
    RECORD,
    JournalRun,
    alone,
    clear_up,
    digest,
    draft_of,
    load,
    original,
    save,
)
from specedit.files.source import Source
from specedit.files.startup import marks, undisturbed
from specedit.files.undo import RESTORED, is_mixed, revert


def unfinished(store: Path) -> Iterator[JournalRun]:
    """Runs that were killed before their change was whole or their try judged, the newest first."""
    for mark in marks(store):
        run = load(mark.parent)
        if run is not None and not run.at_work:
            yield run


def recover(store: Path, *, but: str | None = None) -> list[str]:
    """Complete or revert every unfinished change of a killed process; a line about each. `but`:
    the name of a run that the caller undoes itself."""
    early = any(not (mark.parent / RECORD).exists() for mark in marks(store))
    if not early and all(run.name == but for run in unfinished(store)):
        return []
    lines: list[str] = []
    try:
        with alone(store), undisturbed():
            clear_up(store)
            for run in unfinished(store):
                if run.name != but:
                    lines += _recovered(run)
    except (SpeceditError, OSError) as error:
        lines.append(f"an unfinished change cannot be reverted: {error}")
    return lines


def _recovered(run: JournalRun) -> Iterator[str]:
    if not run.files:  # killed before its originals were in the journal: nothing is written yet
        shutil.rmtree(run.path, ignore_errors=True)
    elif not run.whole:
        yield from _completed_in_place(run)
    elif not run.tree and _is_whole(run):
        finish(run)
        yield f"completed the {_named(run)}: it was killed after it wrote the last file"
    else:
        yield from _reverted(run)


def finish(run: JournalRun) -> JournalRun:
    """Every file has its new text: remove the mark."""
    if torn := [entry for entry in run.files if entry.torn]:
        run = replace(run, files=tuple(replace(entry, torn=False) for entry in run.files))
        with suppress(OSError):  # a full disk: undo compares the bytes
            save(run)
            for entry in torn:
                (run.path / f"{entry.blob}.after").unlink(missing_ok=True)
    run.mark.unlink(missing_ok=True)
    return run


def _reverted(run: JournalRun) -> Iterator[str]:
    done = revert(run)
    if all(file.problem == "is gone" for file in done.files):
        run.mark.unlink(missing_ok=True)
    elif done.refused:
        first = done.refused[0]
        yield (
            f"the {_named(run)} was killed and cannot be reverted: {first.path} {first.problem}. "
            f"`specedit undo --partly --run {run.name}` puts back the other files, "
            f"`specedit undo --forget --run {run.name}` keeps them as they are"
        )
    elif any(file.status == RESTORED for file in done.files):
        why = "its test had judged it" if run.tree else "it had written all of its files"
        yield f"reverted the {_named(run)}: it was killed before {why}"


def _completed_in_place(run: JournalRun) -> Iterator[str]:
    """Write the file that a run of independent edits was writing when it was killed."""
    for entry in run.files:
        path = Path(entry.path)
        with suppress(OSError, SpeceditError):
            now, before = regular.read(path), original(run, entry)
            if not entry.torn or digest(now) in (entry.before_sha256, entry.after_sha256):
                continue
            after = regular.read(run.path / f"{entry.blob}.after")
            if digest(after) == entry.after_sha256 and is_mixed(now, before, after):
                replacement.replace(Source(entry.path, "", now, path), after, draft_of(run, entry))
                yield f"completed {path} of the {_named(run)}: it was killed while it wrote it"
    finish(run)


def _named(run: JournalRun) -> str:
    kind = "try" if run.tree else "change"
    files = run.files[0].path if len(run.files) == 1 else f"{len(run.files)} files"
    return f"{kind} of {files} ({run.label})"


def _is_whole(run: JournalRun) -> bool:
    """Whether every file has its new text, and its new name."""
    if not all(os.path.lexists(new) and not os.path.lexists(old) for old, new in run.moves):
        return False
    places = [(moves.place(entry.path, run.moves), entry.after_sha256) for entry in run.files]
    with suppress(OSError):
        return all(digest(regular.read(path)) == after for path, after in places)
    return False
