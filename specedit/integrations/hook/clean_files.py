"""Remembers which files need no change by a step, so that the model is not asked again.

A file of the store has one line per digest of content, name, step, settings and version. If it is
lost or damaged, the hook is slower and its answers are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath

from specedit.files import regular
from specedit.settings import Settings

MAX_DIGESTS = 100_000  # above this the older half is dropped
RELEVANT = (  # settings that change an answer
    *("model", "engine", "precision", "device", "scope", "allow_extra"),
    *("gate", "strict", "allow", "check_with"),
    *("temperature", "top_p", "seed", "max_tokens", "focus", "whole"),
)


class CleanFiles:
    """Digests of files that need no change. A new one is written at once."""

    def __init__(self, store: Path, settings: Settings) -> None:
        self._path = store / "hook" / "seen"
        self._answers = answers(settings)
        self._known: set[str] | None = None

    def key(self, blob: str, name: str, step: str) -> str:
        """The digest of everything that decides the answer. The file name decides the language."""
        parts = [blob, PurePosixPath(name).name, step, self._answers]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]

    def __contains__(self, key: str) -> bool:
        if self._known is None:
            self._known = set(_lines(self._path))
        return key in self._known

    def add(self, key: str) -> None:
        if key in self:
            return
        assert self._known is not None
        self._known.add(key)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if len(self._known) > MAX_DIGESTS:
                _keep_newer_half(self._path)
            with regular.appending(self._path) as file:
                file.write(f"{key}\n".encode())  # one short write is atomic
        except OSError:
            return  # a store that cannot be written makes the hook slower, not wrong


def _lines(path: Path) -> list[str]:
    try:
        return regular.read(path).decode("ascii", "replace").split()
    except OSError:
        return []


def _keep_newer_half(path: Path) -> None:
    from specedit.files import atomic

    atomic.whole(
        path, "".join(f"{key}\n" for key in _lines(path)[-MAX_DIGESTS // 2 :]).encode("ascii")
    )


def answers(settings: Settings) -> str:
    """What decides the model's answers: settings, version, and the model's file if there is one."""
    try:
        ours = version("specedit")
    except PackageNotFoundError:
        ours = ""
    relevant = {name: getattr(settings, name) for name in RELEVANT}
    if settings.server not in ("auto", "off"):  # a server that was named has a model of its own
        relevant["server"] = settings.server
    files = [settings.model]
    if settings.engine == "scripted":
        files.append(os.environ.get("SPECEDIT_SCRIPT", ""))
    return json.dumps([ours, relevant, [_stamp(Path(name)) for name in files if name]])


def _stamp(path: Path) -> list[int]:
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
