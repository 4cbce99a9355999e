"""The language server, on stdin and stdout."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout

from specedit.settings import Settings

GRACE_S = 0.3  # for a run to end: one pass, or the process ends in the middle of it


def serve(settings: Settings) -> int:
    """Serve one editor until it leaves; returns the exit code."""
    from specedit.integrations.lsp.connection import Message, framed, read_messages
    from specedit.integrations.lsp.lsp_session import Session

    reader, writer = sys.stdin.buffer, sys.stdout.buffer

    def send(message: Message) -> None:
        try:
            writer.write(framed(message))
            writer.flush()
        except (OSError, ValueError):
            pass  # the editor is gone; reading ends too

    session, code = Session(settings, send), 130
    try:
        with redirect_stdout(sys.stderr):  # stdout is for messages only
            for message in read_messages(reader):
                session.receive(message)
                if session.ended:
                    break
        code = int(not session.shut_down)
    finally:
        if not session.close(GRACE_S):
            sys.stderr.flush()
            os._exit(code)  # Python cannot end while a thread is in a pass of the model
    return code
