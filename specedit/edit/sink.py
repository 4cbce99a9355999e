"""What an edit tells its caller, a terminal, an editor or a log, and what it asks there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specedit.edit.backend import Answer, Event, Plan
from specedit.edit.job import Job
from specedit.edit.report import Baseline, CommandRunning, Edit, Tried, Trying


@dataclass(frozen=True, slots=True)
class Begun:
    """The next events are about this file."""

    name: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The model is about to be asked. One that comes again replaces the first, which was too
    long."""

    job: Job


@dataclass(frozen=True, slots=True)
class Locating:
    """The model is about to be asked which parts of a file will be changed."""

    job: Job
    question: Plan


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer for a file, of all its regions."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Finished:
    """A file is done. Files of one change are written after the last one."""

    edit: Edit


Asked = Locating | Planned
EditEvent = Event | Begun | Asked | Answered | Trying | CommandRunning | Baseline | Tried | Finished


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a change that passed its checks takes effect. `unsure`: it is likely wrong;
    `unrated`: how likely it is right is not known, and a user who is there decides."""

    job: Job
    edit: Edit
    unsure: bool
    unrated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a Question. "another": the model is asked for another answer. `text`: what the
    user chose instead of the whole change; it is checked again. `hunks`: how many were chosen."""

    decision: Literal["yes", "no", "another"]
    text: str | None = None
    hunks: int = 0


class Sink:
    """Follows an edit. A method that raises cancels the run: nothing is written, and what is tried
    in the work tree is taken out. `skip_rest`: why no further file is edited."""

    skip_rest = ""

    def emit(self, event: EditEvent) -> None:
        """Something has happened."""

    def ask(self, question: Question) -> Reply:
        """Decide on a change; without a user only one that is not unsure takes effect."""
        return Reply("no" if question.unsure else "yes")
