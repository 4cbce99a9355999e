"""The Python API: what the command line can do, a script can do in five lines.

    from specedit import Editor

    with Editor(model="qwen2.5-coder-0.5b") as editor:
        edit = editor.rename("Username", "Email", "User.cs")
        if edit.changed:
            editor.write(edit)

Settings have the names of the command line; others come from `SPECEDIT_*` variables, the nearest
pyproject.toml, the user's own file and the defaults. Restricted settings of a repository that is
not trusted are ignored, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from specedit.connect import connect
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.errors import InputError
from specedit.files import source as sources
from specedit.files.git import check_within
from specedit.files.recorder import Recorder
from specedit.files.source import Source
from specedit.files.startup import home
from specedit.files.undo import recover
from specedit.settings import resolve
from specedit.view.terminal import name


class Editor:
    """A model that edits files, loaded until `close`. Only `write` changes a file."""

    def __init__(self, **settings: Any) -> None:
        resolved = resolve(settings)
        if resolved.ignored:
            warnings.warn(name(resolved.ignored_note), stacklevel=2)
        for line in recover(home()):
            warnings.warn(line, stacklevel=2)
        self.settings = resolved.values
        self._backend = connect(self.settings)

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._backend.close()

    def edit(
        self,
        instruction: str,
        file: str | Path | Source,
        *,
        lines: tuple[int, int] | None = None,
        symbol: str | None = None,
        sink: Sink | None = None,
    ) -> Edit:
        """Edit a file, or the part of it that `lines` or `symbol` names."""

        def planner(source: Source) -> Job:
            return plan_edit(source, instruction, self.settings, lines=lines, symbol=symbol)

        return self._run(file, planner, sink)

    def rename(
        self,
        old: str,
        new: str,
        file: str | Path | Source,
        *,
        line: int | None = None,
        sink: Sink | None = None,
    ) -> Edit:
        """Rename an identifier in a file, in the setting `scope`."""
        from specedit.rename.tree import plan_rename

        planner = partial(plan_rename, old=old, new=new, settings=self.settings, line=line)
        return self._run(file, planner, sink)

    def apply(self, change: str, file: str | Path | Source) -> Edit:
        """Merge a change (a snippet, SEARCH/REPLACE blocks, a diff) into a file."""
        from specedit.edit.apply.apply_plan import changes_of, parts_by_file, plan_apply

        name = file.name if isinstance(file, Source) else str(file)
        parts = parts_by_file(changes_of(change), name)[name]

        return self._run(file, partial(plan_apply, parts=parts, settings=self.settings), None)

    def write(self, edit: Edit) -> Edit:
        """Write an edit to its file, which must not have changed; `specedit undo` takes it back."""
        source = sources.read(edit.path)
        if source.data != edit.before:
            raise InputError(
                "changed on disk since it was read; nothing was written",
                file=edit.path,
                hint="Make the edit again from the new text.",
            )
        if edit.status != "would-edit":
            return edit
        check_within(edit.path)
        Recorder(home(), "api").write(source, edit.after)
        return replace(edit, status="edited", written=True)

    def _run(
        self, file: str | Path | Source, planner: Callable[[Source], Job | Edit], sink: Sink | None
    ) -> Edit:
        """With the setting `test`, each try is in the work tree while the command runs, and none of
        them afterwards."""
        source = file if isinstance(file, Source) else _read(file)
        request = Request("api", planner, self.settings)
        return run_edit(source, request, self._backend, sink or Sink())


def _read(file: str | Path) -> Source:
    """A file, unless it is a repository's link that leads outside."""
    source = sources.read(file)
    check_within(file)
    return source
