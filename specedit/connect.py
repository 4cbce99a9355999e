"""Which backend serves: a running server, one the user named, or this process.

Knows the settings. Imports no torch, and the server's client only where it is wanted.
"""

from __future__ import annotations

from specedit.backend import Backend
from specedit.settings import Settings


def connect(settings: Settings) -> Backend:
    """The backend that the settings mean."""
    from specedit.local import LocalBackend

    return LocalBackend(settings)
