"""A Plan, and the Backend that runs it, in this process or in a server.

A Plan crosses the wire; the file that it is for stays with its Job (`edit.job`). A run emits
`Loading…, Ready, Prefill…, Written…` and returns its Answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from specedit.decode import Chunk, Tally
from specedit.engines.base import GREEDY, Prefill, Sampling

WAITING = "waiting: "  # how `what` begins where a busy server runs others first


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Each segment is tokenised on its own, so that the ids of a file's text are the
    same in the prompt and in the prediction, and no content can form a special token."""

    role: str  # "system" | "user" | "assistant"
    segments: tuple[str, ...]

    @property
    def content(self) -> str:
        return "".join(self.segments)


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of a backend: the words, the expected answer, the limits."""

    messages: tuple[Message, ...]
    opening: str = ""  # the answer's beginning, already given: "```\n"
    language: str = ""  # that a model which opens the block itself writes after the fence
    closing: str = ""  # the line that ends the answer: "```"; "" means only the end token does
    nested: bool = False  # the answer is prose, and may hold code blocks of its own
    prediction: str | None = None  # the whole expected answer after `opening`, without `closing`
    predictions: tuple[str, ...] = ()  # further texts it may be like: tries, newest first
    unlike: tuple[str, ...] = ()  # answers that a sampled one differs from; it begins as the first
    least: str = ""  # a text as long as the answer: an error at once where that does not fit
    instruction: str = ""  # the user's own words, for the lookup drafter
    draft: tuple[str, ...] = ("prediction", "lookup")
    max_tokens: int | None = None  # None: as much as the prompt deserves
    copies: bool = False  # the answer is the prompt's file, changed in places: hardly longer
    sampling: Sampling = GREEDY
    stop: tuple[str, ...] = ()  # further texts that end the answer (OpenAI's `stop`)
    audit: bool = False
    fresh: bool = False  # measured run: no position of an earlier prompt is reused
    choices: tuple[str, ...] = ()  # lines that the answer consists of, where the engine allows it


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model that answered: the `model` object of the JSON."""

    name: str
    sha256: str = ""
    engine: str = ""
    device: str = ""
    threads: int = 0
    exact: bool = False
    note: str = ""
    weights: str = ""  # "int8", "int4"; "" where the engine does not say
    adapter: str = ""  # the name of the adapter that is merged into the weights,
    adapter_sha256: str = ""  # and the digest of its files

    @property
    def calibration(self) -> str:
        """The key of a fit of confidence."""
        adapter = f"-{self.adapter_sha256[:16]}" if self.adapter else ""
        return f"{self.sha256[:16]}{adapter}-{self.weights}"


@dataclass(frozen=True, slots=True)
class Loading:
    """The step that a run waits for before its model can answer."""

    what: str
    done: float = 0.0  # bytes
    total: float = 0.0  # bytes; 0: not known


@dataclass(frozen=True, slots=True)
class Ready:
    """The model can answer. `load_s` is what this run waited for it."""

    model: ModelInfo
    load_s: float


@dataclass(frozen=True, slots=True)
class Written:
    """The text that one pass settled: one piece per token, never half a character."""

    chunk: Chunk
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure the model was of its choices, in natural logarithms of probabilities. A choice's
    probability is taken among the two likeliest tokens. A token is kept where the prediction has
    it, too, and else changed; without a prediction all are changed."""

    total: float = 0.0  # the sum over all tokens
    changed: float = 0.0  # the sum over changed tokens
    changed_tokens: int = 0
    least: float = 0.0  # of the least sure token
    least_kept: float = 0.0  # of the least sure token that is kept
    least_at: int = 0  # the position of the least sure token, the prompt's included,
    part: int = 0  # and of which question's answer that is

    def __add__(self, other: Certainty) -> Certainty:
        less = self if self.least <= other.least else other
        return Certainty(
            self.total + other.total,
            self.changed + other.changed,
            self.changed_tokens + other.changed_tokens,
            less.least,
            min(self.least_kept, other.least_kept),
            less.least_at,
            less.part,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer, without opening and closing, and what it cost. `reason`: "stop", or
    "length" when it was cut off. `closed` says whether the closing line was seen (always, where the
    plan names none)."""

    text: str
    reason: str
    closed: bool
    prompt: int = 0
    reused: int = 0
    completion: int = 0
    passes: int = 0
    drafts: dict[str, Tally] = field(default_factory=dict)  # by the drafter's name
    load_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    logits_digest: str | None = None
    appeared: int = 0  # ids of the prediction that the completion has, where they were counted
    absent: int = 0  # ids of the prediction that it does not have
    reasoning: int = 0  # ids before the text, of reasoning that is not part of it
    certainty: Certainty | None = None  # where choices are not sampled
    # Of the plan's choices the likeliest, with their probabilities; empty where the answer is free.
    ranked: dict[str, float] = field(default_factory=dict)


Event = Loading | Ready | Prefill | Written | Answer  # what crosses the wire
# Takes the events of a run. A function that raises cancels the run: nothing more is computed after
# the current pass. A `Ready` that comes again says that the run started over: what came before it
# is void.
Emit = Callable[[Event], object]


def unreported(event: Event) -> None:
    """Show no progress."""


class Backend(Protocol):
    """Where a Plan runs."""

    @property
    def server(self) -> str | None:
        """The server's address for the report; None in this process."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the last run: that a server was lost, what left this machine."""
        ...

    @property
    def model(self) -> ModelInfo | None:
        """The model that answered last; None before the first run."""
        ...

    def run(self, plan: Plan, emit: Emit) -> Answer: ...

    def close(self) -> None: ...
