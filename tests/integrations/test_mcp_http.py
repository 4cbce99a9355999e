"""The tools for agents in `specedit serve`: the SDK's client over HTTP to a real process."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_client import LONG, RENAME, RETURN_2, Agent, contents, repository, without_the_sdk
from warm_server import listening, process, running

from specedit.errors import DONE
from specedit.integrations.mcp import AgentEndpoint
from specedit.server import runtime

Play = Callable[..., Path]
TOKEN = "a secret"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return repository(tmp_path / "work")


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Start `specedit serve` with a token; the URL of its tools."""
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    found = runtime.runtime_folder()
    with ExitStack() as servers:

        def started(*roots: Path, cwd: Path | None = None) -> str:
            words = [word for root in roots for word in ("--root", str(root))]
            env = {"SPECEDIT_TOKEN": TOKEN}
            servers.enter_context(process("--port", "0", *words, env=env, cwd=cwd))
            return f"{listening(found).url}/mcp"

        yield started


def agent(url: str, *roots: Path, mode: str = "legacy", token: str = TOKEN) -> Agent:
    client = create_mcp_http_client({"Authorization": f"Bearer {token}"})
    return Agent(streamable_http_client(url, http_client=client), roots or None, mode)


@pytest.mark.tools
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_calls_the_tools_of_a_server_and_cancels(repo, serve, script, tmp_path, mode):
    calls = script(**LONG)
    before = contents(repo.root)
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    (repo.root / "link.py").symlink_to(outside)

    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) == 6
        written = await agent.does("rename_symbol", **RENAME, write=True)
        assert (written["status"], written["summary"]) == ("written", "4 places in 2 files")
        assert (await agent.does("undo"))["status"] == "undone"
        assert contents(repo.root) == before
        await agent.cancels_two_edits()
        for path in (str(outside), "../outside.py", "link.py"):
            assert "outside" in await agent.fails("find_places", name="secret", path=path)
        for roots in ((tmp_path / "runtime",), (tmp_path,), (Path("/"),)):
            agent.roots = roots
            assert f"outside of the server's: {repo.root}" in await agent.fails("status")
        agent.roots = (tmp_path, repo.root / "shop")
        assert (await agent.does("status"))["roots"] == [str(repo.root / "shop")]

    agent(serve(repo.root), repo.root, mode=mode).run(work)
    assert contents(repo.root) == before and calls.read_text().count("begin") == 1


@pytest.mark.tools
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_server_without_roots_lets_agents_read_where_it_was_started(repo, serve, script, mode):
    script(**RETURN_2)
    before = contents(repo.root)

    async def work(agent: Agent) -> None:
        assert (await agent.does("status"))["roots"] == [str(repo.root)]
        assert (await agent.does("rename_symbol", **RENAME))["status"] == "preview"
        for tool, more in (("rename_symbol", {**RENAME, "write": True}), ("undo", {})):
            assert "no folder that tools may write in" in await agent.fails(tool, **more)

    agent(serve(cwd=repo.root), mode=mode).run(work)
    assert contents(repo.root) == before


@pytest.mark.parametrize("root", ["/", "~", "~/..", "missing"])
def test_a_root_that_holds_the_home_is_refused(inside, tmp_path, monkeypatch, root):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    done = inside("serve", "--root", Path(root).expanduser(), cwd=tmp_path)
    assert done.returncode == 2 and b"--root" in done.stderr


@pytest.mark.tools
def test_a_server_that_stops_ends_a_call_and_writes_nothing(repo, serve, script, inside):
    script(**LONG)
    before = contents(repo.root)

    async def work(agent: Agent) -> None:
        (call,) = await agent.edits(1)
        done = await asyncio.to_thread(inside, "serve", "stop")
        assert done.returncode == DONE
        call.cancel()

    agent(serve(repo.root), repo.root).run(work)
    assert contents(repo.root) == before


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
OWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., tuple[int, Any]]]:
    """A server in this process, asked with headers."""
    with running(
        tmp_path_factory.mktemp("tools"), RETURN_2, token=TOKEN, tools=AgentEndpoint
    ) as server:

        def ask(headers: dict[str, str], path: str = "/mcp") -> tuple[int, Any]:
            accepts = {"Accept": "application/json, text/event-stream"}
            answer = server.ask("POST", path, PING, accepts | headers)
            return answer.status, answer.json

        yield ask


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "invalid_api_key"),
        ({"Authorization": "Bearer another"}, 401, "invalid_api_key"),
        (OWN | {"Host": "evil.example"}, 403, "foreign_host"),
        (OWN | {"Host": "127.0.0.1@evil.example"}, 403, "foreign_host"),
        (OWN | {"Origin": "http://evil.example"}, 403, "foreign_origin"),
        (OWN | {"Sec-Fetch-Site": "cross-site"}, 403, "foreign_origin"),
    ],
)
def test_the_tools_are_as_closed_as_the_rest_of_the_server(tools, headers, status, code):
    answer = tools(headers)
    assert (answer[0], answer[1]["error"]["code"]) == (status, code)
    assert tools(headers, "/mcp/")[0] == status


def test_without_a_session_the_sdk_answers(tools):
    status, answer = tools(OWN)
    assert status == 400 and answer["jsonrpc"] == "2.0"


def test_on_tcp_the_tools_need_a_token(tmp_path):
    with running(tmp_path, RETURN_2, tools=AgentEndpoint) as server:
        answer = server.ask("POST", "/mcp", PING)
        assert (answer.status, answer.error["code"]) == (403, "token_required")


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    without_the_sdk(monkeypatch)
    with running(tmp_path, RETURN_2, token=TOKEN, tools=AgentEndpoint) as server:
        for _ in range(2):
            answer = server.ask("POST", "/mcp", PING, OWN)
            assert answer.status == 404 and "specedit[mcp]" in answer.error["message"]
