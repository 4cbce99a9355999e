"""Writes a file whole or not at all: the one way this package writes one. Only a file with hard
links is written in place; after a kill the next command completes that write.

A file of our own is `drafted`. A user's file, which another program may be writing at this moment,
is `replace`d: never over another program's change; mode, owner, attributes and hard links stay. A
write that would lose one of them is refused before anything is touched.

Here too are the system calls for files that Python lacks. Where the system has no such call, each
function says so by its result.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from specedit.errors import InputError
from specedit.files import regular
from specedit.files.regular import lock_now
from specedit.files.source import Source
from specedit.files.startup import undisturbed

if sys.platform == "linux":
    import fcntl

# The system, the file system or a container's seccomp filter (EPERM) does not support the call.
# Where a permission is missing, the `rename` that follows says so.
UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)
AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # linux/fcntl.h, linux/fs.h; sys/stdio.h


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step. False: not supported here, nothing was done."""
    source, other = os.fsencode(first), os.fsencode(second)
    if (swap := _function("renamex_np")) is not None:
        failed = swap(source, other, RENAME_SWAP)
    elif (swap := _function("renameat2")) is not None:
        failed = swap(AT_FDCWD, source, AT_FDCWD, other, RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(second))


def sync_file_system(path: Path) -> bool:
    """Put all that the file system of `path` holds on the disk. False: not supported here."""
    if (sync := _function("syncfs")) is None:
        return False
    handle = os.open(path, os.O_RDONLY)
    try:
        return not sync(handle)
    finally:
        os.close(handle)


@cache
def _function(name: str) -> Any:
    """A function of the C library; None where it, or Python's way to call it, is missing."""
    try:
        import ctypes

        return getattr(ctypes.CDLL(None, use_errno=True), name, None)
    except (ImportError, OSError, TypeError):  # TypeError: Windows has no such library
        return None


def lease(handle: int, *, against_readers: bool = False) -> bool | None:
    """Keep other processes from opening the file for writing (or at all) until `handle` closes, or
    the lease is `released`. False: it is open so. None: not supported, or not our file."""
    if sys.platform != "linux":
        return None
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # the usual SIGIO ends a process
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK if against_readers else fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def released(handle: int) -> bool:
    """Release a lease that another process waits for, to open the file. False: none does."""
    if sys.platform != "linux" or fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_UNLCK:
        return False
    with contextlib.suppress(OSError):
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


MAX_SINGLE_SYNCS = 8  # files and folders that are put on the disk one by one


def draft_of(path: Path, mark: str = "") -> Path:
    """The temporary file for new bytes, next to the file; `mark` is part of its name."""
    return path.with_name(f".specedit-{mark or os.urandom(8).hex()}.tmp")


def whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """All of `data` or nothing, even if the machine stops in between."""
    with drafted(path, mode) as file:
        file.write(data)


@contextlib.contextmanager
def drafted(path: Path, mode: int | None = None, draft: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write, which becomes `path` at the end. `mode`: at most these bits. `draft`: the
    temporary file, of a caller that holds a lock and can continue what Ctrl-C leaves in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = draft or draft_of(path)
    flags = os.O_RDWR | os.O_CREAT | (0 if draft else os.O_EXCL)
    handle = os.open(place, flags | getattr(os, "O_BINARY", 0), 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "r+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        place.replace(path)
    except BaseException as error:
        if draft is None or isinstance(error, Exception):
            with contextlib.suppress(OSError):
                place.unlink()
        raise
    sync([path.parent])


def remove(paths: Collection[Path]) -> None:
    """Delete files that exist; many at once, for each may wait 3 ms for a busy disk."""
    if len(paths) <= MAX_SINGLE_SYNCS:
        for path in paths:
            path.unlink(missing_ok=True)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(partial(Path.unlink, missing_ok=True), paths))


def aside(name: Path, data: bytes) -> str:
    """Bytes that must not go to a file of that name, in a temporary one; its path."""
    handle, path = tempfile.mkstemp(prefix="specedit-aside-", suffix=f"-{name.name[-60:]}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return path


def sync(paths: Collection[Path]) -> None:
    """Put files and folders on the disk: a few one by one, many with their whole file system."""
    if len(paths) > MAX_SINGLE_SYNCS:
        systems = {path.stat().st_dev: path for path in paths}
        if all(sync_file_system(path) for path in systems.values()):
            return
    for path in paths:
        try:
            handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError:
            if not path.is_dir():  # some systems cannot open or sync a folder
                raise


OTHER_WRITER_WAIT_S = 1.0  # seconds to wait for the write of another program
CHANGED = "changed on disk since it was read"
BUSY = "open for writing in another program"
MAX_EXCHANGES = 100  # exchanges against a program that writes again after each


def check_writable(source: Source) -> Path:
    """The path to write, or an InputError; called before a model starts to work."""
    path = source.path
    if path is None:
        raise InputError("came from stdin and has no file to write", file=source.name)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(
            "deleted since it was read; nothing was written", file=source.name
        ) from error
    if not mode & 0o222 or not os.access(path, os.W_OK):  # root may write anything: ask the mode
        owned = "Its owner or the file system does not let you write it."
        hint = owned if mode & 0o222 else f"chmod u+w {source.name!r} to edit it."
        raise InputError("read-only", file=source.name, hint=hint)
    return path


def check_unchanged(source: Source) -> Path:
    """The path to write, if it holds what was read."""
    path = check_writable(source)
    with _reported(source.name):
        if regular.read(path) != source.data or path.resolve() != path.absolute():
            raise _changed(source)  # or a folder on the way was exchanged for a link
    return path


def is_shared(path: Path) -> bool:
    """Whether the file has other names, which see a write in place only."""
    return path.stat().st_nlink > 1


def replace(
    source: Source, data: bytes, draft: Path | None = None, *, is_staged: bool = False
) -> None:
    """Write `data` over the file `source` was read from, unless another program changed it.
    `is_staged`: the caller has it in `staged`, which puts the folder on the disk as well."""
    with _reported(source.name):
        path = check_unchanged(source)
        if data == source.data:
            return
        with undisturbed():
            if is_shared(path):
                _write_through(path, source, data)
            elif is_staged and draft is not None:
                _put(path, source, draft)
            else:
                with staged([(source, data, draft or draft_of(path))]) as drafts:
                    check_unchanged(source)
                    _put(path, source, *drafts)


@contextlib.contextmanager
def staged(texts: Sequence[tuple[Source, bytes, Path]]) -> Iterator[list[Path]]:
    """The new bytes of files in temporary files, which are on the disk before the first is used;
    at the end the folders are. Files with hard links have none: they are written in place."""
    drafts: list[Path] = []
    try:
        for source, data, draft in texts:
            with _reported(source.name):
                path = check_writable(source)
                if data == source.data or is_shared(path):
                    continue
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                with undisturbed():  # a signal between the two would leave the file
                    handle = os.open(draft, flags, 0o600)
                    drafts.append(draft)
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    _copy_attributes(file.fileno(), draft, path)
        with _reported():
            sync(drafts)
        yield drafts
        sync({draft.parent for draft in drafts})
    finally:
        with undisturbed():
            remove(drafts)


@contextlib.contextmanager
def _reported(name: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = f"not written: {error.strerror or error}"
        raise InputError(why, file=name, hint="The file is as it was.") from error


def _changed(source: Source, why: str = CHANGED) -> InputError:
    return InputError(
        f"{why}; nothing was written",
        file=source.name,
        hint="Run the command again: it will start from the new text.",
    )


def _put(path: Path, source: Source, draft: Path) -> None:
    """Exchange a complete temporary file and the file, then check what the exchange brought out.

    Where the system cannot exchange, a write between the last check and the rename is lost."""
    ours = _identity(draft)
    if not exchange(draft, path):
        check_unchanged(source)
        draft.replace(path)
    elif why := _reason_to_refuse(draft, source.data):
        _exchange_back(draft, path, ours)
        raise _changed(source, why)


def _reason_to_refuse(draft: Path, data: bytes) -> str:
    """Why the file that came out must stay: it changed, or another program is writing it."""
    try:
        handle = regular.opened(draft, os.O_RDONLY | regular.NO_LINK)
    except OSError:  # a link, a pipe or an unreadable file: another program put it there
        return CHANGED
    with os.fdopen(handle, "rb", buffering=0) as file:
        end = time.monotonic() + OTHER_WRITER_WAIT_S
        while time.monotonic() < end:
            kept = lease(handle)
            if kept is not False:
                file.seek(0)
                if file.read() != data:
                    return CHANGED
                if kept is None or not released(handle):
                    return ""  # else a program opened its old name, and writes now
            time.sleep(0.002)
    return BUSY


def _exchange_back(draft: Path, path: Path, ours: tuple[int, bytes]) -> None:
    """Undo an exchange, and what comes out again while it is newer than what went in."""
    for _ in range(MAX_EXCHANGES):
        going = _identity(draft)
        exchange(draft, path)
        if _identity(draft) == ours:
            return
        ours = going


def _identity(path: Path) -> tuple[int, bytes]:
    """Which file it is, and what it holds."""
    status = path.lstat()
    return status.st_ino, path.read_bytes() if stat.S_ISREG(status.st_mode) else b""


def _copy_attributes(handle: int, draft: Path, path: Path) -> None:
    """Give the temporary file the file's owner, mode, access lists and attributes, where we may. By
    handles: a user who may write to the folder could replace either name by a link, and root
    would change the owner of its target.

    Another user's file becomes ours, and keeps its group if we are in it. If not, the rights of its
    group must not go to another group, nor those of all others to users that it denied."""
    held = regular.opened(path, os.O_RDONLY | regular.NO_LINK)
    try:
        status = os.fstat(held)
        mode = stat.S_IMODE(status.st_mode)
        if hasattr(os, "fchown") and not _chown(handle, status.st_uid, status.st_gid):
            mode &= ~stat.S_ISUID  # a set-id bit must not move to another owner
            if not _chown(handle, -1, status.st_gid):
                others = mode & (mode >> 3) & 0o007
                mode = mode & ~(stat.S_ISGID | 0o077) | others
        if hasattr(os, "listxattr"):
            with contextlib.suppress(OSError):
                for attribute in os.listxattr(held):
                    with contextlib.suppress(OSError):
                        os.setxattr(handle, attribute, os.getxattr(held, attribute))
    finally:
        os.close(held)
    if hasattr(os, "fchmod"):  # last: changing the owner clears set-id bits
        os.fchmod(handle, mode)
    else:
        draft.chmod(mode)


def _chown(handle: int, owner: int, group: int) -> bool:
    try:
        os.fchown(handle, owner, group)
    except PermissionError:
        return False
    return True


def _write_through(path: Path, source: Source, after: bytes) -> None:
    """Write in place, so that every hard link has the new text; restore the old one on failure.

    A process that is killed here leaves a torn file, which the next command completes."""
    end = time.monotonic() + OTHER_WRITER_WAIT_S
    handle = _in_turn(path, source, end)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        while lease(handle, against_readers=True) is False and time.monotonic() < end:
            time.sleep(0.002)
        status = os.fstat(handle)
        if file.read() != source.data:
            raise _changed(source)
        try:
            _overwrite(handle, after)
        except BaseException:
            try:
                _overwrite(handle, source.data)  # its blocks are still ours, so this fits
            except OSError as error:
                raise InputError(
                    f"half-written: {error.strerror}",
                    file=source.name,
                    hint="`specedit undo` restores its text.",
                ) from error
            raise
    if path.stat().st_mode != status.st_mode:  # writing clears set-id bits; an owner sets them
        with contextlib.suppress(PermissionError):
            regular.set_mode(path, stat.S_IMODE(status.st_mode))


def _in_turn(path: Path, source: Source, end: float) -> int:
    """A handle on the file while no other run writes it. Two runs with a handle each would wait for
    each other's lease; a run that waits here has none."""
    while True:
        handle = regular.opened(path, os.O_RDWR | regular.NO_LINK)
        is_free = True  # as far as a file system without locks can tell
        with contextlib.suppress(OSError):
            is_free = sys.platform == "win32" or lock_now(handle)  # there it would exclude readers
        if is_free:
            return handle
        os.close(handle)
        if time.monotonic() >= end:
            raise _changed(source, BUSY)
        time.sleep(0.002)


def _overwrite(handle: int, data: bytes) -> None:
    """Write beyond the old end first: where the disk is full, nothing is lost yet."""
    held = min(os.fstat(handle).st_size, len(data))
    for start, end in ((held, len(data)), (0, held)):
        os.lseek(handle, start, os.SEEK_SET)
        view = memoryview(data)[start:end]
        while view:
            view = view[os.write(handle, view) :]
    os.ftruncate(handle, len(data))
    os.fsync(handle)
