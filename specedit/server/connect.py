"""Chooses the backend of a run: a server the user named, a warm server, or this process.

Imports no torch, and the parts that talk to servers only where one is wanted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from specedit.edit.backend import Backend, Event, Loading, Ready
from specedit.edit.plan import Plan
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.server.loaded import Loaded


def connect(settings: Settings) -> Backend:
    """The backend that the settings name."""
    if settings.server not in ("auto", "off"):
        from specedit.server.remote import RemoteBackend

        return RemoteBackend(settings)
    note = ""
    if settings.server == "auto":
        from specedit.server.client import WithFallback
        from specedit.server.processes import find

        server, note = find(settings)
        if server is not None:
            return WithFallback(server, LocalBackend(settings))
    return LocalBackend(settings, note=note)


def window(settings: Settings) -> int | None:
    """Ids that prompt and answer may have together; None where it is not known in advance."""
    if settings.server in ("auto", "off"):
        return None
    from specedit.server import remote

    return remote.window(settings)


class LocalBackend:
    """One model in this process, loaded for its first Plan. Not thread-safe: one run at a time."""

    server: str | None = None

    def __init__(self, settings: Settings, *, note: str = "") -> None:
        self.notes: tuple[str, ...] = (note,) if note else ()
        self._settings = settings
        self._loaded: Loaded | None = None

    def run(self, plan: Plan) -> Iterator[Event]:
        started = time.perf_counter()
        if self._loaded is None:
            yield Loading("starting")  # at once, so that the progress display appears
            from specedit.server.loading import load

            self._loaded = yield from load(self._settings)
            if self._settings.test:  # tries return to each file: a prefix cache for every one
                self._loaded.keep_prefixes(self._settings.cache_bytes)
        yield Ready(self._loaded.line, time.perf_counter() - started)
        yield from self._loaded.run(plan)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = None
