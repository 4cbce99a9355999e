"""Chooses the backend of a run: a server that the user named, a warm server, or this process.

What talks to servers is imported only where there is one, what loads a model when the first Plan
runs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specedit.edit.backend import Answer, Backend, Emit, Loading, ModelInfo, Plan, Ready
from specedit.errors import UsageError
from specedit.files.startup import warm_server_may_run
from specedit.settings import Settings
from specedit.settings.table import is_path

if TYPE_CHECKING:
    from specedit.inference.model import LoadedModel


@dataclass
class LocalBackend:
    """One model in this process, loaded for its first Plan. Not thread-safe: one run at a time."""

    settings: Settings
    notes: tuple[str, ...] = ()
    server: str | None = None
    model: ModelInfo | None = None
    _loaded: LoadedModel | None = None

    def run(self, plan: Plan, emit: Emit) -> Answer:
        started = time.perf_counter()
        if self._loaded is None:
            emit(Loading("starting"))  # at once, so that the display appears
            from specedit.inference.loading import load
            from specedit.inference.model import CACHE_BYTES

            self._loaded = load(self.settings, emit)
            if self.settings.test:  # tries return to each file: a prefix cache for every one
                self._loaded.keep_prefixes(CACHE_BYTES)
            self.model = self._loaded.line
        load_s = time.perf_counter() - started
        emit(Ready(self._loaded.line, load_s))
        return replace(self._loaded.answer(plan, emit), load_s=load_s)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = None


def connect(settings: Settings) -> Backend:
    """The backend that the settings name."""
    if settings.server not in ("auto", "off"):
        from specedit.server.remote import RemoteBackend

        if is_path("adapter", settings.adapter):
            message = f"The adapter {settings.adapter} cannot be merged into the model of a server."
            raise UsageError(message, hint="Use --adapter none with --server URL.")
        return RemoteBackend(settings)
    notes: tuple[str, ...] = ()
    if settings.server == "auto" and (settings.warm or warm_server_may_run()):
        from specedit.server.client import WithFallback, find

        server, note = find(settings)
        if server is not None:
            return WithFallback(server, LocalBackend(settings))
        notes = (note,) if note else ()
    return LocalBackend(settings, notes)
