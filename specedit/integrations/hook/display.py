"""What `specedit hook run` shows: progress on stderr, each diff on stdout, then a line for each
result."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console

from specedit.edit.report import Edit
from specedit.errors import DONE, FAILED, WOULD_CHANGE
from specedit.integrations.hook.hook_rules import CHECK, FIX
from specedit.integrations.hook.staged import FileNote, HookSink, StepResult
from specedit.view.live import Live
from specedit.view.terminal import name as shown


class HookDisplay(Live, HookSink):
    """Shows a run of the hook, and keeps what is said about it at the end."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(Console(stderr=True, highlight=False), files)
        self.lines: list[str] = []
        self.code = DONE
        self.rewritten = False  # the work tree holds something to stage

    def step(self, name: str, result: StepResult) -> None:
        self.finish(name)
        self._show(result.edit)
        self.code = max(self.code, WOULD_CHANGE if result.edit.changed else FAILED)
        self.lines += _about(result)

    def note(self, name: str, note: FileNote) -> None:
        self.rewritten = self.rewritten or note.fixed
        self.lines.append(shown(f"{name}: {note.text}"))

    def _show(self, edit: Edit) -> None:
        """The diff on stdout: coloured on a terminal, else a patch."""
        if not edit.changed:
            return
        if sys.stdout.isatty():
            from specedit.view import diff_view

            diff_view.show(Console(highlight=False), edit)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(edit.diff.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()


def _about(result: StepResult) -> list[str]:
    edit, head = result.edit, shown(result.edit.path)
    step = shown(result.step.title)
    if edit.changed:
        mode = "check: not written" if result.mode == CHECK else FIX
        return [f"{head}: “{step}”: +{edit.added} -{edit.removed} ({mode})"]
    saved = [f"{head}: the answer is kept in {edit.kept}"] if edit.kept else []
    return [f"{head}: “{step}”: {problem}" for problem in edit.problems] + saved
