"""A client of the SDK with workspace roots that can change, and the repository it has open."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from git_repository import Repository
from mcp import Client

FILES = {
    "shop/__init__.py": "",
    "shop/user.py": (
        "class User:\n"
        '    """A user has a user_name and may total things."""\n\n'
        "    def __init__(self):\n"
        "        self.user_name = ''\n\n"
        "    def total(self):\n"
        "        return 1  # the total\n"
    ),
    "shop/page.py": (
        "from shop.user import User\n\n\n"
        "def title(user: User, total):\n"
        "    return user.user_name + str(total)\n\n\n"
        "def show(anything):\n"
        "    return anything.total()\n"
    ),
    "notes.md": "`user_name` is a column.\n",
}


EDIT = {"path": "shop/user.py", "symbol": "User.total", "instruction": "Return 2."}
RENAME = {"name": "user_name", "new_name": "email"}
RETURN_2: dict[str, Any] = {"replace": [["return 1", "return 2"]]}  # what the model answers
LONG: dict[str, Any] = {"answer": "x = 1\n" * 20_000, "delay_s": 0.01}


def without_the_sdk(monkeypatch: Any) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] in ("mcp", "mcp_types")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "specedit.integrations.mcp.tools", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)


def repository(root: Path) -> Repository:
    made = Repository.init(root)
    made.commit(FILES)
    return made


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a folder that is not git's."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    }


class Agent:
    """A client in a session with a server, and what it saw."""

    def __init__(self, server: Any, roots: Sequence[Path] | None, mode: str = "legacy") -> None:
        self.roots = roots
        self.progress: list[tuple[float, str]] = []
        named = None if roots is None else self._named
        self.client = Client(server, mode=mode, list_roots_callback=named)

    async def _named(self, _: object) -> types.ListRootsResult:
        uris = [types.Root(uri=root.as_uri()) for root in self.roots or ()]  # type: ignore[arg-type]
        return types.ListRootsResult(roots=uris)

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        async def reported(number: float, _: float | None, text: str | None) -> None:
            self.progress.append((number, text or ""))

        return await self.client.call_tool(tool, arguments, progress_callback=reported)

    async def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structure of a result that is no error, which the text repeats."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        found: dict[str, Any] = result.structured_content
        return found

    async def fails(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    async def edits(self, number: int) -> list[asyncio.Task[types.CallToolResult]]:
        """Edits at once, the first of which has begun to write."""
        edit = {**EDIT, "write": True}
        calls = [asyncio.create_task(self.call("edit_symbol", **edit)) for _ in range(number)]
        while not any("written" in text for _, text in self.progress):
            await asyncio.sleep(0.01)
        return calls

    async def cancels_two_edits(self) -> None:
        both = await self.edits(2)
        for one in reversed(both):  # the one that waits first: it would begin else
            one.cancel()
            await asyncio.wait([one])
        assert all(one.cancelled() for one in both)

    @contextmanager
    def session(self) -> Iterator[Conversation]:
        """A session whose calls are plain ones: a thread of its own runs the client."""
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(self.client):
            yield Conversation(self, portal)

    def run(self, work: Callable[[Agent], Awaitable[None]], timeout_s: float = 60) -> None:
        async def session() -> None:
            async with self.client:
                await work(self)

        try:
            asyncio.run(asyncio.wait_for(session(), timeout_s))
        except BaseExceptionGroup as group:
            raise _innermost(group) from None


@dataclass
class Conversation:
    """The agent's calls, each one waited for."""

    inner: Agent
    portal: BlockingPortal

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        return self._ended(self.inner.call(tool, **arguments))

    def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self._ended(self.inner.does(tool, **arguments))

    def fails(self, tool: str, **arguments: Any) -> str:
        return self._ended(self.inner.fails(tool, **arguments))

    def _ended(self, call: Coroutine[Any, Any, Any], timeout_s: float = 60) -> Any:
        return self.portal.call(asyncio.wait_for, call, timeout_s)

    def tools(self) -> list[types.Tool]:
        return self.portal.call(self.inner.client.list_tools).tools


def _innermost(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text
