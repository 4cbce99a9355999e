"""What `edit` and `rename` share: choose files, run, show, write to the right stream, exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.early import Early
from specedit.errors import INTERRUPTED, SpeceditError, UsageError
from specedit.files.worktree import in_work_tree
from specedit.report import Edit, Report

if TYPE_CHECKING:
    from specedit.edit.backend import Backend, Event
    from specedit.edit.run import Planner
    from specedit.settings import Resolved, Settings
    from specedit.view.screen import Screen


@dataclass(frozen=True)
class Chosen:
    """Which files a command line means."""

    names: tuple[str, ...]
    staged: bool = False
    changed: bool = False
    since: str | None = None
    containing: tuple[str, ...] = ()  # texts of which a file holds one, the name itself first
    any_case: bool = False  # of `containing`: names built from it begin small or large
    jobs: int | None = None

    @property
    def from_git(self) -> bool:
        return self.staged or self.changed or self.since is not None


def work(command: str, chosen: Chosen, planner: Planner, resolved: Resolved) -> int:
    """Run one command over its files; returns the exit code."""
    settings = resolved.values
    _refuse_conflicts(chosen, settings)
    if chosen.names == ("-",):
        from specedit.cli.stream import filter_stream

        return filter_stream(command, planner, settings)
    names = files(chosen)
    from specedit.backends.connect import connect

    with ExitStack() as stack:
        backend = connect(settings)
        stack.callback(backend.close)
        return _over(command, names, planner, backend, settings, stack)


def files(chosen: Chosen) -> list[str]:
    """The files named, or those that git chooses."""
    if chosen.names and not chosen.from_git:
        return list(dict.fromkeys(chosen.names))
    if not chosen.from_git and not chosen.containing:
        raise UsageError("Which file?", hint="Name files, `-`, or --staged, --changed, --since REF")
    from specedit.files import git

    here = Path.cwd()
    found = git.choose(
        here,
        containing=chosen.containing or None,
        any_case=chosen.any_case,
        staged=chosen.staged,
        changed=chosen.changed,
        since=chosen.since,
    )
    if not found:
        what = f" that holds {chosen.containing[0]!r}" if chosen.containing else ""
        print(f"specedit: git names no file{what}; nothing to do", file=sys.stderr)
    return [str(path) for path in found]


def uncommitted(names: list[str], settings: Settings) -> set[str]:
    """Of the files named, those whose text is in no commit: to be said, or refused."""
    if not any(map(in_work_tree, names)):  # GitPython takes 0.1 s to import
        return set()
    from specedit.files import git

    found = {str(path) for path in git.dirty(Path(name) for name in names)}
    if found and settings.clean_only:
        listed = ", ".join(name for name in names if name in found)
        raise UsageError(
            f"Uncommitted changes in {listed}.",
            hint="Commit or stash them, or run without --clean-only. Nothing was changed.",
        )
    return found


def _refuse_conflicts(chosen: Chosen, settings: Settings) -> None:
    if "" in chosen.names:
        raise UsageError("A file's name is empty.", hint="Is a variable of the shell empty?")
    if "-" in chosen.names and len(chosen.names) > 1:
        raise UsageError("`-` reads stdin and stands alone.")
    if chosen.names and chosen.from_git:
        raise UsageError("Name files, or let git choose them; not both.")
    if chosen.jobs is not None and chosen.jobs != 1:
        raise UsageError(
            f"--jobs {chosen.jobs}: one engine serves all files, one after the other. A second one "
            "would take as much memory again and share the same cores.",
            hint="--threads N uses more cores for the one; its cache serves the next file too.",
        )
    if settings.json and settings.diff:
        raise UsageError("--json and --diff both want stdout.", hint="--json holds the diff.")
    if settings.ask and (settings.check or settings.diff or settings.json):
        raise UsageError("--ask writes files; it does not go with --check, --diff or --json.")
    if settings.ask and chosen.names == ("-",):
        raise UsageError("--ask reads answers from stdin, and `-` reads the text from it.")
    if settings.stdin_filename and chosen.names != ("-",):
        raise UsageError("--stdin-filename goes with `-`.")
    if settings.server not in ("auto", "off") and settings.audit:
        raise UsageError("--audit reads logits, which no remote server gives.")


def make_screen(settings: Settings, command: str, names: list[str]) -> Screen:
    """What shows the run, imported with what judges its answer."""
    from importlib import import_module

    from specedit.view.screen import Screen

    import_module("specedit.syntax.guard")
    return Screen(settings, command, names)


def _over(
    command: str,
    names: list[str],
    planner: Planner,
    backend: Backend,
    settings: Settings,
    stack: ExitStack,
) -> int:
    from specedit.edit.run import over
    from specedit.files.journal import Recorder
    from specedit.models.store import store_path

    dry = settings.check or settings.diff
    dirty = uncommitted(names, settings) if settings.clean_only or not dry else set()
    recorder = None if dry else Recorder(store_path(), command)
    started = time.perf_counter()
    early = Early(planner)
    items = over(
        names,
        early,
        backend,
        settings,
        asker=(lambda source, edit: screen.ask(source, edit)) if settings.ask else None,
        recorder=recorder,
    )
    screen, items = early.shown(
        items, backend, lambda: stack.enter_context(make_screen(settings, command, names))
    )
    edits: list[Edit] = []
    why, broken = "", None  # the run ended before its files did
    try:
        for edit in _edits(items, screen, dirty):
            edits.append(edit)
            if settings.diff and edit.changed:
                put_patch(edit.diff)
    except KeyboardInterrupt:
        why = "interrupted"
    except SpeceditError as problem:  # of no file: the model, the server, the settings
        if not edits:
            raise
        why, broken = "broken off", problem
    report = Report(
        command, tuple(edits), screen.model, backend.server, time.perf_counter() - started
    )
    screen.report(report, not_done=names[len(edits) :] if why else [], why=why)
    if settings.json:
        put_json(report)
    if broken is not None:
        raise broken
    return INTERRUPTED if why else report.exit_code(check=settings.check)


def _edits(
    items: Iterator[tuple[str, Event | Edit]], screen: Screen, dirty: set[str]
) -> Iterator[Edit]:
    for name, item in items:
        if isinstance(item, Edit):
            if item.written and name in dirty:
                note = "held uncommitted changes: edited as it was; specedit undo puts it back"
                item = replace(item, notes=(*item.notes, note))
            screen.edit(name, item)
            yield item
        else:
            screen.event(name, item)


def put(text: str) -> None:
    """The artifact, byte for byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def put_patch(text: str) -> None:
    """A patch: coloured when stdout is a terminal, else byte for byte."""
    from specedit.view import patch

    if text and patch.for_people():
        patch.show(text)
    else:
        put(text)


def put_json(report: Report) -> None:
    import json

    from specedit.report import report_json

    text = json.dumps(report_json(report), ensure_ascii=False, indent=2)
    put(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")
