"""`specedit lsp`: the language server, on stdin and stdout."""

from __future__ import annotations

from specedit.cli.options import settings_options
from specedit.settings import Resolved


@settings_options("scope", "model", "engine", "device", "threads", "server", "warm", "allow_extra")
def lsp(*, resolved: Resolved) -> int:
    """Serve editors over LSP on stdio: rename in the work tree, edit a selection, undo."""
    from specedit.integrations.lsp.language_server import serve

    return serve(resolved.values)
