"""Intent: what to ask the model, what to expect back, and what the answer may become.

A `Plan` is the part a backend needs (it crosses the wire to a server); a `Job` is a Plan
with the file it is for. Commands differ only in the Jobs they make.
Knows text; knows no ids, no engine, no terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specedit.engines.base import GREEDY, Sampling

if TYPE_CHECKING:
    from specedit.text.source import Source


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
    opening: str = ""  # the answer's beginning, already given: "```csharp\n"
    closing: str = ""  # the line that ends the answer: "```"; "" means only the end token does
    prediction: str | None = None  # the whole expected answer after `opening`, without `closing`
    instruction: str = ""  # the person's own words, for the lookup drafter
    draft: tuple[str, ...] = ("prediction", "lookup")
    max_tokens: int | None = None  # None: as much as the expected answer deserves
    sampling: Sampling = GREEDY
    stop: tuple[str, ...] = ()  # further texts that end the answer (OpenAI's `stop`)
    audit: bool = False


@dataclass(frozen=True)
class Region:
    """Half-open character range of a Source's text that the answer replaces."""

    start: int
    end: int


@dataclass(frozen=True)
class Rename:
    """What `specedit rename` was asked, for the guard."""

    old: str
    new: str
    scope: str
    line: int | None = None


@dataclass(frozen=True)
class Job:
    """One file's work: read, planned, not yet run."""

    command: str  # "edit" | "rename"
    source: Source
    plan: Plan
    region: Region
    instruction: str
    allow_extra: bool = False
    rename: Rename | None = None
    notes: tuple[str, ...] = field(default=())  # said in the report, whatever happens
