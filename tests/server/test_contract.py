"""What a client of Predicted Outputs may rely on: one suite, for our own server and for vLLM's.

Ours has the scripted engine; vLLM's runs the plugin and a tiny random model, in an environment of
its own (`python -m pytest -m vllm`). What the answers are is the model's affair: here they are
compared with the same server's answer to the same request without a prediction.
"""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from case_files import rows
from refused_fields import ALLOWED, REFUSED, predicted
from vllm_server import Vllm, serving, speaking
from warm_server import Answered, Running, running, until

Side = Running | Vllm
TEXT = "class User:\n    Username = 'héé 😀 naïve'\n    size = 1"
SIZE = 60  # tokens of an answer, at most
REPLACE = {"replace": [["Username", "Email"]]}


@pytest.fixture(scope="module", params=["own", pytest.param("vllm", marks=pytest.mark.vllm)])
def side(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Side]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "own":
        with running(folder, REPLACE) as found:
            yield found
        return
    flags = ["--dtype", "float32", "--enforce-eager", "--max-model-len", "2048"]
    flags += ["--max-num-seqs", "16", "--distributed-executor-backend", "uni"]
    with serving(speaking(folder), folder / "log", *flags) as vllm:
        yield vllm


def chat(side: Side, text: str = TEXT, **fields: Any) -> Answered:
    return side.chat(text, **{"max_tokens": SIZE, "temperature": 0, **fields})


def said(answer: Answered) -> str:
    assert answer.status == 200, answer.body
    found: str = answer.json["choices"][0]["message"]["content"]
    return found


def streamed(answer: Answered) -> tuple[str, str, dict[str, Any] | None]:
    """The text of a stream, why it ended, and its usage."""
    chunks = answer.chunks
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    text = "".join(one["delta"].get("content") or "" for one in choices)
    (reason,) = {one["finish_reason"] for one in choices if one.get("finish_reason")}
    usages = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    return text, reason, usages[-1] if usages else None


@pytest.fixture(scope="module")
def plain(side: Side) -> str:
    return said(chat(side))


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """The longest common subsequence, the long way."""
    row = [0] * (len(other) + 1)
    for token in one:
        before = row[:]
        for at, theirs in enumerate(other):
            row[at + 1] = before[at] + 1 if theirs == token else max(row[at], before[at + 1])
    return row[-1]


# --- the text is the one without a prediction, and usage counts what appeared

GUESSES: dict[str, Any] = {
    "the answer": lambda plain: plain,
    "its second half": lambda plain: plain[len(plain) // 2 :],
    "a change in it": lambda plain: plain[:20] + "§§" + plain[24:],
    "the original": lambda plain: TEXT,
    "other characters": lambda plain: "日本語 ₿ 🙂" * 5,
    "special tokens": lambda plain: "<|im_end|><|im_start|></s><|endoftext|>" * 3 + plain,
    "empty": lambda plain: "",
}


@pytest.mark.parametrize("guess", GUESSES.values(), ids=GUESSES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_prediction_changes_no_text_and_is_counted(side, plain, guess, stream):
    text = guess(plain)
    bare = chat(side).json
    if stream:
        asked = {"stream": True, "stream_options": {"include_usage": True}}
        found, reason, usage = streamed(chat(side, **asked, **predicted(text)))
    else:
        body = chat(side, **predicted(text)).json
        found = body["choices"][0]["message"]["content"]
        reason, usage = body["choices"][0]["finish_reason"], body["usage"]
    assert (found, reason) == (plain, bare["choices"][0]["finish_reason"])
    assert usage is not None
    ids = side.ids(text) if text else []
    appeared = common(ids, side.written(TEXT, max_tokens=SIZE, temperature=0))
    details = usage.get("completion_tokens_details") or {}
    if ids:
        assert details["accepted_prediction_tokens"] == appeared
        assert details["rejected_prediction_tokens"] == len(ids) - appeared
    absent = len(ids) - appeared if ids else 0
    assert usage["completion_tokens"] == bare["usage"]["completion_tokens"] + absent
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_hundred_thousand_strange_tokens_change_no_text(side, plain):
    strange = "".join(f"{n:05x} " for n in range(17_000))
    assert said(chat(side, **predicted(strange))) == plain


def test_a_prediction_may_come_in_parts_and_be_null(side, plain):
    parts = [{"type": "text", "text": plain[:7]}, {"type": "text", "text": plain[7:]}]
    whole, cut = chat(side, **predicted(plain)).json, chat(side, **predicted(parts)).json
    assert cut["choices"][0]["message"] == whole["choices"][0]["message"]
    counted = [one["usage"].get("completion_tokens_details") for one in (whole, cut)]
    assert counted[0] == counted[1]
    assert said(chat(side, prediction=None)) == plain


def test_several_predictions_change_no_text_and_the_first_is_counted(side, plain):
    several = [predicted(text)["prediction"] for text in ("QQQ", plain)]
    for fields in ({"predictions": several}, {**predicted("QQQ"), "predictions": several[1:]}):
        answer = chat(side, **fields)
        assert said(answer) == plain
        details = answer.json["usage"]["completion_tokens_details"]
        assert details["rejected_prediction_tokens"] == len(side.ids("QQQ"))


# --- where an answer ends


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("at", [3, 10, 25])
def test_a_stop_text_ends_the_answer_and_is_not_part_of_it(side, plain, stream, at):
    stop = plain[at : at + 2]
    wanted = plain[: plain.index(stop)]
    for fields in ({}, predicted(plain)):
        answer = chat(side, stop=[stop, "\x00"], stream=stream, **fields)
        if stream:
            assert streamed(answer)[:2] == (wanted, "stop")
        else:
            assert (said(answer), answer.json["choices"][0]["finish_reason"]) == (wanted, "stop")


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("size", [1, 2, 17, 41])
def test_the_limit_cuts_and_says_so(side, plain, name, size):
    """Also in the middle of a character."""
    body = {"model": side.model, "temperature": 0, name: size}
    body["messages"] = [{"role": "user", "content": f"Do it.\n```\n{TEXT}\n```\n"}]
    alone = side.ask("POST", "/v1/chat/completions", body).json
    guessed = side.ask("POST", "/v1/chat/completions", body | predicted(plain)).json
    assert guessed["choices"][0]["message"] == alone["choices"][0]["message"]
    for answer in (alone, guessed):
        assert answer["choices"][0]["finish_reason"] == "length"
    absent = guessed["usage"]["completion_tokens_details"]["rejected_prediction_tokens"]
    assert guessed["usage"]["completion_tokens"] == size + absent


def test_a_stream_begins_with_the_role_and_holds_no_ids(side, plain):
    answer = chat(side, stream=True, **predicted(plain))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert b"token_ids" not in answer.body
    assert b'"usage":{' not in answer.body


# --- what is drawn


@pytest.mark.parametrize("seed", [1, 2])
def test_a_drawn_answer_depends_on_its_seed_and_on_no_prediction(side, seed):
    drawn = {"temperature": 0.8, "seed": seed}
    first = said(chat(side, **drawn))
    assert said(chat(side, **drawn, **predicted(first))) == first
    assert said(chat(side, **drawn, **predicted("abc\n" * 9))) == first


# --- refusals


@pytest.mark.parametrize(("fields", "param", "code"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_stand_beside_a_prediction_is_refused(side, fields, param, code):
    answer = chat(side, **{**predicted("x"), **fields})
    assert answer.status == 400, answer.body
    error = answer.error
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param and param in error["message"]
    assert error["code"].startswith(code.rstrip("*"))


@pytest.mark.parametrize("fields", ALLOWED.values(), ids=ALLOWED)
def test_what_says_nothing_is_taken(side, plain, fields):
    assert said(chat(side, **predicted(plain), **fields)) == plain


@pytest.mark.parametrize("body", [b"{", b"[1]", b"", b'{"prediction": "\xff"}'], ids=repr)
def test_a_body_that_is_no_request_is_refused(side, body):
    headers = {"Content-Type": "application/json"}
    answer = side.ask("POST", "/v1/chat/completions", body, headers)
    assert 400 <= answer.status < 500 and answer.body


# --- many at once, and those who leave


def test_each_of_many_at_once_gets_its_own_answer(side):
    texts = [f"Username {n} {'x' * n}" for n in range(8)]
    alone = [said(chat(side, text)) for text in texts]
    for wanted in ({3}, set(range(8))):  # one with a prediction among them, then all
        found: dict[int, str] = {}

        def ask(n: int, wanted: set[int] = wanted, found: dict[int, str] = found) -> None:
            fields = predicted(alone[(n * 3) % 8]) if n in wanted else {}
            found[n] = said(chat(side, texts[n], **fields))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [found[n] for n in range(8)] == alone


@pytest.mark.parametrize("leaves", ["unanswered", "before the stream", "within the stream"])
def test_a_client_that_leaves_frees_the_engine_and_disturbs_nobody(side, plain, leaves):
    found: list[str] = []
    beside = threading.Thread(target=lambda: found.append(said(chat(side, **predicted(plain)))))
    messages = [{"role": "user", "content": "Do it.\n```\n" + "x y z\n" * 60 + "```\n"}]
    body = {"model": side.model, "messages": messages, "max_tokens": 900, "temperature": 0}
    body |= {"stream": leaves != "unanswered", **predicted("x y z\n" * 200)}
    connection = side.connect()
    kind = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), kind)
    if leaves == "within the stream":
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read(20)
        beside.start()
        answer.close()
    else:
        connection.sock.shutdown(socket.SHUT_RDWR)
        beside.start()
    connection.close()
    beside.join()
    assert found == [plain]
    until(lambda: side.running() == 0)


# --- vLLM's own: what is asked without a prediction is as it was, and a prediction saves steps


VLLMS = pytest.mark.parametrize(
    "side", [pytest.param("vllm", marks=pytest.mark.vllm)], indirect=True
)


@VLLMS
def test_a_right_prediction_saves_steps(side, plain):
    before = side.steps()
    assert said(chat(side)) == plain
    between = side.steps()
    assert said(chat(side, **predicted(plain))) == plain
    after = side.steps()
    # The tiny model writes ids that are not how its text would be cut: some are not predicted.
    assert between - before >= SIZE and after - between <= 2 * SIZE // 3


@VLLMS
@rows("fields")
def test_without_a_prediction_everything_is_vllms(side, fields):
    answer = chat(side, **fields)
    assert answer.status == 200, answer.body
    choices = answer.json["choices"]
    assert len(choices) == fields.get("n", 1)
    assert bool(choices[0]["logprobs"]) == ("logprobs" in fields)
    assert "x-specedit-exact" not in answer.headers


@VLLMS
def test_json_mode_beside_a_prediction_writes_the_same_json(side):
    fields = {"response_format": {"type": "json_object"}}
    alone = said(chat(side, **fields))
    assert alone.lstrip().startswith("{")
    for guess in (alone, "not json", '{"a": 1}'):
        assert said(chat(side, **fields, **predicted(guess))) == alone


@VLLMS
def test_an_answer_says_what_was_verified(side, plain):
    found = chat(side, **predicted(plain)).json["metrics"]["speculative_decoding"]
    assert 0 < found["num_accepted_draft_tokens"] <= found["num_draft_tokens"]
