"""Intent: what to ask the model, what to expect back, and what the answer may become.

A `Plan` is the part a backend needs (it crosses the wire to a server); a `Job` is a Plan
with the file it is for. Commands differ only in the Jobs they make.
Knows text; knows no ids, no engine, no terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.edit.splice import Region, around, region_of, taken, whole
from specedit.engines.base import GREEDY, Sampling
from specedit.errors import UsageError

if TYPE_CHECKING:
    from specedit.files.source import Source
    from specedit.rename.places import RenameGuess
    from specedit.settings import Settings


@dataclass(frozen=True)
class Message:
    """One turn. Each segment is tokenised on its own, so that the ids of a file's text are the
    same in the prompt and in the prediction, and no content can form a special token."""

    role: str  # "system" | "user" | "assistant"
    segments: tuple[str, ...]

    @property
    def content(self) -> str:
        return "".join(self.segments)


@dataclass(frozen=True)
class Plan:
    """What a backend runs: the words, the expected answer, the limits."""

    messages: tuple[Message, ...]
    opening: str = ""  # the answer's beginning, already given: "```\n"
    closing: str = ""  # the line that ends the answer: "```"; "" means only the end token does
    nested: bool = False  # the answer is prose, and may hold code blocks of its own
    prediction: str | None = None  # the whole expected answer after `opening`, without `closing`
    least: str = ""  # a text as long as the answer must have room for: too little is said at once
    instruction: str = ""  # the person's own words, for the lookup drafter
    draft: tuple[str, ...] = ("prediction", "lookup")
    max_tokens: int | None = None  # None: as much as the prompt deserves
    copies: bool = False  # the answer is the prompt's file, changed in places: hardly longer
    sampling: Sampling = GREEDY
    stop: tuple[str, ...] = ()  # further texts that end the answer (OpenAI's `stop`)
    audit: bool = False
    fresh: bool = False  # measured run: no position of an earlier prompt is reused


@dataclass(frozen=True)
class Job:
    """One file's work: read, planned, not yet run."""

    command: str  # "edit" | "rename"
    source: Source
    plan: Plan
    region: Region
    instruction: str
    allow_extra: bool = False
    rename: RenameGuess | None = None  # what tree-sitter found, for the guard
    scope: str = ""  # how far the rename goes
    notes: tuple[str, ...] = field(default=())  # said in the report, whatever happens


def plan_edit(
    source: Source,
    instruction: str,
    settings: Settings,
    *,
    lines: tuple[int, int] | None = None,
    symbol: str | None = None,
) -> Job:
    """Edit a file, or the part of it that `lines` (from 1, both ends in) or `symbol` names."""
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit edit "what to do" FILE')
    region = region_of(source, lines, symbol)
    return job("edit", source, region, instruction, settings, expected(source, region, settings))


def job(
    command: str,
    source: Source,
    region: Region,
    instruction: str,
    settings: Settings,
    prediction: str | None,
) -> Job:
    """The Job of one region of one file."""
    from specedit.edit import prompt

    text = taken(source, region)
    context = "" if region == whole(source) else around(source, region)
    marks = prompt.fence(text + context)
    return Job(
        command=command,
        source=source,
        region=region,
        instruction=instruction,
        allow_extra=settings.allow_extra,
        plan=Plan(
            messages=prompt.messages(source.name, text, instruction, context=context),
            opening=prompt.opening(marks),
            closing=marks,
            nested=source.language is None or not source.language.grammar,
            prediction=None if prediction is None else prompt.finished(prediction),
            least=prompt.finished(text),
            instruction=instruction,
            draft=drafters(settings),
            max_tokens=settings.max_tokens or None,
            sampling=Sampling(settings.temperature, settings.top_p, settings.seed),
            audit=settings.audit,
            fresh=settings.compare,
        ),
    )


def drafters(settings: Settings) -> tuple[str, ...]:
    names = tuple(name.strip() for name in settings.draft.split(",") if name.strip())
    return () if names == ("none",) else names


def expected(source: Source, region: Region, settings: Settings) -> str | None:
    """What `--prediction` says the answer will look like."""
    if settings.prediction == "none":
        return None
    if settings.prediction == "original":
        return taken(source, region)
    path = Path(settings.prediction)
    if not path.is_file():
        raise UsageError(
            f"--prediction {settings.prediction}: no such file.",
            hint="original, none, or the path of a file with the expected text.",
        )
    from specedit.files import source as files

    return files.read(path).text
