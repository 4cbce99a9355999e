"""Tools for agents, over stdio. The SDK is imported when it is needed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from specedit.errors import DONE, INTERRUPTED, UsageError
from specedit.files.git import real
from specedit.files.startup import ENDING
from specedit.settings import here

GRACE_S = 2.0  # for a write, or one pass of the model, to end


def serve(flags: Mapping[str, Any]) -> int:
    """Serve one client until it leaves; returns the exit code."""
    try:
        from specedit.integrations.mcp.tools import AgentServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        message = "The tools for agents need the MCP SDK, which is not installed."
        raise UsageError(message, hint='pip install "specedit[mcp]"') from None
    server = AgentServer(flags, real(here()))

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
