"""What a backend runs, a Plan, and the Backend itself: it yields events, in this process or in a
warm server. A Plan crosses the wire; the file that it is for stays with its Job (`edit.job`).

A run yields `Loading…, Ready, Prefill…, Written…, Answer`. Everything the user sees and every
number in a report is computed from them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Protocol

from specedit.decode import FREE, Chunk
from specedit.edit.report import Figures, ModelLine, Tally
from specedit.engines.base import GREEDY, Prefill, Sampling
from specedit.errors import InputError
from specedit.import_time import frozen

WAITING = "waiting: "  # how `what` begins where a busy server runs others first


@frozen
class Message:
    """One message. Each segment is tokenised on its own, so that the ids of a file's text are the
    same in the prompt and in the prediction, and no content can form a special token."""

    role: str  # "system" | "user" | "assistant"
    segments: tuple[str, ...]

    @property
    def content(self) -> str:
        return "".join(self.segments)


@frozen
class RawPrompt:
    """A prompt without a chat template, as text or as ids. The names of special tokens in the text
    mean the tokens, except beside a `suffix`: there both are plain text, and the answer is what
    stands between them."""

    text: str = ""
    ids: tuple[int, ...] = ()
    suffix: str | None = None


@frozen
class Plan:
    """What a backend runs: the words, the expected answer, the limits."""

    messages: tuple[Message, ...]
    opening: str = ""  # the answer's beginning, already given: "```\n"
    language: str = ""  # that a model which opens the block itself writes behind the fence
    closing: str = ""  # the line that ends the answer: "```"; "" means only the end token does
    nested: bool = False  # the answer is prose, and may hold code blocks of its own
    prediction: str | None = None  # the whole expected answer after `opening`, without `closing`
    predictions: tuple[str, ...] = ()  # further texts it may be like: tries, newest first
    least: str = ""  # a text as long as the answer: an error at once where that does not fit
    instruction: str = ""  # the user's own words, for the lookup drafter
    draft: tuple[str, ...] = ("prediction", "lookup")
    max_tokens: int | None = None  # None: as much as the prompt deserves
    copies: bool = False  # the answer is the prompt's file, changed in places: hardly longer
    sampling: Sampling = GREEDY
    stop: tuple[str, ...] = ()  # further texts that end the answer (OpenAI's `stop`)
    audit: bool = False
    fresh: bool = False  # measured run: no position of an earlier prompt is reused
    raw: RawPrompt | None = None  # instead of messages


@frozen
class Loading:
    """What a run waits for before its model can answer. `total` 0: it is not known."""

    what: str
    done: float = 0.0
    total: float = 0.0
    unit: str = ""  # "bytes" when done and total are


@frozen
class Ready:
    """The model can answer. `load_s` is what this run waited for it."""

    model: ModelLine
    load_s: float


@frozen
class Written:
    """What one pass settled, as text: one piece per token, never half a character."""

    chunk: Chunk
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@frozen
class Answer:
    """The whole answer, without opening and closing. `reason`: "stop", or "length" when cut off.

    `closed` says whether the closing line was seen (always, when the plan names none)."""

    text: str
    reason: str
    closed: bool
    prompt: int = 0
    reused: int = 0
    completion: int = 0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    logits_digest: str | None = None
    passes: int = 0  # that a remote server tells; 0: each Written was one
    appeared: int = 0  # ids of the prediction that the completion has, where they were counted
    absent: int = 0  # ids of the prediction that it does not have


Event = Loading | Ready | Prefill | Written | Answer


class Backend(Protocol):
    """Where a Plan runs. Closing the generator cancels the run within one pass.

    A `Ready` that comes again says that the run started over: what came before it is void."""

    @property
    def server(self) -> str | None:
        """The server's address for the report; None in this process."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the last run: that a server was lost, what left here."""
        ...

    def run(self, plan: Plan) -> Iterator[Event]: ...

    def close(self) -> None: ...


def run(
    plan: Plan, name: str, backend: Backend, without: tuple[type[Event], ...] = ()
) -> Generator[Event, None, tuple[Answer, Figures]]:
    """Run a plan; returns its Answer and what it cost. `name`: of the file that it is for.
    `without`: events that are not yielded."""
    started = time.perf_counter()
    answer: Answer | None = None
    load_s, passes = 0.0, 0
    drafts: dict[str, Tally] = {}
    for event in backend.run(plan):
        match event:
            case Ready():  # again: the run started over elsewhere, and what came before is void
                load_s, passes, drafts = event.load_s, 0, {}
            case Written(chunk=chunk):
                passes += 1
                if chunk.source != FREE:
                    tally = Tally(chunk.proposed, chunk.accepted)
                    drafts[chunk.source] = drafts.get(chunk.source, Tally()) + tally
            case Answer():
                answer = event
        if not isinstance(event, without):
            yield event
    if answer is None:
        raise InputError("the backend gave no answer.", file=name)
    return answer, Figures(
        prompt=answer.prompt,
        reused=answer.reused,
        completion=answer.completion,
        passes=answer.passes or passes,
        drafts=drafts,
        load_s=load_s,
        prefill_s=answer.prefill_s,
        decode_s=answer.decode_s,
        total_s=time.perf_counter() - started,
        logits_digest=answer.logits_digest,
    )
