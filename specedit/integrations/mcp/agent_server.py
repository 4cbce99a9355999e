"""The server between a client and the tools: roots, one call at a time, progress, cancellation."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from specedit.connect import connect
from specedit.edit.backend import Backend
from specedit.errors import SpeceditError
from specedit.integrations.mcp.agent_call import Call, ToolResult, Workspace, own_words, schema_of
from specedit.integrations.mcp.tools import TOOLS, perform
from specedit.settings import Settings
from specedit.version import VERSION
from specedit.view.terminal import harmless

ROOTS, ROOTS_S = "roots", 10.0  # the key of our question, and seconds to wait for its answer
INSTRUCTIONS = """\
Exact renames, merges and small edits in the workspace. Use rename_symbol instead of \
search-and-replace, find_places to see what a name refers to, apply_change to write a change of a \
large file as a snippet. Nothing is written without write: true; undo reverts the last change. \
edit_symbol runs a small model: write larger changes yourself."""

Context = ServerRequestContext[Any, Any]


class AgentServer:
    """Tools for clients. `flags`: settings of the command line, over all others. `folder`: the
    workspace of a client that names no roots. `connect`: what answers as the model."""

    def __init__(
        self,
        flags: Mapping[str, Any],
        folder: Path | None,
        connect: Callable[[Settings], Backend] = connect,
    ) -> None:
        self._flags = flags
        self._folder = folder
        self._connect = connect
        self._worker = ThreadPoolExecutor(1, "specedit-tool")  # calls queue
        self._running: dict[Future[ToolResult], threading.Event] = {}
        self.server: Server[Any] = Server(
            "specedit",
            version=VERSION,
            instructions=INSTRUCTIONS,
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
        )

    async def run(self) -> None:
        """Serve stdin and stdout until the client closes them."""
        async with stdio_server() as (reader, writer):
            await self.server.run(reader, writer, self.server.create_initialization_options())

    def close(self, timeout_s: float) -> bool:
        """Cancel all calls; returns whether they ended in time."""
        running = dict(self._running)
        for future, stop in running.items():
            stop.set()
            future.cancel()
        ended = not wait(running, timeout_s).not_done
        self._worker.shutdown(wait=ended)
        return ended

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool in the worker's thread. A cancelled call ends within a pass of the model; one
        that waits for its turn never starts."""
        tool, stop = TOOLS.get(params.name), threading.Event()
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {harmless(params.name[:100])}")
        try:
            arguments = tool.arguments.model_validate(params.arguments or {})
            workspace = await self._workspace(context, params)
            if isinstance(workspace, types.InputRequiredResult):
                return workspace
            progress = _Newest(context)
            call = Call(workspace, self._flags, self._connect, stop, progress.report)
            future = self._worker.submit(perform, params.name, call, arguments)
            self._running[future] = stop
            future.add_done_callback(lambda done: self._running.pop(done, None))
            result = await asyncio.wrap_future(future)
            await progress.sent()
        except (ValidationError, SpeceditError, OSError) as problem:
            return _failure(problem)
        except MCPError as problem:
            return _failure(f"the client did not name its workspace roots: {problem}")
        except Exception as problem:
            traceback.print_exception(problem)
            return _failure(f"a bug in specedit: {type(problem).__name__}: {problem}")
        finally:
            stop.set()
        # Clients show their model either the text or the structure.
        text = types.TextContent(text=result.model_dump_json(exclude_defaults=True))
        return types.CallToolResult(
            content=[text],
            structured_content=result.model_dump(exclude_defaults=True),
            is_error=result.status == "refused",
        )

    async def _workspace(
        self, context: Context, params: types.CallToolRequestParams
    ) -> Workspace | types.InputRequiredResult:
        """The roots that the client has now. Since protocol 2026-07-28 a client names them in a
        second request of the same call; before, it answers a request of ours."""
        session = context.session
        if session.client_capabilities is None or session.client_capabilities.roots is None:
            return Workspace.of_process(self._folder)
        answer = (params.input_responses or {}).get(ROOTS)
        if not isinstance(answer, types.ListRootsResult):
            if not session.can_send_request:
                return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
            answer = await session.send_request(
                types.ListRootsRequest(),
                types.ListRootsResult,
                request_read_timeout_seconds=ROOTS_S,
            )
        return Workspace.of_client(str(root.uri) for root in answer.roots)


async def _list_tools(_: Context, __: object) -> types.ListToolsResult:
    tools = [
        types.Tool(
            name=name,
            description=" ".join((tool.function.__doc__ or "").split()),
            input_schema=schema_of(tool.arguments),
            output_schema=schema_of(ToolResult),
            annotations=types.ToolAnnotations(
                read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
            ),
        )
        for name, tool in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


class _Newest:
    """Sends what a call reports from its thread; while one text is sent, only the newest waits."""

    def __init__(self, context: Context) -> None:
        self._loop, self._session = asyncio.get_running_loop(), context.session
        self._numbers = count(1)
        self._newest: str | None = None
        self._sending: asyncio.Task[None] | None = None

    def report(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._reported, text)

    def _reported(self, text: str) -> None:
        self._newest = text
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        while (text := self._newest) is not None:
            self._newest = None
            await self._session.report_progress(next(self._numbers), None, harmless(text))

    async def sent(self) -> None:
        """Wait for the newest text, so that a client sees it before the result."""
        if self._sending is not None:
            await self._sending


def _failure(problem: Exception | str) -> types.CallToolResult:
    """An error that the client shows its model; of wrong arguments without their values."""
    if isinstance(problem, ValidationError):
        lines = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors()[:5])
        problem = "; ".join(lines)
    content = types.TextContent(text=harmless(own_words(str(problem)))[:4000])
    return types.CallToolResult(content=[content], is_error=True)
