"""From the name of a model to its files on this disk; the models there: list, verify, remove.

A name is a catalogue name, a GGUF file, a folder with safetensors, or a hub id (`owner/name`, or
`owner/name:file.gguf`), in this order. A model that is here needs no network; any other is
downloaded. Which models can be used is checked before weights load.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from specedit.errors import ModelError
from specedit.files import atomic, regular
from specedit.files.regular import Lock
from specedit.files.startup import expanded
from specedit.models import architecture, catalogue, store
from specedit.models.catalogue import Listed
from specedit.models.configuration import check_folder, read_bytes

if TYPE_CHECKING:
    from specedit.models.tokenizer import Tokenizer


def check_usable(files: store.ModelFiles) -> None:
    """Refuse a folder that brings code, and a GGUF file of a family that is not read."""
    if files.kind == "folder":
        check_folder(files.path)
    elif not any(files.sha256 == entry.sha256 for entry in catalogue.entries()):
        from specedit.models.gguf import open_gguf  # 0.1 s, and a known model needs no check

        architecture.gguf_family(open_gguf(files.path, arrays=False))


def check_drafts(draft: str, draft_tokenizer: Tokenizer, target: str, tokenizer: Tokenizer) -> None:
    """Refuse a draft model with another vocabulary."""
    if (why := vocabulary_difference(draft_tokenizer, tokenizer)) is not None:
        raise ModelError(
            f"{draft} cannot draft for {target}: {why}, so its ids stand for other text.",
            hint="Name a smaller model of the same family in --draft-model, or none.",
        )


def vocabulary_difference(own: Tokenizer, other: Tokenizer) -> str | None:
    """How two vocabularies differ; None if every id stands for the same text."""
    if own.specials != other.specials:
        return "its special tokens differ"
    # Without the ids that have no text: a file may have any number
    pieces = (enumerate(tokenizer.pieces) for tokenizer in (own, other))
    texts, others = ({id: piece for id, piece in each if piece} for each in pieces)
    if len(texts) != len(others):
        return f"its vocabulary has {len(texts):,} tokens, not {len(others):,}"
    return None if texts == others else "its tokens differ"


WEIGHTS = (".gguf", ".safetensors")  # how files of models end
_HUB_ID = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?::(?P<file>[\w./-]+\.gguf))?")


def resolve(
    model: str,
    *,
    home: Path | None = None,
    report: store.Report = store.unreported,
    use: store.Use | None = None,
) -> store.ModelFiles:
    """The model's files, downloaded where they are not here; `use` may convert them meanwhile."""
    root = home or store.store_path()
    files = _present(model, root, report)
    if files is None:
        from specedit.models.download import UNUSED, fetch_from_hub, fetch_listed

        if entry := catalogue.find(model):
            fetch_listed(entry, root, report, use or UNUSED)
        elif match := _HUB_ID.fullmatch(model):
            fetch_from_hub(match["name"], match["file"] or "", root, report, use or UNUSED)
        files = _present(model, root, report)
        if files is None:
            raise ModelError(f"{model} was removed from {root} while it was being opened")
    check_usable(files)
    return files


def local(model: str, *, home: Path | None = None) -> store.ModelFiles | None:
    """The files, or None if the model would have to be downloaded. Uses no network."""
    return _present(model, home or store.store_path(), store.unreported)


def present(model: str) -> store.ModelFiles:
    """The files, or an error if the model is not here. Uses no network."""
    result = local(model)
    if result is None:
        raise ModelError(f"{model} is not on this machine.", hint=f"specedit model pull {model}")
    return result


def _present(model: str, root: Path, report: store.Report) -> store.ModelFiles | None:
    if entry := catalogue.find(model):
        return _of_catalogue(entry, root, report)
    path = expanded(model)
    match = _HUB_ID.fullmatch(model)
    if model.startswith(("./", "../")) or (":" not in model and model.endswith(WEIGHTS)):
        match = None
    if model and os.path.exists(path):  # noqa: PTH110  (no name is too long to be asked about)
        if match:  # a cloned repository could have such a folder and so replace the hub's model
            raise ModelError(
                f"{model} is a hub id and also a folder here",
                hint=f"For the folder write ./{model}; "
                "for the hub's model, change the current folder.",
            )
        return _of_path(path.absolute(), root, report)
    if match is None:
        raise unknown(model)
    slot = store.hub_slot(root, match["name"], match["file"] or "")
    record = slot.record()
    return _files(slot, record) if record else None


def unknown(model: str) -> ModelError:
    """The error for an unknown name, with the nearest names."""
    if "/" in model or "\\" in model or model.endswith(WEIGHTS):
        return ModelError(
            f"no such model file or folder: {model}",
            hint="A hub id is written owner/name, or owner/name:file.gguf for one GGUF file.",
        )
    near = ", ".join(catalogue.nearest(model))
    return ModelError(
        f"no model is named {model!r}" + (f"; the nearest: {near}" if near else ""),
        hint="See `specedit model list`; a path to a GGUF file or folder, or a hub id, works too.",
    )


def _of_catalogue(entry: Listed, root: Path, report: store.Report) -> store.ModelFiles | None:
    slot, expected = store.Slot(root, entry.place), entry.sha256
    record = slot.record()
    if record and expected in ("", record.sha256):
        return _files(slot, record)
    if not slot.path.is_file() or slot.path.stat().st_size != entry.size:
        return None
    # The user copied the file there: its digest decides whether it is the model.
    sha256 = store.hashed(slot.path, entry.name, report=report)
    if sha256 != expected:
        raise ModelError(
            f"{slot.path} is not {entry.name}: SHA-256 {sha256[:12]}… instead of {expected[:12]}…",
            hint=f"Remove it (specedit model remove {entry.name}) and pull again.",
        )
    record = store.Record(entry.name, "path", sha256, entry.size, entry.licence, store.today())
    slot.write(record)
    return _files(slot, record)


def _files(slot: store.Slot, record: store.Record) -> store.ModelFiles:
    parts = sorted(slot.path.glob("*.gguf"))  # of a GGUF model in several files
    path, facts = parts[0] if parts else slot.path, (record.sha256, record.licence, record.source)
    return store.ModelFiles(record.name, path, "folder" if path.is_dir() else "gguf", *facts)


def _of_path(path: Path, root: Path, report: store.Report) -> store.ModelFiles:
    if path.is_dir():
        return _of_folder(path)
    from specedit.models.gguf import open_gguf

    open_gguf(path, arrays=False)  # a damaged file is reported before a gigabyte is hashed
    parts = store.parts_of(path)
    facts = [f"{part}\n{part.stat().st_size}\n{part.stat().st_mtime_ns}" for part in parts]
    key = hashlib.sha256(os.fsencode("\n".join(facts))).hexdigest()
    memory = root / "digests" / key[:32]
    sha256 = ""
    with contextlib.suppress(OSError, ValueError):
        sha256 = regular.read(memory).decode().strip()
    if len(sha256) != 64:
        digests = {part.name: store.hashed(part, path.stem, report=report) for part in parts}
        sha256 = digests[path.name] if len(parts) == 1 else store.folder_digest(digests)
        with contextlib.suppress(OSError):  # hashed again next time
            atomic.whole(memory, f"{sha256}\n".encode())
    licence = next((entry.licence for entry in catalogue.entries() if entry.sha256 == sha256), "")
    return store.ModelFiles(parts[0].stem, parts[0], "gguf", sha256, licence, "path")


def _of_folder(path: Path) -> store.ModelFiles:
    weights = sorted(path.glob("*.safetensors"))
    if not (path / "config.json").is_file() or not weights:
        raise ModelError(
            f"{path} is not a model: it needs a config.json and *.safetensors",
            hint="Name a .gguf file, a folder as the hub has them, or a catalogue name.",
        )
    state = hashlib.sha256(read_bytes(path / "config.json"))
    for file in weights:
        try:
            stat = file.stat()
        except OSError as problem:  # a link to nowhere
            raise ModelError(f"{file} cannot be read: {problem.strerror}") from problem
        state.update(os.fsencode(f"{file.name} {stat.st_size} {stat.st_mtime_ns}\n"))
    return store.ModelFiles(path.name, path, "folder", state.hexdigest(), "", "path")


State = Literal["here", "unchecked", "part", "absent", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Item:
    """One model of the catalogue or of the store."""

    name: str
    slot: store.Slot
    state: State
    have: int  # bytes on this disk
    size: int
    sha256: str
    licence: str
    source: str  # where it came from, or where a download begins
    date: str = ""


def items(root: Path) -> Iterator[Item]:
    """The models of the catalogue, then the other models of the store."""
    known = {entry.place for entry in catalogue.entries()}
    for entry in catalogue.entries():
        slot = store.Slot(root, entry.place)
        facts = (entry.size, entry.sha256, entry.licence)
        record = slot.record()
        if record and entry.sha256 in ("", record.sha256):
            facts = (entry.size, record.sha256, entry.licence)
            where = _where(record, entry.hub)
            yield Item(entry.name, slot, "here", record.size, *facts, where, record.date)
        else:
            here = slot.path.exists()  # copied there, or damaged
            place = slot.path if here else slot.part
            have = store.size_of(place) if place.exists() else 0
            state: State = "unchecked" if here else "part" if have else "absent"
            where = f"hub {entry.hub}" + (", package index" if entry.wheels else "")
            where += ", untested" if entry.untested else ""
            yield Item(entry.name, slot, state, have, *facts, where)
    for sidecar in sorted((root / "models").glob("*.json")):
        slot = store.Slot(root, sidecar.name.removesuffix(".json"))
        if slot.file not in known and (record := slot.record()):
            where = _where(record, record.name)
            facts = (record.size, record.sha256, record.licence)
            yield Item(record.name, slot, "here", record.size, *facts, where, record.date)


def _where(record: store.Record, repository: str) -> str:
    texts = {"hub": f"hub {repository}", "index": "package index", "path": "copied by hand"}
    return texts.get(record.source, record.source)


def find(name: str, root: Path) -> Item:
    """The item of that name or path, or a `ModelError` with the nearest names."""
    for item in items(root):
        if item.name.lower() == name.lower():
            return item
    if (files := local(name, home=root)) is None:
        raise unknown(name)
    slot = store.Slot(root, f"{files.sha256}.elsewhere")  # only what was converted is in the store
    return Item(files.name, slot, "elsewhere", 0, 0, files.sha256, files.licence, files.source)


def verify(item: Item, report: store.Report = store.unreported) -> None:
    """Hash the model again. If the digest differs, delete its record."""
    record = item.slot.record()
    if record is None:
        message = f"{item.name} is not in the store ({item.slot.path})"
        raise ModelError(message, hint=f"Fetch it: specedit model pull {item.name}")
    digests = record.files or {"": record.sha256}
    for file, expected in sorted(digests.items()):
        path = item.slot.path / file if file else item.slot.path
        if store.dropped(path).exists():  # its converted weights are verified
            continue
        result = store.hashed(path, item.name, report=report)
        if result != expected:
            item.slot.sidecar.unlink(missing_ok=True)
            raise ModelError(
                f"{path} is damaged: SHA-256 {result[:12]}… instead of {expected[:12]}…",
                hint=f"specedit model remove {item.name}, then specedit model pull {item.name}",
            )


def remove(item: Item) -> int:
    """Delete the model and the files converted from it; returns the bytes freed."""
    from specedit.models.download import sweep

    lock, freed = Lock(item.slot.lock), 0
    if not lock.take():
        raise ModelError(f"{item.name} is being fetched by another process; nothing was removed")
    try:
        item.slot.sidecar.unlink(missing_ok=True)  # first: a model without a record does not count
        # converted files have the model's digest in their names
        names = f"*-{item.sha256[:16]}-*" if item.sha256 else f"{item.name}-*.part"
        converted = (item.slot.home / "converted").glob(names)
        for path in (item.slot.path, item.slot.part, *converted):
            if path.exists():
                freed += store.delete(path)
        sweep(item.slot.part)
        return freed
    except OSError as problem:
        raise ModelError(f"cannot remove {item.name}: {problem}") from problem
    finally:
        lock.release()
