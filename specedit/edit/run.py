"""A run over files: read, plan, ask the model, judge, write, journal. One event stream for all.

Knows Sources, Jobs, backends and the journal. Does not know git, flags or the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from specedit.edit.backend import Backend, Event
from specedit.edit.judge import failed, outcome, perform, recheck, write
from specedit.edit.plan import Job
from specedit.errors import InputError, RefusedEdit, UsageError
from specedit.files import source as sources
from specedit.files.journal import Recorder
from specedit.files.source import Source
from specedit.report import Edit
from specedit.settings import Settings

Planner = Callable[[Source], Job | Edit]
Asker = Callable[[Source, Edit], str]  # the text a person wants of a proposed edit


def over(
    names: Iterable[str],
    planner: Planner,
    backend: Backend,
    settings: Settings,
    *,
    asker: Asker | None = None,
    recorder: Recorder | None = None,
    read: Callable[[str], Source] = sources.read,
) -> Iterator[tuple[str, Event | Edit]]:
    """Each file in turn; its last item is its Edit. A file that fails leaves the others be.

    Files are written when `recorder` is given, which journals them first."""
    for name in names:
        try:
            for item in one(read(name), planner, backend, settings, asker, recorder):
                yield name, item
        except (InputError, RefusedEdit) as problem:
            status = "refused" if isinstance(problem, RefusedEdit) else "failed"
            yield name, replace(failed(name, str(problem).removeprefix(f"{name}: ")), status=status)


def one(
    source: Source,
    planner: Planner,
    backend: Backend,
    settings: Settings,
    asker: Asker | None = None,
    recorder: Recorder | None = None,
) -> Iterator[Event | Edit]:
    from specedit.files.atomic import check_writable

    if recorder is not None:
        check_writable(source)
    job = planner(source)
    if isinstance(job, Edit):
        yield job
        return
    for item in perform(job, backend, settings):
        if isinstance(item, Edit):
            item = _asked(job, item, asker)
            if recorder is not None and item.changed:
                path = check_writable(source)  # again: it may be gone by now
                with recorder.writing(path, item.before, item.after):
                    item = write(source, item)
        yield item


def _asked(job: Job, edit: Edit, asker: Asker | None) -> Edit:
    """The part of an edit that a person took, checked again."""
    if asker is None or not edit.changed:
        return edit
    text = asker(job.source, edit)
    kept = outcome(job.source, text, edit.figures)
    problems = recheck(job, text)
    if problems:
        return replace(kept, notes=edit.notes).refused(*problems)
    return replace(kept, notes=edit.notes, compared=edit.compared)


def from_stdin(data: bytes, name: str) -> Source:
    """Standard input as a Source without a file."""
    if not name:
        name = "stdin"
    if Path(name).name == "":
        raise UsageError(f"--stdin-filename {name!r} names no file.")
    return Source.from_bytes(name, data)
