"""What a person sees of a run, on stderr: progress while it works, each diff, one report.

Knows the settings that quieten it. Shows nothing that is not in the events and the Edits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from specedit.backend import Event, Ready, Written
from specedit.report import Edit, ModelLine, Report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from specedit.settings import Settings
    from specedit.text.source import Source


class Screen:
    """The person's side of one run."""

    def __init__(self, settings: Settings, command: str, names: Sequence[str]) -> None:
        self._settings = settings
        self._names = list(names)
        self._console = Console(stderr=True, highlight=False, quiet=settings.quiet)
        self._written: list[Written] = []
        self.model: ModelLine | None = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def event(self, name: str, event: Event) -> None:
        if isinstance(event, Ready):
            self.model = event.model
        elif isinstance(event, Written):
            self._written.append(event)

    def edit(self, name: str, edit: Edit) -> None:
        self._written.clear()
        self._console.print(edit.diff, markup=False)
        for problem in edit.problems:
            self._console.print(f"{name}: {problem}", markup=False)

    def ask(self, source: Source, edit: Edit) -> str:
        return source.text

    def report(self, report: Report, not_done: Sequence[str] = ()) -> None:
        f = report.figures
        self._console.print(
            f"{f.load_s:.1f} s load, {f.prefill_s:.1f} s prefill, {f.decode_s:.1f} s decode, "
            f"{f.completion} tokens, {f.passes} passes, {f.drafted.rate:.0%} accepted"
        )
