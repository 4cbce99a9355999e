"""What a backend runs: the words for the model, the answer expected, the limits.

A Plan crosses the wire to a server; the file that it is for stays with its Job (`edit.job`).
"""

from __future__ import annotations

from dataclasses import dataclass

from specedit.engines.base import GREEDY, Sampling


@dataclass(frozen=True)
class Message:
    """One message. Each segment is tokenised on its own, so that the ids of a file's text are the
    same in the prompt and in the prediction, and no content can form a special token."""

    role: str  # "system" | "user" | "assistant"
    segments: tuple[str, ...]

    @property
    def content(self) -> str:
        return "".join(self.segments)


@dataclass(frozen=True)
class RawPrompt:
    """A prompt without a chat template, as text or as ids. The names of special tokens in the text
    mean the tokens, except beside a `suffix`: there both are plain text, and the answer is what
    stands between them."""

    text: str = ""
    ids: tuple[int, ...] = ()
    suffix: str | None = None


@dataclass(frozen=True)
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
