"""Chooses the backend of a run: a server that the user named, a warm server, or this process.

What talks to servers is imported only where there is one.
"""

from __future__ import annotations

from specedit.edit.backend import Backend
from specedit.files.startup import warm_server_may_run
from specedit.inference.local import LocalBackend
from specedit.settings import Settings


def connect(settings: Settings) -> Backend:
    """The backend that the settings name."""
    if settings.server not in ("auto", "off"):
        from specedit.server.remote import RemoteBackend

        return RemoteBackend(settings)
    note = ""
    if settings.server == "auto" and (settings.warm or warm_server_may_run()):
        from specedit.server.client import WithFallback, find

        server, note = find(settings)
        if server is not None:
            return WithFallback(server, LocalBackend(settings))
    return LocalBackend(settings, note=note)
