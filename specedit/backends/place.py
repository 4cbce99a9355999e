"""Where a warm server lives: a private folder with its socket, its record, its lock and its log.

    FOLDER/server.json   who serves: pid, version, identity, address, token
    FOLDER/server.lock   held as long as the server lives, so that a dead one is never believed
    FOLDER/start.lock    held by the one client that starts a server
    FOLDER/server.sock   the Unix socket; FOLDER/server.log what a background server said

FOLDER is `SPECEDIT_RUNTIME`, or the system's folder for such things, mode 0700 and ours.
Knows paths, locks and settings. Does not know HTTP. Standard library only: the client reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from specedit.errors import ServerError
from specedit.settings import Settings

LONGEST_SOCKET_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS
UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"


@dataclass(frozen=True)
class Record:
    """What a running server says of itself on disk."""

    pid: int
    version: str
    identity: dict[str, str]
    address: str  # "unix:PATH" or "http://127.0.0.1:PORT"
    token: str = ""
    background: bool = False
    url: str = ""  # where OpenAI clients connect, "" without TCP


@dataclass(frozen=True)
class Place:
    """One user's server folder."""

    folder: Path

    @property
    def socket(self) -> Path:
        path = self.folder / "server.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            return path
        import hashlib

        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        return private(Path("/tmp") / f"specedit-{_user()}") / f"{name}.sock"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def record(self) -> Record | None:
        """The record of the server that holds the lock; None when none lives."""
        try:
            data = json.loads((self.folder / "server.json").read_text(encoding="utf-8"))
            found = Record(**data)
        except (OSError, ValueError, TypeError):
            return None
        return found if self.held("server.lock") else None

    def write(self, record: Record) -> None:
        path = self.folder / "server.json"
        part = path.with_suffix(f".{os.getpid()}")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(record), file)
        part.replace(path)

    def clear(self) -> None:
        """Called by the server that holds the lock, before it lets go."""
        for path in (self.folder / "server.json", self.socket):
            path.unlink(missing_ok=True)

    def held(self, name: str) -> bool:
        with self.open_lock(name) as file:
            if not take(file):
                return True
            release(file)
            return False

    def open_lock(self, name: str) -> IO[bytes]:
        return (self.folder / name).open("ab")

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Only one client starts a server; the others wait and then find it."""
        with self.open_lock("start.lock") as file:
            take(file, wait=True)
            try:
                yield
            finally:
                release(file)


def place() -> Place:
    """This user's server folder, made when it is missing."""
    if named := os.environ.get("SPECEDIT_RUNTIME"):
        return Place(private(Path(named).expanduser().absolute()))
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir() and os.access(given, os.W_OK):
        return Place(private(Path(given) / "specedit"))
    import tempfile

    return Place(private(Path(tempfile.gettempdir()) / f"specedit-{_user()}"))


def private(folder: Path) -> Path:
    """The folder, ours alone; another user's folder or a link is refused."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise _not_private(folder, "is not a folder")
    if hasattr(os, "getuid"):
        if info.st_uid != os.getuid():
            raise _not_private(folder, "belongs to another user")
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def _not_private(folder: Path, why: str) -> ServerError:
    return ServerError(
        f"{folder} {why}, so no server can be trusted there.",
        hint="Remove it, or name another folder in SPECEDIT_RUNTIME.",
    )


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def take(file: IO[bytes], *, wait: bool = False) -> bool:
    """Lock an open file; the lock goes when the process does."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def release(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def folders() -> dict[str, str]:
    """The variables that name files, absolute: a server works in another folder."""
    found = {name: os.environ.get(name, "") for name in ("SPECEDIT_HOME", "SPECEDIT_SCRIPT")}
    return {n: str(Path(v).expanduser().absolute()) if v else "" for n, v in found.items()}


def identity(settings: Settings) -> dict[str, str]:
    """What must be equal for a server to answer as this process would."""
    model = settings.model
    if Path(model).exists():
        model = str(Path(model).resolve())
    named = folders()
    return {
        "model": model,
        "engine": settings.engine,
        "device": settings.device,
        "threads": str(settings.threads),
        "precision": settings.precision,
        "home": named["SPECEDIT_HOME"],
        "script": named["SPECEDIT_SCRIPT"] if settings.engine == "scripted" else "",
        "kernel": os.environ.get("SPECEDIT_KERNEL", ""),
    }
