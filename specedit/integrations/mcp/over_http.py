"""The tools for agents in a warm server, over the SDK's streamable HTTP transport.

The SDK is imported for the first request. The model is the server's own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specedit.errors import UsageError
from specedit.integrations.mcp import GRACE_S, server_class
from specedit.server.client import ServerBackend
from specedit.server.protocol import RefusedError
from specedit.server.runtime import OF_ENGINE, ServerRecord
from specedit.settings import Settings

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp

OF_SERVER = ("model", "draft_model", "draft", *OF_ENGINE)  # settings


class AgentEndpoint:
    """The tools as the server's part; `stop` ends its sessions and calls."""

    def __init__(self, record: ServerRecord, settings: Settings) -> None:
        self._record = record  # of this server, which the tools ask like any client of it
        self._flags = {name: getattr(settings, name) for name in OF_SERVER} | {"server": "off"}
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
            agent_server = await asyncio.to_thread(server_class)
        except UsageError as problem:  # without the extra
            started.set_exception(RefusedError(404, str(problem)))
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        server = agent_server(self._flags, None, lambda _: ServerBackend(self._record))
        manager = StreamableHTTPSessionManager(server.server)
        try:
            async with manager.run():
                started.set_result(manager)
                await asyncio.Event().wait()  # until it is cancelled
        finally:
            await asyncio.to_thread(server.close, GRACE_S)
