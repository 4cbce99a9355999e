"""The models of the catalogue and of the store: list, verify, remove."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from specedit.errors import ModelError
from specedit.files.lock import Lock
from specedit.models import catalogue, package_index, resolve, store
from specedit.models.download import FetchProgress, hashed
from specedit.models.store import Record, Slot


@dataclass(frozen=True)
class Item:
    """One model of the catalogue or of the store."""

    name: str
    slot: Slot
    state: Literal["here", "unchecked", "part", "absent"]
    have: int  # bytes on this disk
    size: int
    sha256: str
    licence: str
    source: str  # where it came from, or where a download begins
    date: str = ""


def items(root: Path) -> Iterator[Item]:
    """The models of the catalogue, then the other models of the store."""
    known = {entry.file for entry in catalogue.CATALOGUE}
    for entry in catalogue.CATALOGUE:
        slot = Slot(root, entry.file)
        facts = (entry.size, entry.sha256, entry.licence)
        record = slot.record()
        if record and record.sha256 == entry.sha256:
            where = _where(record, entry.hub)
            yield Item(entry.name, slot, "here", record.size, *facts, where, record.date)
        else:
            state, have = _unfinished(slot)
            where = f"hub {entry.hub}" + (", package index" if entry.wheels else "")
            yield Item(entry.name, slot, state, have, *facts, where)
    for slot in store.slots(root):
        if slot.file not in known and (record := slot.record()):
            where = _where(record, record.name)
            facts = (record.size, record.sha256, record.licence)
            yield Item(record.name, slot, "here", record.size, *facts, where, record.date)


def _unfinished(slot: Slot) -> tuple[Literal["unchecked", "part", "absent"], int]:
    if slot.path.exists():
        return "unchecked", store.size_of(slot.path)  # copied there, or damaged
    have = store.size_of(slot.part) if slot.part.exists() else 0
    return ("part" if have else "absent"), have


def _where(record: Record, repository: str) -> str:
    texts = {"hub": f"hub {repository}", "index": "package index", "path": "copied by hand"}
    return texts.get(record.source, record.source)


def find(name: str, root: Path) -> Item:
    """The item of that name, or a `ModelError` with the nearest names."""
    for item in items(root):
        if item.name.lower() == name.lower():
            return item
    raise resolve.unknown(name)


def verify(item: Item) -> Generator[FetchProgress, None, None]:
    """Hash the model again. If the digest differs, delete its record."""
    record = item.slot.record()
    if record is None:
        raise ModelError(
            f"{item.name} is not in the store ({item.slot.path})",
            hint=f"Fetch it: specedit model pull {item.name}",
        )
    digests = record.files or {"": record.sha256}
    for file, expected in sorted(digests.items()):
        path = item.slot.path / file if file else item.slot.path
        result = yield from hashed(path, item.name)
        if result != expected:
            item.slot.sidecar.unlink(missing_ok=True)
            raise ModelError(
                f"{path} is damaged: SHA-256 {result[:12]}… instead of {expected[:12]}…",
                hint=f"specedit model remove {item.name}, then specedit model pull {item.name}",
            )


def remove(item: Item) -> int:
    """Delete the model and the files converted from it; returns the bytes freed."""
    lock = Lock(item.slot.lock)
    if not lock.take():
        raise ModelError(f"{item.name} is being fetched by another process; nothing was removed")
    try:
        freed = 0
        item.slot.sidecar.unlink(missing_ok=True)  # first: a model without a record does not count
        # converted files have the model's digest in their names
        converted = (item.slot.home / "converted").glob(f"*-{item.sha256[:16]}-*")
        for path in (item.slot.path, item.slot.part, *converted):
            if path.exists():
                freed += store.size_of(path)
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        package_index.sweep(item.slot.part)
        return freed
    except OSError as problem:
        raise ModelError(f"cannot remove {item.name}: {problem}") from problem
    finally:
        lock.release()
