"""Which backend serves: a running server, one the user named, or this process.

Knows the settings. Imports no torch, and what talks to servers only where one is wanted.
"""

from __future__ import annotations

from specedit.edit.backend import Backend
from specedit.settings import Settings


def connect(settings: Settings) -> Backend:
    """The backend that the settings mean: `--server` a URL, our own server, or this process."""
    if settings.server not in ("auto", "off"):
        from specedit.backends.remote import RemoteBackend

        return RemoteBackend(settings)
    note = ""
    if settings.server == "auto":
        from specedit.backends.servers import look
        from specedit.backends.warm import WithFallback

        server, note = look(settings)
        if server is not None:
            return WithFallback(server, lambda: _local(settings))
    return _local(settings, note)


def window(settings: Settings) -> int | None:
    """Ids that a prompt and its answer may have together; None where nobody says it."""
    if settings.server in ("auto", "off"):
        return None
    from specedit.backends import window as told

    return told.window(settings)


def _local(settings: Settings, note: str = "") -> Backend:
    from specedit.backends.local import LocalBackend

    local = LocalBackend(settings)
    local.notes = (note,) if note else ()
    return local
