"""OpenAI's Completions request as a Plan: a prompt without a chat template; and OpenAI's answers,
also to chat requests.

Editors send it for inline completion (`suffix`) and next-edit prediction. `max_tokens` is 16 unless
given, as at OpenAI; more stop texts are taken than there, because editors send those of all models.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from specedit.edit.backend import Answer, Plan, RawPrompt, Written
from specedit.inference.reader import stop_at
from specedit.server.chat_request import (
    Absent,
    OpenAIRequest,
    checked_request,
    invalid,
    shared_plan,
    stops,
)
from specedit.settings import Settings

USUAL_LIMIT = 16  # tokens
MOST_STOPS = 32  # Zed sends 14
LARGEST_ID = 2**31


def _prompt(value: Any) -> str | tuple[int, ...]:
    """A string or an array of ids; OpenAI takes an array of these too, and we one of length 1."""
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        if len(value) > 1:
            raise PydanticCustomError("prompt", "this server takes one prompt in a request")
        value = value[0]
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(type(id) is int and 0 <= id < LARGEST_ID for id in value):
        return tuple(value)
    raise PydanticCustomError("text", "expected a string or an array of token ids")


def _null(value: Any) -> None:
    if value is not None:
        raise PydanticCustomError("unsupported", "this server does not support it")


class CompletionRequest(OpenAIRequest):
    """A request for the continuation of a text, or for what stands between two texts."""

    prompt: Annotated[str | tuple[int, ...], BeforeValidator(_prompt)]
    suffix: str | None = None
    stop: Annotated[tuple[str, ...], stops(MOST_STOPS)] = ()
    best_of: Literal[1] | None = None
    logprobs: Annotated[None, BeforeValidator(_null)] = None  # 0 asks for those of the answer
    echo: Absent = None


def completion_request(body: bytes) -> CompletionRequest:
    request = checked_request(CompletionRequest, body)
    if request.suffix and not isinstance(request.prompt, str):
        invalid("suffix", "'suffix' needs a prompt of text, not of token ids.")
    if not request.prompt and not request.suffix:
        invalid("prompt", "'prompt' must not be empty.")
    return request


def completion_plan(request: CompletionRequest, settings: Settings) -> Plan:
    prompt = request.prompt
    raw = (
        RawPrompt(prompt, (), request.suffix or None)
        if isinstance(prompt, str)
        else RawPrompt("", prompt)
    )
    limit = request.max_tokens or USUAL_LIMIT
    return replace(shared_plan(request, settings), raw=raw, max_tokens=limit)


class Completion:
    """OpenAI's objects for one chat request."""

    kind, chunk_kind, mark = "chat.completion", "chat.completion.chunk", "chatcmpl"
    opening: ClassVar[dict[str, Any] | None] = {"delta": {"role": "assistant", "content": ""}}

    def __init__(self, model: str, fingerprint: str) -> None:
        self._head = {
            "id": f"{self.mark}-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": fingerprint,
        }

    def message(self, text: str) -> dict[str, Any]:
        """The part of a choice that holds the whole answer."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        return {"message": message | {"refusal": None, "annotations": []}}

    def delta(self, text: str) -> dict[str, Any]:
        """The part of a choice that holds a piece of a stream; "" in the last one."""
        return {"delta": {"content": text} if text else {}}

    def whole(self, answer: Answer) -> dict[str, Any]:
        choice = {**self.message(answer.text), "finish_reason": answer.reason}
        return self._object(self.kind, choice) | {"usage": _usage(answer)}

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return self._object(self.chunk_kind, {**delta, "finish_reason": reason})

    def usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """The last chunk of a stream with `stream_options.include_usage`."""
        return self._object(self.chunk_kind) | {"usage": _usage(answer)}

    def _object(self, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
        rows = [{"index": 0, "logprobs": None, **choice} for choice in choices]
        return {"object": kind, **self._head, "choices": rows}


class TextCompletion(Completion):
    """OpenAI's objects for one request without a chat template."""

    kind, chunk_kind, mark = "text_completion", "text_completion", "cmpl"
    opening = None

    def message(self, text: str) -> dict[str, Any]:
        return {"text": text}

    delta = message


class StreamedText:
    """The part of an answer's text that may be sent: never a stop text, nor the end, which one may
    begin with, so that a stream and a whole answer have the same characters."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._longest = max((len(text) for text in stop), default=1)
        self._held = ""
        self._sent = 0

    def add(self, event: Written) -> str:
        self._held += event.text
        end = stop_at(self._held, self._stop)
        ready = max(0, len(self._held) - self._longest + 1) if end is None else end
        text, self._held = self._held[:ready], self._held[ready:]
        self._sent += len(text)
        return text

    def rest(self, answer: Answer) -> str:
        return answer.text[self._sent :]


def _usage(answer: Answer) -> dict[str, Any]:
    """OpenAI counts predicted tokens that do not appear as completion tokens."""
    completion = answer.completion + answer.absent
    return {
        "prompt_tokens": answer.prompt,
        "completion_tokens": completion,
        "total_tokens": answer.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": answer.reused, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": answer.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": answer.appeared,
            "rejected_prediction_tokens": answer.absent,
        },
    }
