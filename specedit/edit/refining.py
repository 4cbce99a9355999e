"""An edit that continues an earlier run: the original text, all instructions, and a new one.

Each run in the journal names the one that it refines. The model is shown the first run's original
and all instructions in one message; a message for each would have a small model answer in prose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specedit.edit.job import Job, plan_edit, refuse_question
from specedit.edit.prompt import Beside
from specedit.edit.splice import lines_of
from specedit.errors import InputError, UsageError
from specedit.files.git import real
from specedit.files.journal import JournalRun, digest, original, runs
from specedit.files.source import Source
from specedit.settings import Settings

COMMANDS = ("edit", "refine")  # whose runs can be continued


@dataclass(frozen=True, slots=True)
class Conversation:
    """A run and those it continues, the first one first."""

    runs: tuple[JournalRun, ...]

    @property
    def last(self) -> JournalRun:
        return self.runs[-1]

    @property
    def paths(self) -> list[str]:
        """The files, as the last run wrote them."""
        return list(dict.fromkeys(entry.path for entry in self.last.files))

    def instruction(self, newest: str) -> str:
        """Everything that was asked, in its order."""
        asked = [*(run.instruction for run in self.runs), newest]
        return "\n\nAnd then: ".join(text.strip() for text in asked)

    def original(self, path: str) -> bytes:
        """The file's content before the first of the runs."""
        for run in self.runs:
            for entry in run.files:
                if entry.path == path:
                    return original(run, entry)
        raise InputError("the last run did not edit it", file=path, hint="specedit undo --list")

    def after(self, path: str) -> str:
        """The digest of what the last run wrote there."""
        return next(entry.after_sha256 for entry in self.last.files if entry.path == path)


def conversation(store: Path, name: str | None = None) -> Conversation:
    """The last run, or the one called `name`, and the runs that it continues."""
    result = runs(store)
    if not result:
        raise UsageError(
            "There is no edit to refine.", hint='specedit edit "what to do" FILE begins one.'
        )
    last = next((run for run in result if run.name == name), result[0])
    if last.command not in COMMANDS or not last.instruction:
        raise UsageError(
            f"The last run was {last.label}; only an edit can be refined.",
            hint="specedit undo --list names the runs.",
        )
    if last.unfinished and last.at_work:
        raise UsageError("The last run is still running.", hint="Wait until it is done, or end it.")
    if last.unfinished:
        raise UsageError("The last run was killed.", hint="specedit undo reverts it.")
    chain = [last]
    by = {run.name: run for run in result}
    while chain[0].refines in by:
        chain.insert(0, by[chain[0].refines])
    return Conversation(tuple(chain))


def plan_refine(
    source: Source,
    newest: str,
    talk: Conversation,
    settings: Settings,
    beside: tuple[Beside, ...] = (),
) -> Job:
    """The Job of one file: asked about its original, judged against it, written over what is there
    now. Of a large file the places that earlier runs changed are asked about, and those named."""
    path = str(real(source.path or source.name))
    before = Source.from_bytes(source.name, talk.original(path), source.path)
    if digest(source.data) != talk.after(path):
        raise InputError(
            "changed since the last edit; nothing was refined",
            file=source.name,
            hint='specedit edit "what to do" FILE starts from the text as it is.',
        )
    refuse_question(newest, settings)
    lines, symbol = _part(talk.runs[0].part, before.text)
    instruction = talk.instruction(newest)
    return plan_edit(
        before, instruction, settings, lines=lines, symbol=symbol, beside=beside, now=source
    )


def _part(part: str, text: str) -> tuple[tuple[int, int] | None, str | None]:
    kind, _, what = part.partition(" ")
    if kind == "lines":
        first, _, last = what.partition(":")
        return (int(first), int(last)), None
    if kind == "selected":
        near, _, selected = what.partition(" ")
        return lines_of(text, selected, int(near) or None), None
    return None, what if kind == "symbol" else None


def part_of(
    lines: Sequence[int] | None,
    symbol: str | None,
    selected: str | None = None,
    near: int | None = None,
) -> str:
    """How a journal's run keeps the part that it was about."""
    if lines:
        return f"lines {lines[0]}:{lines[1]}"
    if selected is not None:
        return f"selected {near or 0} {selected}"
    return f"symbol {symbol}" if symbol else ""
