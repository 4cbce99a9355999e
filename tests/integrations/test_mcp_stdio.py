"""`specedit mcp` as a process: the SDK's client over stdio, bytes that are no messages, its end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository
from mcp import StdioServerParameters
from mcp_client import EDIT, LONG, RENAME, Agent, contents, repository

WORDS = ("-P", "-m", "specedit", "mcp")
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return repository(tmp_path / "work")


class Process:
    """The server, and messages as bytes."""

    def __init__(self, root: Path) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, *WORDS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
        )
        self.send(id=1, method="initialize", params=INITIALIZE)
        assert self.answer()["result"]["serverInfo"]["name"] == "specedit"
        self.send(method="notifications/initialized")

    def send(self, **message: Any) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        meta = {"progressToken": number}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        self.send(id=number, method="tools/call", params=params)

    def raw(self, data: bytes) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def answer(self) -> Any:
        """The next message: every line of stdout is one."""
        assert self.popen.stdout is not None
        return json.loads(self.popen.stdout.readline())


def test_a_client_renames_over_stdio_and_nothing_else_is_on_stdout(repo, monkeypatch):
    repo.write("typer.py", "print('imported')\n")  # modules of the folder are not run
    process = Process(repo.root)
    process.raw(b"not json\n[]\n{}\n\xff\xfe\n" + b"x" * 100_000 + b"\n")
    process.call(2, "rename_symbol", **RENAME, write=True)
    answer = process.answer()
    assert answer["id"] == 2 and answer["result"]["structuredContent"]["status"] == "written"
    process.call(3, "no_such_tool")
    assert process.answer()["error"]["message"] == "unknown tool no_such_tool"
    out, errors = process.popen.communicate(timeout=60)
    assert (process.popen.returncode, out) == (0, b"") and b"Traceback" not in errors
    assert "email" in repo.read("shop/user.py")


@pytest.mark.tools
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_starts_it_calls_it_and_cancels(repo, script, tmp_path, mode):
    calls = script(**LONG)
    kept = ("SPECEDIT_", "PATH", "PYTHONPATH", "TESTS_")
    variables = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    server = StdioServerParameters(
        command=sys.executable, args=list(WORDS), env=variables, cwd=tmp_path
    )
    before = contents(repo.root)

    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) <= 7
        await agent.cancels_two_edits()
        assert (await agent.does("find_places", name="user_name"))["status"] == "ok"
        assert "outside" in await agent.fails("find_places", name="x", path=str(tmp_path))
        agent.roots = (tmp_path,)
        assert (await agent.does("status"))["roots"] == [str(tmp_path)]

    Agent(server, (repo.root,), mode).run(work)
    assert contents(repo.root) == before and calls.read_text().count("begin") == 1


@pytest.mark.tools
@pytest.mark.parametrize("way", ["stdin", "SIGTERM", "SIGINT"])
def test_it_ends_in_the_middle_of_an_edit(repo, script, way):
    script(**LONG)
    before = contents(repo.root)
    process = Process(repo.root)
    process.call(2, "edit_symbol", **EDIT, write=True)
    assert process.answer()["method"] == "notifications/progress"
    started = time.monotonic()
    if way == "stdin":
        assert process.popen.stdin is not None
        process.popen.stdin.close()
    else:
        process.popen.send_signal(getattr(signal, way))
    assert process.popen.wait(30) == (0 if way == "stdin" else 130)
    assert time.monotonic() - started < 20 and contents(repo.root) == before
