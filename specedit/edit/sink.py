"""The sink of an edit's events: a terminal, an editor, a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from specedit.edit.backend import Answer, Progress

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.edit.report import Baseline, Edit, Judging, Tried, Trying

Confirmation = Literal["yes", "no", "another"]


class Sink(Progress):
    """A method for each event, in the order of an edit; here they do nothing. One that raises
    cancels the run: nothing is written, and what is tried in the work tree is taken out.

    `skip_rest`: why no further file is edited; "" while files are."""

    skip_rest = ""

    def file(self, name: str) -> None:
        """The next events are about this file."""

    def planned(self, job: Job) -> None:
        """The model is about to be asked. One that comes again replaces the first, which was too
        long."""

    def answered(self, answer: Answer) -> None:
        """The whole answer for a file, of all its regions."""

    def trying(self, attempt: Trying) -> None:
        """A try begins."""

    def judging(self, running: Judging) -> None:
        """The user's command runs."""

    def baseline(self, baseline: Baseline) -> None:
        """The user's command has judged the work tree as it was."""

    def tried(self, tried: Tried) -> None:
        """A try has its verdict."""

    def proposed(self, job: Job, edit: Edit) -> str | None:
        """A change passed its checks and is about to be written. A text that is returned is checked
        and written instead."""
        return None

    def confirms(self, job: Job, edit: Edit) -> Confirmation:
        """Whether the user wants a change that is likely wrong, or another answer."""
        return "no"

    def done(self, edit: Edit) -> None:
        """A file is done. Files of one change are written after the last one."""
