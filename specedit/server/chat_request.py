"""OpenAI's Chat Completions request, and what it shares with other requests, as a Plan.

What the server cannot honour is refused with OpenAI's error shape, never dropped. Two deliberate
differences: a missing `temperature` or `seed` comes from the settings (greedy, so that equal
requests get equal answers), and `n` is 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from specedit.edit.backend import Message, Plan
from specedit.edit.job import drafters
from specedit.engines.base import Sampling
from specedit.errors import TooLong
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
    return tuple(_text_part(part) for part in value)


def _text_part(part: Any) -> str:
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        kind = part.get("type") if isinstance(part, dict) else type(part).__name__
        raise PydanticCustomError(
            "text", "only text parts are supported, not {kind}", {"kind": kind}
        )
    if part.get("type") != "text" or set(part) != {"type", "text"}:
        raise PydanticCustomError("text", "a text part has a type, which is 'text', and a text")
    text: str = part["text"]
    return text


def _absent(value: Any) -> None:
    """Accepted where it asks for nothing."""
    if value in (None, [], {}, False):
        return None
    raise PydanticCustomError("unsupported", "this server does not support it")


def stops(most: int) -> BeforeValidator:
    """A stop text, or an array of at most `most`."""

    def checked(value: Any) -> tuple[str, ...]:
        texts = [value] if isinstance(value, str) else value
        if texts is None:
            return ()
        if not isinstance(texts, list) or not all(isinstance(s, str) and s for s in texts):
            reason = "expected a string or an array of strings, none empty"
            raise PydanticCustomError("stop", reason)
        if len(texts) > most:
            raise PydanticCustomError("stop", "at most {most} stop sequences", {"most": most})
        return tuple(texts)

    return BeforeValidator(checked)


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


class OpenAIRequest(Predicted):
    """The fields that every request has which this server honours."""

    model_config = ConfigDict(extra="forbid")

    model: str
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: Annotated[tuple[str, ...], stops(4)] = ()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    user: str | None = None  # a label without an effect

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class ChatRequest(OpenAIRequest):
    """A chat request."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: ResponseFormat | None = None
    modalities: list[Literal["text"]] | None = None
    tool_choice: Literal["none"] | None = None
    service_tier: Literal["auto", "default"] | None = None
    function_call: Absent = None
    parallel_tool_calls: Absent = None
    web_search_options: Absent = None
    store: Absent = None
    # Labels without an effect.
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None


R = TypeVar("R", bound=OpenAIRequest)


def checked_request(kind: type[R], body: bytes) -> R:
    """The request, or the refusal OpenAI would give."""
    try:
        request = kind.model_validate_json(body)
    except ValidationError as error:
        refuse(error.errors(include_url=False)[0])
    if request.stream_options is not None and not request.stream:
        invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
    return request


def chat_request(body: bytes) -> ChatRequest:
    request = checked_request(ChatRequest, body)
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        invalid("max_tokens", "'max_tokens' and 'max_completion_tokens' exclude each other.")
    return request


def chat_plan(request: ChatRequest, settings: Settings) -> Plan:
    """The request as a Plan."""
    limit = request.max_completion_tokens or request.max_tokens or settings.max_tokens or None
    messages = tuple(Message(_ROLES[m.role], m.content) for m in request.messages)
    return replace(shared_plan(request, settings), messages=messages, max_tokens=limit)


def shared_plan(request: OpenAIRequest, settings: Settings) -> Plan:
    """The request as a Plan without a prompt, with the settings where it is silent."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    top_p = 1.0 if request.top_p is None else request.top_p
    seed = settings.seed if request.seed is None else request.seed
    sampling = Sampling(0.0 if top_p == 0 else temperature, top_p or 1.0, seed, settings.sampling)
    texts = request.predicted_texts
    return Plan(
        messages=(),
        prediction=texts[0] if texts else None,
        predictions=tuple(texts[1:]),
        draft=drafters(settings),
        sampling=sampling,
        stop=request.stop,
    )


def check_size(plan: Plan, window: int) -> None:
    """Refuse what cannot fit the model's window before it is tokenized: other requests would wait
    for minutes."""
    raw = [plan.raw.text, plan.raw.suffix or ""] if plan.raw else []
    prompt = [*raw, *(text for message in plan.messages for text in message.segments)]
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
