"""A user's file gets new bytes: whole or not at all, and never over another program's change.

Mode, owner, attributes and hard links stay. A write that would lose one of them is refused before
anything is touched.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import InputError
from specedit.files import exchange, regular
from specedit.files.atomic import draft_of, sync_folder
from specedit.files.interrupts import undisturbed

if TYPE_CHECKING:
    from specedit.files.source import Source

PATIENCE = 1.0  # seconds that somebody else's write may take
CHANGED = "changed on disk while we worked"
BUSY = "open for writing in another program"
ROUNDS = 100  # somebody who writes again each time we put something back is given up on


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


def check_unchanged(source: Source) -> Path:
    """The path to write, if it holds what was read."""
    path = check_writable(source)
    if regular.read(path) != source.data:
        raise _changed(source)
    return path


def is_shared(path: Path) -> bool:
    """Whether the file has other names, which see a write in place only."""
    return path.stat().st_nlink > 1


def replace(source: Source, data: bytes, draft: Path | None = None) -> None:
    """Write `data` over the file `source` was read from, unless somebody else changed it."""
    try:
        path = check_unchanged(source)
        if data == source.data:
            return
        with undisturbed():
            if is_shared(path):
                _write_through(path, source, data)
            else:
                _put(path, source, data, draft or draft_of(path))
                sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"not written: {reason}", file=source.name, hint="The file is as it was."
        ) from error


def _changed(source: Source, why: str = CHANGED) -> InputError:
    return InputError(
        f"{why}; nothing was written",
        file=source.name,
        hint="Run the command again: it will start from the new text.",
    )


def _put(path: Path, source: Source, data: bytes, draft: Path) -> None:
    """Let a complete draft and the file change places, and look at what came out.

    Where the system cannot do that, what is written between the last look and the rename is lost.
    """
    made = False
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(draft, flags, 0o600)
        made = True
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _dress(handle, draft, path)
            os.fsync(handle)
        check_unchanged(source)
        ours = _seen(draft)
        if not exchange.exchange(draft, path):
            check_unchanged(source)
            draft.replace(path)
        elif why := _why_not(draft, source.data):
            _put_back(draft, path, ours)
            raise _changed(source, why)
    finally:
        if made:
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()


def _why_not(draft: Path, data: bytes) -> str:
    """Why the file that came out must not go: it is not the one that was read, or somebody is
    writing it."""
    try:
        handle = regular.opened(draft, os.O_RDONLY | regular.NO_LINK)
    except OSError:  # a link, a pipe, or what nobody may read: somebody put it there
        return CHANGED
    with os.fdopen(handle, "rb", buffering=0) as file:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            kept = exchange.keep_from_writers(handle)
            if kept is not False:
                file.seek(0)
                if file.read() != data:
                    return CHANGED
                if kept is None or not exchange.is_waited_for(handle):
                    return ""
                exchange.open_again(handle)  # somebody found it under its old name, and writes now
            time.sleep(0.002)
    return BUSY


def _put_back(draft: Path, path: Path, ours: tuple[int, bytes]) -> None:
    """Undo an exchange. What comes out must be what we put there; if not, it is newer than what
    went in, and goes back in turn."""
    there = ours
    for _ in range(ROUNDS):
        going = _seen(draft)
        exchange.exchange(draft, path)
        if _seen(draft) == there:
            return
        there = going


def _seen(path: Path) -> tuple[int, bytes]:
    """Which file it is, and what it holds."""
    status = path.lstat()
    return status.st_ino, path.read_bytes() if stat.S_ISREG(status.st_mode) else b""


def _dress(handle: int, draft: Path, path: Path) -> None:
    """Give the draft the file's owner, mode, access lists and attributes, as far as we may. By
    handles: whoever may write to the folder could put a link in the place of either name, and who
    works as root would give that link's target away.

    Somebody else's file becomes ours, and keeps its group if we are in it. If not, its group's
    rights must not go to another group, nor those of all others to the ones it denied."""
    held = regular.opened(path, os.O_RDONLY | regular.NO_LINK)
    try:
        status = os.fstat(held)
        mode = stat.S_IMODE(status.st_mode)
        if hasattr(os, "fchown") and not _given(handle, status.st_uid, status.st_gid):
            mode &= ~stat.S_ISUID  # a set-id bit must not move to another owner
            if not _given(handle, -1, status.st_gid):
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


def _given(handle: int, owner: int, group: int) -> bool:
    try:
        os.fchown(handle, owner, group)
    except PermissionError:
        return False
    return True


def _write_through(path: Path, source: Source, after: bytes) -> None:
    """Write in place, so that every hard link sees the new text; put the old back on failure.

    A process that is killed here leaves a torn file, whose old text the journal has."""
    end = time.monotonic() + PATIENCE
    handle = _in_turn(path, source, end)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        while exchange.keep_from_all(handle) is False and time.monotonic() < end:
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
                    hint="`specedit undo` puts back what it held.",
                ) from error
            raise
    if path.stat().st_mode != status.st_mode:  # writing clears set-id bits; an owner sets them
        with contextlib.suppress(PermissionError):
            regular.set_mode(path, stat.S_IMODE(status.st_mode))


def _in_turn(path: Path, source: Source, end: float) -> int:
    """A handle on the file while no other run writes it. Leases alone let two runs through that
    wait for each other's handle; so who waits here has none."""
    while True:
        handle = regular.opened(path, os.O_RDWR | regular.NO_LINK)
        if exchange.take_turn(handle) is not False:
            return handle
        os.close(handle)
        if time.monotonic() >= end:
            raise _changed(source, BUSY)
        time.sleep(0.002)


def _overwrite(handle: int, data: bytes) -> None:
    """What lies beyond the old end comes first: where the disk is full, nothing was lost yet."""
    held = min(os.fstat(handle).st_size, len(data))
    for start, end in ((held, len(data)), (0, held)):
        os.lseek(handle, start, os.SEEK_SET)
        view = memoryview(data)[start:end]
        while view:
            view = view[os.write(handle, view) :]
    os.ftruncate(handle, len(data))
    os.fsync(handle)
