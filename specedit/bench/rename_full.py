"""The full tool as one way of renaming: `specedit rename --scope code`, the model included.

Knows the API and what a report says; `bench.rename` counts.
"""

from __future__ import annotations

from collections.abc import Callable

from specedit import Editor
from specedit.bench.rename import RenameCase, Renamed
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.report import Figures
from specedit.settings import Settings, names


class FullTool:
    """Answers cases with one warm model, and adds up what they cost."""

    def __init__(self, settings: Settings, said: Callable[[str], None], cases: int) -> None:
        given = {name: getattr(settings, name) for name in names()}
        wanted = {**given, "scope": "code", "server": "off", "compare": False}
        self._editor = Editor(**wanted)
        self._said, self._cases, self._done = said, cases, 0
        self.figures = Figures()

    def __enter__(self) -> FullTool:
        return self

    def __exit__(self, *_: object) -> None:
        self._editor.close()

    def __call__(self, case: RenameCase) -> Renamed:
        self._done += 1
        self._said(f"renaming {self._done} of {self._cases}: {case.id}")
        text, said = case.before, []
        for old, new in case.pairs:
            source = Source.from_bytes(case.filename, text.encode())
            try:
                edit = self._editor.rename(old, new, source, line=case.line)
            except SpeceditError as problem:
                return Renamed(None, True, (problem.message,))
            self.figures += edit.figures
            if edit.problems:
                return Renamed(None, True, edit.problems)
            text = edit.after.decode()
            said += [one.text for one in edit.findings if one.warns]
        return Renamed(text, bool(said), tuple(said))
