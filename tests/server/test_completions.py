"""Prompts without a chat template: what a request means, what is refused, next-edit prompts."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from model_sources import tiny_gguf
from odd import dumped, target
from refused_fields import predicted
from scripted_engine import ScriptedEngine, ScriptedTokenizer
from warm_server import Answered, Running, running

from specedit.decode.width import Widths
from specedit.edit.backend import Answer, ModelInfo, Plan, RawPrompt, unreported
from specedit.errors import UsageError
from specedit.inference.model import LoadedModel
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import Tokenizer, raw_ids
from specedit.models.vocabulary import load_tokenizer
from specedit.server.chat_request import CompletionRequest
from specedit.server.protocol import RefusedError
from specedit.settings import Settings

BEFORE = "def area(width, height):\n    return width * height\n"
CURRENT = BEFORE.replace("(width,", "(w,")
AFTER = CURRENT.replace("return width", "return w")
NEXT_EDIT = (  # the form of next-edit models: what the file was, is, and will be
    f"<|file_sep|>original/shapes.py\n{BEFORE}"
    f"<|file_sep|>current/shapes.py\n{CURRENT}"
    "<|file_sep|>updated/shapes.py\n"
)
FIM = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|file_sep|>")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A small vocabulary with the tokens of Qwen2.5-Coder for parts of files."""
    path = tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")
    plain = load_tokenizer(ModelFiles("tiny", path, "gguf"))
    more = {name: plain.size + n for n, name in enumerate(FIM)}
    pieces = [*plain.pieces, *(b"" for _ in FIM)]
    return replace(plain, specials={**plain.specials, **more}, pieces=pieces)


def answered(
    tokenizer: Tokenizer, answer: list[int], plan: Plan, seen: list[int] | None = None
) -> tuple[Answer, int]:
    """The answer to a plan by an engine that writes these ids, and the number of passes."""

    def script(prompt: Any) -> list[int]:
        if seen is not None:
            seen[:] = prompt
        return answer

    engine = ScriptedEngine(script, min(tokenizer.ends), vocabulary=tokenizer.size)
    loaded = LoadedModel(ModelInfo("scripted"), engine, tokenizer, lambda *_: [], Widths())
    answer = loaded.answer(plan, unreported, count=True)
    return answer, answer.passes


# -- prompts ---------------------------------------------------------------------------------------


def test_the_names_of_special_tokens_in_a_prompt_are_the_tokens(tokenizer):
    ids = raw_ids(tokenizer, "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", (), None)
    assert ids == raw_ids(tokenizer, "a", (), "b")
    assert tokenizer.special("<|file_sep|>") in raw_ids(tokenizer, NEXT_EDIT, (), None)


def test_beside_a_suffix_both_texts_are_plain(tokenizer):
    prefix, suffix, middle = (tokenizer.special(name) for name in FIM[:3])
    ids = raw_ids(tokenizer, "x<|fim_middle|>", (), "<|im_end|>y")
    text, end = tokenizer.encode("x<|fim_middle|>"), tokenizer.encode("<|im_end|>y")
    assert ids == [prefix, *text, suffix, *end, middle]


def test_a_model_that_begins_each_prompt_with_a_token_gets_it_once(tokenizer):
    beginning = replace(tokenizer, begin=tokenizer.special("<|endoftext|>"))
    expected = [beginning.begin, *tokenizer.encode("a")]
    assert raw_ids(beginning, "a", (), None) == expected
    assert raw_ids(beginning, "<|endoftext|>a", (), None) == expected
    assert raw_ids(beginning, "", (), None) == expected[:1]
    assert raw_ids(beginning, "", (5, 6), None) == [5, 6]


UNREADABLE = {
    "suffix": ("x", (), "y", "no tokens for a `suffix`"),
    "large-id": ("", (257,), None, "not between 0 and 256"),
    "negative-id": ("", (-1,), None, "not between 0 and 256"),
    "empty": ("", (), None, "empty"),
}


@pytest.mark.parametrize(("text", "ids", "suffix", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_prompt_that_the_model_cannot_read_is_refused(text, ids, suffix, message):
    with pytest.raises(UsageError, match=message):
        raw_ids(ScriptedTokenizer(), text, ids, suffix)


def test_a_next_edit_prompt_is_answered_in_fewer_passes_with_the_current_window(tokenizer):
    separator = tokenizer.special("<|file_sep|>")
    assert separator is not None
    written = [*tokenizer.encode(AFTER), separator, *tokenizer.encode("more")]
    asked = Plan((), raw=RawPrompt(NEXT_EDIT), draft=("prediction",), max_tokens=200)
    plain, passes = answered(tokenizer, written, asked)
    predicted, fewer = answered(tokenizer, written, replace(asked, prediction=CURRENT))
    assert plain.text == predicted.text == AFTER
    assert (plain.reason, predicted.reason) == ("stop", "stop")
    assert predicted.appeared > 40 and fewer < passes / 3


def test_a_stop_text_that_names_a_special_token_ends_the_answer_there(tokenizer):
    named = tokenizer.special("<tool_call>")
    assert named is not None
    written = [*tokenizer.encode("a"), named, *tokenizer.encode("b")]
    asked = Plan((), raw=RawPrompt("x"), max_tokens=20)
    assert answered(tokenizer, written, asked)[0].text == "a<tool_call>b"
    stopped, _ = answered(tokenizer, written, replace(asked, stop=("<tool_call>", "c")))
    assert (stopped.text, stopped.reason) == ("a", "stop")


# -- requests --------------------------------------------------------------------------------------


def asked(**fields: Any) -> Plan:
    body = {"model": "scripted", "prompt": "x", **fields}
    return CompletionRequest.read(json.dumps(body).encode()).plan(Settings())


PROMPTS: list[tuple[dict[str, Any], RawPrompt]] = [
    ({}, RawPrompt("x")),
    ({"prompt": ["x"]}, RawPrompt("x")),
    ({"prompt": [1, 2]}, RawPrompt("", (1, 2))),
    ({"prompt": [[1, 2]]}, RawPrompt("", (1, 2))),
    ({"suffix": "y"}, RawPrompt("x", (), "y")),
    ({"suffix": ""}, RawPrompt("x")),
    ({"prompt": "", "suffix": "y"}, RawPrompt("", (), "y")),
]


@pytest.mark.parametrize(("fields", "raw"), PROMPTS)
def test_a_prompt_is_a_text_or_ids_and_the_limit_openais(fields, raw):
    assert (asked(**fields).raw, asked(**fields).max_tokens) == (raw, 16)
    assert asked(**fields, max_tokens=99).max_tokens == 99


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "several prompts": ({"prompt": ["a", "b"]}, "prompt", "invalid_value"),
    "several arrays": ({"prompt": [[1], [2]]}, "prompt", "invalid_value"),
    "no prompt": ({"prompt": None}, "prompt", "invalid_type"),
    "empty": ({"prompt": ""}, "prompt", "invalid_value"),
    "no ids": ({"prompt": []}, "prompt", "invalid_value"),
    "nested": ({"prompt": [[[1]]]}, "prompt", "invalid_type"),
    "negative id": ({"prompt": [-1]}, "prompt", "invalid_type"),
    "huge id": ({"prompt": [1 << 40]}, "prompt", "invalid_type"),
    "boolean id": ({"prompt": [True]}, "prompt", "invalid_type"),
    "ids and suffix": ({"prompt": [1], "suffix": "y"}, "suffix", "invalid_value"),
    "suffix number": ({"suffix": 5}, "suffix", "invalid_type"),
    "n": ({"n": 2}, "n", "invalid_value"),
    "best_of": ({"best_of": 2}, "best_of", "invalid_value"),
    "echo": ({"echo": True}, "echo", "unsupported_parameter"),
    "logprobs": ({"logprobs": 0}, "logprobs", "unsupported_parameter"),
    "messages": ({"messages": []}, "messages", "unknown_parameter"),
    "tools": ({"tools": [{"type": "function"}]}, "tools", "unsupported_parameter"),
    "many stops": ({"stop": ["a"] * 33}, "stop", "invalid_value"),
    "zero tokens": ({"max_tokens": 0}, "max_tokens", "invalid_value"),
    "options": ({"stream_options": {"include_usage": True}}, "stream_options", "invalid_value"),
}


@pytest.mark.parametrize(("fields", "param", "code"), REFUSED.values(), ids=REFUSED)
def test_a_request_that_cannot_be_honoured_is_refused(fields, param, code):
    with pytest.raises(RefusedError) as refused:
        asked(**fields)
    found = refused.value
    assert (found.status, found.param, found.code) == (400, param, code)
    assert param in found.message


@pytest.mark.parametrize(
    "fields",
    [
        dict.fromkeys(("suffix", "stop", "logprobs", "echo", "seed", "prediction", "best_of", "n")),
        {"echo": False, "best_of": 1, "n": 1, "logit_bias": {}, "user": "me"},
        {"stop": [*FIM, "<PRE>", "<SUF>", "<MID>", "[PREFIX]", "[SUFFIX]"]},  # as Zed
    ],
    ids=["nulls", "says-nothing", "stops"],
)
def test_a_field_that_asks_for_nothing_is_taken(fields):
    assert asked(**fields).raw == RawPrompt("x")


REQUEST: dict[str, Any] = {
    "model": "m",
    "prompt": ["x"],
    "suffix": "y",
    **predicted("z"),
    "stream": True,
    "stream_options": {"include_usage": True},
    "stop": ["a", "b"],
    "max_tokens": 5,
    "temperature": 0.5,
    "seed": 7,
    "best_of": 1,
    "logprobs": None,
}


@target(lambda odd: odd.damaged(dumped(odd.changed(odd.changed(REQUEST)))))
def test_any_body_is_a_request_or_refused(body):
    with contextlib.suppress(RefusedError):
        plan = CompletionRequest.read(body).plan(Settings())
        assert plan.raw is not None and plan.max_tokens is not None and plan.max_tokens > 0
        with contextlib.suppress(UsageError):
            assert raw_ids(ScriptedTokenizer(), plan.raw.text, plan.raw.ids, plan.raw.suffix)


# -- the server ------------------------------------------------------------------------------------

Complete = Callable[..., Answered]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    script = {"answer": AFTER}
    with running(tmp_path_factory.mktemp("server"), script, aliases=("gpt-x",)) as found:
        yield found


@pytest.fixture
def complete(server: Running) -> Complete:
    def run(**fields: Any) -> Answered:
        body = {"model": "scripted", "prompt": NEXT_EDIT, "max_tokens": 200, **fields}
        return server.ask("POST", "/v1/completions", body)

    return run


PREDICTION = predicted(CURRENT)
STREAMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "prediction": PREDICTION,
    "ids": {"prompt": list(NEXT_EDIT.encode())},
    "stop": {"stop": "return"},
    "cut": {"max_tokens": 9},
    "alias": {"model": "gpt-x"},
}


@pytest.mark.tools
def test_an_answer_has_openais_shape(complete):
    body = complete(**PREDICTION).json
    assert body["object"] == "text_completion" and body["id"].startswith("cmpl-")
    (choice,) = body["choices"]
    assert choice == {"text": AFTER, "index": 0, "logprobs": None, "finish_reason": "stop"}
    usage = body["usage"]
    assert usage["prompt_tokens"] == len(NEXT_EDIT.encode())
    assert usage["completion_tokens_details"]["rejected_prediction_tokens"] == 4  # of `width`
    assert usage["completion_tokens"] == len(AFTER.encode()) + 1 + 4


@pytest.mark.tools
@pytest.mark.parametrize("fields", STREAMS.values(), ids=STREAMS)
def test_a_stream_has_the_text_of_the_whole_answer(complete, fields):
    whole = complete(**fields).json
    options = {"stream": True, "stream_options": {"include_usage": True}}
    *chunks, last = complete(**options, **fields).chunks
    assert "".join(c["choices"][0]["text"] for c in chunks) == whole["choices"][0]["text"]
    assert chunks[-1]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert all(c["object"] == "text_completion" and c["usage"] is None for c in chunks)
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]


@pytest.mark.tools
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("fields", "param", "word"),
    [
        ({"suffix": "y"}, None, "suffix"),
        ({"prompt": [999]}, None, "id"),
        ({"prompt": "x" * (1 << 20) + "y"}, "prompt", "window"),
    ],
    ids=["suffix", "id", "long"],
)
def test_a_prompt_that_does_not_fit_the_model_is_a_status_code(
    complete, fields, param, word, stream
):
    answer = complete(**fields, stream=stream)
    assert (answer.status, answer.error["param"]) == (400, param)
    assert word in answer.error["message"]


@pytest.mark.tools
def test_the_openai_client_completes(server):
    import openai

    api = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="any")
    request: Any = {"model": "scripted", "prompt": NEXT_EDIT, "max_tokens": 200}
    whole = api.completions.create(**request, extra_body=PREDICTION)
    assert (whole.choices[0].text, whole.choices[0].finish_reason) == (AFTER, "stop")
    assert whole.usage is not None and whole.usage.completion_tokens_details is not None
    assert (whole.usage.completion_tokens_details.accepted_prediction_tokens or 0) > 40
    stream = api.completions.create(**request, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == AFTER
    with pytest.raises(openai.BadRequestError, match="suffix"):
        api.completions.create(**request, suffix="y")
    with pytest.raises(openai.NotFoundError):
        api.completions.create(**request | {"model": "gpt-4o"})
