"""Putting bytes where a file's bytes were: whole or not at all.

Knows the file system: temporary names, modes, owners, extended attributes, hard links. Does not
know text. What cannot be kept is refused before anything is touched.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import InputError

if TYPE_CHECKING:
    from specedit.files.source import Source


def check_writable(source: Source) -> Path:
    """The path to write, or an InputError: worth asking before a model starts to work."""
    path = source.path
    if path is None:
        raise InputError("came from stdin and has no file to write", file=source.name)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError("gone from the disk; nothing was written", file=source.name) from error
    if not mode & 0o222 or not os.access(path, os.W_OK):  # root may write anything: ask the mode
        raise InputError(
            "read-only", file=source.name, hint=f"chmod u+w {source.name!r} to edit it."
        )
    return path


def replace(source: Source, data: bytes) -> None:
    """Write `data` over the file `source` was read from, unless somebody else changed it."""
    path = check_writable(source)
    if path.read_bytes() != source.data:
        raise InputError(
            "changed on disk while we worked; nothing was written",
            file=source.name,
            hint="Run the command again: it will start from the new text.",
        )
    if data == source.data:
        return
    try:
        status = path.stat()
        with _temporary(path, data) as temporary:
            _dress(temporary, path, status)
            if status.st_nlink > 1:
                _write_through(path, source.data, data)
            else:
                temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"not written: {reason}", file=source.name, hint="The file is as it was."
        ) from error


@contextlib.contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    """A complete, synced copy of the new bytes beside the file; gone afterwards in any case."""
    handle, made = tempfile.mkstemp(prefix=".specedit-", suffix=".tmp", dir=path.parent)
    name = Path(made)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            name.unlink()


def _dress(temporary: Path, path: Path, status: os.stat_result) -> None:
    """Give the copy the file's owner, mode, access lists and attributes, as far as we may."""
    mode = stat.S_IMODE(status.st_mode)
    if hasattr(os, "chown"):
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except PermissionError:  # a set-id bit must not move to another owner
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(path):
                with contextlib.suppress(OSError):
                    os.setxattr(temporary, attribute, os.getxattr(path, attribute))
    temporary.chmod(mode)  # last: changing the owner clears set-id bits


def _write_through(path: Path, before: bytes, after: bytes) -> None:
    """Write in place, so that every hard link sees the new text; put the old back on failure."""
    status = path.stat()
    with path.open("r+b", buffering=0) as file:
        try:
            _overwrite(file.fileno(), after)
        except BaseException:
            _overwrite(file.fileno(), before)  # its blocks are still ours, so this fits
            raise
    path.chmod(stat.S_IMODE(status.st_mode))  # writing clears set-id bits


def _overwrite(handle: int, data: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.ftruncate(handle, len(data))
    os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some systems cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
