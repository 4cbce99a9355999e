"""The Backend of this process: a model that is loaded for its first Plan and kept.

Torch is imported when the first Plan runs, not before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.backends.prefixes import Prefixes
from specedit.backends.starting import load
from specedit.edit.backend import Event, Loading, Ready
from specedit.edit.plan import Plan
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.backends.running import Loaded


class LocalBackend:
    """One model in this process. Not thread-safe: one engine, one run at a time."""

    server: str | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, settings: Settings, *, home: Path | None = None) -> None:
        self._settings = settings
        self._home = home
        self._loaded: Loaded | None = None
        self._prefixes: Prefixes | None = None

    def run(self, plan: Plan) -> Iterator[Event]:
        started = time.perf_counter()
        if self._loaded is None:
            yield Loading("starting")  # at once: what shows the wait is made when this comes
            self._loaded = yield from load(self._settings, self._home)
        loaded = self._loaded
        yield Ready(loaded.line, time.perf_counter() - started)
        if not self._settings.test:
            yield from loaded.run(plan)
            return
        if self._prefixes is None:  # tries come back to every file: a cache for each of them
            self._prefixes = Prefixes(loaded.engine, self._settings.cache_bytes)
        self._prefixes.choose(loaded.prompt(plan), fresh=plan.fresh)
        try:
            yield from loaded.run(plan)
        finally:
            self._prefixes.settle()

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = self._prefixes = None
