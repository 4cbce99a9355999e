"""Tools for agents: `specedit mcp` serves them over stdio, `AgentEndpoint` in a warm server, over
the SDK's streamable HTTP transport.

The SDK is imported when it is needed. In a server the model is the server's own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import DONE, INTERRUPTED, UsageError
from specedit.files.git import is_too_wide, real
from specedit.files.startup import ENDING
from specedit.server.client import ServerBackend
from specedit.server.protocol import RefusedError
from specedit.server.runtime import OF_ENGINE, ServerRecord
from specedit.settings import Settings, here

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp

    from specedit.integrations.mcp.tools import AgentServer

GRACE_S = 2.0  # for a write, or one pass of the model, to end


def server_class() -> type[AgentServer]:
    """The server's class; an error where its SDK is not installed."""
    try:
        from specedit.integrations.mcp.tools import AgentServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UsageError(
            "The tools for agents need the MCP SDK, which is not installed.",
            hint='pip install "specedit[mcp]"',
        ) from None
    return AgentServer


def serve(flags: Mapping[str, Any]) -> int:
    """Serve one client until it leaves; returns the exit code."""
    server = server_class()(flags, real(here()))

    def end(*_: object) -> None:
        """Leave at once: the SDK's thread waits in a read of stdin."""
        server.close(GRACE_S)
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    asks = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in asks}
    try:
        asyncio.run(server.run())
        if not server.close(GRACE_S):
            sys.stderr.flush()
            os._exit(DONE)  # Python cannot end while a thread is in a pass of the model
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return DONE


OF_SERVER = ("model", "draft_model", "draft", *OF_ENGINE)  # settings


class AgentEndpoint:
    """The tools as the server's part; `stop` ends its sessions and calls."""

    def __init__(self, record: ServerRecord, settings: Settings) -> None:
        self._record = record  # of this server, which the tools ask like any client of it
        self._flags = {name: getattr(settings, name) for name in OF_SERVER} | {"server": "off"}
        place = real(here())  # of a server in the background: the runtime folder
        is_closed = record.background or is_too_wide(place)
        self._roots = tuple(map(Path, record.roots)) or (() if is_closed else (place,))
        self._serving: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    async def handler(self) -> ASGIApp:
        """The ASGI app of the SDK, or a refusal where the SDK is not installed."""
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._serving = asyncio.create_task(self._serve(self._manager))
        return (await asyncio.shield(self._manager)).handle_request

    def stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()

    async def _serve(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            if not self._roots:
                raise UsageError("This server has no folder for agents: start it with --root.")
            agent_server = await asyncio.to_thread(server_class)
        except UsageError as problem:  # without the extra
            started.set_exception(RefusedError(404, str(problem)))
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from specedit.integrations.mcp.agent_call import Workspace

        server = agent_server(
            self._flags,
            self._roots[0],
            lambda _: ServerBackend(self._record),
            limit=Workspace(self._roots),
            writes=bool(self._record.roots),
        )
        manager = StreamableHTTPSessionManager(server.server)
        try:
            async with manager.run():
                started.set_result(manager)
                await asyncio.Event().wait()  # until it is cancelled
        finally:
            await asyncio.to_thread(server.close, GRACE_S)
