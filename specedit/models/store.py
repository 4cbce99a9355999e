"""The store: where models live on this disk, and what makes a file there a model.

    HOME/models/FILE            a model, complete and verified
    HOME/models/FILE.json       its record: name, source, digest, size, licence, date
    HOME/partial/FILE.part      what was fetched so far; its length is all there is to resume from
    HOME/locks/FILE.lock        held by the one process that fetches FILE

HOME is `SPECEDIT_HOME`, or the user's cache folder of the system. Without a record of its exact
size a file is no model. Knows paths, records, locks and free space. Does not know sources.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from specedit.errors import ModelError
from specedit.files import atomic, stored


def store_path() -> Path:
    """The store's folder: `SPECEDIT_HOME`, or the cache folder this system gives a user."""
    if named := os.environ.get("SPECEDIT_HOME"):
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("specedit", appauthor=False)


@dataclass(frozen=True)
class Record:
    """What is known of a model in the store; written last, so that it vouches for the file."""

    name: str
    source: str  # "hub", "index", or "path" for a file somebody put there
    sha256: str
    size: int
    licence: str
    date: str
    revision: str = ""
    files: dict[str, str] = field(default_factory=dict)  # of a folder: name -> digest


@dataclass(frozen=True)
class Slot:
    """One model's places in a store."""

    home: Path
    file: str

    @property
    def path(self) -> Path:
        return self.home / "models" / self.file

    @property
    def sidecar(self) -> Path:
        return self.home / "models" / f"{self.file}.json"

    @property
    def part(self) -> Path:
        return self.home / "partial" / f"{self.file}.part"

    @property
    def lock(self) -> Path:
        return self.home / "locks" / f"{self.file}.lock"

    def record(self) -> Record | None:
        """The record, if there is one and the file it speaks of has the size it names."""
        record = stored.read(self.sidecar, Record)
        try:
            return record if record and size_of(self.path) == record.size else None
        except OSError:
            return None

    def vouch(self, record: Record) -> None:
        text = json.dumps(asdict(record), indent=1) + "\n"
        atomic.whole(self.sidecar, text.encode("utf-8"))


def slots(root: Path) -> Iterator[Slot]:
    """Every model with a sidecar in the store, complete or not."""
    folder = root / "models"
    for sidecar in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        yield Slot(root, sidecar.name.removesuffix(".json"))


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(entry.stat().st_size for entry in path.iterdir() if entry.is_file())
    return path.stat().st_size


def sized(count: int) -> str:
    """Bytes as a person reads them: 1.12 GB, 491 MB, 12 kB."""
    if count >= 10**9:
        return f"{count / 10**9:.2f} GB"
    if count >= 10**6:
        return f"{count / 10**6:.0f} MB"
    return f"{count / 10**3:.0f} kB"


def free(path: Path) -> int:
    """Bytes free where `path` is or will be."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


def require_space(path: Path, needed: int, what: str) -> None:
    """Say that the disk is too small before a download, not after it."""
    if (available := free(path)) < needed:
        raise ModelError(
            f"not enough disk space for {what}: {sized(needed)} needed, {sized(available)} free "
            f"in {path}",
            hint="Free some space, or set SPECEDIT_HOME to a folder on a larger disk.",
        )
