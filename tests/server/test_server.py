"""The server's API: OpenAI's answers, streams, usage and refusals; who may ask what; abuse."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from refused_fields import ALLOWED, REFUSED, predicted
from scripted_engine import ScriptedTokenizer
from warm_server import Running, prompt, running, until

from specedit.errors import ServerError
from specedit.server.app import Limits
from specedit.server.protocol import RUN, STATUS, STOP
from specedit.server.runtime import RuntimeFolder
from specedit.server.service import Options, serve
from specedit.settings import Settings

pytestmark = pytest.mark.tools

REPLACE = {"replace": [["Username", "Email"]]}
TEXT = "class User:\n    Username = 'héé 😀 naïve'\r\n    size = 1"
AFTER = TEXT.replace("Username", "Email") + "\n```"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = Limits(body_bytes=1 << 20, body_s=0.5, head_s=0.5)
    with running(tmp_path_factory.mktemp("server"), REPLACE, limits=limits) as found:
        yield found


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Running]:
    """A pass takes 20 ms and writes one byte of very many."""
    script = {"answer": "ab" * 5_000, "delay_s": 0.02}
    with running(tmp_path, script, draft="none", limits=Limits(waiting=2)) as found:
        yield found


# --- answers


def test_a_prompt_that_was_read_is_reported_as_cached(server):
    first = server.chat(TEXT).json["usage"]
    again = server.chat(TEXT).json["usage"]
    assert again["prompt_tokens_details"]["cached_tokens"] == first["prompt_tokens"] - 1


def test_roles_and_parts_become_messages(server):
    parts = [{"type": "text", "text": prompt("a")}, {"type": "text", "text": "b"}]
    echoed = {"role": "assistant", "content": "x", "refusal": None, "tool_calls": None}
    messages = [{"role": "developer", "content": "Be brief."}, echoed]
    body = {"model": "scripted", "messages": [*messages, {"role": "user", "content": parts}]}
    answer = server.ask("POST", "/v1/chat/completions", body)
    assert answer.json["choices"][0]["message"]["content"] == "a\n```"


# --- refusals


OUR_REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    **REFUSED,
    "negative penalty": ({"presence_penalty": -1}, "presence_penalty", "invalid_value"),
    "modalities": ({"modalities": ["text", "audio"]}, "modalities[1]", "invalid_value"),
    "json": ({"response_format": {"type": "json_object"}}, "response_format.type", "invalid_value"),
    "unknown": ({"colour": "red"}, "colour", "unknown_parameter"),
    "type": ({"max_tokens": "5"}, "max_tokens", "invalid_type"),
    "boolean number": ({"max_tokens": True}, "max_tokens", "invalid_type"),
    "zero tokens": ({"max_tokens": 0}, "max_tokens", "invalid_value"),
    "both limits": ({"max_tokens": 5, "max_completion_tokens": 5}, "max_tokens", "invalid_value"),
    "hot": ({"temperature": 3}, "temperature", "invalid_value"),
    "top_p": ({"top_p": 1.5}, "top_p", "invalid_value"),
    "stops": ({"stop": ["a", "b", "c", "d", "e"]}, "stop", "invalid_value"),
    "empty stop": ({"stop": ""}, "stop", "invalid_value"),
    "options": ({"stream_options": {"include_usage": True}}, "stream_options", "invalid_value"),
    "no messages": ({"messages": []}, "messages", "invalid_value"),
    "tool role": ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role", "*"),
    "no content of a message": (
        {"messages": [{"role": "user"}]},
        "messages[0].content",
        "missing_*",
    ),
}


@pytest.mark.parametrize(("fields", "param", "code"), OUR_REFUSED.values(), ids=OUR_REFUSED)
def test_what_cannot_be_honoured_is_refused(server, fields, param, code):
    for beside in ({}, predicted("x")):
        answer = server.chat("x", **{**beside, **fields})
        error = answer.error
        assert (answer.status, error["type"]) == (400, "invalid_request_error")
        assert error["param"] == param and param in error["message"]
        assert error["code"].startswith(code.rstrip("*"))


OUR_ALLOWED: dict[str, dict[str, Any]] = {
    **ALLOWED,
    "empty": {"logit_bias": {}, "audio": None, "store": False, "prediction": None},
    "labels": {"user": "me", "metadata": {"a": "b"}, "service_tier": "auto"},
    "text": {"response_format": {"type": "text"}, "modalities": ["text"]},
    "drawn": {"temperature": 1, "top_p": 0, "seed": 7},
}


@pytest.mark.parametrize("fields", OUR_ALLOWED.values(), ids=OUR_ALLOWED)
def test_what_says_nothing_is_taken(server, fields):
    assert server.chat("x", **fields).status == 200


BODIES = {
    "not json": b"{",
    "not an object": b"[1]",
    "empty": b"",
    "not utf-8": b'{"model": "\xff"}',
    "half a character": b'{"model":"scripted","messages":[{"role":"user","content":"\\ud800"}]}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_no_request_is_refused(server, body):
    answer = server.ask("POST", "/v1/chat/completions", body)
    assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")
    assert answer.error["message"].startswith("The body of the request is ")


def test_an_unknown_model_is_not_found(server):
    answer = server.chat("x", model="gpt-4o")
    assert (answer.status, answer.error["code"]) == (404, "model_not_found")
    assert "scripted" in answer.error["message"]
    assert server.ask("GET", "/v1/models/gpt-4o").status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/nothing", 404), ("GET", "/v1/chat/completions", 405), ("PUT", "/health", 405)],
)
def test_other_paths_and_methods_are_refused(server, method, path, status):
    answer = server.ask(method, path)
    assert answer.status == status and answer.error["message"]


@pytest.mark.parametrize(
    ("path", "instead"),
    [("/v1/completions", "use /v1/chat/completions"), ("/mcp", "agents start specedit mcp")],
)
def test_a_path_that_was_removed_says_what_to_use_instead(server, path, instead):
    answer = server.ask("POST", path, {"prompt": "x"})
    assert answer.status == 404
    assert f"was removed in 1.1: {instead}" in answer.error["message"]


def test_a_body_that_is_too_large_is_refused(server):
    for declared in (True, False):
        data = b"x" * (3 << 20)
        body = data if declared else iter([data])
        connection = server.connect()
        connection.request("POST", "/v1/chat/completions", body, encode_chunked=not declared)
        assert connection.getresponse().status == 413
        connection.close()


# --- other routes


def test_models_health_and_counts(server):
    (model,) = server.ask("GET", "/v1/models").json["data"]
    assert (model["id"], model["object"]) == ("scripted", "model")
    assert server.ask("GET", "/v1/models/scripted").json == model
    assert server.ask("GET", "/health").json["status"] == "ok"
    before = server.count("answered"), server.count("passes")
    server.chat(TEXT)
    assert server.count("answered") == before[0] + 1
    assert server.count("passes") > before[1]


# --- who may ask


@rows("headers")
def test_a_web_page_cannot_drive_the_model(server, headers):
    for method, path in (("POST", "/v1/chat/completions"), ("GET", "/health")):
        answer = server.ask(method, path, b"{}", headers)
        assert answer.status == 403 and answer.error["type"] == "permission_error"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::1]:8", "LOCALHOST:80"])
def test_loopback_names_are_ours(server, host):
    assert server.ask("GET", "/health", headers={"Host": host}).status == 200


@pytest.mark.parametrize(("method", "path"), [("POST", RUN), ("GET", STATUS), ("POST", STOP)])
def test_our_own_protocol_needs_the_socket_or_a_token(server, method, path):
    assert server.ask(method, path).status == 403


def test_a_token_is_asked_of_tcp_but_not_of_the_socket(tmp_path):
    with running(tmp_path, REPLACE, token="secret") as server:
        right = {"Authorization": "Bearer secret"}
        assert server.ask("GET", "/v1/models").status == 401
        for wrong in ("Bearer sec", "Basic secret"):
            given = {"Authorization": wrong}
            assert server.ask("GET", "/v1/models", headers=given).status == 401
        assert server.ask("GET", "/v1/models", headers=right).status == 200
        assert server.ask("GET", STATUS, headers=right).status == 200
        assert server.ask("GET", "/health").status == 200
        assert server.status()["state"] == "ready"


@pytest.mark.parametrize("coding", ["utf-8", "latin-1"])
def test_a_token_may_have_any_letters(tmp_path, coding):
    with running(tmp_path, REPLACE, token="schlüssel") as server:
        given = {"Authorization": "Bearer schlüssel".encode(coding).decode("latin-1")}
        assert server.ask("GET", "/v1/models", headers=given).status == 200
        assert server.ask("GET", "/v1/models", headers={"Authorization": "Bearer x"}).status == 401


@pytest.mark.parametrize("token", ["a\nb", " a", "a\x7f"])
def test_a_token_that_no_header_can_carry_is_refused(tmp_path, token):
    with pytest.raises(ServerError, match="token"):
        serve(Settings(), Options(token=token), RuntimeFolder(tmp_path))


# --- what it survives

ASKED: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "x"}]}
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


def test_a_slow_sender_is_cut_off(server):
    for sent, answer in ((HEAD + b"{", b"HTTP/1.1 408"), (HEAD[:40], b"")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(sent)
            got = connection.recv(12)
            assert got == answer


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_closes_its_side_after_its_request_reads_the_answer(slow, stream):
    body = json.dumps(ASKED | {"stream": stream, "max_tokens": 30}).encode()
    with socket.create_connection(("127.0.0.1", slow.port), timeout=20) as connection:
        connection.sendall(HEAD.replace(b"100", str(len(body)).encode()) + body)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert b"HTTP/1.1 200 OK" in answer and b'"finish_reason":"length"' in answer.replace(b" ", b"")


def test_text_comes_while_it_is_written(slow):
    connection = slow.connect()
    connection.request("POST", "/v1/chat/completions", json.dumps(ASKED | {"stream": True}))
    answer = connection.getresponse()
    while b'"content":"a' not in answer.readline():
        pass
    assert slow.count("passes") < 500
    connection.close()


def test_a_full_queue_says_when_to_come_back(slow):
    connections: list[http.client.HTTPConnection] = []
    for taken in (1, 2, 3):
        connections.append(slow.connect())
        connections[-1].request("POST", "/v1/chat/completions", json.dumps(ASKED))
        until(lambda: sum(slow.status()["requests"][k] for k in ("running", "queued")) == taken)  # noqa: B023
    answer = slow.chat("x")
    assert (answer.status, answer.error["code"]) == (503, "queue_full")
    assert int(answer.headers["retry-after"]) >= 1
    for connection in connections:
        connection.close()
    until(lambda: slow.status()["requests"]["queued"] == 0)
    assert slow.ask("GET", "/health").status == 200


@pytest.mark.parametrize("sent", ["nothing", "half a head", "half a body"])
def test_connections_whose_request_does_not_arrive_make_room(tmp_path, sent):
    limits = Limits(tcp_connections=4)
    data = {"nothing": b"", "half a head": HEAD[:40], "half a body": HEAD + b"{"}[sent]
    with running(tmp_path, REPLACE, limits=limits) as server, contextlib.ExitStack() as stack:
        connections = []
        for _ in range(12):
            opened = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            connections.append(stack.enter_context(opened))
            opened.sendall(data)
        assert server.ask("GET", "/health").status == 200
        assert server.chat(TEXT).status == 200
        with contextlib.suppress(ConnectionResetError):  # the oldest is closed
            assert connections[0].recv(1) == b""


def test_busy_tcp_connections_do_not_lock_out_the_unix_socket(tmp_path):
    script = {"answer": "ab" * 5_000, "delay_s": 0.02}
    limits = Limits(tcp_connections=2)
    with running(tmp_path, script, draft="none", limits=limits) as server:
        connections = [server.connect() for _ in range(2)]
        for connection in connections:
            connection.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        until(lambda: server.running() + server.status()["requests"]["queued"] == 2)
        assert _status_code(server) == 503
        assert server.status()["state"] == "ready"
        for connection in connections:
            connection.close()


def _status_code(server: Running) -> int:
    try:
        return server.ask("GET", "/health").status
    except (OSError, http.client.HTTPException):  # cut off while the request was sent
        return 0


LONG = "a" * 10_485_761
MANY: dict[str, tuple[dict[str, Any], str]] = {
    "messages": ({"messages": [{"role": "user", "content": "a"}] * 513}, "512"),
    "parts": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * 1025}]},
        "1,024",
    ),
    "characters": ({"messages": [{"role": "user", "content": LONG}]}, "10,485,760"),
    "prediction": (predicted(LONG), "10,485,760"),
    "predictions": ({"predictions": [{"type": "content", "content": LONG[:99]}] * 1025}, "1,024"),
}


@pytest.mark.parametrize(("fields", "limit"), MANY.values(), ids=MANY)
def test_a_request_that_cannot_fit_is_refused_before_it_is_tokenized(
    tmp_path, fields, limit, monkeypatch
):
    with running(tmp_path, REPLACE) as server:
        monkeypatch.setattr(ScriptedTokenizer, "encode", None)
        refused = server.ask("POST", "/v1/chat/completions", ASKED | fields)
        assert refused.status == 400 and refused.error["param"] == "messages"
        assert limit in refused.error["message"]


# --- real clients


def test_the_openai_client_just_works(server):
    import openai

    api = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="any")
    messages: Any = [{"role": "user", "content": prompt(TEXT)}]
    request: Any = {"model": "scripted", "messages": messages, **predicted(TEXT)}
    whole = api.chat.completions.create(**request)
    assert whole.choices[0].message.content == AFTER
    details = whole.usage.completion_tokens_details
    counted = details.accepted_prediction_tokens + details.rejected_prediction_tokens
    assert counted == len(TEXT.encode())
    options: Any = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(api.chat.completions.create(**request, **options))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == AFTER
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert [m.id for m in api.models.list()] == ["scripted"]
    with pytest.raises(openai.BadRequestError) as refused:
        api.chat.completions.create(**request, n=2)
    assert refused.value.param == "n"
    with pytest.raises(openai.NotFoundError):
        api.chat.completions.create(model="gpt-4o", messages=messages)
