"""OpenAI's Chat Completions requests as Plans, and OpenAI's answers to them.

What the server cannot honour is refused with OpenAI's error shape, never dropped. Two deliberate
differences: a missing `temperature` or `seed` comes from the settings (greedy, so that equal
requests get equal answers), and `n` is 1.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from specedit.edit.backend import Answer, Message, Plan, Written
from specedit.edit.job import drafters
from specedit.engines.base import Sampling
from specedit.errors import TooLong
from specedit.inference.reader import stop_at
from specedit.server.protocol import RefusedError
from specedit.settings import Settings

MOST_MESSAGES = 512
MOST_TEXTS = 1024  # parts of messages and predictions in a request
CHARACTERS = 10  # at most, for each token of a window: code has three to five
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def _texts(value: Any) -> tuple[str, ...]:
    """A string, or OpenAI's array of text parts."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not value:
        raise PydanticCustomError("text", "expected a string or an array of text parts")
    for part in value:
        kind = part.get("type") if isinstance(part, dict) else type(part).__name__
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            message = "only text parts are supported, not {kind}"
            raise PydanticCustomError("text", message, {"kind": kind})
        if kind != "text" or set(part) != {"type", "text"}:
            raise PydanticCustomError("text", "a text part has a type, which is 'text', and a text")
    return tuple(part["text"] for part in value)


def _absent(value: Any) -> None:
    """Accepted where it asks for nothing."""
    if value in (None, [], {}, False):
        return None
    raise PydanticCustomError("unsupported", "this server does not support it")


def _stops(value: Any) -> tuple[str, ...]:
    """A stop text, or an array of at most four."""
    texts = [value] if isinstance(value, str) else value
    if texts is None:
        return ()
    if not isinstance(texts, list) or not all(isinstance(s, str) and s for s in texts):
        raise PydanticCustomError("stop", "expected a string or an array of strings, none empty")
    if len(texts) > 4:
        raise PydanticCustomError("stop", "at most 4 stop sequences")
    return tuple(texts)


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Absent = Annotated[None, BeforeValidator(_absent)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Unsupported(BaseModel):
    """Fields that are refused if they ask for anything."""

    model_config = ConfigDict(strict=True, frozen=True)

    logprobs: Absent = None
    top_logprobs: Absent = None
    tools: Absent = None
    functions: Absent = None
    logit_bias: Absent = None
    audio: Absent = None


class ChatMessage(_Strict):
    role: Literal["system", "developer", "user", "assistant"]
    content: Texts
    name: Absent = None
    refusal: Absent = None
    audio: Absent = None
    annotations: Absent = None
    tool_calls: Absent = None
    function_call: Absent = None


class Prediction(_Strict):
    type: Literal["content"]
    content: Texts


class StreamOptions(_Strict):
    include_usage: bool | None = None
    include_obfuscation: Absent = None


class ResponseFormat(_Strict):
    type: Literal["text"]


class Predicted(Unsupported):
    """A request's predictions."""

    prediction: Prediction | None = None
    predictions: Annotated[list[Prediction], Field(min_length=1)] | None = None  # ours: several
    n: Literal[1] | None = None

    @property
    def predicted_texts(self) -> list[str]:
        predictions = [self.prediction, *(self.predictions or ())]
        return ["".join(prediction.content) for prediction in predictions if prediction is not None]


class ChatRequest(Predicted):
    """A chat request: the fields that this server honours."""

    model_config = ConfigDict(extra="forbid")

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    model: str
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: Annotated[tuple[str, ...], BeforeValidator(_stops)] = ()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    response_format: ResponseFormat | None = None
    modalities: list[Literal["text"]] | None = None
    tool_choice: Literal["none"] | None = None
    service_tier: Literal["auto", "default"] | None = None
    function_call: Absent = None
    parallel_tool_calls: Absent = None
    web_search_options: Absent = None
    store: Absent = None
    # Labels without an effect.
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @classmethod
    def read(cls, body: bytes) -> Self:
        """The request, or the refusal OpenAI would give."""
        try:
            request = cls.model_validate_json(body)
        except ValidationError as error:
            refuse(error.errors(include_url=False)[0])
        if request.stream_options is not None and not request.stream:
            invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
        if request.max_tokens is not None and request.max_completion_tokens is not None:
            invalid("max_tokens", "'max_tokens' and 'max_completion_tokens' exclude each other.")
        return request

    def plan(self, settings: Settings) -> Plan:
        """The request as a Plan; the settings where it is silent."""
        temperature = settings.temperature if self.temperature is None else self.temperature
        top_p = 1.0 if self.top_p is None else self.top_p
        seed = settings.seed if self.seed is None else self.seed
        heat = temperature if top_p else 0.0
        texts = self.predicted_texts
        return Plan(
            messages=tuple(Message(_ROLES[m.role], m.content) for m in self.messages),
            prediction=texts[0] if texts else None,
            predictions=tuple(texts[1:]),
            draft=drafters(settings),
            max_tokens=self.max_completion_tokens or self.max_tokens or settings.max_tokens or None,
            sampling=Sampling(heat, top_p or 1.0, seed, settings.sampling),
            stop=self.stop,
        )


def check_size(plan: Plan, window: int) -> None:
    """Refuse what cannot fit the window before it is tokenized, which takes minutes."""
    prompt = [text for message in plan.messages for text in message.segments]
    predicted = [*filter(None, [plan.prediction]), *plan.predictions]
    if len(prompt) + len(predicted) > MOST_TEXTS:
        invalid("messages", f"The request has more than {MOST_TEXTS:,} texts.")
    for what, texts in (("prompt", prompt), ("prediction", predicted)):
        count, most = sum(map(len, texts)), CHARACTERS * window
        if count > most:
            raise TooLong(
                f"The {what} has {count:,} characters, and at most {most:,} can fit the model's "
                f"window of {window:,} tokens."
            )


def refuse(error: ErrorDetails) -> NoReturn:
    """Raise OpenAI's refusal for an error of a field."""
    param = _path(error["loc"])
    message = error["msg"]
    if not param and error["type"] != "json_invalid":
        raise RefusedError(400, f"The body of the request is invalid: {message}")
    match error["type"]:
        case "json_invalid":
            raise RefusedError(400, f"The body of the request is not JSON: {message}")
        case "missing":
            invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")
        case "extra_forbidden":
            invalid(param, f"Unknown parameter: '{param}'.", "unknown_parameter")
        case "unsupported":
            invalid(param, f"Unsupported parameter: '{param}'; {message}.", "unsupported_parameter")
        case kind if kind.endswith(("_type", "_parsing")) or kind == "text":
            invalid(param, f"Invalid type for '{param}': {message}.", "invalid_type")
        case _:
            value = error.get("input")
            shown = f", not {value!r}" if isinstance(value, int | float | str) else ""
            invalid(param, f"Invalid value for '{param}': {message}{shown[:80]}.", "invalid_value")


def _path(loc: tuple[int | str, ...]) -> str:
    """`messages[0].content`"""
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def invalid(param: str, message: str, code: str = "invalid_value") -> NoReturn:
    raise RefusedError(400, message, param or None, code)


class Completion:
    """OpenAI's objects for one chat request."""

    def __init__(self, model: str, fingerprint: str) -> None:
        self._head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": fingerprint,
        }

    def whole(self, answer: Answer) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        message |= {"refusal": None, "annotations": []}
        choice = {"message": message, "finish_reason": answer.reason}
        return self._object("chat.completion", choice) | {"usage": _usage(answer)}

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"delta": delta, "finish_reason": reason}
        return self._object("chat.completion.chunk", choice)

    def usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """The last chunk of a stream with `stream_options.include_usage`."""
        return self._object("chat.completion.chunk") | {"usage": _usage(answer)}

    def _object(self, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
        rows = [{"index": 0, "logprobs": None, **choice} for choice in choices]
        return {"object": kind, **self._head, "choices": rows}


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
