"""`specedit lsp`: the language server, on stdin and stdout."""

from __future__ import annotations

from specedit.cli.options import settings_options
from specedit.errors import UsageError
from specedit.settings import Resolved


@settings_options("scope", "model", "engine", "device", "threads", "server", "warm", "allow_extra")
def lsp(*, resolved: Resolved) -> int:
    """Serve editors: rename over the work tree, edits of a selection, undo. Speaks LSP on stdio."""
    try:
        from specedit.lsp.server import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError(
            "The language server needs pygls, which is not installed.",
            hint="pip install 'specedit[lsp]'",
        ) from None
    serve(resolved.values)
    return 0
