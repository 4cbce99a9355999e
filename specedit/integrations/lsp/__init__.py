"""The language server, on stdin and stdout."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from specedit.settings import Settings


def serve(settings: Settings) -> int:
    """Serve one editor until it leaves; returns the exit code."""
    from specedit.integrations.lsp.session import serve_streams

    reader, writer = sys.stdin.buffer, sys.stdout.buffer
    with redirect_stdout(sys.stderr):  # stdout is for messages only
        return serve_streams(settings, reader, writer)
