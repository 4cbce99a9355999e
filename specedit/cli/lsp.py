"""`specedit lsp`: the language server, on stdin and stdout."""

from __future__ import annotations

from specedit.cli.options import settings_options
from specedit.settings import Resolved


@settings_options("scope", "model", "engine", "device", "threads", "server", "warm", "allow_extra")
def lsp(*, resolved: Resolved) -> int:
    """Serve editors: rename over the work tree, edits of a selection, undo. Speaks LSP on stdio."""
    from specedit.lsp.server import serve

    return serve(resolved.values)
