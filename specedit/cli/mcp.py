"""`specedit mcp`: tools for agents."""

from __future__ import annotations

from specedit.cli.options import settings_options
from specedit.settings import Resolved


@settings_options("model", "engine", "device", "threads", "server", "warm", "allow_extra")
def mcp(*, resolved: Resolved) -> int:
    """Serve tools for agents over MCP on stdio: rename, find places, edit, undo."""
    from specedit.integrations.mcp import serve

    flags = (name for name, origin in resolved.origins.items() if origin == "flag")
    return serve({name: getattr(resolved.values, name) for name in flags})
