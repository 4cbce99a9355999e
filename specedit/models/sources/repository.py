"""Any model of the hub: a repository's safetensors folder, or one GGUF file of it.

Knows which files of a repository make a model: weights, configuration, tokenizer; never code,
never pickles. Each file's digest is the hub's, where it keeps one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from specedit.errors import ModelError
from specedit.files.lock import Lock
from specedit.models import pins, store
from specedit.models.catalogue import Listed
from specedit.models.sources import fetch, hub
from specedit.models.sources.fetch import Download, FetchProgress
from specedit.models.store import Record, Slot

WEIGHTS = (".safetensors", ".json", ".jinja")


def listed(entry: Listed, root: Path) -> Iterator[FetchProgress]:
    """Fetch a model of the catalogue whose digest nobody published; the first one's is held."""
    held = pins.digest_of(entry, root)
    slot = pins.slot_of(entry, root)
    yield from _pulled(entry.hub, entry.file, slot, entry.name, held)
    record = slot.record()
    if record is not None:
        pins.hold(entry, root, record.sha256)


def pull(name: str, file: str, root: Path) -> Iterator[FetchProgress]:
    """Fetch a hub repository's safetensors folder, or the one GGUF file named."""
    yield from _pulled(name, file, hub_slot(root, name, file), f"{name}:{file}" if file else name)


def _pulled(
    name: str, file: str, slot: Slot, title: str, held: str = ""
) -> Iterator[FetchProgress]:
    """`held`: the digest that it must have, whatever the hub says; "" takes the hub's word."""
    found = hub.listing(name)
    if file:
        remote = next((one for one in found.files if one.name == file), None)
        if remote is None:
            raise ModelError(f"{name} has no file {file}", hint=_ggufs(name, found))
        if held and remote.sha256 not in ("", held):
            raise _other(title, slot, remote.sha256, held)
        remote = replace(remote, sha256=held or remote.sha256)
        wanted_ = _remote(name, remote, found.revision, title)
        yield from fetch.locked(wanted_, slot, found.licence, found.revision)
        return
    wanted = [one for one in found.files if _belongs(one.name)]
    if not any(one.name.endswith(".safetensors") for one in wanted):
        raise ModelError(f"{name} has no safetensors", hint=_ggufs(name, found))
    yield from _folder(name, wanted, found, slot, title, held)


def _other(title: str, slot: Slot, sha256: str, held: str) -> ModelError:
    return ModelError(
        f"the hub has another {title} than was fetched first: SHA-256 {sha256[:12]}… where "
        f"{held[:12]}… belongs",
        hint=f"If its maker says that the new one is right, remove {slot.home / 'pins' / title}.",
    )


def hub_slot(root: Path, name: str, file: str) -> Slot:
    owner_name = name.replace("/", "--")
    return Slot(root, f"{owner_name}--{file.replace('/', '--')}" if file else owner_name)


def _belongs(file: str) -> bool:
    """Weights, configuration and tokenizer; never code or pickles, never another layout."""
    plain = not set(file) & set("/\\:")  # all that any system takes for a path
    return plain and file.endswith(WEIGHTS) and not file.startswith("consolidated")


def _ggufs(name: str, found: hub.Listing) -> str:
    files = [one.name for one in found.files if one.name.endswith(".gguf")]
    if not files:
        return "specedit reads safetensors and GGUF files; this repository has neither."
    return "It has GGUF files; name one: " + ", ".join(f"{name}:{file}" for file in files[:6])


def _remote(name: str, remote: hub.RemoteFile, revision: str, title: str) -> Download:
    source = partial(hub.stream, name, remote.name, size=remote.size, revision=revision)
    return Download(title, remote.size, remote.sha256, (("hub", source),))


def _folder(
    name: str,
    wanted: list[hub.RemoteFile],
    found: hub.Listing,
    slot: Slot,
    title: str,
    held: str,
) -> Iterator[FetchProgress]:
    """Fetch files one by one into a partial folder, then put the folder in place."""
    total = sum(one.size for one in wanted)
    lock = Lock(slot.lock)
    try:
        yield from fetch.turn(lock, name, slot, total)
        if slot.record():
            yield FetchProgress(name, "wait", total, total, note=fetch.THERE)
            return
        slot.part.mkdir(parents=True, exist_ok=True)
        have = store.size_of(slot.part)
        store.require_space(slot.part, total - min(have, total) + fetch.ROOM, name)
        before, files = 0, {}
        for remote in wanted:
            for step in fetch.one(
                _remote(name, remote, found.revision, name), _inside(slot, remote)
            ):
                if isinstance(step, FetchProgress):
                    done = before + step.done
                    yield FetchProgress(name, step.stage, done, total, step.source, step.note)
                else:
                    files[remote.name] = step[1]
            before += remote.size
        whole = _digest_of(files)
        if held not in ("", whole):
            raise _other(title, slot, whole, held)
        fetch.settle(slot.part, slot.path)
        slot.vouch(
            Record(
                title,
                "hub",
                whole,
                total,
                found.licence,
                fetch.today(),
                found.revision,
                files=files,
            )
        )
    except OSError as problem:
        raise fetch.disk_error(problem, name, slot) from problem
    finally:
        lock.release()


def _inside(slot: Slot, remote: hub.RemoteFile) -> Path:
    return slot.part / remote.name


def _digest_of(files: dict[str, str]) -> str:
    """One digest for a folder: of its files' digests in order of name."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(files.items()))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()
