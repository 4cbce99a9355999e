"""`--server URL`: what each profile sends, field by field, and what is made of the answer."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from case_files import rows
from endpoint import USAGE, Endpoint, listening, stream
from events import events as events_of
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import END, ScriptedTokenizer
from warm_server import plan, running

from specedit.connect import connect
from specedit.decode import Tally
from specedit.edit.backend import Answer, Message, Plan, Ready, Written, unreported
from specedit.edit.report import Figures
from specedit.engines.base import Sampling
from specedit.errors import RefusedEdit, ServerError, TooLong, UsageError
from specedit.inference.reader import Reader, Unfenced
from specedit.server import remote
from specedit.server.remote import PROFILES, RemoteBackend, api_key
from specedit.settings import Settings

PLAN = Plan(
    (Message("system", ("Be ", "brief.")), Message("user", ("Change it.",))),
    opening="```python\n",
    closing="```",
    prediction="a = 1\n",
    max_tokens=99,
)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as found:
        yield found


def backend(endpoint: Endpoint, profile: str = "openai", **settings: Any) -> RemoteBackend:
    return RemoteBackend(Settings(server=endpoint.url, profile=profile, model="m", **settings))


def answer(asked: RemoteBackend, of: Plan = PLAN) -> Answer:
    return asked.run(of, unreported)


MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Change it."}]
BASE = {"model": "m", "messages": MESSAGES, "stream": True, "temperature": 0.0}
PREDICTION = {"type": "content", "content": "```python\na = 1\n```"}
UNREASONED = {"chat_template_kwargs": {"enable_thinking": False}}
WANTS_USAGE = {"stream_options": {"include_usage": True}}
OLD_LIMIT = {**WANTS_USAGE, "max_tokens": 99, "prediction": PREDICTION}
NEW_LIMIT = {**WANTS_USAGE, "max_completion_tokens": 99, "prediction": PREDICTION}
SENT: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("openai", "fireworks"), OLD_LIMIT),
    "vllm": {**OLD_LIMIT, **UNREASONED},
    "local": {**WANTS_USAGE, "max_tokens": 99, **UNREASONED, "reasoning_effort": "none"},
    **dict.fromkeys(("specedit", "cerebras"), NEW_LIMIT),
    "mistral": {"max_tokens": 99, "prediction": PREDICTION},
    "plain": {**WANTS_USAGE, "max_tokens": 99},
}


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_sends_these_fields_and_no_others(endpoint, profile):
    assert answer(backend(endpoint, profile)).text == "a = 2\n"
    assert endpoint.requests == [{**BASE, **SENT[profile]}]
    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize("profile", PROFILES)
def test_earlier_tries_go_as_a_field_of_our_own_or_the_newest_as_the_one(endpoint, profile):
    answer(backend(endpoint, profile), replace(PLAN, predictions=("b = 1\n", "c = 1\n")))
    (sent,) = endpoint.requests
    b, c = ({"type": "content", "content": f"```python\n{name} = 1\n```"} for name in "bc")
    if profile in ("specedit", "vllm"):
        assert (sent["prediction"], sent["predictions"]) == (PREDICTION, [b, c])
    else:
        assert sent.get("prediction") == (None if profile in ("plain", "local") else b)
        assert "predictions" not in sent


@pytest.mark.parametrize("profile", ["vllm", "openai", "mistral", "specedit"])
def test_a_block_is_foreseen_with_its_language_and_without(endpoint, profile):
    named = replace(PLAN, opening="```\n", language="python", prediction="a = 1\nb = 2\nc = 3\n")
    answer(backend(endpoint, profile), named)
    (sent,) = endpoint.requests
    assert sent["prediction"]["content"] == "```python\na = 1\nb = 2\nc = 3\n```"
    if profile in ("vllm", "specedit"):
        (bare,) = sent["predictions"]
        assert bare["content"] == "```\na = 1\nb = 2\n"
    else:
        assert "predictions" not in sent


def test_without_a_prediction_openai_takes_its_newer_limit(endpoint):
    answer(backend(endpoint), replace(PLAN, prediction=None))
    assert endpoint.requests == [{**BASE, **WANTS_USAGE, "max_completion_tokens": 99}]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_drawn_answer_names_its_seed_as_the_endpoint_does(endpoint, profile):
    drawn = replace(PLAN, sampling=Sampling(0.7, 0.9, 5), stop=("END",))
    answer(backend(endpoint, profile), drawn)
    (sent,) = endpoint.requests
    seed = "random_seed" if profile == "mistral" else "seed"
    assert (sent["temperature"], sent["top_p"], sent[seed]) == (0.7, 0.9, 5)
    assert sent["stop"] == ["END"]


def test_the_events_are_those_of_any_backend(endpoint):
    first, *events = events_of(backend(endpoint), PLAN)
    assert isinstance(first, Ready) and first.model.engine == "remote"
    written = [e for e in events if isinstance(e, Written)]
    assert "".join(e.text for e in written) == "a = 2\n"
    tallies = [Tally(e.chunk.proposed, e.chunk.accepted) for e in written]
    assert sum(tallies, Tally()) == Tally(9, 7)
    last = events[-1]
    assert isinstance(last, Answer)
    assert (last.reason, last.closed, last.prompt, last.reused) == ("stop", True, 50, 40)
    assert last.completion == 12


def test_vllm_tells_its_steps_and_what_it_verified(endpoint):
    """Of 12 completion tokens 2 are the prediction's that did not appear, and 6 were drafts."""
    endpoint.answer = stream("```python\n", "a = 2\n", "```", drafts=(8, 6))
    figures = Figures.of(answer(backend(endpoint, "vllm")), 0.0)
    assert (figures.completion, figures.passes, figures.reused) == (10, 4, 40)
    assert figures.prediction == Tally(8, 6)


LONG_REASON = "not used: " + "so it is " * 99
NOTES: dict[str, tuple[dict[str, str], Any, str]] = {  # headers, usage, and what a note says of it
    "inexact": ({"x-specedit-exact": "no"}, USAGE, "not exact there"),
    "exact": ({"x-specedit-exact": "yes"}, USAGE, ""),
    "no headers": ({}, USAGE, ""),
    "why it is not used": ({"x-specedit-prediction": LONG_REASON}, USAGE, "not used: so it is"),
    "no usage": ({}, None, "is not used there"),
    "no counts": ({}, {"prompt_tokens": 1, "completion_tokens": 2}, "is not used there"),
}


@pytest.mark.parametrize(("headers", "usage", "note"), NOTES.values(), ids=NOTES)
def test_what_the_server_does_otherwise_is_said(endpoint, headers, usage, note):
    endpoint.extra, endpoint.answer = headers, stream("```python\n", "a = 2\n", "```", usage=usage)
    asked = backend(endpoint, "vllm")
    for _ in range(2):
        answer(asked)
        _sent, *notes = asked.notes
        assert len(notes) == bool(note)
        assert all(note in text and len(text) < 600 for text in notes)
    answer(asked, replace(PLAN, prediction=None))
    assert not any("is not used there" in text for text in asked.notes)


WINDOW = {
    "openai": {"message": "It is too long.", "code": "context_length_exceeded"},
    "vllm": {"message": "This model's maximum context length is 8 tokens.", "code": 400},
}


@pytest.mark.parametrize("error", WINDOW.values(), ids=WINDOW)
def test_a_prompt_longer_than_the_window_is_known_as_such(endpoint, error):
    endpoint.status, endpoint.answer = 400, json.dumps({"error": error}).encode()
    with pytest.raises(TooLong, match=str(error["message"])):
        answer(backend(endpoint, "vllm"))


@rows("deltas text closed")
def test_the_answer_is_what_stands_in_the_block(endpoint, deltas, text, closed):
    endpoint.answer = stream(*deltas)
    found = answer(backend(endpoint))
    assert (found.text, found.closed) == (text, closed)


block = st.lists(st.text("ab`\n ", max_size=5), max_size=8).map("".join)


@pytest.mark.parametrize("nested", [False, True], ids=["code", "prose"])
@given(block, st.lists(st.integers(1, 4), max_size=40))
def test_where_a_stream_is_cut_changes_nothing(nested, text, cuts):
    """And the text inside is the one that our own engine's reader takes."""

    def read(deltas: list[str]) -> tuple[str, str, bool]:
        reader = Unfenced("```", nested=nested)
        shown = "".join(reader.more(d) for d in deltas) + reader.end()
        return shown, reader.text, reader.closed

    whole = f"```x\n{text}"
    deltas, at = [], 0
    for cut in cuts:
        deltas.append(whole[at : at + cut])
        at += cut
    found = read([*deltas, whole[at:]])
    assert found == read([whole])
    assert found[0] == found[1] and text.startswith(found[1])
    ours = Reader(ScriptedTokenizer(), "```", nested=nested)
    any(ours.ends(token) for token in [*text.encode(), END])
    assert (found[1], found[2]) == (ours.text(), ours.closed)


def test_an_answer_without_a_block_is_no_file(endpoint):
    endpoint.answer = stream("I cannot do that.")
    with pytest.raises(RefusedEdit):
        answer(backend(endpoint))


@pytest.mark.parametrize(("profile", "completion"), [("local", 1), ("vllm", 12)])
def test_what_follows_the_block_is_not_waited_for_where_nothing_counts_it(
    endpoint, profile, completion
):
    endpoint.answer = stream("```python\na = 2\n```\n", "Here I changed", " a to 2.")
    result = answer(backend(endpoint, profile))
    assert (result.text, result.reason, result.completion) == ("a = 2\n", "stop", completion)


def test_a_cut_off_answer_says_so(endpoint):
    endpoint.answer = stream("```\na\n", reason="length", usage=None)
    found = answer(backend(endpoint))
    assert (found.reason, found.text, found.completion) == ("length", "a\n", 0)


# --- answers that are no answers

ENDLESS = {  # the limit, and an answer that exceeds it
    "text": (("EXTRA_TEXT", 1 << 16), stream(*["x" * 1000] * 100)),
    "a line": (("LONGEST_LINE", 4000), b"data: " + b"x" * 5000),
    "lines that say nothing": (("MOST_BYTES", 8000), b": still here\n" * 1000),
}


@pytest.mark.parametrize(("limit", "said"), ENDLESS.values(), ids=ENDLESS)
def test_an_answer_has_an_end(endpoint, monkeypatch, limit, said):
    monkeypatch.setattr(remote, *limit)
    monkeypatch.setattr(remote, "PIECE", 1000)
    endpoint.answer = said
    with pytest.raises(ServerError, match="does not end"):
        answer(backend(endpoint))


def test_an_answer_that_is_kept_alive_for_ever_has_an_end(endpoint, monkeypatch):
    monkeypatch.setattr(remote, "MOST_S", -1.0)
    with pytest.raises(ServerError, match="does not end"):
        answer(backend(endpoint))


def test_an_answer_as_long_as_its_text_deserves_is_taken(endpoint):
    text = "x = 1\n" * 50_000
    endpoint.answer = stream("```\n", text, "```")
    assert answer(backend(endpoint), replace(PLAN, least=text)).text == text
    with pytest.raises(ServerError, match="characters"):
        answer(backend(endpoint))


ODD = {
    "a list": b"data: [1]\n",
    "a number": b"data: 7\n",
    "choices that are none": b'data: {"choices": 3}\ndata: {"choices": [3, {"delta": 4}]}\n',
    "usage that is none": b'data: {"usage": [1], "choices": [{"finish_reason": "stop"}]}\n',
    "nested without end": b"data: " + b"[" * 100_000 + b"\n",
    "no text": b"\xff\xfe\n",
    "an error that is none": b'data: {"error": {"message": {"a": []}}}\n',
}


@pytest.mark.parametrize("said", ODD.values(), ids=ODD)
def test_an_answer_of_another_kind_is_said(endpoint, said):
    endpoint.answer = said
    with pytest.raises((ServerError, RefusedEdit)):
        found = answer(backend(endpoint))
        assert (found.text, found.completion) == ("", 0)
        raise RefusedEdit("an empty answer is judged elsewhere")


# --- keys and what left the machine


@rows("variables profile host key")
def test_a_vendors_key_goes_to_the_vendor_only(monkeypatch, variables, profile, host, key):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    scheme, _, name = host.rpartition(" ")
    assert api_key(PROFILES[profile], name, scheme != "http") == key


def test_the_key_is_sent_and_the_bytes_are_told(endpoint, monkeypatch):
    monkeypatch.setenv("SPECEDIT_API_KEY", "secret")
    asked = backend(endpoint)
    assert asked.notes == ()
    answer(asked)
    assert endpoint.headers[0]["authorization"] == "Bearer secret"
    sent = int(endpoint.headers[0]["content-length"])
    assert asked.notes == (f"{sent:,} bytes were sent to 127.0.0.1",)


def test_a_redirect_is_not_followed(endpoint):
    endpoint.status, endpoint.location = 307, endpoint.url + "/elsewhere"
    with pytest.raises(ServerError):
        answer(backend(endpoint))
    assert len(endpoint.requests) == 1


def test_what_goes_to_this_machine_goes_through_no_proxy(endpoint, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with listening() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        answer(backend(endpoint))
        named = RemoteBackend(Settings(server="http://far.example/v1", profile="openai", model="m"))
        answer(named)
    assert (len(endpoint.requests), proxy.paths) == (1, ["http://far.example/v1/chat/completions"])


# --- what goes wrong


def test_a_server_that_fails_in_mid_run_leaves_a_report_of_what_was_done(
    endpoint, specedit, tmp_path
):
    endpoint.breaks_after = 1
    files = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for file in files:
        file.write_text("a = 1\n")
    done = specedit("edit", "x", *files, "--server", endpoint.url, "--model", "m", "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)["files"]
    assert [(one["path"], one["status"]) for one in told] == [(str(files[0]), "edited")]
    assert b"Not done" in done.stderr and b"500" in done.stderr
    assert [file.read_text() for file in files] == ["a = 2\n", "a = 1\n", "a = 1\n"]


BAD: dict[str, tuple[int, bytes, str]] = {
    "key": (401, b'{"error":{"message":"Incorrect API key"}}', "SPECEDIT_API_KEY"),
    "model": (404, b'{"error":{"message":"no such model"}}', "no such model"),
    "plain words": (500, b"oops", "no reason given"),
    "other shape": (422, b'{"message":"bad field"}', "bad field"),
    "in mid-stream": (200, b'data: {"error":{"message":"overloaded"}}\n\n', "overloaded"),
    "broken json": (200, b"data: {\n\n", "not JSON"),
    "ends early": (200, stream("```\na", reason=None, usage=None), "during its answer"),
    "empty": (200, b"", "during its answer"),
}


@pytest.mark.parametrize(("status", "body", "said"), BAD.values(), ids=BAD)
def test_what_goes_wrong_is_said(endpoint, status, body, said):
    endpoint.status, endpoint.answer = status, body
    with pytest.raises(ServerError) as raised:
        answer(backend(endpoint))
    assert said in str(raised.value)


def test_a_model_that_a_server_does_not_have_is_answered_with_those_it_has(endpoint):
    endpoint.status, endpoint.answer = 404, b'{"error":{"message":"model m not found"}}'
    endpoint.models = ["qwen3:8b", "coder"]
    with pytest.raises(ServerError) as raised:
        answer(backend(endpoint))
    assert raised.value.hint == "Name one of its models with --model: qwen3:8b, coder."
    assert endpoint.paths == ["/v1/chat/completions", "/v1/models"]


def test_nobody_there_is_said():
    with pytest.raises(ServerError, match=r"127\.0\.0\.1 cannot be reached"):
        answer(RemoteBackend(Settings(server="http://127.0.0.1:1", model="m")))


@pytest.mark.parametrize("url", ["ftp://x", "http://", "x", "http://u:p@x", "http://x?a=b"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(UsageError):
        RemoteBackend(Settings(server=url))


@pytest.mark.parametrize("path", ["", "/", "/v1", "/inference/v1/"])
def test_a_url_is_a_base(endpoint, path):
    answer(RemoteBackend(Settings(server=endpoint.url + path, model="m")))
    assert endpoint.paths == [f"{path.rstrip('/') or '/v1'}/chat/completions"]


# --- the real thing


@pytest.mark.parametrize("profile", ["specedit", "openai", "plain", "fireworks", "mistral"])
def test_our_own_server_is_an_endpoint(tmp_path, profile):
    script = {"answer": "```\nEmail = 'é😀'\n```"}
    with running(tmp_path, script) as server:
        settings = Settings(server=server.record.url, profile=profile, model="scripted")
        found = answer(RemoteBackend(settings), plan("x", prediction="Username = 'é😀'\n"))
    assert (found.text, found.closed) == ("Email = 'é😀'\n", True)


def test_only_a_url_means_a_remote_server(endpoint):
    assert isinstance(connect(Settings(server=endpoint.url)), RemoteBackend)
    assert not isinstance(connect(Settings(server="off")), RemoteBackend)


def test_an_edit_tells_what_left_the_machine(endpoint, specedit, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    done = specedit("edit", "2", "a.py", "--json", "--server", endpoint.url, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (tmp_path / "a.py").read_text() == "a = 2\n" and report["server"] == endpoint.url
    assert any("bytes were sent to 127.0.0.1" in note for note in report["files"][0]["notes"])
