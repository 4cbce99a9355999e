"""From what a person calls a model to files that may be opened.

A catalogue name, a GGUF file, a folder with safetensors, or a hub id (`owner/name`, or
`owner/name:file.gguf`), in this order. What is in place is found without a network; what is not
is fetched. A model whose cache cannot be cropped is refused here, before weights are loaded.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path

from specedit.errors import ModelError
from specedit.files import atomic, regular
from specedit.models import catalogue, pins, store
from specedit.models.catalogue import Listed
from specedit.models.configuration import read_bytes
from specedit.models.cropping import check_croppable
from specedit.models.files import ModelFiles
from specedit.models.sources import fetch, repository
from specedit.models.sources.fetch import FetchProgress
from specedit.models.store import Record, Slot

_HUB_ID = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?::(?P<file>[\w./-]+\.gguf))?")


def resolve(
    model: str, *, home: Path | None = None, offline: bool = False
) -> Iterator[FetchProgress | ModelFiles]:
    """Progress while anything takes long, and at last the files."""
    root = home or store.store_path()
    files = yield from _present(model, root)
    if files is None:
        if offline:
            raise ModelError(
                f"{model} is not on this machine, and fetching is switched off",
                hint=f"Fetch it once with a network: specedit model pull {model}",
            )
        yield from _fetched(model, root)
        files = yield from _present(model, root)
        if files is None:
            raise ModelError(f"{model} vanished from {root} while it was being opened")
    check_croppable(files)
    yield files


def local(model: str, *, home: Path | None = None) -> ModelFiles | None:
    """The files if they are here; touches no network. None: it would have to be fetched."""
    steps = _present(model, home or store.store_path())
    try:
        while True:
            next(steps)
    except StopIteration as end:
        found: ModelFiles | None = end.value
        return found


def present(model: str) -> ModelFiles:
    """The files, which must be here; touches no network."""
    found = local(model)
    if found is None:
        raise ModelError(f"{model} is not here.", hint=f"specedit model pull {model}")
    return found


Steps = Generator[FetchProgress, None, ModelFiles | None]


def _present(model: str, root: Path) -> Steps:
    if entry := catalogue.find(model):
        return (yield from _of_catalogue(entry, root))
    path = Path(os.path.expanduser(model))  # noqa: PTH111  (an unknown user stays a word)
    match = _HUB_ID.fullmatch(model)
    if model.startswith(("./", "../")) or (":" not in model and _is_file(model)):
        match = None
    if model and os.path.exists(path):  # noqa: PTH110  (no name is too long to be asked about)
        if match:
            raise _either(model)
        return (yield from _of_path(path.absolute(), root))
    if match is None:
        raise unknown(model)
    slot = repository.hub_slot(root, match["name"], match["file"] or "")
    record = slot.record()
    return _files(slot, record) if record else None


def _either(model: str) -> ModelError:
    """Whoever made the folder would choose the model for somebody who means the hub's."""
    return ModelError(
        f"{model} is a hub id, and a folder that is here",
        hint=f"For the folder say ./{model}; for the hub's model, run from elsewhere.",
    )


def _is_file(model: str) -> bool:
    return model.endswith((".gguf", ".safetensors"))


def unknown(model: str) -> ModelError:
    """Nothing has this name: say what is near."""
    if "/" in model or "\\" in model or _is_file(model):
        return ModelError(
            f"no such model file or folder: {model}",
            hint="A hub id is written owner/name, or owner/name:file.gguf for one GGUF file.",
        )
    return ModelError(
        f"no model is named {model!r}; the nearest: {', '.join(catalogue.nearest(model))}",
        hint="See `specedit model list`; a path to a GGUF file or folder, or a hub id, works too.",
    )


def _of_catalogue(entry: Listed, root: Path) -> Steps:
    slot, expected = pins.slot_of(entry, root), pins.digest_of(entry, root)
    record = slot.record()
    if record and expected in ("", record.sha256):
        pins.hold(entry, root, record.sha256)
        return _files(slot, record)
    if not entry.pinned or not slot.path.is_file() or slot.path.stat().st_size != entry.size:
        return None
    # Somebody put the file there: the digest makes it the model.
    sha256 = yield from fetch.hashed(slot.path, entry.name)
    if sha256 != expected:
        raise ModelError(
            f"{slot.path} is not {entry.name}: SHA-256 {sha256[:12]}… where "
            f"{expected[:12]}… belongs",
            hint=f"Remove it (specedit model remove {entry.name}) and pull again.",
        )
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    record = Record(entry.name, "path", sha256, entry.size, entry.licence, today)
    slot.vouch(record)
    return _files(slot, record)


def _files(slot: Slot, record: Record) -> ModelFiles:
    return ModelFiles(
        name=record.name,
        path=slot.path,
        kind="folder" if slot.path.is_dir() else "gguf",
        sha256=record.sha256,
        licence=record.licence,
        source=record.source,
    )


def _of_path(path: Path, root: Path) -> Steps:
    if path.is_dir():
        return _of_folder(path)
    from specedit.models.gguf import open_gguf

    open_gguf(path, arrays=False)  # what is damaged is said before a gigabyte is hashed
    stat = path.stat()
    key = hashlib.sha256(f"{path}\n{stat.st_size}\n{stat.st_mtime_ns}".encode()).hexdigest()
    memory = root / "digests" / key[:32]
    try:
        sha256 = regular.read(memory).decode().strip()
    except (OSError, ValueError):
        sha256 = ""
    if len(sha256) != 64:
        sha256 = yield from fetch.hashed(path, path.stem)
        with contextlib.suppress(OSError):  # a read-only store only costs the hashing again
            atomic.whole(memory, f"{sha256}\n".encode())
    known = next((entry for entry in catalogue.CATALOGUE if entry.sha256 == sha256), None)
    return ModelFiles(path.stem, path, "gguf", sha256, known.licence if known else "", "path")


def _of_folder(path: Path) -> ModelFiles:
    weights = sorted(path.glob("*.safetensors"))
    if not (path / "config.json").is_file() or not weights:
        raise ModelError(
            f"{path} holds no model: a config.json and *.safetensors belong there",
            hint="Name a .gguf file, a folder as the hub has them, or a catalogue name.",
        )
    state = hashlib.sha256(read_bytes(path / "config.json"))
    for file in weights:
        try:
            stat = file.stat()
        except OSError as problem:  # a link to nowhere
            raise ModelError(f"{file} cannot be read: {problem.strerror}") from problem
        state.update(f"{file.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return ModelFiles(path.name, path, "folder", state.hexdigest(), "", "path")


def _fetched(model: str, root: Path) -> Iterator[FetchProgress]:
    if entry := catalogue.find(model):
        yield from (fetch.catalogue if entry.pinned else repository.listed)(entry, root)
    elif match := _HUB_ID.fullmatch(model):
        yield from repository.pull(match["name"], match["file"] or "", root)
