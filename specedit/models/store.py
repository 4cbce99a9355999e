"""The store: the models on this disk.

    HOME/models/FILE            a model, complete and verified
    HOME/models/FILE.json       its record: name, source, digest, size, licence, date
    HOME/partial/FILE.part      a download so far; the next one continues at its length
    HOME/locks/FILE.lock        held by the process that downloads FILE

HOME is `SPECEDIT_HOME` or the system's cache folder. A file without a record of its exact size is
not a model.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Literal, TypeVar

from specedit.errors import ModelError
from specedit.files import atomic, regular, stored
from specedit.files.startup import expanded

P = TypeVar("P", bound=PurePath)
BLOCK_BYTES = 1 << 22
_PART = re.compile(r"(?P<name>.+)-[0-9]{5}-of-(?P<count>[0-9]{5})\.gguf")


def store_path() -> Path:
    """The store's folder: `SPECEDIT_HOME`, or the system's cache folder."""
    if named := os.environ.get("SPECEDIT_HOME"):
        return expanded(named).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("specedit", appauthor=False)


@dataclass(frozen=True, slots=True)
class AdapterFiles:
    """An adapter on this disk, which is merged into a model (`models.adapter`)."""

    name: str
    path: Path  # its folder
    sha256: str  # of all of its files
    base: str = ""  # the model that it was trained for,
    base_sha256: str = ""  # and the digest of that model's file, where it is stated


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model that is completely on this disk and may be opened."""

    name: str  # catalogue name, hub id, or file stem
    path: Path  # the GGUF file, or the folder with config.json and safetensors
    kind: Literal["gguf", "folder"]
    sha256: str = ""  # of the GGUF file, or of the folder's files; "" if not computed
    licence: str = ""
    source: str = ""  # "hub", "index", "path"
    adapter: AdapterFiles | None = None  # merged into the weights

    @property
    def digest(self) -> str:
        """What tells these weights from others: the model's digest, and the adapter's after it."""
        return f"{self.sha256}+{self.adapter.sha256}" if self.adapter else self.sha256


def short(digest: str) -> str:
    """A digest, or those of a model and its adapter, as names of files have it."""
    return "-".join(part[:16] for part in digest.split("+"))


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a model. It is written after the model is complete."""

    name: str
    source: str  # "hub", "index", or "path" for a file that the user copied there
    sha256: str
    size: int
    licence: str
    date: str
    revision: str = ""
    files: dict[str, str] = field(default_factory=dict)  # of a folder: name -> digest


@dataclass(frozen=True, slots=True)
class Slot:
    """The paths of one model in a store."""

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
        """The record, if there is one and the model has the recorded size."""
        record = stored.read(self.sidecar, Record)
        try:
            return record if record and size_of(self.path) == record.size else None
        except OSError:
            return None

    def write(self, record: Record) -> None:
        text = json.dumps(asdict(record), indent=1) + "\n"
        atomic.whole(self.sidecar, text.encode("utf-8"))


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """The state of a download: `done` of `total` bytes. A `note` is shown once."""

    name: str
    stage: Literal["wait", "fetch", "verify", "convert"]
    done: int
    total: int
    source: str = ""  # "hub" or "index" while fetching
    note: str = ""

    @property
    def title(self) -> str:
        """The label of a progress bar."""
        verbs = {"wait": "Waiting for", "fetch": "Fetching", "verify": "Checking"}
        return f"{verbs.get(self.stage, 'Converting')} {self.name}"


Report = Callable[[FetchProgress], None]


def unreported(step: FetchProgress) -> None:
    """Show no progress."""


def hashed(
    path: Path, title: str, before: int = 0, total: int = 0, report: Report = unreported
) -> str:
    """The SHA-256 of a file, with progress: of `total` bytes, of which `before` come earlier."""
    state, done, size = hashlib.sha256(), 0, path.stat().st_size
    with regular.reading(path) as file:
        while block := file.read(BLOCK_BYTES):
            state.update(block)
            done += len(block)
            report(FetchProgress(title, "verify", before + done, total or size))
    return state.hexdigest()


def folder_digest(digests: dict[str, str]) -> str:
    """One digest for a folder: of its files' digests in the order of their names."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(digests.items()))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def parts_of(path: P) -> list[P]:
    """All files of a GGUF model that is split, by the name of one of them; else this file."""
    match = _PART.fullmatch(path.name)
    if match is None or not int(match["count"]):
        return [path]
    name, count = match.groups()
    return [path.with_name(f"{name}-{n:05}-of-{count}.gguf") for n in range(1, int(count) + 1)]


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def size_of(path: Path) -> int:
    """Bytes of a file, or of the files in a folder."""
    if path.is_dir():
        return sum(entry.stat().st_size for entry in path.iterdir() if entry.is_file())
    return path.stat().st_size


def delete(path: Path) -> int:
    """Delete a file or a folder; returns the bytes freed."""
    freed = size_of(path)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return freed


def sized(count: int) -> str:
    """Bytes in words: 1.12 GB, 491 MB, 12 kB."""
    if count >= 10**9:
        return f"{count / 10**9:.2f} GB"
    return f"{count / 10**6:.0f} MB" if count >= 10**6 else f"{count / 10**3:.0f} kB"


def free(path: Path) -> int:
    """Free bytes on the disk of `path`, which may not exist yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


def require_space(path: Path, needed: int, what: str) -> None:
    """Raise an error if the disk has less than `needed` free bytes."""
    if (available := free(path)) < needed:
        sizes = f"{sized(needed)} needed, {sized(available)} free in {path}"
        hint = "Free some space, or set SPECEDIT_HOME to a folder on a larger disk."
        raise ModelError(f"not enough disk space for {what}: {sizes}", hint=hint)


def hub_slot(root: Path, repository: str, file: str) -> Slot:
    """Of a repository on the hub, or of one GGUF model in it."""
    names = [repository, *([parts_of(PurePosixPath(file))[0].as_posix()] if file else [])]
    return Slot(root, "--".join(name.replace("/", "--") for name in names))


DROPPED = ".dropped"


@dataclass(frozen=True, slots=True)
class Shards:
    """A pause in fetching a folder: weights fetched so far may be used and deleted."""

    files: ModelFiles
    fetched: tuple[str, ...] = ()  # names of weights
    last: bool = False  # all weights are fetched

    def present(self) -> list[Path]:
        paths = (self.files.path / name for name in self.fetched)
        return [path for path in paths if path.exists()]

    def drop(self, shard: Path) -> None:
        dropped(shard).touch()
        shard.unlink()

    def forget(self) -> None:
        """Fetch again what was dropped."""
        for mark in self.files.path.glob(f"*{DROPPED}"):
            mark.unlink()


def dropped(shard: Path) -> Path:
    """The mark of a file that was used and deleted."""
    return shard.with_name(shard.name + DROPPED)


Arriving = Callable[[ModelFiles, int], AbstractContextManager[Callable[[], None]]]


@dataclass(frozen=True, slots=True)
class Use:
    """What may be made of weights while they are fetched: of a folder's, and of a GGUF file that
    has so many bytes when it is complete. What is made of a file counts once the function is called
    that the context gives: its digest is right."""

    shards: Callable[[Shards], None] = lambda _: None
    arriving: Arriving = lambda *_: nullcontext(lambda: None)
