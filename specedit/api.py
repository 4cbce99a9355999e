"""The Python API: what the command line can do, a script can do in five lines.

    from specedit import Editor

    with Editor(model="qwen2.5-coder-0.5b") as editor:
        edit = editor.rename("Username", "Email", "User.cs")
        if edit.changed:
            editor.write(edit)

Settings are those of the command line, by the same names; what is not given comes from
`SPECEDIT_*` variables, the nearest pyproject.toml, the user's own file and the defaults. What a
repository may not say unless it is trusted is left out, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from specedit.edit.backend import Event
from specedit.edit.job import Job, Planned, plan_edit
from specedit.edit.report import Edit
from specedit.edit.tries.items import TryItem
from specedit.errors import InputError
from specedit.files import source as sources
from specedit.files.recovery import recover
from specedit.files.source import Source
from specedit.files.startup import home
from specedit.server.connect import connect
from specedit.settings import resolve
from specedit.view.terminal import name


class Editor:
    """A model that edits files; kept warm until it is closed. Nothing is written but by `write`."""

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        watch: Callable[[Event], None] | None = None,
    ) -> Edit:
        """The file after the instruction, or the part of it that `lines` or `symbol` names."""
        return self._run(
            file,
            lambda source: plan_edit(
                source, instruction, self.settings, lines=lines, symbol=symbol
            ),
            watch,
        )

    def rename(
        self,
        old: str,
        new: str,
        file: str | Path | Source,
        *,
        line: int | None = None,
        watch: Callable[[Event], None] | None = None,
    ) -> Edit:
        """The file with an identifier renamed, as far as the setting `scope` goes."""
        from specedit.rename.planning import plan_rename

        return self._run(
            file, lambda source: plan_rename(source, old, new, self.settings, line=line), watch
        )

    def write(self, edit: Edit) -> Edit:
        """Put an edit into its file, journalled for `specedit undo`; the file must be unchanged."""
        from dataclasses import replace

        from specedit.files.recorder import Recorder
        from specedit.files.worktree import check_within

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
        self,
        file: str | Path | Source,
        planner: Callable[[Source], Job | Edit],
        watch: Callable[[Event], None] | None,
    ) -> Edit:
        source = file if isinstance(file, Source) else _read(file)
        for item in self.events(source, planner):
            if isinstance(item, Edit):
                return item
            if watch is not None and not isinstance(item, Planned | TryItem):
                watch(item)
        raise AssertionError("a run ends with its Edit")

    def events(
        self, source: Source, planner: Callable[[Source], Job | Edit]
    ) -> Iterator[Planned | Event | TryItem | Edit]:
        """Everything that happens while a plan runs; the last item is the Edit. With the setting
        `test`, each try is in the work tree while the command runs, and none of them afterwards."""
        from specedit.edit.session import run_one

        yield from run_one("api", source, planner, self._backend, self.settings)


def _read(file: str | Path) -> Source:
    """A file to ask about. What a link of a repository leads to outside is not sent to a server;
    a `Source` that the caller has read is the caller's word."""
    from specedit.files.worktree import check_within

    source = sources.read(file)
    check_within(file)
    return source
