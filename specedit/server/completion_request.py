"""OpenAI's Completions request, checked, as a Plan: a prompt without a chat template.

Editors send it for inline completion (`suffix`) and next-edit prediction. `max_tokens` is 16 unless
given, as at OpenAI; more stop texts are taken than there, because editors send those of all models.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from specedit.edit.plan import Plan, RawPrompt
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
