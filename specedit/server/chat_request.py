"""OpenAI's Chat Completions request, checked, as a Plan.

What the server cannot honour is refused with OpenAI's error shape, never dropped. Two deliberate
differences: a missing `temperature` or `seed` comes from the settings (greedy, so that equal
requests get equal answers), and `n` is 1.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from specedit.edit.job import drafters
from specedit.edit.plan import Message, Plan
from specedit.engines.base import Sampling
from specedit.server.protocol import Refusal, RefusedError
from specedit.settings import Settings

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


def _stops(value: Any) -> tuple[str, ...]:
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


class ChatRequest(_Strict):
    """The fields that this server honours. `Absent` fields are refused if they ask for anything."""

    model: str
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    prediction: Prediction | None = None
    predictions: Annotated[list[Prediction], Field(min_length=1)] | None = None  # ours: several
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: Annotated[tuple[str, ...], BeforeValidator(_stops)] = ()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    n: Literal[1] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    response_format: ResponseFormat | None = None
    modalities: list[Literal["text"]] | None = None
    tool_choice: Literal["none"] | None = None
    service_tier: Literal["auto", "default"] | None = None
    logprobs: Absent = None
    top_logprobs: Absent = None
    logit_bias: Absent = None
    tools: Absent = None
    functions: Absent = None
    function_call: Absent = None
    parallel_tool_calls: Absent = None
    audio: Absent = None
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


def chat_request(body: bytes) -> ChatRequest:
    """The request, or the refusal OpenAI would give."""
    try:
        request = ChatRequest.model_validate_json(body)
    except ValidationError as error:
        refuse(error.errors(include_url=False)[0])
    if request.stream_options is not None and not request.stream:
        _invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        _invalid("max_tokens", "'max_tokens' and 'max_completion_tokens' exclude each other.")
    return request


def chat_plan(request: ChatRequest, settings: Settings) -> Plan:
    """The request as a Plan, with the settings where it is silent."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    top_p = settings.top_p if request.top_p is None else request.top_p
    seed = settings.seed if request.seed is None else request.seed
    sampling = Sampling(0.0 if top_p == 0 else temperature, top_p or 1.0, seed, settings.sampling)
    predictions = [p for p in (request.prediction, *(request.predictions or ())) if p is not None]
    texts = ["".join(prediction.content) for prediction in predictions]
    return Plan(
        messages=tuple(Message(_ROLES[m.role], m.content) for m in request.messages),
        prediction=texts[0] if texts else None,
        predictions=tuple(texts[1:]),
        draft=drafters(settings),
        max_tokens=request.max_completion_tokens
        or request.max_tokens
        or settings.max_tokens
        or None,
        sampling=sampling,
        stop=request.stop,
    )


def refuse(error: ErrorDetails) -> NoReturn:
    """Raise OpenAI's refusal for an error of a field."""
    param = _path(error["loc"])
    message = error["msg"]
    match error["type"]:
        case "json_invalid":
            raise RefusedError(Refusal(400, f"The body of the request is not JSON: {message}"))
        case "missing":
            _invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")
        case "extra_forbidden":
            _invalid(param, f"Unknown parameter: '{param}'.", "unknown_parameter")
        case "unsupported":
            _invalid(
                param, f"Unsupported parameter: '{param}'; {message}.", "unsupported_parameter"
            )
        case kind if kind.endswith(("_type", "_parsing")) or kind == "text":
            _invalid(param, f"Invalid type for '{param}': {message}.", "invalid_type")
        case _:
            value = error.get("input")
            shown = f", not {value!r}" if isinstance(value, int | float | str) else ""
            _invalid(param, f"Invalid value for '{param}': {message}{shown[:80]}.", "invalid_value")


def _path(loc: tuple[int | str, ...]) -> str:
    """`messages[0].content`"""
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _invalid(param: str, message: str, code: str = "invalid_value") -> NoReturn:
    raise RefusedError(Refusal(400, message, param or None, code))
